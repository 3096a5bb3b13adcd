import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { createHandler } from '@cronce/server'
import { type Connection, connect } from 'cronce'
import { COMMON_FLAGS } from '../src/commands/help.ts'
import { COMMANDS } from '../src/commands/index.ts'
import { ask } from './cronce.ts'

let folder: string
let store: string
let client: Connection

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'cronce-said-'))
  store = `sqlite:${join(folder, 'jobs.db')}`
  client = await connect({ store, onWarning: () => {} })
  // Hours from now, since a forecast counts whole hours.
  const hour = (new Date().getUTCHours() + 6) % 24
  await client.schedules.create('daily', { job: 'report', cron: `0 ${hour} * * *` })
})

after(async () => {
  await client.close()
  rmSync(folder, { recursive: true, force: true })
})

const say = (...args: string[]) => ask(args, { CRONCE_STORE: store })

describe('what is neither a schedule nor an expression', () => {
  test('is called both, with what is wrong with the expression', async () => {
    const { status, stderr } = await say('next', '0 3 * *')
    assert.equal(status, 2)
    assert.match(stderr, /"0 3 \* \*" is neither the name of a schedule nor a valid expression: .*4/)
  })

  test('gets the expression that its words mean, in every command that takes one', async () => {
    for (const args of [
      ['next', 'daily at 3am'],
      ['explain', 'daily at 3am'],
      ['exec', '--name', 'x', '--cron', 'daily at 3am', '--', 'true'],
    ]) {
      const { status, stderr } = await ask(args, {})
      assert.ok(status === 2 || status === 5 || status === 1, String(status))
      assert.match(stderr, /^hint: Write "0 3 \* \* \*"\.$/m, args.join(' '))
    }
    assert.match((await say('next', 'daily at 3am')).stderr, /^hint: Did you mean daily\? Write "0 3 \* \* \*"\.$/m)
    const put = await say('schedule', 'put', 'x', '--job', 'report', '--cron', 'daily at 3am', '--yes')
    assert.match(put.stderr, /^hint: Write "0 3 \* \* \*"\.$/m)
    const quartz = await ask(['next', 'daily at 3am', '--dialect', 'quartz'], {})
    assert.match(quartz.stderr, /^hint: Quartz writes /m)
  })

  test('is reported as an expression with a mistake, though there is no store to look a schedule up in', async () => {
    const missing = `sqlite:${join(folder, 'missing.db')}`
    const { status, stderr } = await ask(['next', '0 3 * *'], { CRONCE_STORE: missing })
    assert.equal(status, 5)
    assert.match(stderr, /^error: "0 3 \* \*" is not a valid expression, .*: expected 5, 6 or 7 fields, found 4, .*\n/)
    assert.match(
      stderr,
      /The store: There is no file .*missing\.db\. The store is from CRONCE_STORE\.\nhint: Write minute /,
    )
    const named = await ask(['next', 'daily'], { CRONCE_STORE: missing })
    assert.match(named.stderr, /^error: There is no file /)
  })

  test('is a misspelt schedule if it looks like a name', async () => {
    const { status, stderr } = await say('next', 'daly')
    assert.equal(status, 3)
    assert.match(stderr, /There is no schedule "daly"\.\n.*Did you mean daily\?/)
  })
})

describe('an instant that was skipped', () => {
  test('is left out by describe, next, list and the view', async () => {
    const { nextAt } = await client.schedules.get('daily')
    const after = await client.schedules.skipNext('daily', { dueAt: nextAt! })
    const shown = (at: number) => new Date(at).toISOString()

    const next = JSON.parse((await say('next', 'daily', '--json')).stdout).next
    const described = JSON.parse((await say('describe', 'daily', '--json')).stdout).next
    const [listed] = JSON.parse((await say('list', '--json')).stdout).items
    const forecast = JSON.parse((await say('forecast', '--days', '2', '--json')).stdout)

    assert.deepEqual(after.skipped, [nextAt])
    assert.equal(next[0], shown(after.nextAt!))
    assert.equal(described[0], after.nextAt)
    assert.equal(listed.nextAt, after.nextAt)
    assert.equal(forecast.fires, 1)
  })
})

describe('a paused schedule', () => {
  const day = 86_400_000
  const names = ['paused-until', 'paused-open', 'paused-limit']
  let next: (name: string) => Promise<string[][]>

  before(async () => {
    await client.schedules.create('paused-until', { job: 'report', cron: '0 5 * * *' })
    await client.schedules.create('paused-open', { job: 'report', cron: '0 5 * * *' })
    await client.schedules.create('paused-limit', { job: 'report', cron: '0 5 * * *', limit: 5 })
    const until = Date.now() + 3 * day
    await client.schedules.pause('paused-until', { until })
    await client.schedules.pause('paused-limit', { until })
    await client.schedules.pause('paused-open')
    next = async (name) => {
      const server = createHandler(client, { access: () => 'read', logger: false })
      const answer = await server(new Request(`http://host/api/v1/schedules/${name}/next?count=3`))
      const { items } = (await answer.json()) as { items: number[] }
      const described: number[] = JSON.parse((await say('describe', name, '-n', '3', '--json')).stdout).next
      const listed = (await say('list', name, '--utc')).stdout.match(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?= UTC)/)?.[0]
      return [
        JSON.parse((await say('next', name, '-n', '3', '--json')).stdout).next,
        described.map((at) => new Date(at).toISOString()),
        items.map((at) => new Date(at).toISOString()),
        [listed === undefined ? '' : `${listed.replace(' ', 'T')}.000Z`],
      ]
    }
  })

  // Other tests count the schedules.
  after(() => Promise.all(names.map((name) => client.schedules.remove(name))))

  test('is due next after the pause, in next, describe, list and HTTP', async () => {
    const { nextAt, pause } = await client.schedules.get('paused-until')
    const [first = 0, ...more] = [0, 1, 2, 3, 4, 5, 6]
      .map((days) => nextAt! + days * day)
      .filter((at) => at >= pause!.untilAt!)
    const expected = [first, ...more].slice(0, 3).map((at) => new Date(at).toISOString())
    assert.deepEqual(await next('paused-until'), [expected, expected, expected, expected.slice(0, 1)])
  })

  test('uses up its limit during the pause', async () => {
    const [told, described, answered] = await next('paused-limit')
    assert.deepEqual([told?.length, described, answered], [2, told, told])
  })

  test('is not due while its pause has no end', async () => {
    assert.deepEqual(await next('paused-open'), [[], [], [], ['']])
    assert.match((await say('next', 'paused-open')).stderr, /^note: paused-open is paused\.\n$/)
  })
})

