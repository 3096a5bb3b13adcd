import assert from 'node:assert/strict'
import test from 'node:test'
import { DEFAULT_POLICY } from '../../src/model/policy.ts'
import type { MissedChoice } from '../../src/model/schedule.ts'
import { pause, resume } from '../../src/policy/operate/pause.ts'
import { skipNext } from '../../src/policy/operate/skip-next.ts'
import { triggerNow } from '../../src/policy/operate/trigger-now.ts'
import { given, type Keeper, MINUTE, NOON, refusalOf, SECOND, story } from './keeper.ts'

function pauseIt(keeper: Keeper, until: number | null = null, missed: MissedChoice = 'skip'): void {
  keeper.take(pause(keeper.it, { note: 'deploy', author: 'ann', until, missed }, keeper.context))
}

function pausedFor(minutes: number, missed: MissedChoice): string[] {
  const keeper = given()
  pauseIt(keeper)
  keeper.now = NOON + minutes * MINUTE + SECOND
  keeper.advance()
  assert.deepEqual(story(keeper), [], 'a pause freezes')
  keeper.take(resume(keeper.it, missed, keeper.context))
  return story(keeper)
}

test('a pause does not swallow what was due before it', () => {
  const keeper = given()
  keeper.now = NOON + MINUTE
  pauseIt(keeper)
  assert.deepEqual(story(keeper), ['12:01 open'])
  assert.equal(keeper.it.wakeAt, null)
})

test('of the fires in a pause none, the latest or all run, as chosen', () => {
  assert.deepEqual(pausedFor(2, 'skip'), ['12:01 skipped paused', '12:02 skipped paused'])
  assert.deepEqual(pausedFor(3, 'latest'), ['12:01 skipped paused', '12:02 skipped paused', '12:03 open'])
  assert.deepEqual(pausedFor(2, 'all'), ['12:01 open', '12:02 open'])
  assert.deepEqual(pausedFor(7, 'skip'), ['12:01-12:07 skipped paused (7)'])
})

test('a pause with an end ends by itself, as chosen', () => {
  const keeper = given()
  pauseIt(keeper, NOON + 2 * MINUTE + SECOND, 'latest')
  assert.equal(keeper.it.wakeAt, NOON + 2 * MINUTE + SECOND)
  keeper.now = NOON + 2 * MINUTE + SECOND
  const [run] = keeper.advance()
  assert.equal(run?.record.dueAt, NOON + 2 * MINUTE)
  assert.equal(keeper.it.pause, null)
})

test('pausing again replaces the earlier pause, and resuming what is not paused changes nothing', () => {
  const keeper = given()
  assert.equal(resume(keeper.it, 'skip', keeper.context), null)
  pauseIt(keeper, NOON + MINUTE)
  keeper.now += SECOND
  pauseIt(keeper, null, 'all')
  assert.deepEqual(keeper.it.pause, { at: NOON + 1, until: null, note: 'deploy', author: 'ann', missed: 'all' })
})

test('waiting fires and retries are frozen, and continue afterwards however late', () => {
  const retry = { ...DEFAULT_POLICY.retry, attempts: 1, baseMs: SECOND, jitter: 0 }
  const keeper = given({ policy: { retry, misfire: { ...DEFAULT_POLICY.misfire, late: 'skip' } } })
  keeper.now = NOON + MINUTE
  keeper.advance({ room: 0 })
  pauseIt(keeper)
  keeper.now = NOON + 5 * MINUTE
  assert.deepEqual(keeper.advance(), [])
  keeper.take(resume(keeper.it, 'skip', keeper.context))
  const [run] = keeper.advance()
  assert.equal(run?.record.dueAt, NOON + MINUTE)
  keeper.settle(run!, 'error')
  pauseIt(keeper)
  keeper.now += MINUTE
  assert.deepEqual(keeper.advance(), [])
  assert.equal(keeper.it.wakeAt, null)
})

test('by hand means now, also while the schedule is paused', () => {
  const keeper = given()
  pauseIt(keeper)
  keeper.take(triggerNow(keeper.it, { nonce: 'n', input: undefined, overlap: 'honour' }, keeper.context))
  assert.equal(keeper.it.wakeAt, keeper.now)
  assert.equal(keeper.advance()[0]?.record.nonce, 'n')
})

test('a very long pause ends in steps, paused until all is on record', () => {
  const keeper = given({ trigger: { kind: 'every', everyMs: SECOND, anchor: 0 } })
  pauseIt(keeper)
  keeper.now = NOON + 15_000 * SECOND
  keeper.take(resume(keeper.it, 'latest', keeper.context))
  // Up to and including now: the instant of now was due when it was resumed.
  assert.deepEqual([keeper.it.pause?.until, keeper.it.wakeAt], [keeper.now + 1, keeper.now + 1])
  keeper.now += 1
  const [run] = keeper.advance()
  assert.equal(keeper.it.pause, null)
  assert.equal(run?.record.dueAt, NOON + 15_000 * SECOND)
})

test('failures are counted anew after a resume', () => {
  const keeper = given({ policy: { pauseAfter: 1 } })
  keeper.now = NOON + MINUTE
  keeper.settle(keeper.advance()[0]!, 'error')
  assert.notEqual(keeper.it.pause, null)
  keeper.take(resume(keeper.it, 'skip', keeper.context))
  assert.deepEqual([keeper.it.pause, keeper.it.failedInRow], [null, 0])
})

test('skip-next leaves out the instant that the operator saw, or nothing', () => {
  const keeper = given()
  const other = skipNext(keeper.it, NOON + 2 * MINUTE, keeper.context)
  assert.equal(refusalOf(other), 'NEXT_CHANGED')
  assert.ok('message' in other && other.message.includes('2027-06-01T12:01:00.000Z'))
  keeper.take(skipNext(keeper.it, NOON + MINUTE, keeper.context))
  assert.deepEqual(story(keeper), ['12:01 skipped skipped-by-operator'])
  assert.deepEqual([keeper.it.nextAt, keeper.it.fired], [NOON + 2 * MINUTE, 1])
  const [record] = keeper.list()
  assert.equal(record?.expiresAt, NOON + MINUTE + DEFAULT_POLICY.retention.keepMs)
})

test('a limited number of instants can be skipped ahead; for more, the hint is a pause', () => {
  const keeper = given()
  for (let n = 0; n < 100; n++) keeper.take(skipNext(keeper.it, keeper.it.nextAt!, keeper.context))
  assert.equal(refusalOf(skipNext(keeper.it, keeper.it.nextAt!, keeper.context)), 'SKIPS_FULL')
})

test('it is the due time that falls into a pause, however long its jitter takes', () => {
  const jitter = { kind: 'fixed', ms: 30 * SECOND } as const
  const keeper = given({ policy: { jitter } })
  const readyAt = keeper.it.wakeAt!
  assert.ok(readyAt > keeper.it.nextAt!)
  pauseIt(keeper, keeper.it.nextAt! + 1, 'skip')
  keeper.now = readyAt
  assert.deepEqual(keeper.advance(), [])
  assert.deepEqual(story(keeper), ['12:01 skipped paused'])

  const resumed = given({ policy: { jitter } })
  pauseIt(resumed)
  resumed.now = resumed.it.nextAt!
  resumed.take(resume(resumed.it, 'all', resumed.context))
  assert.deepEqual([story(resumed), resumed.it.wakeAt], [['12:01 open'], readyAt])
})
