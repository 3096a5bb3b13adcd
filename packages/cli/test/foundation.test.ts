import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { CronceError, connect, cronce as cronceApp } from 'cronce'
import { readArgs } from '../src/args.ts'
import { changeFlags, confirm, type Plan } from '../src/confirm.ts'
import { exitCodeOf } from '../src/exit-code.ts'
import { findStore, STORE_FLAGS, withoutSecrets } from '../src/open-store.ts'
import { OUTPUT_FLAGS, printList } from '../src/output.ts'
import { isPasswordCut, redactRecord, redactUrl, secretsOf } from '../src/redact.ts'
import { createLog } from '../src/service/log.ts'
import { readTime, relativeWords } from '../src/time-words.ts'
import { type Asked, ask, listener } from './cronce.ts'

describe('which store is meant', () => {
  let folder: string
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'cronce-config-'))
    mkdirSync(join(folder, 'deep/deeper'), { recursive: true })
    writeFileSync(join(folder, 'cronce.config.json'), '{ "store": "sqlite:by-config", "namespace": "shop" }')
    writeFileSync(join(folder, 'url'), 'redis://by-file\n')
  })
  after(() => rmSync(folder, { recursive: true }))
  const find = async (args: readonly string[], env: Asked['env'], cwd = folder) => {
    const { store, namespace } = await findStore(readArgs(args, STORE_FLAGS), listener({ env: env ?? {}, cwd }).io)
    return [store, namespace]
  }

  test('the flag overrides the environment, which overrides the configuration, which overrides DATABASE_URL', async () => {
    const all = { CRONCE_STORE: 'sqlite:by-env', DATABASE_URL: 'postgres://everybody', CRONCE_NAMESPACE: 'env' }
    assert.deepEqual(await find(['--store', 'sqlite:by-flag', '--namespace', 'flag'], all), ['sqlite:by-flag', 'flag'])
    assert.deepEqual(await find([], all), ['sqlite:by-env', 'env'])
    assert.deepEqual(await find([], { DATABASE_URL: 'postgres://everybody' }), ['sqlite:by-config', 'shop'])
    assert.deepEqual(await find([], {}, join(folder, 'deep/deeper')), ['sqlite:by-config', 'shop'])
    assert.deepEqual(await find([], { DATABASE_URL: 'postgres://everybody' }, '/'), ['postgres://everybody', undefined])
    await assert.rejects(find([], {}, '/'), { code: 'STORE_MISSING' })
  })

  test('without a store, commands read the cronce.db that dev made here; not in production, and never for exec', async () => {
    const here = mkdtempSync(join(tmpdir(), 'cronce-default-'))
    const say = (args: readonly string[], env: Asked['env'] = {}) => ask(args, env, { cwd: here })
    const command = ['exec', '--name', 'a', '--due', '0', '--', 'true']
    try {
      const none = await say(['list'])
      assert.deepEqual([none.status, none.stdout], [2, ''])
      assert.match(none.stderr, /No store is named, and there is no cronce\.db in .*\n.*--store/)
      await (await connect({ store: `sqlite:${join(here, 'cronce.db')}` })).close()
      const empty = await say(['list', '-o', 'name'])
      assert.match(
        empty.stderr,
        /^note: No store is named, so this is sqlite:cronce\.db in the current folder, which is empty/,
      )
      const app = cronceApp({ store: `sqlite:${join(here, 'cronce.db')}`, logger: false, signals: false })
      app.job('backup', { cron: '0 3 * * *' }, () => {})
      await app.start()
      await app.stop()
      const found = await say(['list', '-o', 'name'])
      assert.deepEqual([found.status, found.stdout, found.stderr], [0, 'backup\n', ''])
      const json = await say(['list', '--json'])
      assert.deepEqual([json.status, json.stderr], [0, ''])
      assert.equal((await say(['next', 'backup'])).status, 0)
      assert.equal((await say(['doctor', '--quiet'])).status === 2, false)
      const production = await say(['list'], { NODE_ENV: 'production' })
      assert.deepEqual([production.status, production.stdout], [2, ''])
      assert.match(production.stderr, /In production, cronce\.db .* is not used by default/)
      assert.deepEqual([(await say(command)).status, (await say(['migrate', 'status'])).status], [2, 2])
      const named = await say(['list'], { CRONCE_STORE: 'sqlite:/nowhere/else.db' })
      assert.match(named.stderr, /no file .*else\.db/)
    } finally {
      rmSync(here, { recursive: true })
    }
  })

  test('it may be kept in a variable or a file', async () => {
    assert.deepEqual(await find(['--store', 'env:OURS'], { OURS: 'redis://ours' }), ['redis://ours', 'shop'])
    assert.deepEqual(await find(['--store', '@url'], {}), ['redis://by-file', 'shop'])
    await assert.rejects(find(['--store', 'env:THEIRS'], {}), {
      code: 'USAGE',
      message: 'The variable THEIRS is not set.',
    })
    await assert.rejects(find(['--store', '@nothing'], {}), { code: 'USAGE' })
    await assert.rejects(find(['--store', '@cronce.config.json'], {}), /has no URL in it/)
  })

  test('commands that only read or change create no file', async () => {
    const file = join(folder, 'none.db')
    for (const command of [
      ['list'],
      ['runs'],
      ['pause', 'a'],
      ['fires', '--verify'],
      ['prune'],
      ['adopt'],
      ['doctor'],
    ]) {
      const { status, stderr, stdout } = await ask([...command, '--store', `sqlite:${file}`])
      assert.equal(status, 5, command.join(' '))
      assert.match(stderr + stdout, /There is no file .*none\.db/)
    }
    assert.equal(existsSync(file), false)
  })

  test('a configuration in code may contain a store object; an error in it names its place', async () => {
    const write = (name: string, text: string): string => {
      writeFileSync(join(folder, name), text)
      return join(folder, name)
    }
    const rejects = (file: string, hint: RegExp, message: RegExp) =>
      assert.rejects(find(['--config', file], {}), (error: CronceError) => {
        assert.equal(error.code, 'CONFIG_INVALID')
        assert.match(error.message, message)
        assert.match(error.hint!, hint)
        return true
      })
    const code = write('made.ts', 'const store: object = { open: () => {} }\nexport default { store }')
    const [store] = await find(['--config', code], {})
    assert.equal(typeof store, 'object')
    await rejects(write('comma.json', '{\n  "store": "a",\n}'), /comma/, /comma\.json, line 3, column 1, is not JSON/)
    await rejects(write('key.json', '{ "storee": "a" }'), /Did you mean store\?/, /There is no option "storee"/)
    await rejects(write('type.json', '{ "namespace": 5 }'), /Write a string/, /namespace .*can't be a number/)
    await rejects(write('list.json', '[]'), /Write \{ store/, /not an object/)
    await rejects(write('empty.mjs', ''), /export default/, /has no default export/)
    await rejects(write('broken.mjs', 'throw new Error("redis://me:hunter2@db")'), /node /, /redis:\/\/me:\*\*\*@db$/)
    await assert.rejects(find(['--config', 'nowhere.ts'], {}), { code: 'CONFIG_NOT_FOUND' })
  })
})

