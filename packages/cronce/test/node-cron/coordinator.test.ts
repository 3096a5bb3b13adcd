import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keyOf } from '../../src/node-cron/coordinator-key.ts'
import { type Coordinator, type CoordinatorOptions, envCoordinator, runCoordinator } from '../../src/node-cron.ts'
import { createFleet, type Fleet, type Member } from '../engine/fleet.ts'

const TTL_MS = 30_000
const nothing = (): void => {}

interface Asker extends Member {
  readonly coordinator: Coordinator
}

interface Askers {
  readonly fleet: Fleet
  readonly askers: readonly [Asker, Asker, Asker]
  /** The key of the slot `inMs` after now, by the store's clock. */
  key(inMs?: number): string
}

async function fleetOfAskers(options?: CoordinatorOptions): Promise<Askers> {
  const fleet = await createFleet()
  const members = await fleet.addMany(3, nothing)
  await fleet.advance('1s')
  const askers = members.map((member) => Object.assign(member, { coordinator: runCoordinator(member.app, options) }))
  const key = (inMs = 0): string => keyOf({ name: 'sync', dueAt: fleet.now() + inMs })
  return { fleet, askers: askers as unknown as Askers['askers'], key }
}

/** What it answers, in virtual time. */
function ask({ fleet }: Askers, { coordinator }: Asker, key: string): Promise<boolean> {
  return fleet.world.until(coordinator.shouldRun(key, TTL_MS), 60_000)
}

async function recordOf({ fleet }: Askers, key: string) {
  const slot = key.slice(-24)
  const fire = await fleet.world.until(fleet.operator.fires.get({ schedule: 'node-cron:sync', dueAt: slot }))
  return { state: fire.state, reason: fire.reason }
}

test('of all callers that ask for a slot one runs it, even if others ask after it has ended', async () => {
  const world = await fleetOfAskers()
  const [first, second, third] = world.askers
  const key = world.key()
  const answers = [first, second].map(({ coordinator }) => coordinator.shouldRun(key, TTL_MS))
  const both = await world.fleet.world.until(Promise.all(answers))
  assert.deepEqual(both.toSorted(), [false, true])
  const winner = both[0] ? first : second
  await world.fleet.advance(5)
  await world.fleet.world.until(winner.coordinator.onComplete(key))
  await world.fleet.advance(400)
  assert.equal(await ask(world, third, key), false)
  assert.equal(await ask(world, winner, key), false)
  assert.deepEqual(await recordOf(world, key), { state: 'succeeded', reason: 'completed' })
  world.fleet.end()
})

test('slots of one task are slots of their own, and so are tasks', async () => {
  const world = await fleetOfAskers()
  const [first, second] = world.askers
  const keys = [world.key(-1_000), world.key(), `other:${world.key().slice(-24)}`, `a:b:${world.key().slice(-24)}`]
  for (const key of keys) assert.equal(await ask(world, first, key), true, key)
  for (const key of keys) assert.equal(await ask(world, second, key), false, key)
  world.fleet.end()
})

test('a slot that has not come by the clock of the store is waited for, and refused if it is too far ahead', async () => {
  const world = await fleetOfAskers()
  const [fast] = world.askers
  const begunAt = world.fleet.now()
  assert.equal(await ask(world, fast, world.key(900)), true)
  assert.ok(world.fleet.now() >= begunAt + 900, 'it runs when its time has come')
  await assert.rejects(ask(world, fast, world.key(3_500)), { code: 'FIRE_EARLY' })
  world.fleet.end()
})

test('a slot that is old enough for its record to be pruned is refused', async () => {
  const world = await fleetOfAskers()
  const [slow] = world.askers
  assert.equal(await ask(world, slow, world.key(-3_599_000)), true)
  await assert.rejects(ask(world, slow, world.key(-3_601_000)), { code: 'FIRE_TOO_OLD' })
  world.fleet.end()
})

test('a store that hangs makes the question fail; a claim that arrives later is recorded without a run', async () => {
  const world = await fleetOfAskers()
  const [first, second] = world.askers
  // What it is asked for is made before.
  await ask(world, first, world.key())
  await world.fleet.advance('1s')
  const key = world.key()
  first.link.fail('claim', { kind: 'slow', answerMs: 2_000 })
  const begunAt = world.fleet.now()
  await assert.rejects(ask(world, first, key), { code: 'STORE_SILENT' })
  assert.ok(world.fleet.now() - begunAt < 1_000, 'before a second has passed')
  await world.fleet.advance('10s')
  assert.equal((await recordOf(world, key)).state, 'failed')
  assert.equal(await ask(world, second, key), false)
  assert.equal(first.coordinator.current(), null)
  world.fleet.end()
})

