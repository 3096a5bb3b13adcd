import assert from 'node:assert/strict'
import test from 'node:test'
import type { OverlapPolicy } from '../../src/model/policy.ts'
import { DEFAULT_POLICY } from '../../src/model/policy.ts'
import { retryFire } from '../../src/policy/operate/retry-fire.ts'
import { triggerNow } from '../../src/policy/operate/trigger-now.ts'
import { given, type Keeper, MINUTE, NOON, refusalOf, SECOND, story } from './keeper.ts'

const overlap = (kind: OverlapPolicy['kind'], limit = 1) => ({ policy: { overlap: { kind, limit } } })

/** The fire of 12:01 runs, and the clock stands at the given minute with everything planned on the way. */
function runningUntil(keeper: Keeper, minute: number): void {
  for (let at = 1; at <= minute; at++) {
    keeper.now = NOON + at * MINUTE
    keeper.advance()
  }
}

test('skip: a fire that finds another one active is skipped, and records the active one', () => {
  const keeper = given(overlap('skip'))
  runningUntil(keeper, 2)
  assert.deepEqual(story(keeper), ['12:01 open', '12:02 skipped overlap'])
  const { run } = keeper.it.open[0]!
  assert.equal(keeper.list()[1]?.ending?.detail, `run ${run!.token} on ant, running since 2027-06-01T12:01:00.000Z`)
})

test('skip: a fire between two attempts is active, too', () => {
  const retry = { ...DEFAULT_POLICY.retry, attempts: 1, baseMs: 5 * MINUTE, jitter: 0 }
  const keeper = given({ policy: { retry } })
  keeper.now = NOON + MINUTE
  keeper.settle(keeper.advance()[0]!, 'error')
  keeper.now = NOON + 2 * MINUTE
  keeper.advance()
  assert.deepEqual(story(keeper), ['12:01 open', '12:02 skipped overlap'])
  assert.match(keeper.list()[1]?.ending?.detail ?? '', /between two attempts/)
})

test('queue: one fire waits, the oldest, and starts when the active one has ended', () => {
  const keeper = given(overlap('queue'))
  runningUntil(keeper, 3)
  assert.deepEqual(story(keeper), ['12:01 open', '12:02 open', '12:03 skipped overlap'])
  keeper.settle(keeper.it.open[0]!.run!.token, 'completed')
  assert.equal(keeper.it.wakeAt, NOON + 2 * MINUTE)
  assert.equal(keeper.advance()[0]?.record.dueAt, NOON + 2 * MINUTE)
})

test('queue-all: as many wait as the limit allows, then the queue is full', () => {
  const keeper = given(overlap('queue-all', 2))
  runningUntil(keeper, 4)
  assert.deepEqual(story(keeper), ['12:01 open', '12:02 open', '12:03 open', '12:04 skipped queue-full'])
})

test('a fire that waits its turn is not late, however long that takes', () => {
  const keeper = given({
    policy: { overlap: { kind: 'queue', limit: 1 }, misfire: { ...DEFAULT_POLICY.misfire, late: 'skip' } },
  })
  runningUntil(keeper, 2)
  keeper.now = NOON + 2 * MINUTE + 50 * SECOND
  keeper.settle(keeper.it.open[0]!.run!.token, 'completed')
  assert.equal(keeper.advance()[0]?.record.dueAt, NOON + 2 * MINUTE)
})

test('allow: as many run at a time as the limit allows', () => {
  const keeper = given(overlap('allow', 2))
  runningUntil(keeper, 3)
  assert.deepEqual(story(keeper), ['12:01 open', '12:02 open', '12:03 skipped overlap'])
  assert.equal(keeper.it.open.filter(({ run }) => run !== null).length, 2)
})

test('replace: the active run is asked to end, and the new fire starts when it has', () => {
  const keeper = given(overlap('replace'))
  runningUntil(keeper, 2)
  const [old, successor] = keeper.it.open
  assert.equal(old?.run?.cancel?.reason, 'replaced')
  assert.equal(old?.run?.cancel?.revokeAt, NOON + 2 * MINUTE + 10 * SECOND)
  assert.equal(successor?.run, null)
  assert.equal(keeper.it.wakeAt, old?.run?.cancel?.revokeAt)
  keeper.settle(old!.run!.token, 'error')
  assert.equal(keeper.advance()[0]?.record.dueAt, NOON + 2 * MINUTE)
  assert.deepEqual(story(keeper), ['12:01 cancelled replaced', '12:02 open'])
})

test('replace: a run that ignores its signal is revoked after its grace, and its settle is refused', () => {
  const keeper = given(overlap('replace'))
  runningUntil(keeper, 2)
  const old = keeper.it.open[0]!.run!
  keeper.now = old.cancel!.revokeAt
  assert.equal(keeper.advance()[0]?.record.dueAt, NOON + 2 * MINUTE)
  assert.equal(keeper.runs.get(old.token)?.ending?.reason, 'replaced')
  assert.equal(keeper.settle(old.token, 'completed'), 'stale')
})

