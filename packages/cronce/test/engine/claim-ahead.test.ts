import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exclusivePartsOf } from '../../src/app/exclusive.ts'
import type { PolicyOptions } from '../../src/client/schedule-options.ts'
import { createFleet, type Declare, type Fleet, type Member, NEW_YEAR } from './fleet.ts'

const MINUTE = 60_000
/** The instant that the tests look at. */
const DUE = NEW_YEAR + 10 * MINUTE
/** Between the claim of that instant and its start. */
const BETWEEN_MS = 10 * MINUTE - 100

const bill =
  (options: PolicyOptions = {}): Declare =>
  (app, { clock }) =>
    app.job('bill', { cron: '*/10 * * * *', ...options }, () => clock.sleep(10))

/** Up to 100 ms before the instant, when it has been claimed and has not started. */
async function fleetBetween(declare: Declare, members = 2): Promise<Fleet> {
  const fleet = await createFleet({ probes: true })
  await fleet.addMany(members, declare)
  await fleet.advance(BETWEEN_MS)
  return fleet
}

async function holderOf(fleet: Fleet): Promise<Member> {
  const [run] = (await fleet.operator.runs.list({ schedule: 'bill', from: DUE })).items
  assert.ok(run !== undefined, 'the fire is claimed')
  return fleet.members.find(({ name }) => run.instance?.startsWith(`${name}.`))!
}

function startsOf(fleet: Fleet, dueAt = DUE) {
  return fleet.handled.filter((handled) => handled.dueAt === dueAt)
}

test('a fire is claimed before it is due and starts at its due time', async () => {
  const fleet = await fleetBetween(bill())
  await holderOf(fleet)
  assert.deepEqual(startsOf(fleet), [])
  assert.equal(fleet.events('run.started').filter(({ dueAt }) => dueAt === DUE).length, 0)
  await fleet.advance('1s')
  assert.deepEqual(
    startsOf(fleet).map(({ startedAt, attempt, how }) => [startedAt - DUE, attempt, how]),
    [[0, 1, 'returned']],
  )
  const [started] = fleet.events('run.started').filter(({ dueAt }) => dueAt === DUE)
  assert.equal(started!.latenessMs, 0)
  const [run] = (await fleet.operator.runs.list({ schedule: 'bill', from: DUE })).items
  assert.deepEqual([run!.startedAt, run!.endedAt, run!.reason], [DUE, DUE + 10, 'completed'])
  fleet.end()
})

test('a stop does not wait for a run that is only claimed', async () => {
  const fleet = await fleetBetween((app, { clock }) => app.job('bill', '*/10 * * * *', () => clock.sleep(MINUTE)))
  const holder = await holderOf(fleet)
  const running = (): readonly string[] => exclusivePartsOf(holder.app)!.engine().runningJobs
  assert.deepEqual(running(), [])
  await fleet.advance('1s')
  assert.deepEqual(running(), ['bill'])
  fleet.end()
})

test('an isolated fire costs a look, a claim and a settlement', async () => {
  const fleet = await createFleet({ probes: true })
  const only = await fleet.add(bill())
  await fleet.advance(9 * MINUTE)
  const before = new Map(only.link.calls)
  await fleet.advance(2 * MINUTE)
  const calls = (name: 'due' | 'claim' | 'apply'): number => only.link.calls.get(name)! - (before.get(name) ?? 0)
  assert.deepEqual([calls('due'), calls('claim'), calls('apply')], [1, 1, 1])
  fleet.end()
})

test('500 schedules that are due at once all start at that time', async () => {
  const fleet = await createFleet({ probes: true, latency: () => ({ requestMs: 5, answerMs: 5 }) })
  await fleet.addMany(3, (app) => app.job('bill', {}, () => {}), { concurrency: 500 })
  for (let index = 0; index < 500; index++)
    await fleet.operator.schedules.put(`s${index}`, { job: 'bill', cron: '*/10 * * * *' })
  await fleet.advance(11 * MINUTE)
  const starts = startsOf(fleet)
  assert.equal(starts.length, 500)
  for (const { startedAt } of starts) assert.ok(startedAt >= DUE && startedAt <= DUE + 10, `${startedAt - DUE} ms late`)
  fleet.end()
})

