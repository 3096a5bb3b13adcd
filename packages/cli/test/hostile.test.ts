import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { COMMANDS } from '../src/commands/index.ts'
import { ask, MAIN, cronce as program, type Result, start } from './cronce.ts'
import { type Bench, benchOn, scratch } from './steer-kit.ts'

/** Commands that run something, or make files: their own tests ask them such questions. */
const OTHERS = ['start', 'dev', 'init', 'exec', 'import', 'export', 'completion']
const OPERANDS: Readonly<Record<string, readonly string[]>> = {
  list: [],
  runs: [],
  instances: [],
  tail: [],
  forecast: [],
  fires: [],
  doctor: [],
  prune: ['--yes'],
  adopt: [],
  migrate: ['status'],
  retry: ['NAME', 'latest'],
  backfill: ['NAME', '--from', 'now-1h'],
  drain: ['NAME'],
}
const NAMED = ['describe', 'show', 'run', 'pause', 'resume', 'skip-next', 'backfill', 'cancel', 'retry', 'drain']

/** Characters that would do something to a terminal: all controls but the line feed. */
const UNSEEN = /(?!\n)[\p{Cc}\u202a-\u202e\u2066-\u2069\u200b\u200e\u200f]/u

function argsOf(command: string, name: string): string[] {
  return [command, ...(OPERANDS[command] ?? ['NAME']).map((arg) => (arg === 'NAME' ? name : arg))]
}

