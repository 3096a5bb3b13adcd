import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Server, startRedis } from '../../../scripts/servers/index.ts'
import { type Connection, connect, type FireView } from '../../cronce/src/index.ts'
import { Fleet } from '../../cronce/test/migrate/fleet.ts'
import { programsOf } from '../../cronce/test/migrate/guide.ts'
import { until } from './kit.ts'

const ROOT = join(import.meta.dirname, '../../..')
const SECOND_MS = 1_000
const LIMIT_MS = 120_000
/** From the start of release one to the cut-over: its processes must be up, and the previous release gone. */
const ROLLOUT_MS = [12_000, 24_000, 48_000]

let server: Server
let client: Connection
const fleets: Fleet[] = []
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'cronce-guide-')))
symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
before(async () => {
  server = await startRedis()
  client = await connect({ store: server.url, logger: false })
})
after(async () => {
  for (const fleet of fleets) fleet.kill()
  await client.close()
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
})

const guide = readFileSync(join(ROOT, 'docs/migrate/bullmq.md'), 'utf8')
const [old] = programsOf(guide, 'before')
const [, releaseOne] = programsOf(guide, 'switch')
const [, releaseTwo] = programsOf(guide, 'after')

function start(name: string, program: string, more: Readonly<Record<string, string>> = {}): Fleet {
  const home = join(folder, name)
  mkdirSync(home)
  const fleet = new Fleet(program, home, { REDIS_URL: server.url, CRONCE_APP: 'guide', ...more })
  fleets.push(fleet)
  return fleet
}

/** Between two slots: a process that is ended then is not in the middle of one. */
async function betweenSlots(): Promise<void> {
  await sleep((1.5 * SECOND_MS - (Date.now() % SECOND_MS)) % SECOND_MS)
}

function printed(): readonly number[] {
  return fleets.flatMap(({ slots }) => slots).toSorted((a, b) => a - b)
}

/** Release one beside the previous release. Returns the cut-over, which came after all of its processes were up. */
async function rollOut(): Promise<{ readonly fleet: Fleet; readonly cutover: number }> {
  for (const [attempt, rolloutMs] of ROLLOUT_MS.entries()) {
    const cutover = Math.ceil((Date.now() + rolloutMs) / SECOND_MS) * SECOND_MS + SECOND_MS / 2
    const fleet = start(`one-${attempt}`, releaseOne!, { CUTOVER: new Date(cutover).toISOString() })
    while (Date.now() < cutover - 2 * SECOND_MS) {
      const live = (await client.instances.list()).filter(({ state }) => state === 'live').map(({ pid }) => pid)
      if (fleet.pids.every((pid) => live.includes(pid))) return { fleet, cutover }
      await sleep(50)
    }
    await fleet.stop()
  }
  throw new Error('the processes of release one did not start in time')
}

test('BullMQ job schedulers to cronce with the workers kept: from the cut-over on no slot twice, and none lost', {
  timeout: 4 * LIMIT_MS,
}, async () => {
  const previous = start(
    'previous',
    old!
      .replaceAll('maintenance', 'reports')
      .replaceAll("'cleanup'", "'report'")
      .replace("'redis://localhost'", JSON.stringify(server.url)),
  )
  await previous.until((slots) => slots.length >= 2, LIMIT_MS)
  const { fleet: one, cutover } = await rollOut()
  await betweenSlots()
  assert.deepEqual(await previous.stop(), ['SIGTERM', 'SIGTERM'], previous.output)
  assert.ok(Date.now() < cutover, 'the previous release was gone by the cut-over')

  const isBeyond = (slot: number): boolean => slot > cutover
  await one.until((slots) => slots.filter(isBeyond).length >= 3, LIMIT_MS)
  const two = start('two', releaseTwo!)
  await two.until((slots) => slots.length >= 1, LIMIT_MS)
  await betweenSlots()
  assert.deepEqual(await one.stop(), ['SIGTERM', 'SIGTERM'], one.output)
  const from = two.slots.length
  await two.until((slots) => slots.length >= from + 3, LIMIT_MS)

  const last = two.slots.at(-1)!
  const fires: FireView[] = []
  for await (const fire of client.fires.all({ schedule: 'report', to: new Date(last + 1) })) fires.push(fire)
  const succeeded = fires.filter(({ state }) => state === 'succeeded').map(({ dueAt }) => dueAt)
  await until('all that was enqueued is executed', () => succeeded.every((slot) => printed().includes(slot)))

  const output = fleets.map((fleet) => fleet.output).join('\n')
  assert.ok(Math.min(...fires.map(({ dueAt }) => dueAt)) > cutover, `none of cronce before the cut-over\n${output}`)
  // Before, BullMQ itself may run a slot twice when several processes start.
  const since = printed().filter((slot) => slot > cutover && slot <= last)
  assert.deepEqual(
    since,
    succeeded.toSorted((one, other) => one - other),
    `from the cut-over on, each fire that cronce enqueued is executed once, and nothing else\n${output}`,
  )
  // A busy machine may be late for some, which are on record then.
  const known = fires.flatMap(({ dueAt, range }) =>
    Array.from({ length: range?.count ?? 1 }, (_, index) => dueAt + index * SECOND_MS),
  )
  const first = Math.ceil(cutover / SECOND_MS) * SECOND_MS
  const due = Array.from({ length: (last - first) / SECOND_MS + 1 }, (_, index) => first + index * SECOND_MS)
  assert.deepEqual(
    known.toSorted((a, b) => a - b),
    due,
    'every slot from the cut-over on is on record once',
  )
})
