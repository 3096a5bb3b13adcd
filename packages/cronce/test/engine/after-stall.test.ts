import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFleet, type Fleet, NEW_YEAR } from './fleet.ts'

const SECOND = 1_000

/** How many due times of the schedule ended with each reason, ranges included. */
async function countReasons(fleet: Fleet, schedule = 'tick'): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const { reason, range } of (await fleet.operator.fires.list({ schedule, limit: 1_000 })).items)
    counts[reason ?? 'open'] = (counts[reason ?? 'open'] ?? 0) + (range?.count ?? 1)
  return counts
}

async function countOf(fleet: Fleet, reason: string): Promise<number> {
  return (await countReasons(fleet))[reason] ?? 0
}

/** Reasons of due times that have ended and were not run. */
async function otherReasons(fleet: Fleet): Promise<string[]> {
  return Object.keys(await countReasons(fleet)).filter((reason) => reason !== 'completed' && reason !== 'open')
}

function startedDueTimes(fleet: Fleet, schedule = 'tick'): number[] {
  return fleet.handled.filter((handled) => handled.schedule === schedule).map(({ dueAt }) => dueAt)
}

function everySecond(from: number, to: number): number[] {
  return Array.from({ length: (to - from) / SECOND + 1 }, (_, index) => NEW_YEAR + from + index * SECOND)
}

/** All instances are paused for this long, from half a second after the tenth due time. */
async function stall(fleet: Fleet, ms: number): Promise<void> {
  await fleet.advance(10_500)
  for (const member of fleet.members) member.pause()
  await fleet.advance(ms)
  for (const member of fleet.members) member.resume()
}

for (const probes of [false, true]) {
  test(`${probes ? 'with' : 'without'} claims ahead: after a stall all due times run in order, and no later one is skipped`, async () => {
    // Each write takes long enough that catching up takes longer than the time between two due times.
    const fleet = await createFleet({ probes, latency: () => ({ requestMs: 90, answerMs: 90 }) })
    await fleet.addMany(3, (app) => app.job('tick', { every: '1s' }, () => {}))
    await stall(fleet, 3_600)
    await fleet.advance('20s')
    const started = startedDueTimes(fleet)
    assert.deepEqual(
      started.filter((dueAt) => dueAt >= NEW_YEAR + 5 * SECOND && dueAt <= NEW_YEAR + 30 * SECOND),
      everySecond(5 * SECOND, 30 * SECOND),
    )
    assert.deepEqual(await otherReasons(fleet), [])
    fleet.end()
  })
}

test('after a stall longer than the grace, late due times are superseded, and no later one is skipped', async () => {
  const fleet = await createFleet({ probes: true, latency: () => ({ requestMs: 90, answerMs: 90 }) })
  await fleet.addMany(3, (app) => app.job('tick', { every: '1s' }, () => {}))
  await stall(fleet, 13_000)
  await fleet.advance('60s')
  const superseded = await countOf(fleet, 'superseded')
  assert.deepEqual(await otherReasons(fleet), ['superseded'])
  const started = startedDueTimes(fleet)
  const due = everySecond(started[0]! - NEW_YEAR, started.at(-1)! - NEW_YEAR)
  assert.ok(started.includes(NEW_YEAR + 80 * SECOND), 'it has caught up')
  assert.deepEqual(started, [...new Set(started)].toSorted(), 'each once, in order')
  assert.deepEqual(started.slice(-50), due.slice(-50), 'after the late ones, all of them')
  assert.equal(started.length + superseded, due.length, 'every due time is on record')
  fleet.end()
})

test('no due time is skipped because of a run whose handler has returned and whose settlement is under way', async () => {
  for (const members of [1, 2]) {
    const fleet = await createFleet({ probes: true })
    await fleet.addMany(members, (app) => app.job('tick', { every: '1s' }, () => {}))
    await fleet.advance('5500ms')
    const ends = fleet.members.map(({ link }) =>
      link.disturb(({ name }) => (name === 'apply' ? { kind: 'slow', requestMs: 1_600 } : null)),
    )
    await fleet.advance('1s')
    for (const end of ends) end()
    await fleet.advance('10s')
    assert.deepEqual(startedDueTimes(fleet).slice(-12), everySecond(5 * SECOND, 16 * SECOND), `${members} members`)
    assert.deepEqual(await otherReasons(fleet), [], `${members} members`)
    fleet.end()
  }
})

test('no due time is skipped because of a run that was claimed and had not started', async () => {
  for (const handlerMs of [0, 300]) {
    const fleet = await createFleet()
    const only = await fleet.add((app, { clock }) =>
      app.job('tick', { every: '1s' }, ({ fire }) =>
        handlerMs > 0 && fire.dueAt === NEW_YEAR + 6 * SECOND ? clock.sleep(handlerMs) : undefined,
      ),
    )
    await fleet.advance('5500ms')
    only.at('run:starting', () => fleet.world.after(1_600))
    await fleet.advance('10s')
    assert.deepEqual(startedDueTimes(fleet).slice(-11), everySecond(5 * SECOND, 15 * SECOND), `${handlerMs} ms`)
    assert.deepEqual(await otherReasons(fleet), [], `${handlerMs} ms`)
    fleet.end()
  }
})

