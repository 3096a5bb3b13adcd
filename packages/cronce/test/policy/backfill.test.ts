import assert from 'node:assert/strict'
import test from 'node:test'
import { DEFAULT_POLICY } from '../../src/model/policy.ts'
import { requestCancel } from '../../src/policy/operate/cancel.ts'
import { retryFire } from '../../src/policy/operate/retry-fire.ts'
import { skipNext } from '../../src/policy/operate/skip-next.ts'
import { keptSince, nextBackfillStretch, previewBackfill, requestBackfill } from '../../src/policy/plan/backfill.ts'
import { DAY, given, HOUR, type Keeper, MINUTE, NOON, refusalOf, SECOND, story } from './keeper.ts'

/** No instance was up until 12:20:30, and late fires are skipped: 12:01 to 12:20 are one range. */
function missed(): Keeper {
  const keeper = given({ policy: { misfire: { ...DEFAULT_POLICY.misfire, late: 'skip' } } })
  keeper.now = NOON + 20 * MINUTE + 30 * SECOND
  keeper.advance()
  assert.deepEqual(story(keeper), ['12:01-12:20 missed late (20)'])
  return keeper
}

function backfill(keeper: Keeper, from: number, to: number) {
  const wish = { from: NOON + from * MINUTE, to: NOON + to * MINUTE, id: 'b', author: 'ann', force: true }
  return keeper.take(requestBackfill(keeper.it, wish, keeper.context))
}

/** Run everything that can be run, without letting time go by. */
function runAll(keeper: Keeper): number[] {
  const order: number[] = []
  for (let round = 0; round < 100; round++) {
    for (const run of keeper.advance()) {
      order.push((run.record.dueAt - NOON) / MINUTE)
      keeper.settle(run, 'completed')
    }
  }
  return order
}

test('a backfill runs missed instants oldest first, one at a time, as another round of each', () => {
  const keeper = missed()
  backfill(keeper, 5, 7)
  assert.equal(keeper.it.wakeAt, keeper.now)
  assert.deepEqual(runAll(keeper), [5, 6, 7])
  assert.deepEqual(story(keeper), [
    '12:01-12:04 missed late (4)',
    '12:05 succeeded completed round 2',
    '12:06 succeeded completed round 2',
    '12:07 succeeded completed round 2',
    '12:08-12:20 missed late (13)',
  ])
  assert.deepEqual(keeper.it.backfills, [])
  assert.equal(keeper.it.fired, 20)
})

test('both ends of a range can be taken out, and what is left is counted', () => {
  const keeper = missed()
  backfill(keeper, 1, 1)
  backfill(keeper, 19, 20)
  assert.deepEqual(runAll(keeper), [1, 19, 20])
  assert.deepEqual(story(keeper), [
    '12:01 succeeded completed round 2',
    '12:02-12:18 missed late (17)',
    '12:19 succeeded completed round 2',
    '12:20 succeeded completed round 2',
  ])
})

test('at most a handful of backfilled fires is open at a time', () => {
  const keeper = missed()
  backfill(keeper, 1, 20)
  keeper.advance()
  assert.equal(keeper.it.open.length, 5)
  assert.equal(nextBackfillStretch(keeper.it), null)
  assert.ok(keeper.it.wakeAt! > keeper.now)
  keeper.settle(keeper.it.open[0]!.run!.token, 'completed')
  assert.equal(keeper.it.wakeAt, keeper.now)
})

test('room that opens in the middle of a step is not used before the record has been read', () => {
  const keeper = missed()
  backfill(keeper, 1, 20)
  const [run] = keeper.advance()
  keeper.take(requestCancel(keeper.it, run!.record.token, { author: null, note: null }, keeper.context))
  keeper.now += 10 * SECOND
  keeper.advance()
  assert.equal(keeper.it.open.length, 4)
  assert.equal(keeper.it.wakeAt, keeper.now)
  keeper.advance()
  assert.equal(keeper.it.open.length, 5)
})

test('a backfill passes over what ran, runs, or was cancelled', () => {
  const keeper = given()
  const endings = ['completed', 'error', 'completed'] as const
  for (const [index, reason] of endings.entries()) {
    keeper.now = NOON + (index + 1) * MINUTE
    keeper.settle(keeper.advance()[0]!, reason)
  }
  keeper.take(skipNext(keeper.it, NOON + 4 * MINUTE, keeper.context))
  keeper.now = NOON + 4 * MINUTE + SECOND
  backfill(keeper, 1, 4)
  assert.deepEqual(runAll(keeper), [4])
})

