import assert from 'node:assert/strict'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Connection, connect } from 'cronce'
import { Fleet } from '../../cronce/test/migrate/fleet.ts'
import { compile, ROOT, scratchFolder } from './kit.ts'

const SECOND_MS = 1_000
const LIMIT_MS = 120_000
/** From the start of release one to the cut-over: its processes must be up, and the previous release gone. */
const ROLLOUT_MS = [12_000, 24_000, 48_000]

const scratch = scratchFolder()
const fleets: Fleet[] = []
after(() => {
  for (const fleet of fleets) fleet.kill()
  scratch.remove()
})

const guide = readFileSync(join(ROOT, 'docs/migrate/nestjs-schedule.md'), 'utf8')
const store = `sqlite:${join(scratch.path, 'guide.db')}`

/** The program as it stands, but every second rather than every night. */
function programOf(kind: string): string {
  const [, code] = new RegExp(`^\`\`\`ts ${kind}\n([\\s\\S]*?)^\`\`\``, 'm').exec(guide)!
  return compile(code!.replaceAll("'0 3 * * *'", "'* * * * * *'"))
}

function start(name: string, kind: string, more: Readonly<Record<string, string>> = {}): Fleet {
  const home = join(scratch.path, name)
  mkdirSync(home)
  const fleet = new Fleet(programOf(kind), home, { DATABASE_URL: store, CRONCE_APP: 'guide', NO_COLOR: '1', ...more })
  fleets.push(fleet)
  return fleet
}

/** Between two slots: a process that is ended then is not in the middle of one. */
async function betweenSlots(): Promise<void> {
  await sleep((1.5 * SECOND_MS - (Date.now() % SECOND_MS)) % SECOND_MS)
}

/** Release one beside the previous release. Returns the cut-over, which came after all of its processes were up. */
async function rollOut(client: Connection): Promise<{ readonly fleet: Fleet; readonly cutover: number }> {
  for (const [attempt, rolloutMs] of ROLLOUT_MS.entries()) {
    const cutover = Math.ceil((Date.now() + rolloutMs) / SECOND_MS) * SECOND_MS + SECOND_MS / 2
    const fleet = start(`one-${attempt}`, 'switch', { CUTOVER: new Date(cutover).toISOString() })
    while (Date.now() < cutover - 2 * SECOND_MS) {
      const live = (await client.instances.list()).filter(({ state }) => state === 'live').map(({ pid }) => pid)
      if (fleet.pids.every((pid) => live.includes(pid))) return { fleet, cutover }
      await sleep(50)
    }
    await fleet.stop()
  }
  throw new Error('the processes of release one did not start in time')
}

test('@nestjs/schedule to @cronce/nestjs: from the cut-over on no slot twice, and none lost', {
  timeout: 4 * LIMIT_MS,
}, async (context) => {
  const client = await connect({ store, logger: false })
  context.after(() => client.close())
  const previous = start('previous', 'before')
  await previous.until((slots) => slots.length >= 4, LIMIT_MS)
  const { fleet: one, cutover } = await rollOut(client)
  await betweenSlots()
  assert.deepEqual(await previous.stop(), ['SIGTERM', 'SIGTERM'], previous.output)
  assert.ok(Date.now() < cutover, 'the previous release was gone by the cut-over')

  await one.until((slots) => slots.filter((slot) => slot > cutover).length >= 3, LIMIT_MS)
  const two = start('two', 'after')
  await two.until((slots) => slots.length >= 1, LIMIT_MS)
  await betweenSlots()
  assert.deepEqual(await one.stop(), ['SIGTERM', 'SIGTERM'], one.output)
  const from = two.slots.length
  await two.until((slots) => slots.length >= from + 3, LIMIT_MS)
  assert.deepEqual(await two.stop(), ['SIGTERM', 'SIGTERM'], two.output)

  const known: number[] = []
  const succeeded: number[] = []
  for await (const { dueAt, range, state } of client.fires.all({ schedule: 'Reports.report' })) {
    known.push(...Array.from({ length: range?.count ?? 1 }, (_, index) => dueAt + index * SECOND_MS))
    if (state === 'succeeded') succeeded.push(dueAt)
  }
  const ascending = (a: number, b: number): number => a - b
  const output = fleets.map((fleet) => fleet.output).join('\n')
  const first = Math.ceil(cutover / SECOND_MS) * SECOND_MS
  const due = Array.from({ length: known.length }, (_, index) => first + index * SECOND_MS)
  assert.deepEqual(known.toSorted(ascending), due, `every slot from the cut-over on is on record once\n${output}`)
  const printed = fleets.flatMap(({ slots }) => slots).filter((slot) => slot > cutover)
  assert.deepEqual(
    printed.toSorted(ascending),
    succeeded.toSorted(ascending),
    `each fire ran once, and the old decorator ran nothing\n${output}`,
  )
  const before = previous.slots.map((slot) => Math.floor(slot / SECOND_MS))
  assert.ok(new Set(before).size < before.length, 'before, every process ran every slot')
})