/**
 * All instances are paused for 3.5 seconds from between the claim of the tenth due time and its start, its holder for
 * longer.
 */
async function stallBeforeStart(fleet: Fleet, holderMs = 0): Promise<void> {
  await fleet.advance(9_900)
  const [run] = (await fleet.operator.runs.list({ schedule: 'tick', from: NEW_YEAR + 10 * SECOND })).items
  const holder = fleet.members.find(({ name }) => run?.instance?.startsWith(`${name}.`))
  assert.ok(holder !== undefined, 'the tenth due time is claimed')
  for (const member of fleet.members) member.pause()
  await fleet.advance(3_500)
  for (const member of fleet.members) if (member !== holder) member.resume()
  await fleet.world.advance(holderMs)
  holder.resume()
}

test('a stall between a claim ahead and its start skips no due time', async () => {
  const cases = [
    { members: 1, handlerMs: 0, holderMs: 0 },
    { members: 1, handlerMs: 5, holderMs: 0 },
    { members: 3, handlerMs: 5, holderMs: 0 },
    { members: 3, handlerMs: 80, holderMs: 0 },
    // Its peers look at the schedule before its holder can report that the run has not started.
    { members: 2, handlerMs: 5, holderMs: 500 },
    { members: 3, handlerMs: 5, holderMs: 500 },
  ]
  for (const { members, handlerMs, holderMs } of cases) {
    const fleet = await createFleet({ probes: true, latency: () => ({ requestMs: 5, answerMs: 5 }) })
    await fleet.addMany(members, (app, { clock }) =>
      app.job('tick', { every: '1s' }, () => (handlerMs === 0 ? undefined : clock.sleep(handlerMs))),
    )
    await stallBeforeStart(fleet, holderMs)
    await fleet.advance('20s')
    const what = `${members} members, a handler of ${handlerMs} ms, ${holderMs} ms more`
    assert.deepEqual(await otherReasons(fleet), [], what)
    assert.deepEqual(
      startedDueTimes(fleet).filter((dueAt) => dueAt >= NEW_YEAR + 5 * SECOND && dueAt <= NEW_YEAR + 25 * SECOND),
      everySecond(5 * SECOND, 25 * SECOND),
      what,
    )
    fleet.end()
  }
})

test('due times of a stall between a claim ahead and its start wait for that run, also if it executes for long', async () => {
  const fleet = await createFleet({ probes: true })
  await fleet.add((app, { clock }) =>
    app.job('tick', { every: '1s' }, ({ fire }) => clock.sleep(fire.dueAt === NEW_YEAR + 10 * SECOND ? 2_500 : 5)),
  )
  await stallBeforeStart(fleet)
  await fleet.advance('20s')
  assert.deepEqual(
    startedDueTimes(fleet).filter((dueAt) => dueAt >= NEW_YEAR + 10 * SECOND && dueAt <= NEW_YEAR + 25 * SECOND),
    [...everySecond(10 * SECOND, 13 * SECOND), ...everySecond(16 * SECOND, 25 * SECOND)],
  )
  assert.equal(await countOf(fleet, 'overlap'), 2)
  fleet.end()
})

test('due times that came together in a stall wait for the first one, and a later one is skipped while they wait', async () => {
  const fleet = await createFleet()
  let slow = 0
  await fleet.addMany(2, (app, { clock }) =>
    app.job('tick', { every: '1s' }, ({ fire }) => {
      const isSlow = fire.dueAt === NEW_YEAR + 11 * SECOND
      if (isSlow) slow++
      return clock.sleep(isSlow ? 4_000 : 5)
    }),
  )
  await stall(fleet, 3_000)
  await fleet.advance('20s')
  assert.equal(slow, 1)
  const started = startedDueTimes(fleet)
  assert.deepEqual(
    started.filter((dueAt) => dueAt >= NEW_YEAR + 10 * SECOND && dueAt <= NEW_YEAR + 25 * SECOND),
    [...everySecond(10 * SECOND, 13 * SECOND), ...everySecond(18 * SECOND, 25 * SECOND)],
  )
  assert.equal(await countOf(fleet, 'overlap'), 4)
  fleet.end()
})

test('a due time that comes while the handler of the run before executes is skipped', async () => {
  for (const members of [1, 2]) {
    const fleet = await createFleet({ probes: true })
    await fleet.addMany(members, (app, { clock }) => app.job('tick', { every: '1s' }, () => clock.sleep(1_500)))
    await fleet.advance('10500ms')
    assert.deepEqual(
      startedDueTimes(fleet),
      everySecond(0, 10 * SECOND).filter((_, index) => index % 2 === 0),
    )
    assert.equal(await countOf(fleet, 'overlap'), 5)
    fleet.end()
  }
})