test('claimAhead: 0, an at-most-once job, jitter and a limit claim nothing ahead', async () => {
  const cases: [string, PolicyOptions, number][] = [
    ['claimAhead: 0', {}, 0],
    ['at-most-once', { guarantee: 'at-most-once' }, 300],
    ['jitter', { jitter: 50 }, 300],
    ['a limit', { concurrency: 3 }, 300],
    ['no crash allowed', { retry: { attempts: 0, crashes: 0 } }, 300],
  ]
  for (const [what, options, claimAhead] of cases) {
    const fleet = await createFleet({ probes: true })
    await fleet.addMany(2, bill(options), { claimAhead })
    await fleet.advance(BETWEEN_MS)
    assert.deepEqual((await fleet.operator.runs.list({ schedule: 'bill', from: DUE })).items, [], what)
    await fleet.advance('1s')
    assert.equal(startsOf(fleet).length, 1, what)
    fleet.end()
  }
})

test('a store that does not notice dead processes claims nothing ahead', async () => {
  const fleet = await createFleet()
  await fleet.addMany(2, bill())
  await fleet.advance(BETWEEN_MS)
  assert.deepEqual((await fleet.operator.runs.list({ schedule: 'bill', from: DUE })).items, [])
  await fleet.advance('1s')
  assert.equal(startsOf(fleet).length, 1)
  fleet.end()
})

test('if the clock of the store is set back between claim and start, nothing starts early', async () => {
  for (const backMs of [50, 200, 5_000, 3_600_000]) {
    const fleet = await fleetBetween(bill())
    fleet.stepStore(-backMs)
    // Any answer shows the step.
    for (const { link } of fleet.members) link.doubt()
    await fleet.advance(backMs + 10_000)
    const starts = startsOf(fleet)
    assert.equal(starts.length, 1, `${backMs}`)
    assert.ok(starts[0]!.startedAt >= DUE, `${DUE - starts[0]!.startedAt} ms early`)
    fleet.end()
  }
})

test('if the clock of the store is set forward between claim and start, the run starts once', async () => {
  for (const forwardMs of [50, 200, 5_000, 300_000]) {
    const fleet = await fleetBetween(bill())
    fleet.stepStore(forwardMs)
    await fleet.advance('20s')
    assert.equal(startsOf(fleet).length, 1, `${forwardMs}`)
    fleet.end()
  }
})

test('a crash earlier than 300 ms before the due time costs neither an attempt nor a crash', async () => {
  for (const [beforeMs, index] of [301, 350, 500].flatMap((ms) => [[ms, 0] as const, [ms, 1] as const])) {
    const fleet = await createFleet({ probes: true })
    await fleet.addMany(2, bill())
    // Makes the instances look as early as they may claim the fire, and earlier.
    for (const ms of [80, 170, 700]) {
      const every = { interval: 60 * MINUTE, anchor: DUE - ms }
      await fleet.operator.schedules.put(`other-${ms}`, { job: 'bill', every })
    }
    await fleet.advance(10 * MINUTE - beforeMs)
    fleet.members[index]!.crash()
    await fleet.advance('30s')
    assert.deepEqual(
      startsOf(fleet).map(({ member, attempt, how }) => [fleet.members.indexOf(member), attempt, how]),
      [[1 - index, 1, 'returned']],
      `${beforeMs} ms`,
    )
    assert.ok(fleet.events('run.lost').every(({ dueAt }) => dueAt !== DUE))
    fleet.end()
  }
})

test('a crash between claim and start counts: no peer can know that the run has not started', async () => {
  const fleet = await fleetBetween(bill())
  const holder = await holderOf(fleet)
  holder.crash()
  await fleet.advance('30s')
  assert.deepEqual(
    startsOf(fleet).map(({ member, attempt, how }) => [member === holder, attempt, how]),
    [[false, 2, 'returned']],
  )
  assert.equal(fleet.events('run.lost').length, 1)
  fleet.end()
})