describe('hostile input', { concurrency: 4 }, () => {
  let folder: string
  let bench: Bench
  before(async () => {
    folder = scratch()
    bench = await benchOn(`sqlite:${join(folder, 'hostile.db')}`)
    await bench.client.schedules.create('victim', { job: 'good', cron: '0 3 * * *' })
  })
  after(async () => {
    await bench.client.close()
    rmSync(folder, { recursive: true, force: true })
  })

  const NO_NAMES = [
    '',
    ' ',
    'a\u0000b',
    '\u001b[2J\u001b]0;owned\u0007',
    'line\nfeed',
    '\r\u001b[1Avictim',
    '\ud800',
    'x'.repeat(201),
    'x'.repeat(1_000_000),
    '\u001b'.repeat(10_000),
  ]

  test('an invalid name is refused by every command, without control characters on the terminal', async () => {
    for (const command of NAMED) {
      for (const name of NO_NAMES) {
        const { status, stdout, stderr } = await bench.say(...argsOf(command, name))
        const what = `${command} ${JSON.stringify(name.slice(0, 20))}`
        assert.ok([2, 3, 4].includes(status!), `${what}: ${status} ${stderr.slice(0, 500)}`)
        assert.equal(stdout, '', what)
        assert.doesNotMatch(stderr, UNSEEN, what)
        assert.ok(stderr.length < 5_000, `${what}: ${stderr.length} characters about it`)
      }
    }
  })

  test('names with special characters of SQL, shells, Redis, paths or JavaScript are plain names', async () => {
    const names = [
      "'; drop table cronce_schedules; --",
      '$(touch owned) `touch owned`',
      '../../../../etc/passwd',
      '__proto__',
      '*',
      '{victim}:*',
      'naïve 名前 👩‍👩‍👧',
      'evil\u202etxt.exe',
      '-rf',
    ]
    for (const name of names) {
      const missing = await bench.say('pause', '--json', '--', name)
      // All schedules match a star, and a change of several is not made without a yes.
      const refused = name === '*' ? ([4, 'CONFIRMATION_NEEDED'] as const) : ([3, 'SCHEDULE_NOT_FOUND'] as const)
      assert.deepEqual([missing.status, missing.stdout], [refused[0], ''], name)
      assert.equal(JSON.parse(missing.stderr).error.code, refused[1], name)
      await bench.client.schedules.create(name, { job: name, cron: '0 3 * * *' })
      const done: Result[] = []
      for (const args of [
        ['pause', '--', name],
        ['resume', '--', name],
        ['skip-next', '--note', name, '--', name],
        ['run', '--dedupe', name, '--', name],
        ['cancel', '--', name],
        ['retry', '--', name, name],
        ['cancel', '--', name, name],
        ['describe', '--', name],
        ['show', '--', name],
      ]) {
        done.push(await bench.say(...args))
      }
      const said = done.map(({ stdout, stderr }) => `${stdout}${stderr}`).join('')
      assert.deepEqual(
        done.map(({ status }) => status),
        done.map(() => 0),
        `${name}: ${said}`,
      )
      assert.doesNotMatch(said, UNSEEN, name)
      assert.equal((await bench.client.schedules.list({ prefix: name })).items.length, 1)
    }
    const listed = await bench.say('list', '--all')
    assert.doesNotMatch(listed.stdout, UNSEEN)
    const doctor = await bench.say('doctor')
    assert.doesNotMatch(doctor.stdout, UNSEEN)
    assert.equal((await bench.client.schedules.get('victim')).state, 'active', 'no other schedule was changed')
  })

  test('notes, authors, inputs and times of every size and kind are refused or kept, never worse', async () => {
    const tries: readonly (readonly string[])[] = [
      ['pause', 'victim', '--note', 'x'.repeat(1_000_000)],
      ['pause', 'victim', '--until', '9'.repeat(400)],
      ['pause', 'victim', '--until', '1e400'],
      ['pause', 'victim', '--until', 'now+'.repeat(10_000)],
      ['backfill', 'victim', '--from', '0001-01-01', '--to', '9999-12-31'],
      ['backfill', 'victim', '--from', 'NaN'],
      ['run', 'victim', '--input', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
      ['run', 'victim', '--input', JSON.stringify({ a: 'x'.repeat(900_000) })],
      ['run', 'victim', '--input', '@/dev/zero'],
      ['run', 'victim', '--input', `@${'../'.repeat(50)}etc`],
      ['run', 'victim', '--dedupe', 'x'.repeat(500)],
      ['run', 'victim', '--wait', '--timeout', '-1'],
      ['cancel', 'victim', '99999999999999999999999999'],
      ['retry', 'victim', '-1'],
      ['drain', '%'],
    ]
    for (const args of tries) {
      const { status, stdout, stderr } = await bench.say(...args)
      const what = args.join(' ').slice(0, 80)
      assert.ok([2, 3, 4].includes(status!), `${what}: ${status} ${stdout.slice(0, 200)} ${stderr.slice(0, 500)}`)
      assert.doesNotMatch(stderr, UNSEEN, what)
      const json = await bench.say(...args, '--json')
      assert.equal(typeof JSON.parse(json.stderr).error.code, 'string', what)
      assert.equal(json.stdout, '', what)
    }
    assert.equal((await bench.client.schedules.get('victim')).state, 'active')
    await bench.client.schedules.create('marked', { job: 'good', cron: '0 3 * * *' })
    const red = '\u001b[31m'.repeat(500)
    assert.equal((await bench.say('pause', 'marked', '--author', red, '--note', red.slice(0, 900))).status, 0)
    assert.doesNotMatch((await bench.say('describe', 'marked')).stdout, UNSEEN)
    assert.equal((await bench.client.fires.list({ schedule: 'victim' })).items.length, 0)
  })

  test('unknown, repeated and incomplete flags: exit code 2, as JSON if that was asked for', async () => {
    for (const flag of ['--nope', '--__proto__', '--constructor=1', '--store=', '-Z', '--yes=1', '--note']) {
      for (const command of ['pause', 'run', 'prune', 'doctor', 'cancel']) {
        const { status, stderr } = await bench.say(command, 'victim', '--json', flag)
        assert.equal(status, 2, `${command} ${flag}: ${stderr}`)
        assert.equal(typeof JSON.parse(stderr).error.message, 'string')
      }
    }
  })

  test('no command prints the password of a store, for any error', async () => {
    writeFileSync(join(folder, 'url'), 'not a url but top-secret\n')
    const urls = [
      'postgres://me:top-secret@127.0.0.1:1/app',
      'postgres://me:top%2Dsecret@127.0.0.1:1/app?password=top-secret',
      'postgres://me:top-secret@[::1/app',
      'redis://me:top-secret@127.0.0.1:1/0',
      'rediss://:top-secret@127.0.0.1:1',
      'redis-cluster://:top-secret@127.0.0.1:1,127.0.0.1:2',
      'mysql://me:top-secret@127.0.0.1/app',
      `@${join(folder, 'url')}`,
    ]
    const withStore = await Promise.all(
      COMMANDS.map(async (entry) => ({ name: entry.name, flags: (await entry.load()).flags })),
    )
    const commands = withStore
      .filter(({ name, flags }) => 'store' in flags && !OTHERS.includes(name))
      .map(({ name }) => name)
    assert.ok(NAMED.every((name) => commands.includes(name)))
    // The library tries for five seconds to reach a server: all at once.
    const questions = commands.flatMap((command) =>
      urls.map((url, index) => ({ command, url, isJson: index % 2 === 0 })),
    )
    await Promise.all(
      questions.map(async ({ command, url, isJson }) => {
        const args = [...argsOf(command, 'x'), ...(isJson ? ['--json', '--store', url] : [])]
        const { status, stdout, stderr } = await ask(args, { CRONCE_STORE: url })
        assert.doesNotMatch(`${stdout}${stderr}`, /top.secret/, `${command} ${url}`)
        assert.notEqual(status, 0, `${command} ${url}: ${stdout}`)
      }),
    )
  })

  test('through a process: bytes that are not text, long arguments, and a reader that goes away', async () => {
    await bench.client.schedules.createMany(
      Array.from({ length: 1_000 }, (_, i) => [`many:${i}`, { job: 'good', cron: '0 3 * * *' }]),
    )
    const env = { CRONCE_STORE: bench.store }
    const bash = (script: string): Promise<Result> => start('bash', ['-c', script, process.execPath, MAIN], env)
    const [bytes, long, piped, closed] = await Promise.all([
      bash('"$0" "$1" pause "$(printf \'vic\\377tim\')"'),
      program(['pause', 'x'.repeat(120_000), '--json'], env),
      bash('set -o pipefail; "$0" "$1" list --all --json | head -c 10'),
      bash('"$0" "$1" list --all >&-'),
    ])
    assert.equal(bytes.status, 3)
    assert.match(bytes.stderr, /There is no schedule "vic�tim"/)
    assert.deepEqual([long.status, JSON.parse(long.stderr).error.code], [2, 'NAME_INVALID'])
    assert.deepEqual([piped.status, piped.stdout, piped.stderr], [0, '{"version"', ''])
    assert.doesNotMatch(closed.stderr, /^ {4}at /m, 'no stack')
  })
})
