import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Server, startPostgres } from '../../../../scripts/servers/index.ts'
import { cronce } from '../../src/index.ts'
import type { Database } from '../../src/store/postgres/database.ts'
import { settleIdentity } from '../../src/store/postgres/identity.ts'
import { migrateUp, requireMigrated } from '../../src/store/postgres/migrate.ts'
import { postgres } from '../../src/store/postgres/postgres.ts'
import { namesMade } from '../../src/store/postgres/roles.ts'
import { plainDatabase, rowsOf, urlWith } from './plain-database.ts'

const TABLES = namesMade('table')
const VIEWS = namesMade('view')

describe('Roles and views of PostgreSQL', () => {
  let server: Server
  let admin: Database
  let owner: Database
  let runtime: Database
  let viewer: Database
  before(async () => {
    server = await startPostgres()
    admin = await plainDatabase(server.url)
    await admin.script(
      ['owner', 'runtime', 'viewer'].map((role) => `create role cron_${role} login password 'x'`).join(';'),
    )
    await admin.script('grant create on database postgres to cron_owner')
    const as = (user: string) => plainDatabase(urlWith(server.url, { user, password: 'x' }))
    owner = await as('cron_owner')
    runtime = await as('cron_runtime')
    viewer = await as('cron_viewer')
  })
  after(async () => {
    await Promise.all([admin, owner, runtime, viewer].map((database) => database?.close()))
    await server.stop()
  })

  test('the owner makes the tables, the others are given what they need', async () => {
    // As careful owners have it.
    await owner.script('alter default privileges revoke execute on functions from public')
    await migrateUp(owner, 'cronce')
    await assert.rejects(requireMigrated(runtime, 'cronce'), { code: 'STORE_FORBIDDEN' })
    await migrateUp(owner, 'cronce', { roles: { runtime: 'cron_runtime', viewer: 'cron_viewer' } })
    await requireMigrated(runtime, 'cronce')
    assert.equal(await settleIdentity(runtime, 'cronce', { adopt: false, warn: assert.fail }), 1)
  })

  test('the list of what is granted is the list of what there is', async () => {
    const names = async (kind: string) => {
      const rows = await owner.script(
        `select relname from pg_class where relnamespace = 'cronce'::regnamespace and relkind = '${kind}'`,
      )
      return rows.map(({ relname }) => relname).sort()
    }
    assert.deepEqual(await names('r'), ['_migrations', ...TABLES].sort())
    assert.deepEqual(await names('v'), [...VIEWS].sort())
    const functions = await rowsOf<'name'>(
      owner,
      "select proname || '(' || pg_get_function_identity_arguments(oid) || ')' as name from pg_proc where pronamespace = 'cronce'::regnamespace",
    )
    assert.deepEqual(
      functions.map(({ name }) => name).sort(),
      namesMade('function')
        .map((name) => name.replaceAll(' s.', ' cronce.'))
        .sort(),
    )
  })

  test('instances change rows, and nothing else', async () => {
    for (const table of TABLES) {
      await runtime.script(`select * from cronce.${table} limit 1; delete from cronce.${table} where false`)
    }
    for (const forbidden of [
      'create table cronce.mine (a int)',
      'alter table cronce._apps add column a int',
      'drop table cronce._apps',
      'truncate cronce._apps',
      'create index on cronce._apps (version)',
      "insert into cronce._migrations values (99, 'x', false)",
      'drop schema cronce cascade',
    ]) {
      await assert.rejects(runtime.script(forbidden), { code: 'STORE_FORBIDDEN' }, forbidden)
    }
    await assert.rejects(migrateUp(runtime, 'elsewhere'), { code: 'STORE_FORBIDDEN' })
  })

  test('viewers read the views, and nothing else', async () => {
    for (const view of VIEWS) {
      await viewer.script(`select * from cronce.${view}`)
      await assert.rejects(viewer.script(`delete from cronce.${view}`), /permission denied|cannot delete/, view)
    }
    for (const table of [...TABLES, '_migrations']) {
      await assert.rejects(viewer.script(`select 1 from cronce.${table}`), { code: 'STORE_FORBIDDEN' }, table)
    }
    await assert.rejects(requireMigrated(viewer, 'cronce'), { code: 'STORE_VIEWS_ONLY' })
  })

  test('an app with the rights of the runtime role does all that apps do, and viewers see it', async (t) => {
    const url = urlWith(server.url, { user: 'cron_runtime', password: 'x' })
    const warnings: string[] = []
    const tell = (...words: unknown[]): void => {
      const warning = words.join(' ')
      // On a busy machine an answer can take long enough that its clock seems to be off.
      if (!warning.startsWith("This machine's clock is")) warnings.push(warning)
    }
    const logger = { debug: () => {}, info: () => {}, warn: tell, error: tell }
    const app = cronce({ store: postgres(url), namespace: 'smoke', app: 'shop', deployment: 'v1', logger })
    t.after(() => app.stop())
    const ended = new Promise<void>((resolve) => {
      app.on('fire.ended', ({ schedule }) => schedule === 'greet' && resolve())
    })
    app.job('greet', { cron: '0 0 1 1 *' }, async (run) => run.once('say', () => 'half \ud83d, and a zero \0'))
    app.job('pay', { cron: '0 0 1 1 *', guarantee: 'exactly-once' }, (run) => run.transaction(async () => {}))
    await app.start()
    await app.schedules.pause('pay', { note: 'not today' })
    await app.schedules.trigger('greet')
    await ended
    assert.deepEqual(warnings, [])

    const schedules = await rowsOf<'schedule' | 'state'>(
      viewer,
      "select schedule, state from cronce.schedules where namespace = 'smoke' order by schedule",
    )
    assert.deepEqual(schedules, [
      { schedule: 'greet', state: 'active' },
      { schedule: 'pay', state: 'paused' },
    ])
    const found = await rowsOf<'said'>(
      viewer,
      `
select f.kind, f.state, f.reason, r.attempt, r.state as run, s.state as step, s.result #>> '{}' as said, i.app, a.active_deployment
  from cronce.fires f
  join cronce.runs r using (namespace, schedule, due_at)
  join cronce.steps s using (namespace, schedule, due_at)
  join cronce.instances i using (namespace, instance)
  join cronce.apps a using (namespace, app)
 where namespace = 'smoke'`,
    )
    const ok = { kind: 'manual', state: 'succeeded', reason: 'completed', attempt: '1', run: 'succeeded', step: 'done' }
    assert.deepEqual(found, [{ ...ok, said: 'half \ufffd, and a zero \ufffd', app: 'shop', active_deployment: 'v1' }])
  })

  test('a view shows open and ended, in the words of the API, and times as times', async () => {
    await owner.script(fixtures('plain', 'It is “broken” \\ really', 'done'))
    const [schedule] = await rowsOf<'schedule' | 'cron' | 'tz' | 'state' | 'open_fires' | 'next_at'>(
      viewer,
      "select * from cronce.schedules where namespace = 'plain'",
    )
    assert.deepEqual(
      [schedule!.schedule, schedule!.cron, schedule!.tz, schedule!.state, schedule!.open_fires, schedule!.next_at],
      ['report', '0 8 * * *', 'Europe/London', 'active', 1, new Date(1_800_000_060_000)],
    )
    const fires = await viewer.script(
      "select state, reason, attempt, due_at, instants, until_at from cronce.fires where namespace = 'plain' order by due_ms",
    )
    assert.deepEqual(fires, [
      {
        state: 'failed',
        reason: 'error',
        attempt: '2',
        due_at: new Date(1_799_999_999_123),
        instants: '1',
        until_at: null,
      },
      { state: 'open', reason: null, attempt: '1', due_at: new Date(1_800_000_000_000), instants: '1', until_at: null },
    ])
    const runs = await viewer.script(
      "select state, lateness_ms, duration_ms, error_message from cronce.runs where namespace = 'plain' order by due_ms",
    )
    assert.deepEqual(runs, [
      { state: 'failed', lateness_ms: '5', duration_ms: '1500', error_message: 'It is “broken” \\ really' },
      { state: 'cancelling', lateness_ms: '5', duration_ms: null, error_message: null },
    ])
    const [step] = await viewer.script("select step, state, result from cronce.steps where namespace = 'plain'")
    assert.deepEqual(step, { step: 'charge', state: 'done', result: 'done' })
    const [instance] = await rowsOf<'host' | 'pid' | 'expired'>(
      viewer,
      "select * from cronce.instances where namespace = 'plain'",
    )
    assert.deepEqual([instance!.host, instance!.pid, instance!.expired], ['h', '17', true])
    const [app] = await rowsOf<'app' | 'active_deployment' | 'activated_deployment'>(
      viewer,
      "select * from cronce.apps where namespace = 'plain'",
    )
    assert.deepEqual([app!.app, app!.active_deployment, app!.activated_deployment], ['shop', 'v1', 'v1'])
  })

  test('questions by milliseconds are answered by the indexes', async () => {
    await owner.script(`
insert into cronce._jobs (namespace, name) values ('long', 'j');
insert into cronce._names (namespace, name) select 'long', 's' || n from generate_series(0, 49) n;
insert into cronce._history
  (key, due_at, number, token, started_at, ended_at, expires_at, space, job, runner, reason, is_final, nonce, tenant, more)
select k.key, n * 60000::bigint, n, n, n * 60000::bigint, 1, 1, 0, j.number, 0, 1, true, '', '', ''
  from generate_series(1, 10000) n
  join cronce._names k on k.namespace = 'long' and k.name = 's' || n % 50
  join cronce._jobs j on j.namespace = 'long'`)
    await owner.script('analyze cronce._history; analyze cronce._names; analyze cronce._jobs')
    const since = "(extract(epoch from now() - interval '1 day') * 1000)::bigint"
    for (const view of ['fires', 'runs']) {
      const plan = await rowsOf<'QUERY PLAN'>(
        viewer,
        `explain select * from cronce.${view} where namespace = 'long' and due_ms > ${since}`,
      )
      const text = plan.map((line) => line['QUERY PLAN']).join('\n')
      assert.match(text, /using _history_time on.*Index Cond: .*due_at >/s)
    }
  })

  test('no text that JavaScript can write makes a view fail', async () => {
    const texts = ['zero \0\0 end', 'half \ud83d', '\udc00', 'path C:\\u0000\\', '\\\0', '\\\\ud800', '\u{1f600} fine']
    for (const [index, text] of texts.entries()) await owner.script(fixtures(`odd${index}`, text, text))
    for (const view of VIEWS) await viewer.script(`select * from cronce.${view}`)
    const rows = await viewer.script(
      "select error_message, detail, result from cronce.runs where namespace like 'odd%' and state = 'failed' order by namespace",
    )
    const shown = texts.map((text) => text.replaceAll(/\0|\p{Surrogate}/gu, '\ufffd'))
    assert.deepEqual(
      rows,
      shown.map((text) => ({ error_message: text, detail: text, result: text })),
    )
  })
})

