import assert from 'node:assert/strict'
import test from 'node:test'
import type { MissedChoice } from '../../src/model/schedule.ts'
import { retire } from '../../src/policy/deploy/retire.ts'
import { pause, resume } from '../../src/policy/operate/pause.ts'
import { remove } from '../../src/policy/operate/remove.ts'
import { skipNext } from '../../src/policy/operate/skip-next.ts'
import { advance } from '../../src/policy/plan/advance.ts'
import { requestBackfill } from '../../src/policy/plan/backfill.ts'
import { DAY, DROPPED, given, HOUR, type Keeper, MINUTE, NOON, OnRecord, refusalOf, SECOND, story } from './keeper.ts'

function pauseIt(keeper: Keeper, until: number | null = null, missed: MissedChoice = 'skip'): void {
  keeper.take(pause(keeper.it, { note: null, author: 'ann', until, missed }, keeper.context))
}

function pausedUntil2(now: number, missed: MissedChoice): Keeper {
  const keeper = given()
  pauseIt(keeper, NOON + 2 * MINUTE, missed)
  keeper.now = now
  return keeper
}

test('an instant at which a pause ends is not of the pause: it is on time, and runs', () => {
  const keeper = pausedUntil2(NOON + 2 * MINUTE + 3, 'skip')
  keeper.advance()
  assert.deepEqual(story(keeper), ['12:01 skipped paused', '12:02 open'])
})

test('a fire after the end of a pause that no instance looked at is late, not paused', () => {
  const wanted = ['12:01 skipped paused', '12:02-12:09 missed superseded (8)', '12:10 open']
  const byItself = pausedUntil2(NOON + 10 * MINUTE + 30 * SECOND, 'skip')
  byItself.advance()
  assert.deepEqual(story(byItself), wanted)
  const resumed = pausedUntil2(NOON + 10 * MINUTE + 30 * SECOND, 'skip')
  resumed.take(resume(resumed.it, 'skip', resumed.context))
  resumed.advance()
  assert.deepEqual(story(resumed), wanted)
})

test('nor is it paused when the rule changes, or when another pause begins', () => {
  const changed = pausedUntil2(NOON + 10 * MINUTE + 30 * SECOND, 'latest')
  changed.define({ trigger: { kind: 'every', everyMs: HOUR, anchor: 0 } })
  const wanted = ['12:01 open', '12:02-12:09 missed superseded (8)', '12:10 open']
  assert.deepEqual(story(changed), wanted)
  assert.equal(changed.it.pause, null)
  const again = pausedUntil2(NOON + 10 * MINUTE + 30 * SECOND, 'latest')
  pauseIt(again)
  assert.deepEqual([story(again), again.it.pause?.at], [wanted, again.now])
})

test('fires that a pause held back are on record when the schedule is removed', () => {
  const removed = given()
  pauseIt(removed)
  removed.now = NOON + 2 * MINUTE
  removed.take(remove(removed.it, { force: false }, removed.context))
  assert.deepEqual(story(removed), ['12:01 skipped paused', '12:02 skipped paused'])

  const retired = given({}, { kind: 'code', app: 'shop', number: 1 })
  pauseIt(retired)
  retired.now = NOON + 2 * MINUTE
  retired.take(retire(retired.it, { app: 'shop', ...DROPPED, number: 1 }, retired.context))
  retired.now = NOON + 4 * MINUTE
  retired.define({}, { kind: 'code', app: 'shop', number: 2 })
  assert.deepEqual(story(retired), ['12:01 skipped paused', '12:02 skipped paused'])
  assert.deepEqual([retired.it.nextAt, retired.it.pause?.author], [NOON + 5 * MINUTE, 'ann'])
})

test('an instant left on record by an earlier schedule of the name does not keep a pause from ending', () => {
  const keeper = given()
  keeper.take(skipNext(keeper.it, NOON + MINUTE, keeper.context))
  keeper.take(remove(keeper.it, { force: false }, keeper.context))
  keeper.define()
  pauseIt(keeper)
  keeper.now = NOON + 2 * MINUTE
  let inTheWay: OnRecord | undefined
  try {
    keeper.take(resume(keeper.it, 'skip', keeper.context))
  } catch (error) {
    if (error instanceof OnRecord) inTheWay = error
  }
  assert.ok(inTheWay !== undefined)
  keeper.take(advance(keeper.it, keeper.context, null, [inTheWay.fire]))
  keeper.take(resume(keeper.it, 'skip', keeper.context))
  assert.deepEqual(story(keeper), ['12:01 skipped skipped-by-operator', '12:02 skipped paused'])
})

test('nor does it prevent an operator from skipping the next one', () => {
  const keeper = given()
  keeper.take(skipNext(keeper.it, NOON + MINUTE, keeper.context))
  keeper.take(remove(keeper.it, { force: false }, keeper.context))
  keeper.define()
  const [left] = keeper.list()
  assert.throws(() => keeper.take(skipNext(keeper.it, NOON + MINUTE, keeper.context)), OnRecord)
  keeper.take(advance(keeper.it, keeper.context, null, [left!]))
  assert.deepEqual([keeper.it.nextAt, keeper.it.wakeAt], [NOON + 2 * MINUTE, NOON + 2 * MINUTE])
  assert.equal(refusalOf(skipNext(keeper.it, NOON + MINUTE, keeper.context)), 'NEXT_CHANGED')
})

test('a backfill that a pause held up does not run fires whose records were pruned since', () => {
  const keeper = given({ trigger: { kind: 'every', everyMs: DAY, anchor: 0 } })
  keeper.now = NOON + 12 * HOUR
  keeper.settle(keeper.advance()[0]!, 'completed')
  keeper.now = NOON + 20 * DAY
  keeper.take(
    requestBackfill(keeper.it, { from: NOON, to: keeper.now, id: 'b', author: null, force: true }, keeper.context),
  )
  pauseIt(keeper)
  keeper.now = NOON + 31 * DAY
  const expired = keeper.list().filter(({ expiresAt }) => expiresAt !== null && expiresAt <= keeper.now)
  assert.deepEqual(
    expired.map(({ ending }) => ending?.outcome),
    ['succeeded'],
  )
  for (const { dueAt, nonce } of expired) keeper.fires.delete(`${dueAt} ${nonce}`)
  keeper.take(resume(keeper.it, 'skip', keeper.context))
  const ran: number[] = []
  for (let turn = 0; turn < 100; turn++) {
    for (const run of keeper.advance()) {
      ran.push(run.record.dueAt)
      keeper.settle(run, 'completed')
    }
  }
  assert.ok(ran.length > 10 && !ran.includes(expired[0]!.dueAt))
})

test('nothing begins again before its instant by a clock that went back', () => {
  const keeper = given()
  keeper.now = NOON + MINUTE
  const [run] = keeper.advance()
  keeper.now -= 10 * SECOND
  keeper.recover(run!)
  assert.deepEqual(keeper.advance(), [])
  assert.equal(keeper.it.wakeAt, NOON + MINUTE)
})