test('a claim without an answer is taken by the next caller, and does not stay forever', async () => {
  const world = await fleetOfAskers()
  const [first, second] = world.askers
  await ask(world, first, world.key())
  await world.fleet.advance('1s')
  const [key, other] = [world.key(), world.key(-500)]
  for (const lost of [key, other]) {
    // The claim lands, and neither its answer nor what is asked next comes back.
    const isClaimed = { yet: false }
    const end = first.link.disturb(({ name }) => {
      if (name === 'claim') isClaimed.yet = true
      else if (name !== 'load' || !isClaimed.yet) return null
      return { kind: name === 'claim' ? 'applied-then-throws' : 'throws' }
    })
    await assert.rejects(ask(world, first, lost), { code: 'ECONNRESET' })
    end()
    // It is handed back when two heartbeats have seen it.
    await world.fleet.advance('40s')
  }
  assert.equal(await ask(world, second, key), true)
  await world.fleet.world.until(second.coordinator.onComplete(key))
  await world.fleet.advance('2h')
  assert.equal(await ask(world, second, world.key()), true)
  assert.deepEqual(await recordOf(world, other), { state: 'abandoned', reason: 'recovery-too-late' })
  world.fleet.end()
})

test('a slot whose process died is on record as abandoned, and not run again', async () => {
  const world = await fleetOfAskers()
  const [first, second] = world.askers
  const key = world.key()
  assert.equal(await ask(world, first, key), true)
  first.crash()
  await world.fleet.advance('1m')
  assert.deepEqual(await recordOf(world, key), { state: 'abandoned', reason: 'crashed' })
  assert.equal(await ask(world, second, key), false)
  assert.equal(world.fleet.events('run.lost').length, 1)
  world.fleet.end()
})

test('a process that is paused past its lease is overtaken: its slot is abandoned, its signal aborted, its token older', async () => {
  const world = await fleetOfAskers({ overlap: 'fleet' })
  const [sleeper, other] = world.askers
  const key = world.key()
  const asked = sleeper.coordinator.shouldRun(key, TTL_MS).then((isAllowed) => {
    assert.equal(isAllowed, true)
    return sleeper.coordinator.current()
  })
  const slot = await world.fleet.world.until(asked)
  sleeper.pause()
  await world.fleet.advance('1m')
  assert.deepEqual(await recordOf(world, key), { state: 'abandoned', reason: 'crashed' })
  const later = world.key()
  assert.equal(await ask(world, other, later), true)
  const context = { date: new Date(later.slice(-24)), task: { name: 'sync' } }
  assert.ok(slot !== null && slot.token < other.coordinator.token(context)!)
  sleeper.resume()
  await world.fleet.advance('1s')
  assert.equal(slot.signal.aborted, true)
  await world.fleet.world.until(sleeper.coordinator.onComplete(key))
  assert.deepEqual(await recordOf(world, key), { state: 'abandoned', reason: 'crashed' })
  world.fleet.end()
})

test('with overlap fleet a slot is skipped while another one runs anywhere, and that is on record', async () => {
  const world = await fleetOfAskers({ overlap: 'fleet' })
  const [first, second, third] = world.askers
  const verdicts: string[] = []
  second.coordinator.on('decision', ({ verdict }) => verdicts.push(verdict))
  const running = world.key()
  assert.equal(await ask(world, first, running), true)
  assert.equal(await ask(world, second, running), false)
  await world.fleet.advance('1s')
  const skipped = world.key()
  assert.equal(await ask(world, second, skipped), false)
  await world.fleet.world.until(first.coordinator.onComplete(running))
  assert.equal(await ask(world, second, skipped), false)
  assert.deepEqual(verdicts.splice(0), ['taken', 'overlap', 'overlap'])
  assert.deepEqual(await recordOf(world, skipped), { state: 'skipped', reason: 'overlap' })
  await world.fleet.advance('1s')
  const next = world.key()
  assert.equal(await ask(world, second, next), true)
  // Not before its time: by then the other one has ended.
  const early = third.coordinator.shouldRun(world.key(500), TTL_MS)
  await world.fleet.advance(300)
  await world.fleet.world.until(second.coordinator.onComplete(next))
  assert.equal(await world.fleet.world.until(early), true)
  third.crash()
  await world.fleet.advance('1m')
  assert.equal(await ask(world, second, world.key()), true)
  world.fleet.end()
})