test('a crash right after the start counts', async () => {
  const fleet = await createFleet({ probes: true })
  await fleet.addMany(2, (app, { clock }) => app.job('bill', '*/10 * * * *', () => clock.sleep(5_000)))
  await fleet.advance(10 * MINUTE + 1)
  startsOf(fleet)[0]!.member.crash()
  await fleet.advance('30s')
  assert.deepEqual(
    startsOf(fleet).map(({ attempt }) => attempt),
    [1, 2],
  )
  assert.equal(fleet.events('run.lost').length, 1)
  fleet.end()
})

test("a crash after the start counts, also if the store's clock is set back in between", async () => {
  for (const backMs of [100, 320, 360, 2_000]) {
    const fleet = await createFleet({ probes: true })
    await fleet.addMany(2, (app, { clock }) => app.job('bill', '*/10 * * * *', () => clock.sleep(5_000)))
    // Makes the instances look as early as they may claim the fire.
    const every = { interval: 60 * MINUTE, anchor: DUE - 170 }
    await fleet.operator.schedules.put('other', { job: 'bill', every })
    await fleet.advance(10 * MINUTE + 5)
    const [start] = startsOf(fleet)
    fleet.stepStore(-backMs)
    // It renews by the clock as it is now.
    start!.member.link.doubt()
    await fleet.advance(10)
    start!.member.crash()
    await fleet.advance('30s')
    assert.deepEqual(
      startsOf(fleet).map(({ attempt }) => attempt),
      [1, 2],
      `${backMs} ms`,
    )
    assert.equal(fleet.events('run.lost').filter(({ schedule }) => schedule === 'bill').length, 1, `${backMs} ms`)
    fleet.end()
  }
})

test('an instance that peers declare dead before the start, although it lives, starts nothing', async () => {
  for (const pausedMs of [100, 300, 400, 500, 600, 700, 800, 1_000, 2_000, 5_000]) {
    const fleet = await createFleet({ probes: true, latency: () => ({ requestMs: 5, answerMs: 5 }) })
    await fleet.addMany(2, bill())
    await fleet.advance(BETWEEN_MS)
    const holder = await holderOf(fleet)
    holder.isSessionLost = true
    // It learns neither of that nor of the declaration.
    holder.link.deaf = true
    holder.pause()
    await fleet.advance(pausedMs)
    const hasDied = fleet.events('instance.died').length > 0
    holder.resume()
    await fleet.advance('30s')
    const starts = startsOf(fleet)
    // A run that has started counts as started when its instance is declared dead: at-least-once.
    const attempts = starts.map(({ attempt }) => attempt)
    assert.deepEqual(attempts, attempts.toSorted(), `paused for ${pausedMs} ms`)
    assert.equal(
      starts.some(({ member, attempt }) => member === holder && attempt === 1),
      !hasDied,
      `paused for ${pausedMs} ms`,
    )
    fleet.end()
  }
})

test('an instance that stops within the grace of a peer that seems dead does not declare it dead', async () => {
  const fleet = await createFleet({ probes: true })
  const [peer, observer] = (await fleet.addMany(2, bill())) as [Member, Member]
  await fleet.advance('5s')
  let hasLooked = false
  observer.link.disturb(({ name }) => {
    hasLooked ||= name === 'listInstances' && peer.isSessionLost
    return null
  })
  peer.isSessionLost = true
  // The stop does not make it renew.
  peer.link.deaf = true
  while (!hasLooked) await fleet.advance(10)
  await fleet.advance(100)
  // Until its farewell is answered, the store takes calls from it.
  observer.link.fail('beat', { kind: 'slow', answerMs: 50 }, 10)
  await fleet.world.until(observer.app.stop())
  peer.isSessionLost = false
  await fleet.advance('30s')
  assert.deepEqual(fleet.events('instance.died'), [])
  assert.deepEqual(fleet.events('instance.fenced'), [])
  fleet.end()
})

