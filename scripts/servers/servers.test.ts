import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { obtain, type Server, ServerError, startPostgres, startRedis } from './index.ts'
import { pickFreePorts } from './ports.ts'
import { probe } from './probe.ts'
import { descendantsOf, livingProcesses } from './process-table.ts'
import { redisPlan } from './redis.ts'
import { startServer } from './server.ts'
import { waitUntil } from './wait.ts'

let psql: string
before(async () => {
  psql = await obtain('psql')
})

describe('a PostgreSQL server', () => {
  let server: Server
  before(async () => {
    server = await startPostgres({ settings: { max_connections: '33' } })
  })
  after(() => server.stop())

  test('answers at its URL, with the settings asked for and otherwise the defaults', () => {
    assert.equal(query(server, 'show max_connections'), '33')
    assert.equal(query(server, 'show fsync'), 'on')
  })

  test('keeps its address and its data over an orderly restart', async () => {
    query(server, 'create table orderly as select 7 as kept')
    const before = server.pid

    await server.restart()

    assert.notEqual(server.pid, before)
    assert.equal(query(server, 'select kept from orderly'), '7')
  })

  test('ends with all its backends once killed, and restarts with what was committed', async (t) => {
    query(server, 'create table crashed as select 8 as kept')
    // A backend that never waits does not notice that its postmaster died: it has to be killed itself.
    const busy = spawn(psql, [server.url, '-Xqc', 'do $$ begin loop end loop; end $$'], { stdio: 'ignore' })
    t.after(() => busy.kill('SIGKILL'))
    const busyCount = `select count(*) from pg_stat_activity where state = 'active' and query like 'do %'`
    assert.ok(await waitUntil(() => query(server, busyCount) === '1', 30_000))
    const family = [server.pid, ...descendantsOf(server.pid)]

    await server.kill()
    assert.deepEqual(
      family.filter((pid) => livingProcesses().has(pid)),
      [],
    )
    assert.throws(() => query(server, 'select 1'))

    await server.restart()
    assert.equal(query(server, 'select kept from crashed'), '8')
  })

  test('accepts no TCP connection without the password of its URL', () => {
    const url = new URL(server.url)
    url.password = 'wrong'
    assert.throws(() => query({ url: url.href }, 'select 1'), /password authentication failed/)
  })
})

describe('a Redis server', () => {
  let server: Server
  before(async () => {
    server = await startRedis()
  })
  after(() => server.stop())

  test('answers at its URL', async () => {
    assert.equal(await says(server, 'PING', '+PONG'), true)
  })

  test('keeps its address and its data over a restart and over a kill', async () => {
    assert.equal(await says(server, 'SET kept 7', '+OK'), true)

    await server.restart()
    assert.equal(await says(server, 'GET kept', '$1\r\n7'), true)

    await server.kill()
    assert.equal(await says(server, 'PING', '+PONG'), false)
    await server.restart()
    assert.equal(await says(server, 'GET kept', '$1\r\n7'), true)
  })

  test('takes another port when someone is quicker to bind the one it picked', async (t) => {
    const rival = createServer().listen(0, '127.0.0.1')
    await once(rival, 'listening')
    t.after(() => rival.close())
    const address = rival.address()
    assert.ok(address !== null && typeof address === 'object')
    const picks = [[address.port], await pickFreePorts(1)]

    const late = await startServer(redisPlan({}, await obtain('redis')), async () => picks.shift()!)
    t.after(() => late.stop())

    assert.notEqual(late.port, address.port)
    assert.equal(await says(late, 'PING', '+PONG'), true)
  })

  test('includes its log in the error when it does not start', async () => {
    await assert.rejects(startRedis({ settings: { maxmemory: 'plenty' } }), (error) => {
      assert.ok(error instanceof ServerError)
      assert.equal(error.code, 'SERVER_UNREADY')
      assert.match(error.message, /argument must be a memory value/)
      return true
    })
  })
})

describe('a missing program', () => {
  test('that must not be installed throws an error with what to install', async () => {
    const locate = (program: Parameters<typeof obtain>[0]) =>
      obtain(
        program,
        async () => undefined,
        async () => false,
      )
    for (const [start, packages] of [
      [startPostgres, [/apt-get install postgresql\b/, /brew install postgresql@/, /dnf install postgresql-server/]],
      [startRedis, [/apt-get install redis-server/, /brew install redis/, /dnf install redis/]],
    ] as const) {
      await assert.rejects(start({}, locate), (error) => {
        assert.ok(error instanceof ServerError)
        assert.equal(error.code, 'PROGRAM_MISSING')
        for (const line of packages) assert.match(error.hint ?? '', line)
        return true
      })
    }
  })

  test('that may be installed is looked for again after the install', async () => {
    let isInstalled = false
    const find = async () => (isInstalled ? '/usr/bin/redis-server' : undefined)
    const install = async () => {
      isInstalled = true
      return true
    }
    assert.equal(await obtain('redis', find, install), '/usr/bin/redis-server')
  })
})

function query(server: { readonly url: string }, sql: string): string {
  return execFileSync(psql, [server.url, '-XAtqc', sql], { encoding: 'utf8', timeout: 120_000, stdio: 'pipe' }).trim()
}

function says(server: Server, command: string, answer: string): Promise<boolean> {
  const expected = `${answer}\r\n`
  return probe({ host: '127.0.0.1', port: server.port }, `${command}\r\n`, (reply) =>
    reply.length < expected.length ? undefined : reply.toString() === expected,
  )
}