test('a backfill runs instants from before the schedule was made, and never one that is still to come', () => {
  const keeper = given()
  backfill(keeper, -2, 60)
  assert.deepEqual(runAll(keeper), [-2, -1, 0])
  assert.deepEqual(keeper.it.backfills, [])
  assert.equal(keeper.it.nextAt, NOON + MINUTE)
})

test('instants of another rule inside a range are not on record', () => {
  const keeper = missed()
  keeper.define({ trigger: { kind: 'every', everyMs: 90 * SECOND, anchor: 0 } })
  keeper.take(
    requestBackfill(
      keeper.it,
      { from: NOON + 90 * SECOND, to: NOON + 3 * MINUTE, id: 'b', author: null, force: true },
      keeper.context,
    ),
  )
  assert.deepEqual(runAll(keeper), [1.5, 3])
  assert.deepEqual(story(keeper), [
    '12:01-12:02 missed late (2)',
    '12:01:30 succeeded completed',
    '12:03 succeeded completed round 2',
    '12:04-12:20 missed late (17)',
  ])
})

test('backfilled fires may fail and be retried: their deadline counts from when they were asked for', () => {
  const retry = { ...DEFAULT_POLICY.retry, attempts: 1, baseMs: SECOND, jitter: 0, deadlineMs: MINUTE }
  const keeper = given({ policy: { retry } })
  backfill(keeper, -300, -300)
  const [run] = keeper.advance()
  keeper.settle(run!, 'error')
  assert.equal(keeper.it.open.length, 1)
})

test('an instant older than the records is refused: whether it ran is unknown', () => {
  const keeper = given()
  assert.equal(keptSince(keeper.it, keeper.now), keeper.now - 30 * DAY)
  const wish = { from: keeper.now - 30 * DAY - 1, to: keeper.now, id: 'b', author: null, force: true }
  assert.equal(refusalOf(requestBackfill(keeper.it, wish, keeper.context)), 'BACKFILL_TOO_OLD')
  const trimmed = { ...keeper.it, trimmedBefore: NOON - HOUR }
  assert.equal(keptSince(trimmed, keeper.now), NOON - HOUR)
})

test('a backfill needs a trigger, a range, and room', () => {
  const wish = { from: NOON, to: NOON, id: 'b', author: null, force: true }
  const keeper = given({ trigger: null })
  assert.equal(refusalOf(requestBackfill(keeper.it, wish, keeper.context)), 'TRIGGER_MISSING')
  const minutely = given()
  const ahead = { ...wish, from: NOON + HOUR, to: NOON + 2 * HOUR }
  assert.equal(refusalOf(requestBackfill(minutely.it, ahead, minutely.context)), 'RANGE_EMPTY')
  for (let n = 0; n < 10; n++) minutely.take(requestBackfill(minutely.it, wish, minutely.context))
  assert.equal(refusalOf(requestBackfill(minutely.it, wish, minutely.context)), 'BACKFILLS_FULL')
})

test('a preview shows how many would run and how many have', () => {
  const keeper = missed()
  backfill(keeper, 1, 2)
  runAll(keeper)
  const range = { from: NOON + MINUTE, to: NOON + HOUR }
  assert.deepEqual(previewBackfill(keeper.it, range, keeper.list(range.from, range.to), keeper.context), {
    instants: 20,
    toRun: 18,
    alreadyRun: 2,
    more: false,
  })
})

test('a full page of records is trusted only as far as it reaches', () => {
  const keeper = given({ trigger: { kind: 'every', everyMs: SECOND, anchor: 0 } })
  const from = NOON - 900 * SECOND
  keeper.take(requestBackfill(keeper.it, { from, to: NOON, id: 'b', author: null, force: true }, keeper.context))
  const stretch = nextBackfillStretch(keeper.it)
  assert.deepEqual(stretch, { from, to: NOON })
  keeper.take(skipNext(keeper.it, keeper.it.nextAt!, keeper.context))
  const [record] = keeper.list()
  const done = { outcome: 'succeeded', reason: 'completed', detail: null } as const
  // Every second record is of a manual fire: a page is not only instants.
  const page = Array.from({ length: 1_000 }, (_, index) => {
    const dueAt = from + Math.floor(index / 2) * SECOND
    return { ...record!, dueAt, nonce: index % 2 === 0 ? '' : `n${index}`, ending: done }
  })
  keeper.existing = () => page
  keeper.advance(null)
  assert.deepEqual(
    keeper.it.backfills.map((left) => left.from),
    [from + 499 * SECOND + 1],
  )
  assert.deepEqual(keeper.it.open, [])
})

