import assert from 'node:assert/strict'
import test from 'node:test'
import { DEFAULT_POLICY } from '../../src/model/policy.ts'
import type { Definition } from '../../src/model/schedule.ts'
import { pause } from '../../src/policy/operate/pause.ts'
import { skipNext } from '../../src/policy/operate/skip-next.ts'
import { requestBackfill } from '../../src/policy/plan/backfill.ts'
import type { ExcludedRule } from '../../src/trigger/trigger.ts'
import { DAY, given, type Keeper } from './keeper.ts'

// NOON is that of Tuesday, 1 June 2027.
const at = (text: string): number => Date.parse(`2027-06-${text}:00Z`)

function cron(expression: string, days: string, excluded?: ExcludedRule): Pick<Definition, 'trigger'> {
  const calendar = { name: 'works', days, ...(excluded === undefined ? {} : { excluded }) }
  return { trigger: { kind: 'cron', expression, tz: 'UTC', calendar } }
}

function story(keeper: Keeper): string[] {
  const text = (instant: number): string => new Date(instant).toISOString().slice(8, 16)
  return keeper.list().map(({ dueAt, range, ending }) => {
    const until = range === null ? '' : `/${text(range.untilAt)} (${range.count})`
    const why = ending?.reason === 'calendar' ? `: ${ending.detail}` : ''
    return `${text(dueAt)}${until} ${ending === null ? 'open' : `${ending.outcome} ${ending.reason}${why}`}`
  })
}

/** As an instance does it: it looks when the schedule says so. */
function liveUntil(keeper: Keeper, end: number): void {
  for (let looks = 0; keeper.it.wakeAt !== null && keeper.it.wakeAt <= end; looks++) {
    assert.ok(looks < 1_000, 'it spins')
    keeper.now = Math.max(keeper.now, keeper.it.wakeAt)
    for (const run of keeper.advance()) keeper.settle(run, 'completed')
  }
  keeper.now = end
}

test('a closed day is recorded as skipped when it comes, and the next fire is the one that will run', () => {
  const keeper = given(cron('0 9 * * *', 'WED'))
  assert.equal(keeper.it.nextAt, at('03T09:00'))
  assert.equal(keeper.it.wakeAt, at('02T09:00'))
  liveUntil(keeper, at('03T10:00'))
  assert.deepEqual(story(keeper), [
    '02T09:00 skipped calendar: the calendar works closes 2027-06-02',
    '03T09:00 succeeded completed',
  ])
})

test('two times that come to one day are one fire and one record, which names the other', () => {
  const keeper = given(cron('0 9 * * *', 'SAT SUN', 'next-working-day'))
  liveUntil(keeper, at('07T10:00'))
  assert.deepEqual(story(keeper).slice(3), [
    '05T09:00 skipped calendar: the calendar works closes 2027-06-05, and the fire of 2027-06-07 stands for it',
    '06T09:00 skipped calendar: the calendar works closes 2027-06-06, and the fire of 2027-06-07 stands for it',
    '07T09:00 succeeded completed',
  ])
})

test('of two closed days the first moves, and the second is recorded', () => {
  const keeper = given(cron('0 9 * * SAT,SUN', 'SAT SUN', 'next-working-day'))
  assert.equal(keeper.it.nextAt, at('07T09:00'))
  liveUntil(keeper, at('07T10:00'))
  assert.deepEqual(story(keeper), [
    '06T09:00 skipped calendar: the calendar works closes 2027-06-06, and the fire of 2027-06-07 stands for it',
    '07T09:00 succeeded completed',
  ])
})

test('a fire that moved to an earlier day is due there, and a schedule that is made later begins after it', () => {
  const early = given(cron('0 9 6 * *', 'SAT SUN', 'previous-working-day'))
  assert.equal(early.it.nextAt, at('04T09:00'))
  const late = given()
  late.now = at('05T12:00')
  late.define(cron('0 9 6 * *', 'SAT SUN', 'previous-working-day'))
  assert.equal(late.it.nextAt, Date.parse('2027-07-06T09:00:00Z'))
})

test('the times of a closed day are recorded together, with the last of them', () => {
  const keeper = given(cron('* * * * *', 'WED'))
  keeper.now = at('01T23:59')
  liveUntil(keeper, at('01T23:59'))
  for (const { run } of [...keeper.it.open]) keeper.settle(run!.token, 'completed')
  assert.equal(keeper.it.wakeAt, at('02T23:59'))
  liveUntil(keeper, at('02T23:59'))
  assert.deepEqual(story(keeper).slice(-1), [
    '02T00:00/02T23:59 (1440) skipped calendar: the calendar works closes 2027-06-02',
  ])
})

