import assert from 'node:assert/strict'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, type TestContext, test } from 'node:test'
import { type Cronce, type CronceOptions, cronce } from 'cronce'
import { ask, cronce as binary } from './cronce.ts'
import { scratch, until } from './steer-kit.ts'

type Jobs = Readonly<Record<string, object>>

interface Told {
  readonly verdict: string
  readonly deployment: string | null
  readonly counts: Readonly<Record<string, number>>
  readonly changes: readonly {
    readonly kind: string
    readonly name: string
    readonly was: string | null
    readonly differences: readonly { readonly what: string }[]
    readonly fires: { readonly before: number; readonly after: number; readonly lost: { readonly count: number } }
    readonly next: { readonly after: readonly string[] }
  }[]
  readonly remarks: readonly { readonly level: string; readonly code: string; readonly message: string }[]
}

interface Bench {
  readonly folder: string
  readonly store: string
  /** Processes of a release, live until the test ends or `stop`. */
  start(deployment: string | undefined, jobs: Jobs, options?: Partial<CronceOptions>): Promise<Cronce>
  /** Writes a file with these jobs, and plans it. */
  plan(jobs: Jobs, ...args: string[]): Promise<Told & { readonly status: number | null }>
}

function benchFor(context: TestContext): Bench {
  const folder = scratch()
  const store = `sqlite:${join(folder, 'plan.db')}`
  const started: Cronce[] = []
  context.after(async () => {
    await Promise.all(started.map((app) => app.stop()))
    rmSync(folder, { recursive: true, force: true })
  })
  let files = 0
  return {
    folder,
    store,
    async start(deployment, jobs, options = {}) {
      const id = deployment === undefined ? {} : { deployment }
      const app = cronce({ store, app: 'shop', ...id, logger: false, signals: false, ...options })
      for (const [name, job] of Object.entries(jobs)) app.job(name, job, () => {})
      await app.start()
      started.push(app)
      return app
    },
    async plan(jobs, ...args) {
      const file = join(folder, `jobs-${files++}.json`)
      const withTarget = Object.entries(jobs).map(([name, job]) => [name, { ...job, command: ['true'] }])
      writeFileSync(file, JSON.stringify(Object.fromEntries(withTarget)))
      const asked = ['plan', file, '--store', store, '--app', 'shop', '--json', '--detailed-exitcode', ...args]
      const { status, stdout, stderr } = await ask(asked, {}, { cwd: folder })
      assert.notEqual(stdout, '', stderr)
      return { status, ...JSON.parse(stdout) }
    },
  }
}

/** All that the file says, in the order of its rows. */
function contentOf(store: string): string {
  const database = new DatabaseSync(store.slice('sqlite:'.length), { readOnly: true })
  const tables = database.prepare("select name, sql from sqlite_schema where type = 'table' order by name").all()
  const rows = tables.map(({ name }) => [name, database.prepare(`select * from "${name}"`).all()])
  database.close()
  return JSON.stringify([tables, rows], (_, value) =>
    value instanceof Uint8Array
      ? Buffer.from(value).toString('hex')
      : typeof value === 'bigint'
        ? String(value)
        : value,
  )
}

const DAILY = { cron: '0 3 * * *', tz: 'Europe/Berlin' }
const OLD = { bill: { cron: '15 3 * * 1' }, invoice: DAILY, sweep: { cron: '0 4 * * *' }, tick: { every: '5m' } }
const NEW = {
  charge: { cron: '15 3 * * 1', was: 'bill' },
  invoice: { cron: '30 3 * * *', tz: 'Europe/Berlin', timeout: '5m' },
  report: { cron: '0 5 * * *' },
  tick: { every: '5m' },
}