test('a process that is paused between claim and start starts nothing that a peer has run', async () => {
  for (const pausedMs of [50, 150, 300, 500, 1_000, 5_000, 20_000, 60_000]) {
    const fleet = await fleetBetween(bill())
    const holder = await holderOf(fleet)
    holder.pause()
    await fleet.advance(pausedMs)
    holder.resume()
    await fleet.advance('1m')
    const starts = startsOf(fleet)
    assert.equal(starts.length, 1, `paused for ${pausedMs} ms`)
    fleet.end()
  }
})

test('an instance that stops hands back what it has not started, and leaves no trace of it', async () => {
  const fleet = await fleetBetween(bill())
  const holder = await holderOf(fleet)
  const stopped = holder.app.stop()
  await fleet.advance('1s')
  await fleet.world.until(stopped)
  assert.deepEqual(
    startsOf(fleet).map(({ member, attempt, startedAt }) => [member === holder, attempt, startedAt >= DUE]),
    [[false, 1, true]],
  )
  const runs = await fleet.operator.runs.list({ schedule: 'bill', from: DUE })
  assert.deepEqual(
    runs.items.map(({ reason }) => reason),
    ['completed'],
  )
  fleet.end()
})

test('an instance that stops hands back at once what it has not started', async () => {
  const fleet = await fleetBetween(bill())
  const holder = await holderOf(fleet)
  await fleet.world.until(holder.app.stop())
  assert.ok(fleet.now() < DUE, 'it has left before the fire is due')
  await fleet.advance('3s')
  assert.deepEqual(
    startsOf(fleet).map(({ member, startedAt }) => [member === holder, startedAt >= DUE]),
    [[false, true]],
  )
  fleet.end()
})

test('a run that starts late has its real start on record', async () => {
  const fleet = await fleetBetween(bill(), 1)
  const [only] = fleet.members
  only!.pause()
  await fleet.advance('600ms')
  only!.resume()
  await fleet.advance('1s')
  const [run] = (await fleet.operator.runs.list({ schedule: 'bill', from: DUE })).items
  const [start] = startsOf(fleet)
  assert.ok(start!.startedAt >= DUE + 500)
  assert.equal(run!.startedAt, start!.startedAt)
  assert.equal(run!.latenessMs, start!.startedAt - DUE)
  fleet.end()
})

test('a run that is cancelled before its start never starts', async () => {
  const fleet = await fleetBetween(bill())
  await holderOf(fleet)
  const [run] = (await fleet.operator.runs.list({ schedule: 'bill', from: DUE })).items
  await fleet.operator.runs.cancel('bill', run!.token)
  await fleet.advance('1m')
  assert.deepEqual(startsOf(fleet), [])
  const fire = await fleet.operator.fires.get({ schedule: 'bill', dueAt: DUE })
  assert.deepEqual([fire.state, fire.reason], ['cancelled', 'cancelled-by-operator'])
  const [ended] = (await fleet.operator.runs.list({ schedule: 'bill', from: DUE })).items
  assert.deepEqual([ended!.reason, ended!.detail], ['handed-back', 'it had not started'])
  fleet.end()
})

test('a pause counts for the fires after the one that is claimed', async () => {
  const fleet = await fleetBetween(bill())
  await fleet.operator.schedules.pause('bill')
  await fleet.advance('11m')
  assert.equal(startsOf(fleet).length, 1)
  assert.equal(startsOf(fleet, DUE + 10 * MINUTE).length, 0)
  fleet.end()
})

test('a new definition counts for the fires after the one that is claimed, also if that is handed back', async () => {
  const fleet = await createFleet({ probes: true })
  await fleet.operator.schedules.put('bill', { job: 'bill', cron: '*/10 * * * *' })
  const work: Declare = (app, { clock }) => app.job('bill', {}, () => clock.sleep(10))
  await fleet.addMany(2, work)
  await fleet.advance(BETWEEN_MS)
  const holder = await holderOf(fleet)
  await fleet.operator.schedules.put('bill', { job: 'bill', cron: '5,15,25 * * * *' })
  const stopped = holder.app.stop()
  await fleet.advance('15m')
  await fleet.world.until(stopped)
  const handled = fleet.handled.filter(({ dueAt }) => dueAt >= DUE)
  const minutes = handled.map(({ dueAt, member }) => [(dueAt - NEW_YEAR) / MINUTE, member === holder])
  assert.deepEqual(minutes, [
    [10, false],
    [15, false],
  ])
  fleet.end()
})