/** One of everything in its own namespace, with this text wherever people's texts go. */
function fixtures(namespace: string, message: string, result: string): string {
  const dueAt = 1_800_000_000_000
  const definition = {
    job: 'report',
    trigger: { kind: 'cron', expression: '0 8 * * *', tz: 'Europe/London' },
    input: message,
  }
  const cancel = { at: dueAt, detail: message }
  const fire = {
    dueAt,
    nonce: '',
    kind: 'scheduled',
    round: 1,
    attempt: 1,
    plannedAt: dueAt,
    readyAt: dueAt,
    own: { input: message },
  }
  const more = {
    pause: { at: dueAt, until: null, note: message, author: null },
    retiredAt: null,
    backfills: [],
    open: [fire],
  }
  const error = { name: 'Error', code: null, message, stack: null }
  const line = { attempt: 2, input: message, detail: message, error, result }
  const instance = { app: 'shop', host: 'h', pid: 17, jobs: [message], clockOffsetMs: 0.5 }
  const app = { active: 'v1', activated: 'v1', refused: [], deployments: [{ id: message }] }
  const key = `(select key from cronce._names where namespace = '${namespace}')`
  const job = `(select number from cronce._jobs where namespace = '${namespace}')`
  const runner = `(select number from cronce._runners where namespace = '${namespace}')`
  return `
insert into cronce._names (namespace, name) values ('${namespace}', 'report');
insert into cronce._jobs (namespace, name) values ('${namespace}', 'report');
insert into cronce._runners (namespace, instance) values ('${namespace}', 'i');
insert into cronce._schedules (key, namespace, name, job, status) values (${key}, '${namespace}', 'report', 'report', 'active');
with defined as (
  insert into cronce._definitions (revision, created_at, updated_at, source, definition)
  values (1, 1, 1, '{}', ${text(definition)})
  returning id
)
insert into cronce._clocks
  (key, definition, job, bucket, format, trimmed_before, wake_at, next_at, planned_to, mark, tokens, extra, due_at, token, claim,
   started_at, version, runner, failed_in_row, ended, last_due, last_ok_due, last_ok_at, name, zone, more)
select ${key}, id, ${job}, 0, 1, 0, 0, ${dueAt + 60_000}, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 'report', '', ${text(more)} from defined;
insert into cronce._open (key, due_at, token, claim, started_at, runner, nonce, tenant, cancel)
values (${key}, ${dueAt}, 2, 1, ${dueAt + 5}, ${runner}, '', '', ${text(cancel)});
insert into cronce._history
  (key, due_at, number, token, started_at, ended_at, expires_at, space, job, runner, reason, is_final, nonce, tenant, more)
values (${key}, ${dueAt - 877}, 1, 1, ${dueAt - 872}, ${dueAt + 628}, 1, 0, ${job}, ${runner}, 17, true, '', '', ${text(line)});
insert into cronce._steps (key, due_at, nonce, step, state, token, result, begun_at)
values (${key}, ${dueAt}, '', 'charge', 'done', 1, ${text(result)}, 1);
insert into cronce._instances (namespace, id, number, state, drain, session, renewals, beat, started_at, renewed_at, lease_ms, record)
values ('${namespace}', 'i', ${runner}, 'live', false, true, 1, 1, 0, 0, 15000, ${text(instance)});
insert into cronce._apps (namespace, name, version, record) values ('${namespace}', 'shop', 1, ${text(app)});`
}

function text(value: unknown): string {
  return `'${JSON.stringify(value).replaceAll("'", "''")}'`
}