test('a task that an operator paused runs nowhere, and that is on record', async () => {
  const world = await fleetOfAskers()
  const [first] = world.askers
  await ask(world, first, world.key())
  await world.fleet.world.until(world.fleet.operator.schedules.pause('node-cron:sync'))
  await world.fleet.advance('1s')
  const key = world.key()
  assert.equal(await ask(world, first, key), false)
  assert.deepEqual(await recordOf(world, key), { state: 'skipped', reason: 'paused' })
  await world.fleet.world.until(world.fleet.operator.schedules.resume('node-cron:sync'))
  await world.fleet.advance('1s')
  assert.equal(await ask(world, first, world.key()), true)
  assert.deepEqual(first.coordinator.counts, {
    run: 2,
    taken: 0,
    overlap: 0,
    paused: 1,
    'not-designated': 0,
    stopping: 0,
    error: 0,
  })
  world.fleet.end()
})

test('the token grows from claim to claim, also if an earlier slot is claimed late, and is known by the context of the task while it runs', async () => {
  const world = await fleetOfAskers()
  const [first, second] = world.askers
  const tokens: bigint[] = []
  for (const [asker, inMs] of [[first, 0] as const, [second, 0] as const, [first, -1_500] as const]) {
    const key = world.key(inMs)
    const context = { date: new Date(key.slice(-24)), task: { name: 'sync' } }
    assert.equal(await ask(world, asker, key), true)
    tokens.push(asker.coordinator.token(context)!)
    await world.fleet.world.until(asker.coordinator.onComplete(key))
    assert.equal(asker.coordinator.token(context), null)
    await world.fleet.advance('1s')
  }
  assert.ok(tokens.every((token, index) => index === 0 || token > tokens[index - 1]!))
  assert.equal(new Set(tokens).size, 3)
  world.fleet.end()
})

test('a run without a reported end counts as failed after the longest time it may take', async () => {
  const world = await fleetOfAskers({ overlap: 'fleet', longest: '1h' })
  const [first, second] = world.askers
  const key = world.key()
  assert.equal(await ask(world, first, key), true)
  await world.fleet.advance('59m')
  assert.equal(await ask(world, second, world.key()), false)
  await world.fleet.advance('2m')
  assert.equal((await recordOf(world, key)).state, 'failed')
  assert.equal(await ask(world, second, world.key()), true)
  world.fleet.end()
})

test('the end of a run is reported later, if the store does not answer now; node-cron does not wait for it', async () => {
  const world = await fleetOfAskers()
  const [first] = world.askers
  const key = world.key()
  assert.equal(await ask(world, first, key), true)
  const over = world.fleet.outage({ kind: 'throws' })
  const begunAt = world.fleet.now()
  await world.fleet.world.until(first.coordinator.onComplete(key))
  assert.ok(world.fleet.now() - begunAt < 1_000)
  over()
  await world.fleet.advance('10s')
  assert.deepEqual(await recordOf(world, key), { state: 'succeeded', reason: 'completed' })
  world.fleet.end()
})

test('a store that is down makes the question fail', async () => {
  const world = await fleetOfAskers()
  const [first] = world.askers
  const decisions: unknown[] = []
  first.coordinator.on('decision', ({ verdict, error }) => decisions.push(verdict, (error as { code: string }).code))
  world.fleet.outage({ kind: 'throws' })
  await assert.rejects(ask(world, first, world.key()), { code: 'ECONNRESET' })
  assert.deepEqual(decisions, ['error', 'ECONNRESET'])
  world.fleet.end()
})

test('two tasks of one process with one name are reported once, and so is a clock that is off', async () => {
  const fleet = await createFleet()
  const warnings: string[] = []
  const logger = { error: nothing, warn: (message: string) => void warnings.push(message) }
  const member = await fleet.add(nothing, { logger, skewMs: 240 })
  const coordinator = runCoordinator(member.app)
  for (let slots = 0; slots < 3; slots++) {
    await fleet.advance('1s')
    const key = keyOf({ name: 'sync', dueAt: fleet.now() })
    const answers = [1, 2].map(() => coordinator.shouldRun(key, TTL_MS))
    assert.deepEqual((await fleet.world.until(Promise.all(answers))).toSorted(), [false, true])
  }
  await fleet.advance('1m')
  assert.equal(warnings.filter((text) => text.includes('"sync"')).length, 1)
  assert.equal(warnings.filter((text) => text.includes('240 ms ahead')).length, 1)
  fleet.end()
})