describe('secrets', () => {
  test('are not in a URL that is shown', () => {
    const shown = {
      'postgres://me:hunter2@db:5432/app': 'postgres://me:***@db:5432/app',
      'postgres://me:hunt@r:2@db/app': 'postgres://me:***@db/app',
      'postgres://me:a/b?c#d@db/app': 'postgres://me:***@db/app',
      'redis://:hunter2@cache': 'redis://:***@cache',
      'postgres://db/app?user=me&password=hunter2&sslmode=require':
        'postgres://db/app?user=me&password=***&sslmode=require',
      'rediss://h?authToken=hunter2': 'rediss://h?authToken=***',
      'sqlite:/var/lib/jobs.db': 'sqlite:/var/lib/jobs.db',
      'postgres://me@db/app': 'postgres://me@db/app',
    }
    for (const [url, expected] of Object.entries(shown)) assert.equal(redactUrl(url), expected)
  })

  test('with a bare @ or / in them make another URL, which is refused before a driver looks for that host', async () => {
    const cut = [
      'postgres://me:hunt@er2@db/app',
      'postgres://me:hunt/er2@db/app',
      'redis://:5/hunter2@cache',
      'redis://a:b?hunter2@h',
    ]
    for (const url of cut) {
      const { status, stderr } = await ask(['list', '--store', url])
      assert.equal(status, 2, url)
      assert.match(stderr, /^error: The password in the URL of the store is cut\.\nhint: Percent-encode/)
      assert.doesNotMatch(stderr, /hunt|er2/)
    }
    const whole = [
      'postgres://me:hunt%40er2@db:5432/app?application_name=me@desk',
      'postgres://db:5432/app?user=a@b',
      'redis-cluster://me:pw@h1:1,h2:2',
      'redis+unix:///run/a@b.sock',
      'postgres://[::1]:5432/app',
      'sqlite:/a:b/c@d.db',
    ]
    assert.deepEqual(whole.filter(isPasswordCut), [])
  })

  test('are in no line of a log, whichever its form, and no record that is shown', () => {
    const error = { message: 'no route to postgres://me:hunter2@db', stack: 'at "hunter2"\\' }
    for (const isJson of [true, false]) {
      const { io, said } = listener({})
      const log = createLog({ isJson, isVerbose: false, secrets: ['hunter2'] }, io)
      log.tell('error', `It failed: ${error.message}`, { error, level: 'info', message: 'mine', code: 'X' })
      assert.doesNotMatch(said().stderr, /hunter2/)
      if (!isJson) continue
      const { time, ...line } = JSON.parse(said().stderr)
      assert.deepEqual([typeof time, line.level, line.code, line.error.stack], ['string', 'error', 'X', 'at "***"\\'])
      assert.equal(line.message, 'It failed: no route to postgres://me:***@db')
    }
    const record = { log: [{ at: 1, message: 'redis://:hunter2@h' }], count: 2 }
    assert.doesNotMatch(JSON.stringify(redactRecord({ ...record, error: error.message })), /hunter2/)
    assert.deepEqual(redactRecord({ a: [1, null, true], b: 'plain' }), { a: [1, null, true], b: 'plain' })
  })

  test('are removed from messages of a driver, in encoded and decoded form', async () => {
    const secrets = secretsOf('postgres://me:hunt%40r2@db/app?sslpassword=k3y-of-mine')
    const leak = async (): Promise<never> => {
      throw new CronceError('STORE_FAILED', 'hunt@r2 is wrong', { hint: 'Not hunt%40r2, nor k3y-of-mine.' })
    }
    await assert.rejects(withoutSecrets(secrets, leak), {
      code: 'STORE_FAILED',
      message: '*** is wrong',
      hint: 'Not ***, nor ***.',
    })
  })

  test('are in no error, whether the server is down, refuses, or the URL is invalid', async () => {
    const urls = [
      'postgres://me:hunter2@127.0.0.1:1/app',
      'postgres://me:hunter2@[oops/app',
      'postgres://me:hunter%ZZ2@127.0.0.1:1/app?password=hunter2',
      'redis://me:hunter2@127.0.0.1:1/0',
      'redis://me:hunter2@127.0.0.1:port',
      'redis-cluster://me:hunter2@127.0.0.1:1',
      'mysql://me:hunter2@127.0.0.1/app',
      'me:hunter2@127.0.0.1',
    ]
    const results = await Promise.all(
      urls.flatMap((url) => [ask(['list', '--store', url]), ask(['instances', '--json', '--store', url])]),
    )
    for (const { status, stdout, stderr } of results) {
      assert.ok(status === 5 || status === 2, `${status}: ${stderr}`)
      assert.equal(stdout, '')
      assert.doesNotMatch(stderr, /hunter/)
      assert.match(stderr, /^(error: |\{"error":)/m)
    }
  })
})

describe('times that people write', () => {
  const now = Date.UTC(2027, 5, 15, 12, 30)
  const read = (text: string, tz = 'UTC'): string => new Date(readTime(text, { name: '--from', tz, now })).toISOString()

  test('are read in all their forms', () => {
    const times: Readonly<Record<string, string>> = {
      now: '2027-06-15T12:30:00.000Z',
      'now-2h': '2027-06-15T10:30:00.000Z',
      '-90m': '2027-06-15T11:00:00.000Z',
      '+1d': '2027-06-16T12:30:00.000Z',
      'in 1h': '2027-06-15T13:30:00.000Z',
      '30s ago': '2027-06-15T12:29:30.000Z',
      today: '2027-06-15T00:00:00.000Z',
      'yesterday 23:59': '2027-06-14T23:59:00.000Z',
      'tomorrow at 9:00': '2027-06-16T09:00:00.000Z',
      '2027-06-15': '2027-06-15T00:00:00.000Z',
      '2027-06-15T01:30+02:00': '2027-06-14T23:30:00.000Z',
      '1813062600000': '2027-06-15T12:30:00.000Z',
    }
    for (const [text, expected] of Object.entries(times)) assert.equal(read(text), expected, text)
    assert.equal(read('tomorrow 09:00', 'Asia/Tokyo'), '2027-06-16T00:00:00.000Z')
    assert.equal(read('today', 'America/New_York'), '2027-06-15T04:00:00.000Z')
  })

  test('invalid times are refused, a bare duration with a question', () => {
    for (const text of [
      '',
      'soon',
      '25:00',
      'tomorrow 24:00',
      '2027-13-01',
      'now+',
      '-2x',
      'ago',
      '99999999999999999',
    ]) {
      assert.throws(() => read(text), { code: 'USAGE' }, text)
    }
    assert.throws(() => read('2h'), {
      message: '--from "2h" is a duration: since then, or from now?',
      hint: 'Write -2h or +2h.',
    })
  })

  test('are printed as distances', () => {
    assert.deepEqual(
      [now, now + 999, now + 90_500, now - 3_600_000].map((at) => relativeWords(at, now)),
      ['now', 'now', 'in 1m30s', '1h ago'],
    )
  })
})

describe('asking before something dangerous', () => {
  const plan: Plan = { lines: ['3 schedules are removed.'], dangerous: true }
  const confirmed = async (given: Plan, flags: readonly string[], asked: Asked = {}) => {
    const { io, said } = listener(asked)
    const args = readArgs(flags, { ...changeFlags(null), ...OUTPUT_FLAGS })
    try {
      return [await confirm(given, args, io), said().stdout + said().stderr]
    } catch (error) {
      return [(error as CronceError).code, said().stdout + said().stderr]
    }
  }

  test('a dry run prints the plan and does not ask', async () => {
    assert.deepEqual(await confirmed(plan, ['--dry-run', '--yes']), [
      false,
      'Nothing is changed. This would be:\n  3 schedules are removed.\n',
    ])
    assert.deepEqual(await confirmed(plan, ['--dry-run', '--json']), [
      false,
      '{"version":1,"dryRun":true,"plan":["3 schedules are removed."]}\n',
    ])
  })

  test('a dangerous change needs a yes, the typed name or --yes; without a terminal it is refused', async () => {
    const removal = { ...plan, typed: 'billing' }
    assert.deepEqual(await confirmed(plan, ['--yes']), [true, ''])
    assert.deepEqual(await confirmed({ ...plan, dangerous: false }, []), [true, ''])
    assert.deepEqual(await confirmed(plan, [], { answers: ['y'] }), [true, '3 schedules are removed.\nDo it? [y/N] '])
    assert.equal((await confirmed(removal, [], { answers: ['billing'] }))[0], true)
    const refusals = [
      confirmed(plan, []),
      confirmed(plan, [], { answers: [''] }),
      confirmed(removal, [], { answers: ['yes'] }),
      confirmed(plan, ['--no-input'], { answers: ['y'] }),
    ]
    for (const [code] of await Promise.all(refusals)) assert.equal(code, 'CONFIRMATION_NEEDED')
    assert.equal(exitCodeOf(new CronceError('CONFIRMATION_NEEDED', '')), 4)
  })
})

describe('arguments and output', () => {
  test('flags may be repeated where that means something, and what follows -- is left alone', () => {
    const flags = { env: { type: 'string', repeat: true, help: '' }, name: { type: 'string', help: '' } } as const
    const args = readArgs(['--env', 'A=1', 'x', '--env=B=2', '--', '--name', '-x'], flags)
    assert.deepEqual(
      [args.texts('env'), args.positionals, args.rest],
      [
        ['A=1', 'B=2'],
        ['x', '--name', '-x'],
        ['--name', '-x'],
      ],
    )
    assert.equal(readArgs(['x'], flags).rest, null)
    assert.throws(() => readArgs(['--name', 'a', '--name', 'b'], flags), /given twice/)
  })

  test('a table gives way to the terminal where it may, counts wide characters, and shows no escapes', () => {
    const items = [
      { name: '日本', text: 'a long story about nothing in particular' },
      { name: 'b\u001b[2J', text: 'short' },
    ]
    const columns = [
      { title: 'NAME', value: ({ name }: (typeof items)[0]) => name },
      { title: 'TEXT', value: ({ text }: (typeof items)[0]) => text, shrinks: true },
      { title: 'LAST', value: () => 'x' },
    ]
    const print = (flags: readonly string[], width?: number): string => {
      const { io, said } = listener(width === undefined ? {} : { columns: width })
      printList({ items, columns, name: ({ name }) => name, empty: 'None.' }, readArgs(flags, OUTPUT_FLAGS), io)
      return said().stdout
    }
    const [head, first, second] = print([], 40).split('\n')
    assert.equal(head, 'NAME          TEXT                  LAST')
    assert.equal(first, '日本          a long story about …  x')
    assert.equal(second, 'b<U+001B>[2J  short                 x')
    assert.match(print([]), /particular {2}x\n/)
    assert.equal(print(['-o', 'name']), '日本\nb<U+001B>[2J\n')
    assert.equal(print(['--json']), `${JSON.stringify({ version: 1, items, next: null })}\n`)
    assert.throws(() => print(['--json', '-o', 'name']), /two forms/)
  })

  test('errors are JSON if JSON was asked for, in any of its ways', async () => {
    for (const flags of [['--json'], ['-o', 'json'], ['-ojson'], ['--output=json']]) {
      const { stderr, status } = await ask(['list', ...flags])
      assert.deepEqual([JSON.parse(stderr).error.code, status], ['STORE_MISSING', 2])
    }
  })

  test('exit codes follow the code of the error', () => {
    const codes = {
      USAGE: 2,
      OPTION_INVALID: 2,
      STORE_UNKNOWN: 2,
      SCHEDULE_NOT_FOUND: 3,
      SCHEDULE_BUSY: 4,
      QUEUE_FULL: 4,
      STORE_NOT_MIGRATED: 4,
      STORE_UNREACHABLE: 5,
      STORE_SILENT: 5,
      STORE_FAILED: 5,
      STORE_CONFLICT: 5,
      STORE_FULL: 5,
      STORE_CORRUPT: 1,
    }
    for (const [code, exit] of Object.entries(codes)) assert.equal(exitCodeOf({ code }), exit, code)
  })
})