test('after an outage the latest fire runs, though what the calendar excludes comes after it', () => {
  // More excluded times than one step looks at: no step may leave it to a newer fire, since none is due.
  const keeper = given({
    ...cron('0,30 * * * * *', 'WED THU FRI SAT SUN MON', 'skip'),
    policy: { misfire: { ...DEFAULT_POLICY.misfire, windowMs: 20 * DAY } },
  })
  keeper.now = at('01T23:58')
  for (const run of keeper.advance()) keeper.settle(run, 'completed')
  keeper.now = at('08T00:00') - 1
  const runs = [...keeper.advance(), ...keeper.advance(), ...keeper.advance()]
  assert.deepEqual(
    runs.map(({ record }) => record.dueAt),
    [at('01T23:59') + 30_000],
  )
})

test('a skip of the next fire leaves what the calendar excludes before it to be recorded', () => {
  const keeper = given(cron('0 9 * * *', 'WED'))
  keeper.take(skipNext(keeper.it, at('03T09:00'), keeper.context))
  assert.equal(keeper.it.nextAt, at('04T09:00'))
  liveUntil(keeper, at('04T10:00'))
  assert.deepEqual(story(keeper), [
    '02T09:00 skipped calendar: the calendar works closes 2027-06-02',
    '03T09:00 skipped skipped-by-operator',
    '04T09:00 succeeded completed',
  ])
})

test('what the calendar excludes does not count against the limit, and nothing is recorded beyond it', () => {
  const keeper = given({ ...cron('0 9 * * *', 'WED FRI'), limit: 2 })
  liveUntil(keeper, at('09T10:00'))
  assert.deepEqual(story(keeper), [
    '02T09:00 skipped calendar: the calendar works closes 2027-06-02',
    '03T09:00 succeeded completed',
    '04T09:00 skipped calendar: the calendar works closes 2027-06-04',
    '05T09:00 succeeded completed',
  ])
  assert.equal(keeper.it.wakeAt, null)
})

test('what is excluded between the last fire and the end of the schedule is recorded, too', () => {
  const keeper = given({ ...cron('0 9 * * *', 'WED THU'), end: at('03T12:00') })
  assert.equal(keeper.it.nextAt, null)
  liveUntil(keeper, at('09T10:00'))
  assert.deepEqual(story(keeper).length, 2)
})

test('in a pause the calendar keeps its word: a closed day is not one that the pause skipped', () => {
  const keeper = given(cron('0 9 * * *', 'WED'))
  const wish = { until: at('04T12:00'), note: null, author: null, missed: 'skip' } as const
  keeper.take(pause(keeper.it, wish, keeper.context))
  liveUntil(keeper, at('04T12:00'))
  assert.deepEqual(story(keeper), [
    '02T09:00 skipped calendar: the calendar works closes 2027-06-02',
    '03T09:00 skipped paused',
    '04T09:00 skipped paused',
  ])
})

test('a backfill runs the times that fire, and not those that the calendar excludes', () => {
  const keeper = given(cron('0 9 * * *', 'WED'))
  keeper.now = at('04T12:00')
  keeper.advance(null)
  for (const run of keeper.advance()) keeper.settle(run, 'completed')
  const range = { from: at('02T00:00'), to: at('04T00:00'), id: 'b', author: null, force: true }
  keeper.take(requestBackfill(keeper.it, range, keeper.context))
  for (let turn = 0; turn < 5; turn++) for (const run of keeper.advance()) keeper.settle(run, 'completed')
  assert.deepEqual(story(keeper), [
    '02T09:00 skipped calendar: the calendar works closes 2027-06-02',
    '03T09:00 succeeded completed',
    '04T09:00 succeeded completed',
  ])
})

test('another calendar is another rule: up to now the old one counts, from then on the new one', () => {
  const keeper = given(cron('0 9 * * *', 'WED'))
  keeper.now = at('02T12:00')
  keeper.define(cron('0 9 * * *', 'FRI'))
  assert.deepEqual(story(keeper), ['02T09:00 skipped calendar: the calendar works closes 2027-06-02'])
  assert.equal(keeper.it.nextAt, at('03T09:00'))
  assert.equal(keeper.it.revision, 2)
})