describe('cronce plan', { concurrency: 4, timeout: 300_000 }, () => {
  test('says what is added, changed, renamed and retired, and what becomes of the due times', async (context) => {
    const { start, plan } = benchFor(context)
    await (await start('v1', OLD)).stop()
    const { status, verdict, counts, changes } = await plan(NEW, '--deployment', 'v2')
    assert.deepEqual([status, verdict], [10, 'changes'])
    assert.deepEqual(
      changes.map(({ kind, name, was }) => [kind, name, was]),
      [
        ['renamed', 'charge', 'bill'],
        ['changed', 'invoice', null],
        ['added', 'report', null],
        ['retired', 'sweep', null],
      ],
    )
    const [charge, invoice, report, sweep] = changes
    assert.deepEqual([charge!.fires.lost.count, charge!.fires.before], [0, charge!.fires.after])
    assert.deepEqual(
      invoice!.differences.map(({ what }) => what),
      ['rule', 'timeout'],
    )
    assert.deepEqual([report!.fires.before, report!.fires.after, report!.next.after.length], [0, 365, 10])
    assert.deepEqual([sweep!.fires.lost.count, sweep!.fires.after], [365, 0])
    assert.equal(counts['unchanged'], 1)
  })

  test('has nothing to say about what is deployed, and ends with 0', async (context) => {
    const { start, plan } = benchFor(context)
    await start('v1', OLD)
    const { status, verdict, changes, remarks } = await plan(OLD, '--deployment', 'v2')
    assert.deepEqual([status, verdict, changes, remarks], [0, 'nothing', [], []])
  })

  test('changes nothing in the store, beside live processes as well', async (context) => {
    const { start, plan, store, folder } = benchFor(context)
    const app = await start('v1', OLD)
    await app.schedules.pause('sweep', { author: 'ada' })
    await app.stop()
    const before = contentOf(store)
    await plan(NEW, '--deployment', 'v2')
    await plan({ ...OLD, other: { hosts: 'each', every: '1m' } })
    assert.equal(contentOf(store), before)
    // A module that does what applications do: start itself, and write to the store while it is loaded.
    const library = import.meta.resolve('cronce')
    const lines = [
      `import { cronce } from '${library}'`,
      `const app = cronce({ store: '${store}', app: 'shop', deployment: 'v3', logger: false })`,
      `app.job('mine', '0 6 * * *', () => {})`,
      'await app.start()',
      `await app.schedules.put('extra', { job: 'mine', every: '1h' }).catch((error) => { globalThis.putRefused = error.code })`,
    ]
    writeFileSync(join(folder, 'main.mjs'), `${lines.join('\n')}\n`)
    const { stdout, stderr } = await ask(['plan', join(folder, 'main.mjs'), '--json'], {}, { cwd: folder })
    const { changes } = JSON.parse(stdout) as Told
    assert.deepEqual([changes.find(({ kind }) => kind === 'added')?.name, stderr], ['mine', ''])
    assert.equal((globalThis as { putRefused?: string }).putRefused, 'STORE_CLOSED')
    assert.equal(contentOf(store), before)
  })

  test('a job that is renamed without was is a risk', async (context) => {
    const { start, plan } = benchFor(context)
    const app = await start('v1', { bill: DAILY, tick: { every: '5m' } })
    await app.schedules.pause('bill', { author: 'ada', note: 'audit' })
    const { status, remarks } = await plan({ charge: DAILY, tick: { every: '5m' } }, '--deployment', 'v2')
    assert.equal(status, 11)
    const codes = remarks.map(({ level, code }) => `${level} ${code}`)
    assert.deepEqual(codes, ['risk RENAMED_WITHOUT_WAS', 'risk RETIRED_WHILE_PAUSED'])
    assert.match(remarks[0]!.message, /^charge has the rule of bill, .* The pause of the old one does not go along\.$/)
    assert.match(remarks[1]!.message, /^bill is paused \(by ada and "audit"\)/)
  })

  test('a paused schedule stays paused: its rule changes, and no due time with it', async (context) => {
    const { start, plan } = benchFor(context)
    const app = await start('v1', { invoice: DAILY })
    await app.schedules.pause('invoice', { author: 'ada' })
    const { status, changes, remarks } = await plan({ invoice: { cron: '0 9 * * *' } }, '--deployment', 'v2')
    const [{ fires }] = changes as [Told['changes'][number]]
    assert.deepEqual([status, fires.before, fires.after], [10, 0, 0])
    assert.deepEqual(
      remarks.map(({ level, code }) => `${level} ${code}`),
      ['note PAUSED'],
    )
  })

  test('names that a client or another app has are refused, with the reason', async (context) => {
    const { start, plan } = benchFor(context)
    const app = await start('v1', { tick: { every: '5m' } })
    await app.schedules.put('report', { job: 'tick', every: '1h' })
    await start('v1', { mail: DAILY }, { app: 'mailer' })
    const jobs = { tick: { every: '5m' }, report: DAILY, mail: DAILY }
    const { status, changes, remarks } = await plan(jobs, '--deployment', 'v2')
    assert.deepEqual(
      [status, changes.map(({ kind, name }) => `${kind} ${name}`)],
      [11, ['refused mail', 'refused report']],
    )
    assert.match(remarks[0]!.message, /already, declared in the code of app mailer|mailer/)
  })

  test('a due time that has passed, one that never comes, and a rule that is due again soon are risks', async (context) => {
    const { start, plan } = benchFor(context)
    const minutesAgo = (count: number): Date => new Date(Date.now() - count * 60_000)
    const cronAt = (at: Date): string => `${at.getUTCMinutes()} ${at.getUTCHours()} * * *`
    await (
      await start('v1', { soon: { cron: cronAt(minutesAgo(60)) }, late: { cron: cronAt(minutesAgo(-60)) } })
    ).stop()
    const jobs = {
      once: { at: '2026-01-01T00:00:00Z' },
      never: { cron: '0 3 * * *', end: '2026-02-01T00:00:00Z' },
      soon: { cron: cronAt(minutesAgo(-60)) },
      // Was due 23 hours ago, and is due in 23 hours.
      late: { cron: cronAt(minutesAgo(60)) },
    }
    const { status, remarks } = await plan(jobs, '--deployment', 'v2')
    assert.equal(status, 11)
    const codes = remarks.map(({ code, message }) => `${code} ${message.split(' ')[0]}`).sort()
    assert.deepEqual(codes, ['INSTANT_PAST once', 'LONG_WAIT late', 'NEVER_DUE never', 'SOON_AGAIN soon'])
  })

  test('a release that retires half of the schedules, or a job that others need, is a risk; all its files are one release', async (context) => {
    const { start, plan, folder, store } = benchFor(context)
    const app = await start('v1', { web: DAILY, page: DAILY, work: DAILY })
    await app.schedules.put('tenant-1', { job: 'work', every: '1h' })
    const { status, remarks } = await plan({ web: DAILY }, '--deployment', 'v2')
    assert.equal(status, 11)
    assert.deepEqual(
      remarks.map(({ code }) => code),
      ['MANY_RETIRED', 'JOB_NEEDED'],
    )
    const role = (name: string, jobs: Jobs): string => {
      const withTarget = Object.entries(jobs).map(([job, options]) => [job, { ...options, command: ['true'] }])
      writeFileSync(join(folder, name), JSON.stringify(Object.fromEntries(withTarget)))
      return join(folder, name)
    }
    const files = [role('web.json', { web: DAILY, page: DAILY }), role('worker.json', { work: DAILY })]
    const asked = ['plan', ...files, '--store', store, '--app', 'shop', '--deployment', 'v2', '--json']
    const both = await ask(asked, {}, { cwd: folder })
    assert.equal((JSON.parse(both.stdout) as Told).verdict, 'nothing', both.stderr)
  })

  test('a job of each host is planned on the hosts where the app lives, and a change of its form is a risk', async (context) => {
    const { start, plan } = benchFor(context)
    const jobs = { sweep: { ...DAILY, hosts: 'each' }, tick: { every: '5m' } }
    await start('v1', jobs, { labels: { host: 'h1' } })
    await start('v1', jobs, { labels: { host: 'h2' } })
    const same = await plan(jobs, '--deployment', 'v2')
    assert.deepEqual([same.verdict, same.changes], ['nothing', []])
    const once = await plan({ ...jobs, sweep: DAILY }, '--deployment', 'v2')
    assert.deepEqual(
      once.changes.map(({ kind, name }) => `${kind} ${name}`),
      ['added sweep', 'retired sweep@h1', 'retired sweep@h2'],
    )
    assert.ok(once.remarks.some(({ level, code }) => level === 'risk' && code === 'TWO_FORMS'))
  })

  test('a release that is older than the one that runs changes nothing', async (context) => {
    const { start, plan } = benchFor(context)
    await (await start('v1', { tick: { every: '5m' } })).stop()
    const app = await start('v2', { tick: { every: '1h' } }, { holdDown: '1s' })
    // If no newer release ran, it would be a rollback.
    await until(async () => (await app.deployments.get('shop')).deployments.some(({ lost }) => lost))
    const { status, changes, remarks } = await plan({ tick: { every: '5m' } }, '--deployment', 'v1')
    assert.deepEqual([status, changes, remarks.map(({ code }) => code)], [11, [], ['NOT_ACTIVE']])
    await app.stop()
    const back = await plan({ tick: { every: '5m' } }, '--deployment', 'v1')
    assert.deepEqual([back.status, back.changes.map(({ kind, name }) => `${kind} ${name}`)], [10, ['changed tick']])
  })

  test('without an id, the plan of an app with ids is that of a new release', async (context) => {
    const { start, plan } = benchFor(context)
    await start('v1', OLD)
    const { deployment, changes } = await plan({ tick: { every: '5m' } })
    assert.deepEqual([deployment, changes.map(({ kind }) => kind)], [null, ['retired', 'retired', 'retired']])
  })

  test('the summary in Markdown is a table in which a name cannot become markup', async (context) => {
    const { start, folder, store } = benchFor(context)
    await (await start('v1', { tick: { every: '5m' } })).stop()
    mkdirSync(join(folder, 'm'))
    const file = join(folder, 'm', 'jobs.json')
    writeFileSync(
      file,
      JSON.stringify({ tick: { every: '10m', command: ['true'] }, 'a|b @all <b>': { ...DAILY, command: ['true'] } }),
    )
    const asked = ['plan', file, '--store', store, '--app', 'shop', '--deployment', 'v2']
    const [markdown, text] = await Promise.all([ask([...asked, '--markdown']), binary(asked)])
    assert.match(markdown.stdout, /^### cronce plan: `shop`\n\n1 added, 1 changed, 0 unchanged\.\n/)
    assert.match(markdown.stdout, /\| `a\\\|b @all <b>` \| added: /)
    assert.match(markdown.stdout, /<summary>Next due times of a\\\|b \\@all \\<b\\><\/summary>/)
    assert.deepEqual([text.status, text.stderr.replace(/\(node:.*\n.*\n/, '')], [0, ''])
    assert.match(text.stdout, /~ tick {2}changed\n {2}rule {10}Every 5m → Every 10m\n/)
  })
})