test('an operator’s retry opens another round of a fire that ended badly', () => {
  const keeper = given()
  keeper.now = NOON + MINUTE
  keeper.settle(keeper.advance()[0]!, 'error')
  const [record] = keeper.list()
  const wish = { force: false, dueAt: NOON + MINUTE }
  keeper.take(retryFire(keeper.it, record!, wish, keeper.context))
  assert.equal(refusalOf(retryFire(keeper.it, record!, wish, keeper.context)), 'FIRE_OPEN')
  const [run] = keeper.advance()
  assert.deepEqual([run?.record.round, run?.record.attempt], [2, 2])
  keeper.settle(run!, 'completed')
  assert.deepEqual(story(keeper), ['12:01 succeeded completed round 2'])
})

test('a fire that succeeded, or has started and must not start twice, runs again by force only', () => {
  const keeper = given({ policy: { guarantee: 'at-most-once' } })
  keeper.now = NOON + MINUTE
  keeper.settle(keeper.advance()[0]!, 'error')
  keeper.now = NOON + 2 * MINUTE
  keeper.settle(keeper.advance()[0]!, 'completed')
  const [failed, succeeded] = keeper.list()
  const retry = (force: boolean, record = failed!) =>
    retryFire(keeper.it, record, { force, dueAt: record.dueAt }, keeper.context)
  assert.equal(refusalOf(retry(false)), 'FIRE_STARTED')
  assert.equal(refusalOf(retry(false, succeeded)), 'FIRE_SUCCEEDED')
  keeper.take(retry(true))
  assert.equal(keeper.advance().length, 1)
})

test('one instant is taken out of a range of missed ones, and no other', () => {
  const keeper = missed()
  const [range] = keeper.list()
  const retry = (dueAt: number) => retryFire(keeper.it, range!, { force: false, dueAt }, keeper.context)
  assert.equal(refusalOf(retry(NOON + 90 * SECOND)), 'FIRE_NOT_FOUND')
  assert.equal(refusalOf(retry(NOON + 21 * MINUTE)), 'FIRE_NOT_FOUND')
  keeper.take(retry(NOON + 2 * MINUTE))
  assert.deepEqual(story(keeper), ['12:01 missed late', '12:02 open round 2', '12:03-12:20 missed late (18)'])
})

test('a fire older than what is kept is not run again', () => {
  const keeper = missed()
  const [range] = keeper.list()
  keeper.now += 31 * DAY
  const answer = retryFire(keeper.it, range!, { force: true, dueAt: NOON + MINUTE }, keeper.context)
  assert.equal(refusalOf(answer), 'FIRE_TOO_OLD')
})

test('a fire that was skipped ahead of time and is retried still waits for its due time', () => {
  const keeper = given()
  keeper.take(skipNext(keeper.it, NOON + MINUTE, keeper.context))
  const [record] = keeper.list()
  keeper.take(retryFire(keeper.it, record!, { force: false, dueAt: NOON + MINUTE }, keeper.context))
  assert.deepEqual(keeper.advance(), [])
  keeper.now = NOON + MINUTE
  assert.equal(keeper.advance().length, 1)
})

test('instants before the schedule was created are refused unless forced: an earlier schedule of the name may have run them', () => {
  const keeper = given()
  const wish = { from: keeper.it.createdAt - MINUTE, to: keeper.now, id: 'b', author: null }
  const refused = requestBackfill(keeper.it, { ...wish, force: false }, keeper.context)
  assert.equal(refusalOf(refused), 'BACKFILL_BEFORE_CREATION')
  keeper.take(requestBackfill(keeper.it, { ...wish, force: true }, keeper.context))
  assert.equal(keeper.it.backfills.length, 1)
})

test('a long backfill neither skips nor holds up what is on time: it waits its turn, and no more is filled in before it', () => {
  const keeper = given({
    policy: { overlap: { kind: 'skip', limit: 1 }, misfire: { ...DEFAULT_POLICY.misfire, graceMs: HOUR } },
  })
  const wish = { from: NOON - 30 * MINUTE, to: NOON - MINUTE, id: 'b', author: null, force: true }
  keeper.take(requestBackfill(keeper.it, wish, keeper.context))
  let [run] = keeper.advance()
  const order: string[] = []
  keeper.now = NOON + MINUTE
  for (let n = 0; n < 8 && run !== undefined; n++) {
    keeper.settle(run, 'completed')
    run = keeper.advance()[0]
    order.push(run?.kind ?? 'none')
  }
  assert.deepEqual(order, [...Array(5).fill('backfill'), 'scheduled', 'backfill', 'backfill'])
})
