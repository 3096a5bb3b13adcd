import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { viewSchedule } from '../../src/client/make-view.ts'
import type { ScheduleView } from '../../src/client/views.ts'
import type { FireEnd } from '../../src/model/record.ts'
import { define } from '../../src/policy/operate/define.ts'
import type { TriggerData } from '../../src/trigger/trigger.ts'
import { silent } from '../../src/watch/rules/silent.ts'
import { THRESHOLDS } from '../../src/watch/rules/thresholds.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

/** A schedule of this rule that was made then, and whose last success was due then. */
function scheduled(
  rule: Omit<TriggerData & { kind: 'cron' }, 'kind'>,
  madeAt: number,
  dueAt: number | null,
): ScheduleView {
  const none = { input: null, policy: {}, start: null, end: null, limit: null, tenant: null }
  const definition = { job: 'report', trigger: { kind: 'cron' as const, ...rule }, ...none }
  const context = { now: madeAt, epoch: 1, zoneData: '', random: () => 0 }
  const made = define(null, 'report', { definition, source: { kind: 'client' } }, context)
  assert.ok(made !== null && 'change' in made)
  return viewSchedule({
    ...made.change.state!,
    last: { dueAt, succeededDueAt: dueAt, succeededAt: dueAt === null ? null : dueAt + 1_000 },
  })
}

function judged(schedule: ScheduleView, now: number, history: readonly FireEnd[] = []) {
  return silent({ now, schedule, history, ends: null, instances: [] }, THRESHOLDS.silent)
}

describe('silent, by the instants of the schedule itself', () => {
  test('a monthly job is silent when its month is over, not after 30 days', () => {
    const first = Date.UTC(2027, 0, 1, 3)
    const schedule = scheduled({ expression: '0 3 1 * *' }, first - DAY_MS, first)
    assert.equal(judged(schedule, Date.UTC(2027, 1, 1, 3, 10)), 'fine')
    assert.notEqual(judged(schedule, Date.UTC(2027, 1, 1, 3, 20)), 'fine')
  })

  test('a day of 25 hours explains an hour', () => {
    // 02:00 in Berlin on 30 and 31 October 2027: the clocks go back in between.
    const last = Date.UTC(2027, 9, 30, 6)
    const schedule = scheduled({ expression: '0 8 * * *', tz: 'Europe/Berlin' }, last - DAY_MS, last)
    assert.equal(judged(schedule, Date.UTC(2027, 9, 31, 7, 10)), 'fine')
    assert.notEqual(judged(schedule, Date.UTC(2027, 9, 31, 7, 20)), 'fine')
  })

  test('the usual duration explains as much', () => {
    const last = Date.UTC(2027, 0, 1)
    const schedule = scheduled({ expression: '0 * * * *' }, last - DAY_MS, last)
    const now = last + 90 * MINUTE_MS
    const end = {
      schedule: 'report',
      nonce: '',
      attempt: 1,
      outcome: 'succeeded',
      reason: 'completed',
      count: 1,
    } as const
    const long = { ...end, dueAt: last, untilAt: last, startedAt: last, endedAt: last + 40 * MINUTE_MS }
    assert.notEqual(judged(schedule, now), 'fine')
    assert.equal(judged(schedule, now, [long]), 'fine')
  })

  test('without a history it is not certain', () => {
    const last = Date.UTC(2027, 0, 1)
    const schedule = scheduled({ expression: '0 * * * *' }, last - DAY_MS, last)
    const facts = { now: last + 90 * MINUTE_MS, schedule, history: null, ends: null, instances: [] }
    assert.equal(silent(facts, THRESHOLDS.silent), 'suspect')
  })

  test('what an operator skipped, and a first run to come, are explained', () => {
    const last = Date.UTC(2027, 0, 1)
    const schedule = scheduled({ expression: '0 * * * *' }, last - DAY_MS, last)
    const next = last + 60 * MINUTE_MS
    const skipped = {
      ...{ schedule: 'report', nonce: '', attempt: 0, outcome: 'skipped', reason: 'skipped-by-operator', count: 1 },
      ...{ dueAt: next, untilAt: next, startedAt: null, endedAt: next },
    } as FireEnd
    assert.equal(judged(schedule, next + 50 * MINUTE_MS, [skipped]), 'fine')
    const fresh = scheduled({ expression: '0 3 1 * *' }, last, null)
    assert.equal(judged(fresh, last + 2 * 3_600_000), 'fine')
    assert.notEqual(judged(fresh, last + 4 * 3_600_000), 'fine')
  })

  test('a fire that runs, is parked or waits for a retry may still succeed', () => {
    const last = Date.UTC(2027, 0, 1)
    const schedule = scheduled({ expression: '0 * * * *' }, last - DAY_MS, last)
    const fire = { dueAt: last + 60 * MINUTE_MS, nonce: '', kind: 'scheduled', readyAt: last + 120 * MINUTE_MS }
    const withOpen = (state: string, attempt: number) =>
      judged({ ...schedule, open: [{ ...fire, state, attempt }] } as unknown as ScheduleView, last + 90 * MINUTE_MS)
    for (const state of ['running', 'cancelling', 'parked']) assert.equal(withOpen(state, 1), 'fine', state)
    assert.equal(withOpen('waiting', 1), 'fine')
    assert.notEqual(withOpen('waiting', 0), 'fine')
  })
})
