import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { startPostgres } from '../../../scripts/servers/index.ts'
import { ask } from './cronce.ts'
import { scratch } from './fixtures/service/running.ts'

/** Mistakes about the store on the command line: each error names its fix, and where the URL is from. */
const CASES: readonly (readonly [args: readonly string[], env: Record<string, string>, told: RegExp])[] = [
  [['list'], { DATABASE_URL: 'mysql://me:secret@db/app' }, /no store for mysql:.* The store is from DATABASE_URL\./],
  [['list'], { CRONCE_STORE: 'mysql://me:secret@db/app' }, /The store is from CRONCE_STORE\./],
  [
    ['list'],
    { DATABASE_URL: '"postgres://me:secret@db/app"' },
    /has a quote in front\. The store is from DATABASE_URL\.\nhint: Remove/,
  ],
  [['migrate', 'up'], { DATABASE_URL: "'postgres://me:secret@db/app'" }, /has a quote in front\. The store is from/],
  [['list', '--store', '$' + '{DATABASE_URL}'], {}, /the name of a variable\.\nhint: .*--store env:DATABASE_URL/],
  [
    ['list'],
    { DATABASE_URL: 'postgres:127.0.0.1/x' },
    /no \/\/ after its scheme.*DATABASE_URL\.\nhint: Write postgres:\/\/USER@HOST/,
  ],
  [
    ['list', '--store', 'postgres://me:secret@127.0.0.1:99999/x'],
    {},
    /127\.0\.0\.1:99999\/x is not a valid URL\.\nhint: Check the port/,
  ],
  [['migrate', 'up', '--store', 'redis://x'], {}, /A redis store needs no command/],
  [['list', '--store', 'postgres://127.0.0.1:1/x'], {}, /can't be reached: (?!.*The store is from)/],
]

test(`each of ${CASES.length} mistakes about a store is reported with its fix and its origin`, async () => {
  for (const [args, env, told] of CASES) {
    const { status, stderr } = await ask([...args], env)
    assert.notEqual(status, 0)
    assert.match(stderr, told, `${args.join(' ')} ${JSON.stringify(env)}`)
    assert.doesNotMatch(stderr, /secret/)
  }
})

test('doctor reports where the URL of an unreachable store comes from', async () => {
  const { stdout } = await ask(['doctor', '--json'], { DATABASE_URL: 'postgres://127.0.0.1:1/x' })
  assert.match(stdout, /can't be reached: .*The store is from DATABASE_URL\. \(STORE_UNREACHABLE\)/)
})

test('start does not wait for a database that does not exist', async (context) => {
  const server = await startPostgres({ settings: { fsync: 'off' } })
  context.after(() => server.stop())
  const file = join(scratch(context), 'jobs.json')
  writeFileSync(file, '{ "a": { "every": "1h", "command": ["true"] } }')
  const url = new URL(server.url)
  url.pathname = '/nope'
  const { status, stderr } = await ask(['start', file], { DATABASE_URL: url.href })
  assert.equal(status, 4)
  assert.match(stderr, /"nope" does not exist\. The store is from DATABASE_URL\.\nhint: Create it/)
})
