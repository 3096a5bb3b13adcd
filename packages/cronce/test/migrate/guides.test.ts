import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Server, startPostgres, startRedis } from '../../../../scripts/servers/index.ts'
import { type Connection, connect } from '../../src/index.ts'
import { migrator } from '../../src/postgres.ts'
import { Fleet } from './fleet.ts'
import { type Guide, readGuides } from './guide.ts'

/** The cut-over must not come before all processes have started. A busy machine is given more time. */
const START_MS = [6_000, 12_000, 24_000]
const LONGEST_MS = 120_000
/** Programs with two processes each. */
const AT_A_TIME = 4
const SECOND_MS = 1_000
const LOOK_MS = 100
const ENOUGH = 3
const ROOT = join(import.meta.dirname, '../../../..')

/** All of them are compiled with the documentation. These are run each time, without a PostgreSQL; the others take minutes. */
const { CRONCE_LONG } = process.env
const isLong = CRONCE_LONG === '1'
const FEW = ['node-cron, program 1', 'redis-lock, program 1']

const guides = readGuides()
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'cronce-guides-')))
symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
const fleets: Fleet[] = []
const servers: Server[] = []
const clients: Connection[] = []
/** What was run during the switch, by program. */
const switched = new Map<string, readonly number[]>()
let environment: Readonly<Record<string, string>> = {}

before(async () => {
  const redis = await startRedis()
  servers.push(redis)
  environment = { REDIS_URL: redis.url }
  if (!isLong) return
  const postgres = await startPostgres()
  servers.push(postgres)
  const store = migrator(postgres.url)
  await store.up()
  await store.close()
  environment = { ...environment, DATABASE_URL: postgres.url }
})
after(async () => {
  for (const fleet of fleets) fleet.kill()
  await Promise.all(clients.map((client) => client.close()))
  await Promise.all(servers.map((server) => server.stop()))
  rmSync(folder, { recursive: true, force: true })
})

test('every guide has a program for afterwards', () => {
  const names = guides.filter(({ after }) => after.length > 0).map(({ name }) => name)
  assert.deepEqual(names.sort(), [
    ...['advisory-locks', 'agenda', 'bullmq', 'graphile-worker', 'kubernetes', 'node-cron', 'pg-boss', 'redis-lock'],
  ])
})

describe('the switch: in a release that has both, every slot from the cut-over on runs once, the first one included', {
  concurrency: AT_A_TIME,
}, () => {
  for (const guide of guides) {
    for (const [index, program] of guide.switches.entries()) {
      const name = `${guide.name}, program ${index + 1}`
      if (!isLong && !FEW.includes(name)) continue
      test(name, { timeout: LONGEST_MS }, async () => {
        const { fleet, cutover } = await startBefore(guide, index)
        await fleet.until((slots) => slots.filter((slot) => slot > cutover).length >= ENOUGH, LONGEST_MS)
        assert.deepEqual(await fleet.stop(), ['SIGTERM', 'SIGTERM'], fleet.output)

        const since = fleet.slots.filter((slot) => slot > cutover)
        assert.deepEqual(since, [...new Set(since)], fleet.output)
        assert.ok(since[0]! <= cutover + 500 + latestMs(program), fleet.output)
        // As it always was: by both processes at most. A third one would be the job, before its time.
        const times = Object.values(Object.groupBy(fleet.slots, String)).map((same) => same!.length)
        assert.ok(Math.max(...times) <= 2, fleet.output)
        assert.ok(fleet.slots[0]! < cutover, 'the old scheduler has run some')
        switched.set(name, since)
      })
    }
  }
})

describe('afterwards: with two processes every slot runs once, also those of the switch', {
  concurrency: AT_A_TIME,
}, () => {
  for (const guide of guides) {
    for (const [index, program] of guide.after.entries()) {
      const name = `${guide.name}, program ${index + 1}`
      if (!isLong && !FEW.includes(name)) continue
      test(name, { timeout: LONGEST_MS }, async () => {
        const fleet = start(program, guide.name, index, {})
        await fleet.until((slots) => slots.length >= ENOUGH, LONGEST_MS)
        assert.deepEqual(await fleet.stop(), ['SIGTERM', 'SIGTERM'], fleet.output)

        const all = [...(switched.get(name) ?? []), ...fleet.slots]
        assert.deepEqual(all, [...new Set(all)], fleet.output)
      })
    }
  }
})

/** What node-cron's timer is more than a second late for it never runs, and a busy machine is; a job comes to it. */
function latestMs(program: string): number {
  return program.includes('app.job(') ? 0 : 5 * SECOND_MS
}

/** Release one, on all of its processes, before its configured cut-over. */
async function startBefore(
  { name, store, switches }: Guide,
  index: number,
): Promise<{ readonly fleet: Fleet; readonly cutover: number }> {
  const at = environment[store] ?? `sqlite:${join(homeOf(name, index), 'cronce.db')}`
  const client = await connect({ store: at, logger: false })
  clients.push(client)
  for (const startMs of START_MS) {
    const cutover = Math.ceil((Date.now() + startMs) / SECOND_MS) * SECOND_MS + 500
    const fleet = start(switches[index]!, name, index, { CUTOVER: new Date(cutover).toISOString() })
    while (Date.now() < cutover - SECOND_MS) {
      const live = (await client.instances.list()).filter(({ state }) => state === 'live').map(({ pid }) => pid)
      if (fleet.pids.every((pid) => live.includes(pid))) return { fleet, cutover }
      await sleep(LOOK_MS)
    }
    await fleet.stop()
  }
  throw new Error('the processes did not start in time')
}

function start(program: string, guide: string, index: number, more: Readonly<Record<string, string>>): Fleet {
  const fleet = new Fleet(program, homeOf(guide, index), {
    ...environment,
    CRONCE_APP: `guide-${guide}-${index}`,
    ...more,
  })
  fleets.push(fleet)
  return fleet
}

/** A folder for each way, so that its store, if that is a file, is its own. */
function homeOf(guide: string, index: number): string {
  const home = join(folder, guide, String(index))
  mkdirSync(home, { recursive: true })
  return home
}
