import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { migrator } from 'cronce/postgres'
import pg from 'pg'
import { redisCommand, startPgbouncer, startPostgres, startRedis } from '../../../scripts/servers/index.ts'
import type { Finding } from '../src/doctor/finding.ts'
import { ask, cronce as program, type Result } from './cronce.ts'
import { benchOn, fleetOn, scratch, until } from './steer-kit.ts'

/** What is not in order, but for what depends on the Node.js that runs the tests. */
function levels({ stdout }: Result): string[] {
  const { findings } = JSON.parse(stdout) as { findings: readonly Finding[] }
  const ours = findings.filter(({ check, level }) => level !== 'ok' && check !== 'node' && check !== 'zone-data')
  return ours.map(({ check, level }) => `${check} ${level}`)
}

function doctor(store: string): Promise<Result> {
  return ask(['doctor', '--json'], { CRONCE_STORE: store }, { now: Date.now() })
}

const MOST_TRIES = 12

/**
 * The server is up, but on a busy machine connecting may take longer than the call deadline of five seconds: ask again.
 */
async function doctorOf(server: string): Promise<Result> {
  for (let tries = 1; ; tries++) {
    const said = await doctor(server)
    if (!levels(said).includes('store fail') || tries === MOST_TRIES) return said
  }
}