test('replace: what waits is replaced as well, and what was finished in spite of all is finished', () => {
  const keeper = given(overlap('replace'))
  runningUntil(keeper, 2)
  keeper.settle(keeper.it.open[0]!.run!.token, 'completed')
  keeper.advance()
  keeper.now = NOON + 3 * MINUTE
  keeper.advance({ room: 0 })
  keeper.now = NOON + 4 * MINUTE - 5 * SECOND
  // The run of 12:02 has not reacted, and no instance has revoked it: the fire of 12:03 still waits.
  keeper.take(triggerNow(keeper.it, { nonce: 'n', input: undefined, overlap: 'honour' }, keeper.context))
  assert.deepEqual(story(keeper), [
    '12:01 succeeded completed',
    '12:02 open',
    '12:03 cancelled replaced',
    '12:03:55 open',
  ])
})

test('replace: what a person asked for and still waits is not ended by a later fire', () => {
  const keeper = given(overlap('replace'))
  keeper.now = NOON + MINUTE
  keeper.settle(keeper.advance()[0]!, 'error')
  runningUntil(keeper, 2)
  keeper.now += 52 * SECOND
  // The run of 12:02 is asked to end, and does not react: the trigger and the retry wait, and so does the fire of 12:03.
  keeper.take(triggerNow(keeper.it, { nonce: 'n', input: undefined, overlap: 'honour' }, keeper.context))
  keeper.take(retryFire(keeper.it, keeper.list()[0]!, { force: false, dueAt: NOON + MINUTE }, keeper.context))
  keeper.now = NOON + 3 * MINUTE
  keeper.advance()
  const waiting = ['12:01 open round 2', '12:02 open', '12:02:52 open', '12:03 open']
  assert.deepEqual(story(keeper), waiting)

  keeper.settle(keeper.it.open.find(({ run }) => run !== null)!.run!.token, 'error')
  for (let started = keeper.advance(); started.length > 0; started = keeper.advance()) {
    keeper.settle(started[0]!, 'completed')
  }
  assert.deepEqual(story(keeper), [
    '12:01 succeeded completed round 2',
    '12:02 cancelled replaced',
    '12:02:52 succeeded completed',
    '12:03 succeeded completed',
  ])
})

test('two fires between attempts take turns instead of waiting for each other forever', () => {
  const retry = { ...DEFAULT_POLICY.retry, attempts: 3, baseMs: SECOND, jitter: 0 }
  const keeper = given({ policy: { retry } })
  keeper.now = NOON + MINUTE
  const [scheduled] = keeper.advance()
  keeper.take(triggerNow(keeper.it, { nonce: 'n', input: undefined, overlap: 'ignore' }, keeper.context))
  const [manual] = keeper.advance()
  keeper.settle(scheduled!, 'error')
  keeper.settle(manual!, 'error')
  keeper.now += 2 * SECOND
  assert.deepEqual(
    keeper.advance().map(({ record }) => record.nonce),
    ['', 'n'],
  )
})

test('a manual fire honours overlap or ignores it, never moves the series, and is not counted', () => {
  const keeper = given({ limit: 2 })
  keeper.now = NOON + MINUTE
  keeper.advance()
  keeper.now += SECOND
  keeper.take(triggerNow(keeper.it, { nonce: 'polite', input: undefined, overlap: 'honour' }, keeper.context))
  keeper.take(triggerNow(keeper.it, { nonce: 'rude', input: { all: true }, overlap: 'ignore' }, keeper.context))
  const [rude] = keeper.advance()
  assert.deepEqual(rude?.input, { all: true })
  assert.deepEqual(
    keeper.list().map(({ nonce, ending }) => `${nonce}: ${ending?.reason ?? 'open'}`),
    [': open', 'polite: overlap', 'rude: open'],
  )
  assert.deepEqual([keeper.it.fired, keeper.it.nextAt], [1, NOON + 2 * MINUTE])
})

test('a schedule holds a thousand open fires, not more', () => {
  const keeper = given(overlap('queue-all', 5_000))
  for (let n = 0; n < 1_000; n++) {
    keeper.take(triggerNow(keeper.it, { nonce: `n${n}`, input: undefined, overlap: 'ignore' }, keeper.context))
  }
  const more = triggerNow(keeper.it, { nonce: 'more', input: undefined, overlap: 'honour' }, keeper.context)
  assert.equal(refusalOf(more), 'QUEUE_FULL')
  keeper.now = NOON + MINUTE
  keeper.advance({ room: 0 })
  assert.equal(keeper.list().at(-1)?.ending?.reason, 'queue-full')
})

test('limits of job and group are claimed with the run, and named in it', () => {
  const limits = { job: 3, group: { name: 'mail', limit: 2 } }
  const keeper = given({ policy: { limits } })
  keeper.now = NOON + MINUTE
  const [run] = keeper.advance()
  assert.deepEqual(run?.fire.run.slots, ['job:report', 'group:mail'])
  assert.deepEqual(keeper.decisions.at(-1)?.change.limits, [
    { slot: 'job:report', limit: 3 },
    { slot: 'group:mail', limit: 2 },
  ])
})

test('a fire that may take its instance down is claimed with nothing beside it', () => {
  const retry = { ...DEFAULT_POLICY.retry, crashes: 5 }
  const keeper = given({ policy: { retry, overlap: { kind: 'allow', limit: 5 } } })
  keeper.now = NOON + MINUTE
  keeper.recover(keeper.advance()[0]!)
  keeper.recover(keeper.advance()[0]!)
  keeper.now = NOON + 2 * MINUTE
  assert.deepEqual(
    keeper.advance().map(({ suspect }) => suspect),
    [true],
  )
})
