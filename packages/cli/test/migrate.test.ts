import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { after, before, describe, test } from 'node:test'
import { obtain, type Server, startPostgres } from '../../../scripts/servers/index.ts'
import { ask, cronce } from './cronce.ts'

describe('cronce migrate', { concurrency: 4 }, () => {
  let server: Server
  let psql: string
  let env: Readonly<Record<string, string>>
  before(async () => {
    server = await startPostgres({ settings: { fsync: 'off' } })
    psql = await obtain('psql')
    env = { DATABASE_URL: server.url }
  })
  after(() => server.stop())

  const query = (sql: string): string =>
    execFileSync(psql, [server.url, '-XAtq', '--set', 'ON_ERROR_STOP=1'], { input: sql, encoding: 'utf8' }).trim()

  test('reports what is missing, migrates it, and finds it done', async () => {
    const place = `schema "cronce" of postgres://127.0.0.1:${server.port}/postgres`
    const missing = await ask(['migrate', 'status'], env)
    assert.deepEqual([missing.status, missing.stderr], [1, ''])
    assert.match(missing.stdout, /has no tables of cronce yet\.\n {2}1 {2}one history per schedule {2}to be applied\n$/)
    const plan = await ask(['migrate', 'plan'], env)
    assert.deepEqual(plan, {
      status: 0,
      stdout: `In the ${place}, cronce migrate up would apply:\n  1  one history per schedule\n`,
      stderr: '',
    })
    assert.equal(query("select to_regnamespace('cronce') is null"), 't', 'nothing was made by looking')

    const up = await cronce(['migrate', 'up'], env)
    assert.deepEqual(up, {
      status: 0,
      stdout: `applied  1  one history per schedule\nThe ${place} is up to date.\n`,
      stderr: '',
    })
    const done = await ask(['migrate', 'status'], env)
    assert.equal(done.status, 0)
    assert.match(done.stdout, /is up to date\.\n {2}1 {2}one history per schedule {2}applied \d{4}-\d\d-\d\dT.*Z\n$/)
    assert.equal((await ask(['migrate', 'up'], env)).stdout, `The ${place} is up to date.\n`)
    assert.equal((await ask(['migrate', 'plan'], env)).stdout, `Nothing to do: the ${place} is up to date.\n`)
  })

  test('gives programs the same as JSON', async () => {
    const flags = ['--schema', 'for_programs', '--json', '--store', server.url]
    const entry = { number: 1, name: 'one history per schedule', breaking: true }
    const plan = await ask(['migrate', 'plan', ...flags])
    assert.deepEqual(JSON.parse(plan.stdout), { version: 1, schema: 'for_programs', pending: [entry] })
    const up = await ask(['migrate', 'up', ...flags])
    assert.deepEqual(JSON.parse(up.stdout), { version: 1, schema: 'for_programs', state: 'current', applied: [1] })
    const { applied, ...status } = JSON.parse((await ask(['migrate', 'status', ...flags])).stdout)
    assert.deepEqual(status, { version: 1, schema: 'for_programs', state: 'current', pending: [] })
    assert.equal(typeof applied[0].appliedAt, 'number')
  })

  test('prints SQL that psql runs: all of it, or what is missing', async () => {
    query('create role app; create role grafana')
    const flags = ['--schema', 'by_hand', '--runtime', 'app', '--viewer', 'grafana']
    const all = await ask(['migrate', 'sql', ...flags], { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nothing' })
    assert.deepEqual([all.status, all.stderr], [0, ''])
    query(all.stdout)
    assert.equal(query("select has_table_privilege('app', 'by_hand._clocks', 'update')"), 't')
    assert.equal(query("select has_table_privilege('grafana', 'by_hand.fires', 'select')"), 't')
    assert.equal((await ask(['migrate', 'status', '--schema', 'by_hand'], env)).status, 0)
    const rest = await ask(['migrate', 'sql', '--schema', 'by_hand', '--store', server.url])
    assert.equal(rest.stdout, '-- Nothing to do.\n')
  })

  test('a copy is adopted once, loudly', async () => {
    await ask(['migrate', 'up', '--schema', 'copied'], env)
    query("update copied._meta set system_id = '1', database_id = '2'")
    const first = await ask(['migrate', 'adopt', '--schema', 'copied'], env)
    assert.deepEqual([first.status, query('select epoch from copied._meta')], [0, '2'])
    assert.match(first.stdout, /is a store of its own, in epoch 2\.\n$/)
    assert.match(first.stderr, /^warning: .* was taken over/)
    const second = await ask(['migrate', 'adopt', '--schema', 'copied', '--json'], env)
    assert.deepEqual(second, { status: 0, stdout: '{"version":1,"schema":"copied","epoch":2}\n', stderr: '' })
    const none = await ask(['migrate', 'adopt', '--schema', 'not_there'], env)
    assert.equal(none.status, 4)
    assert.match(none.stderr, /hint: Run: npx cronce migrate up --schema not_there --store URL --runtime ROLE/)
  })

  test('reports what is wrong with the arguments, without secrets', async () => {
    const results = await Promise.all([
      ask(['migrate']),
      ask(['migrate', 'upp']),
      ask(['migrate', 'up', 'now']),
      ask(['migrate', 'up']),
      ask(['migrate', 'up', '--store', 'sqlite:jobs.db']),
      ask(['migrate', 'up', '--store', 'mysql://me:secret@db/app']),
      ask(['migrate', 'status', '--viewer', 'grafana'], env),
      ask(['migrate', 'up', '--schema', 'pg_mine'], env),
    ])
    assert.deepEqual(
      results.map(({ status, stdout }) => [status, stdout]),
      results.map(() => [2, '']),
    )
    const [verb, typo, more, store, sqlite, mysql, viewer, schema] = results.map(({ stderr }) => stderr)
    assert.match(verb!, /hint: Choose one of: status, plan, up, sql, adopt\./)
    assert.match(typo!, /Did you mean up\?/)
    assert.match(more!, /takes no "now"/)
    assert.match(store!, /No store is named\.\nhint: Set CRONCE_STORE/)
    assert.match(sqlite!, /needs no command/)
    assert.doesNotMatch(mysql!, /secret/)
    assert.match(viewer!, /given their rights by up/)
    assert.match(schema!, /PostgreSQL's own/)
  })

  test('a server that is not there, or refuses, is not a fault of the question: exit code 5', async () => {
    const wrong = new URL(server.url)
    wrong.password = 'wrong-secret'
    const results = await Promise.all([
      ask(['migrate', 'status', '--store', 'postgres://me:secret@127.0.0.1:1/app']),
      ask(['migrate', 'status', '--store', wrong.href, '--json']),
    ])
    for (const { status, stdout, stderr } of results) {
      assert.deepEqual([status, stdout], [5, ''])
      assert.doesNotMatch(stderr, /secret/)
    }
    assert.match(results[0]!.stderr, /^error: .*can't be reached.*\nhint: /)
    assert.equal(JSON.parse(results[1]!.stderr).error.code, 'STORE_FORBIDDEN')
  })

  test('helps', async () => {
    const { status, stdout } = await ask(['migrate', '--help'])
    assert.equal(status, 0)
    assert.match(stdout, /^Create or update the tables of a PostgreSQL store\.\n\nExamples\n {2}cronce migrate up /)
    assert.match(stdout, /--runtime ROLE[\s\S]*Run it before a\ndeploy/)
  })
})