describe('cronce doctor', { concurrency: 4 }, () => {
  test('a healthy store on SQLite, by the program itself; then a schedule that no instance can run', async (context) => {
    const folder = scratch()
    context.after(() => rmSync(folder, { recursive: true, force: true }))
    const store = `sqlite:${join(folder, 'doctor.db')}`
    await using app = fleetOn(store)
    await app.start()
    const bench = await benchOn(store)
    try {
      const healthy = await program(['doctor'], { CRONCE_STORE: store })
      assert.equal(healthy.status, 0, healthy.stdout)
      assert.match(healthy.stdout, /^\w+ +node +Node\.js \d+\.\d+\.\d+/)
      assert.match(healthy.stdout, /\nok {4}instances +1 instance is live, with 0 runs\.\n/)
      assert.match(healthy.stderr, /in order, \d+ to know, \d+ warnings?, 0 failures\.\n$/)
      const before = await bench.client.schedules.list()
      await bench.client.schedules.create('orphan', { job: 'gone', cron: '0 3 * * *' })
      const sick = await bench.say('doctor', '--json')
      assert.deepEqual([sick.status, levels(sick)], [1, ['orphans fail', 'timeouts note']])
      assert.equal(JSON.parse(sick.stdout).healthy, false)
      const quiet = await bench.say('doctor', '-q')
      assert.match(
        quiet.stdout,
        /(?:^|\n)fail {2}orphans {3}1 active schedule has a job that no live instance can run: orphan \(job gone\)\. Start /,
      )
      assert.doesNotMatch(quiet.stdout, /^ok/m)
      assert.equal((await bench.client.schedules.list()).items.length, before.items.length + 1, 'it changes nothing')
    } finally {
      await bench.client.close()
    }
  })

  test('an instance that was stopped by a signal is silent', async (context) => {
    const folder = scratch()
    context.after(() => rmSync(folder, { recursive: true, force: true }))
    const store = `sqlite:${join(folder, 'silent.db')}`
    const code = `import { cronce } from 'cronce'
const app = cronce({ store: process.argv[1], lease: '1s', app: 'shop' })
await app.job('nightly', '0 3 * * *', () => {}).start()
console.log(app.instance)`
    const child = spawn(process.execPath, ['--input-type=module', '-e', code, store], {
      cwd: fileURLToPath(new URL('..', import.meta.url)),
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const ended = once(child, 'exit')
    try {
      const [id] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string]
      const bench = await benchOn(store)
      try {
        child.kill('SIGSTOP')
        await until(async () => (await bench.client.instances.list()).some(({ state }) => state === 'silent'))
        const { status, stdout } = await bench.say('doctor')
        assert.equal(status, 0, 'nothing is overdue yet')
        assert.match(stdout, new RegExp(`\nwarn {2}silent +1 instance is silent: ${id.trim()} on `))
        assert.match(stdout, /\nwarn {2}instances +No instance is live/)
        assert.equal((await bench.say('doctor', '--strict')).status, 1)
      } finally {
        await bench.client.close()
      }
    } finally {
      child.kill('SIGKILL')
      await ended
    }
  })

  test('PostgreSQL: tables, rights, settings, a pooler, and a server that is down', async () => {
    await using server = await startPostgres({ settings: { fsync: 'off' } })
    const bare = await doctorOf(server.url)
    assert.deepEqual([bare.status, levels(bare)], [1, ['schema fail']])
    assert.match(bare.stdout, /cronce migrate up/)
    const migrating = migrator(server.url)
    await migrating.up()
    await migrating.close()
    const client = new pg.Client(server.url)
    await client.connect()
    try {
      await client.query("create role reader login password 'reader-secret'; grant usage on schema cronce to reader")
    } finally {
      await client.end()
    }
    await using pooler = await startPgbouncer({ upstream: server })
    const reader = new URL(server.url)
    reader.username = 'reader'
    reader.password = 'reader-secret'
    const [unsafe, forbidden, pooled] = await Promise.all([
      doctorOf(server.url),
      doctorOf(reader.href),
      doctorOf(pooler.url),
    ])
    assert.deepEqual([unsafe.status, levels(unsafe)], [0, ['settings warn', 'instances note']])
    assert.match(unsafe.stdout, /fsync is off\..*STORE_SETTING_UNSAFE/)
    assert.match(
      unsafe.stdout,
      /"check":"schema","level":"ok","message":"Schema \\"cronce\\" is up to date, at migration 1\."/,
    )
    assert.deepEqual([forbidden.status, levels(forbidden)], [5, ['privileges fail']])
    assert.deepEqual(levels(pooled), ['settings warn', 'settings warn', 'instances note'])
    assert.match(pooled.stdout, /STORE_POOLED/)
    await server.stop()
    const down = await doctor(server.url)
    assert.deepEqual([down.status, levels(down)], [5, ['store fail']])
    const secret = new URL(server.url).password
    for (const { stdout, stderr } of [bare, unsafe, forbidden, pooled, down]) {
      assert.ok(!`${stdout}${stderr}`.includes(secret) && !`${stdout}${stderr}`.includes('reader-secret'))
    }
  })

  test('Redis: what it may lose, and a password that is not printed', async () => {
    await using server = await startRedis({ appendonly: false })
    await redisCommand(server, 'CONFIG', 'SET', 'maxmemory', '1gb')
    await redisCommand(server, 'CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru')
    const lossy = await doctorOf(server.url)
    assert.deepEqual([lossy.status, levels(lossy)], [0, ['settings warn', 'settings warn', 'instances note']])
    assert.match(lossy.stdout, /STORE_EVICTS[\s\S]*STORE_NOT_DURABLE/)
    await redisCommand(server, 'CONFIG', 'SET', 'requirepass', 'right-secret')
    const wrong = await ask(
      ['doctor'],
      { CRONCE_STORE: server.url.replace('//', '//:wrong-secret@') },
      { now: Date.now() },
    )
    assert.equal(wrong.status, 5)
    assert.doesNotMatch(`${wrong.stdout}${wrong.stderr}`, /wrong-secret/)
    assert.match(wrong.stdout, /\nfail {2}(store|privileges) /)
  })

  test('the checked things must exist', async (context) => {
    const folder = scratch()
    context.after(() => rmSync(folder, { recursive: true, force: true }))
    const missing = await ask(['doctor', '--store', `sqlite:${join(folder, 'typo.db')}`])
    assert.equal(missing.status, 5)
    assert.match(missing.stdout, /\nfail {2}store +There is no file .*typo\.db/)
    assert.equal((await ask(['doctor', '--store', 'memory:'])).status, 2)
    assert.equal((await ask(['doctor', '--store', 'mysql://me:secret@db'])).status, 2)
    assert.equal((await ask(['doctor'])).status, 2)
    assert.equal((await ask(['doctor', 'nightly', '--store', 'memory:'])).status, 2)
  })
})