test('a blocked event loop starts the run late, and beyond the grace leaves it to the misfire policy', async () => {
  const declare = (late: 'skip' | 'latest'): Declare => bill({ misfire: { grace: '1s', late } })
  for (const [blockedMs, late, expected] of [
    [600, 'skip', 1],
    [3_000, 'skip', 0],
    [3_000, 'latest', 1],
  ] as const) {
    const fleet = await fleetBetween(declare(late), 1)
    const [only] = fleet.members
    only!.pause()
    await fleet.advance(blockedMs)
    only!.resume()
    await fleet.advance('10s')
    assert.equal(startsOf(fleet).length, expected, `${blockedMs} ms, ${late}`)
    const fire = await fleet.operator.fires.get({ schedule: 'bill', dueAt: DUE })
    assert.equal(fire.state, expected === 1 ? 'succeeded' : 'missed')
    fleet.end()
  }
})

test('a claim whose answer is lost starts once, at its due time', async () => {
  const fleet = await createFleet({ probes: true })
  await fleet.addMany(2, bill())
  await fleet.advance(9 * MINUTE)
  for (const { link } of fleet.members) link.fail('claim', { kind: 'applied-then-throws' })
  await fleet.advance(2 * MINUTE)
  assert.deepEqual(
    startsOf(fleet).map(({ startedAt }) => startedAt >= DUE),
    [true],
  )
  fleet.end()
})

test('a store that is slower than the grace still starts the runs that were claimed ahead', async () => {
  const fleet = await createFleet({ probes: true, latency: () => ({ requestMs: 400, answerMs: 400 }) })
  await fleet.addMany(2, bill())
  await fleet.advance(11 * MINUTE)
  assert.equal(startsOf(fleet).length, 1)
  fleet.end()
})

test('schedules that cannot be claimed ahead are looked at when they are due', async () => {
  const looksWith = async (claimAhead: number): Promise<number> => {
    const fleet = await createFleet({ probes: true })
    const only = await fleet.add(bill({ guarantee: 'at-most-once' }), { claimAhead, concurrency: 10 })
    const options = { job: 'bill', cron: '*/10 * * * *', guarantee: 'at-most-once' } as const
    for (let index = 0; index < 12; index++) await fleet.operator.schedules.put(`s${index}`, options)
    await fleet.advance(9 * MINUTE)
    const before = only.link.calls.get('due')!
    await fleet.advance(2 * MINUTE)
    assert.equal(startsOf(fleet).length, 13)
    fleet.end()
    return only.link.calls.get('due')! - before
  }
  assert.ok((await looksWith(300)) <= (await looksWith(0)) + 1)
})

test('a trigger right before the due time does not replace the scheduled fire', async () => {
  const fleet = await fleetBetween(bill({ overlap: 'replace' }))
  await fleet.operator.schedules.trigger('bill')
  await fleet.advance('10s')
  const fire = await fleet.operator.fires.get({ schedule: 'bill', dueAt: DUE })
  assert.equal(fire.state, 'succeeded')
  fleet.end()
})

test('a store that loses a put-back learns of the run that followed', async () => {
  const latency = () => ({ requestMs: 2, answerMs: 2 })
  const fleet = await createFleet({ probes: true, losesWrites: true, latency })
  await fleet.addMany(2, (app, { clock }) => app.job('bill', '*/10 * * * *', () => clock.sleep(8_000)))
  await fleet.advance(BETWEEN_MS)
  const holder = await holderOf(fleet)
  const goBack = fleet.keep()
  void holder.app.stop()
  await fleet.advance('1500ms')
  goBack()
  await fleet.advance('1m')
  assert.deepEqual(
    startsOf(fleet).map(({ member, how }) => [member === holder, how]),
    [[false, 'returned']],
  )
  const runs = (await fleet.operator.runs.list({ schedule: 'bill', from: DUE })).items
  assert.deepEqual(
    runs.map(({ reason }) => reason),
    ['completed'],
  )
  fleet.end()
})