test('one of a kind is not called many', async () => {
  const { stdout } = await say('forecast', '--days', '1')
  assert.match(stdout, /^1 schedule, /)
  assert.match(stdout, / in 1 day\n/)
})

/** Flags of other programs. */
const FOREIGN = new Map([
  ['from-literal', 'kubectl'],
  ['output', 'kubectl'],
  ['experimental-', 'node'],
  ['check', 'node'],
  ['no-warnings', 'node'],
  ['max-old-space-size', 'node'],
  ['update-env', 'pm2'],
  ['save-dev', 'npm'],
  ['auto-compaction-retention', 'etcd'],
  ['quota-backend-bytes', 'etcd'],
  ['set', 'psql'],
  ['file', 'psql'],
  ['shared', 'flock'],
  ['max-request-bytes', 'etcd'],
  ['no-', 'how names of flags begin'],
])
/** Flags of other programs, and the flags of ours that they suggest. */
const ALIASES = [
  'payload',
  'data',
  'body',
  'message',
  'reason',
  'since',
  'tail',
  'status',
  'timezone',
  'zone',
  'for',
  'last',
  'pattern',
  'expression',
  'interval',
]

test('a page of the documentation is named by its address, since packages do not contain it', () => {
  const wrong = [...stringsOfSources()]
    .filter(({ text }) => /(?<!\/blob\/main\/)\bdocs\/[\w/-]+\.md/.test(text))
    .map(({ file, line }) => `${file}:${line}`)
  assert.deepEqual(wrong, [])
})

test('every flag that a message, a hint or a help text names exists', async () => {
  const flagsOf = new Map<string, ReadonlySet<string>>()
  for (const { name, aliases = [], load } of COMMANDS) {
    const flags = new Set(Object.keys({ ...(await load()).flags, ...COMMON_FLAGS }))
    for (const each of [name, ...aliases]) flagsOf.set(each, flags)
  }
  const all = new Set([...[...flagsOf.values()].flatMap((flags) => [...flags]), 'version', ...ALIASES])
  const wrong: string[] = []
  for (const { file, line, text } of stringsOfSources()) {
    for (const [, flag] of text.matchAll(/(?<![\w-])--([a-z][a-z-]*)/g)) {
      if (!all.has(flag!) && !FOREIGN.has(flag!)) wrong.push(`${file}:${line} --${flag}`)
    }
    for (const [, command, rest] of text.matchAll(/\bcronce ([a-z-]+)((?: [^'`.;]*)?)/g)) {
      const flags = flagsOf.get(command!)
      const own = rest!.split(' -- ')[0]!
      for (const [, flag] of own.matchAll(/ --([a-z][a-z-]*)/g)) {
        if (flags !== undefined && !flags.has(flag!)) wrong.push(`${file}:${line} cronce ${command} --${flag}`)
      }
    }
  }
  assert.deepEqual(wrong, [])
})

/** All strings of all packages, as far as they end on their line. */
function* stringsOfSources(): Generator<{ file: string; line: number; text: string }> {
  const packages = new URL('../../', import.meta.url).pathname
  for (const name of ['cli', 'cronce', 'server']) {
    const root = join(packages, name, 'src')
    for (const file of readdirSync(root, { recursive: true, encoding: 'utf8' })) {
      if (!file.endsWith('.ts')) continue
      for (const [index, text] of readFileSync(join(root, file), 'utf8').split('\n').entries()) {
        if (/^\s*(\/\/|\*|\/\*)/.test(text)) continue
        for (const [string] of text.matchAll(/(['"`])(?:\\.|(?!\1).)*\1/g)) {
          yield { file: join(name, file), line: index + 1, text: string }
        }
      }
    }
  }
}

describe('a mistake in a jobs file', () => {
  const start = async (job: string) => {
    const file = join(folder, 'jobs.mjs')
    writeFileSync(file, `export default { report: { run() {}, ${job} } }\n`)
    return ask(['start', file, '--store', store], {}, { cwd: folder })
  }

  for (const job of [
    "cron: '0 3 * * *', retry: -1",
    "every: 'soon'",
    "cron: '0 3 * * *', concurrency: 'x'",
    "cron: '5-1 3 * * *'",
  ]) {
    test(`is not put right by a flag: ${job}`, async () => {
      const { status, stderr } = await start(job)
      assert.notEqual(status, 0)
      const hint = /hint: (.*)/.exec(stderr)?.[1] ?? ''
      assert.doesNotMatch(hint, /--/, stderr)
    })
  }
})

test('a mistake in a flag is reported as one', async () => {
  const { stderr } = await ask(['next', '5-1 3 * * *'])
  assert.match(stderr, /add --wrap/)
})