test('an invalid key and an app that has not started are refused; a coordinator that is closed runs nothing', async () => {
  const world = await fleetOfAskers()
  const [first] = world.askers
  for (const key of ['sync', 'sync:2027-01-01', `${world.key().slice(-24)}`, `:${world.key().slice(-24)}`])
    await assert.rejects(ask(world, first, key), /OPTION_INVALID|NAME_INVALID|can't be/, key)
  const idle = runCoordinator(world.fleet.operator)
  await assert.rejects(idle.ready(), { code: 'NOT_STARTED' })
  await assert.rejects(idle.shouldRun(world.key(), TTL_MS), { code: 'NOT_STARTED' })
  await first.coordinator.close()
  assert.equal(await ask(world, first, world.key()), false)
  await assert.rejects(first.coordinator.ready(), { code: 'NOT_STARTED' })
  assert.throws(() => runCoordinator({} as never), { code: 'OPTION_INVALID' })
  assert.throws(() => runCoordinator(first.app, { lease: '5s' } as never), { code: 'OPTION_UNKNOWN' })
  world.fleet.end()
})

test('with the environment variable only the chosen processes run tasks, each once', async (context) => {
  const variable = 'CRONCE_TEST_DESIGNATED'
  context.after(() => Reflect.deleteProperty(process.env, variable))
  const world = await fleetOfAskers()
  const [first, second] = world.askers
  assert.throws(() => envCoordinator(first.app, { variable }), { code: 'VARIABLE_INVALID' })
  process.env[variable] = 'false'
  const chosen = envCoordinator(first.app, { variable })
  const alsoChosen = envCoordinator(second.app, { variable })
  assert.equal(await chosen.shouldRun(world.key(), TTL_MS), false)
  process.env[variable] = 'true'
  const key = world.key()
  assert.equal(await world.fleet.world.until(chosen.shouldRun(key, TTL_MS)), true)
  assert.equal(await world.fleet.world.until(alsoChosen.shouldRun(key, TTL_MS)), false)
  process.env[variable] = 'yes'
  await assert.rejects(chosen.shouldRun(world.key(1_000), TTL_MS), { code: 'VARIABLE_INVALID' })
  assert.deepEqual(chosen.counts, {
    run: 1,
    taken: 0,
    overlap: 0,
    paused: 0,
    'not-designated': 1,
    stopping: 0,
    error: 1,
  })
  world.fleet.end()
})

test('a slot that was given up when the app stopped is waited for by nothing: its process can end', async () => {
  const world = await fleetOfAskers()
  const { fleet, askers } = world
  const [first] = askers
  const key = world.key()
  assert.equal(await ask(world, first, key), true)
  await fleet.world.until(Promise.all(askers.map(({ app }) => app.stop())))
  await fleet.world.until(first.coordinator.onComplete(key))
  await fleet.advance('1m')
  const { happened } = fleet.world
  await fleet.advance('2d')
  assert.equal(fleet.world.happened, happened, 'there is no timer left')
  fleet.end()
})

test('an app that is being stopped, or was, runs nothing: that is an answer, not an error', async () => {
  const world = await fleetOfAskers()
  const { fleet, askers } = world
  const [first, second] = askers
  const running = world.key()
  assert.equal(await ask(world, first, running), true)
  const stopping = first.app.stop()
  await fleet.advance('1s')
  const key = world.key()
  assert.equal(await ask(world, first, key), false)
  assert.equal(await ask(world, second, key), true, 'a peer runs the slot')
  await fleet.world.until(first.coordinator.onComplete(running))
  await fleet.world.until(stopping)
  assert.equal(await ask(world, first, world.key()), false)
  assert.equal(first.coordinator.counts.stopping, 2)
  assert.equal(first.coordinator.counts.error, 0)
  fleet.end()
})

test('the schedule of a task shows its overlap; processes that differ declare it once each', async () => {
  const world = await fleetOfAskers()
  const { fleet, askers } = world
  const [first, second] = askers
  const stored = () => fleet.world.until(fleet.operator.schedules.get('node-cron:sync'))
  await ask(world, first, world.key())
  assert.equal((await stored()).policy.overlap.kind, 'allow')
  const exclusive = { ...second, coordinator: runCoordinator(second.app, { overlap: 'fleet' }) }
  for (let slots = 0; slots < 4; slots++) {
    await fleet.advance('1s')
    await ask(world, slots % 2 === 0 ? exclusive : first, world.key())
  }
  const { policy, revision } = await stored()
  assert.deepEqual([policy.overlap.kind, revision], ['skip', 2])
  fleet.end()
})
