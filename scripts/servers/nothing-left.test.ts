import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, type TestContext, test } from 'node:test'
import { startPostgres, startRedis, startRedisCluster, startRedisReplica } from './index.ts'
import { descendantsOf, livingProcesses } from './process-table.ts'
import { leftSharedMemory, POSTGRES_DATA } from './shared-memory.ts'
import { waitUntil } from './wait.ts'

const START_LIMIT_MS = 60_000
const GONE_LIMIT_MS = 60_000

describe('nothing stays behind', () => {
  test('when two servers of each kind, each on its own port, are stopped', async () => {
    const servers = await Promise.all([startPostgres(), startPostgres(), startRedis(), startRedis()])
    assert.equal(new Set(servers.map((server) => server.port)).size, servers.length)
    const families = servers.flatMap(familyOf)

    await Promise.all(servers.map((server) => server.stop()))

    assert.deepEqual(stillLiving(families), [])
    assert.deepEqual(servers.map((server) => server.directory).filter(existsSync), [])
  })

  test('of a replica and of a cluster', async () => {
    const primary = await startRedis()
    const [replica, cluster] = await Promise.all([startRedisReplica(primary), startRedisCluster()])
    const servers = [primary, replica, ...cluster.nodes]
    const families = servers.flatMap(familyOf)

    await Promise.all([primary.stop(), replica.stop(), cluster.stop()])

    assert.deepEqual(stillLiving(families), [])
    assert.deepEqual(servers.map((server) => server.directory).filter(existsSync), [])
  })

  test('when the process that started them gets SIGKILL', async (t) => {
    const script = `
      const servers = await Promise.all([startPostgres(), startRedis()])
      console.log(JSON.stringify(servers.map(({ pid, directory }) => ({ pid, directory }))))
      setInterval(() => {}, 1_000)
    `
    const victim = runScript(t, script)
    const servers: readonly { pid: number; directory: string }[] = JSON.parse(await victim.firstLine)
    const families = servers.flatMap(familyOf)

    victim.process.kill('SIGKILL')

    const isGone = () => stillLiving(families).length === 0 && !servers.some(({ directory }) => existsSync(directory))
    assert.ok(await waitUntil(isGone, GONE_LIMIT_MS), `still there: ${stillLiving(families)}`)
  })

  test('when that happens in the middle of a start', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'cronce-test-'))
    t.after(() => rmSync(folder, { recursive: true }))
    chmodSync(folder, 0o755) // Else a server that does not run as root would be sent to another folder.
    const victim = runScript(t, 'await startPostgres()\nsetInterval(() => {}, 1_000)', { TMPDIR: folder })
    // This file is there while initdb has a server at work: processes, memory and half-made data to clean up.
    const hasBegun = () => globSync(join(folder, '*', POSTGRES_DATA, 'postmaster.pid')).length === 1
    assert.ok(await waitUntil(hasBegun, START_LIMIT_MS))
    const started = descendantsOf(victim.process.pid!)

    victim.process.kill('SIGKILL')

    const isGone = () => stillLiving(started).length === 0 && readdirSync(folder).length === 0
    assert.ok(await waitUntil(isGone, GONE_LIMIT_MS), `still there: ${stillLiving(started)} ${readdirSync(folder)}`)
  })

  test('when a process ends without stopping its server', async (t) => {
    const script = `
      const { pid, directory } = await startRedis()
      console.log(JSON.stringify({ pid, directory }))
    `
    const forgetful = runScript(t, script)
    const server: { pid: number; directory: string } = JSON.parse(await forgetful.firstLine)

    const isGone = () => !livingProcesses().has(server.pid) && !existsSync(server.directory)
    assert.ok(await waitUntil(isGone, GONE_LIMIT_MS))
  })

  const noTable = existsSync('/proc/sysvipc/shm') ? false : 'this system does not list its shared memory'
  test('of the shared memory of a killed PostgreSQL server', { skip: noTable }, async () => {
    const server = await startPostgres()
    await server.kill()
    const left = leftSharedMemory(server.directory)
    assert.ok(sharedMemoryIds().includes(left!), 'the kernel keeps it after the kill')

    await server.stop()

    assert.ok(!sharedMemoryIds().includes(left!))
  })
})

/** A server's process, its children, and the supervisor above it. */
function familyOf(server: { readonly pid: number }): readonly number[] {
  const supervisor = livingProcesses().get(server.pid)
  assert.ok(supervisor !== undefined, 'the server runs')
  return [supervisor, server.pid, ...descendantsOf(server.pid)]
}

function stillLiving(pids: readonly number[]): readonly number[] {
  const living = livingProcesses()
  return pids.filter((pid) => living.has(pid))
}

function sharedMemoryIds(): readonly (string | undefined)[] {
  const rows = readFileSync('/proc/sysvipc/shm', 'utf8').trim().split('\n').slice(1)
  return rows.map((row) => row.trim().split(/\s+/)[1])
}

/** A test process of its own, which can be killed. */
function runScript(t: TestContext, code: string, env: Readonly<Record<string, string>> = {}) {
  const index = JSON.stringify(new URL('index.ts', import.meta.url).href)
  const script = `import { startPostgres, startRedis } from ${index}\n${code}`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => child.kill('SIGKILL'))
  const firstLine = once(createInterface(child.stdout), 'line').then(([line]) => String(line))
  return { process: child, firstLine }
}
