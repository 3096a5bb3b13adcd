import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LedgerFire } from '../../src/history.ts'
import { judgeLedger } from '../../src/ledger/judge-ledger.ts'
import { excludedInstants, expressionInstants } from '../../src/ledger/rule-instants.ts'
import type { LedgerRule, LedgerSubject } from '../../src/ledger/subject.ts'
import { oracleExcluded, oracleFires } from '../../src/oracle/ask-oracle.ts'

const ALWAYS = { from: 0, to: Number.MAX_SAFE_INTEGER }
const day = (date: number): number => Date.UTC(2026, 10, date, 9)

// 21 and 22 November 2026 are a Saturday and a Sunday.
const CALENDAR = { days: 'SAT SUN' }
const RULE: LedgerRule = {
  instants: expressionInstants('0 9 * * *', { calendar: CALENDAR }),
  excluded: excludedInstants('0 9 * * *', { calendar: CALENDAR }),
  since: day(18),
  nextAt: day(24),
  graceMs: 10_000,
  keptSince: day(1),
  limit: null,
  guarantee: 'at-least-once',
  oneAtATime: true,
}

function fire(date: number, over: Partial<LedgerFire> = {}): LedgerFire {
  const dueAt = day(date)
  return {
    ...{ schedule: 'tick', dueAt, nonce: '', origin: 'scheduled', round: 1, attempt: 0 },
    ...{ plannedAt: dueAt, readyAt: dueAt, endedAt: dueAt, outcome: 'missed', reason: 'late' },
    ...{ untilAt: null, count: 1, ...over },
  }
}

const excluded = (date: number) => fire(date, { outcome: 'skipped', reason: 'calendar' })
const SOUND = [fire(19), fire(20), excluded(21), excluded(22), fire(23)]

function found(fires: readonly LedgerFire[], rule: Partial<LedgerRule> = {}): string[] {
  const subject: LedgerSubject = {
    ...{ schedule: 'tick', fires, runs: [], readAt: day(24) - 1, settledBefore: day(24) - 1 },
    ...{ rule: { ...RULE, ...rule }, clockErrorMs: 100, retirements: [] },
  }
  return judgeLedger(subject, ALWAYS).violations.map(
    ({ property, dueAt }) => `${property} ${new Date(dueAt!).getUTCDate()}`,
  )
}

test('what a calendar excludes must be on record, once a later fire is planned', () => {
  assert.deepEqual(found(SOUND), [])
  assert.deepEqual(found(SOUND.filter((one) => one.dueAt !== day(22))), ['C1 22'])
  // Not yet: the records of a closed day come with its last time.
  assert.deepEqual(found(SOUND.slice(0, 2), { nextAt: day(23) }), [])
})

test('a fire on a closed day, and an excluded time on an open one, are on record for no reason', () => {
  assert.deepEqual(found([...SOUND.slice(0, 2), fire(21), excluded(22), fire(23)]).sort(), ['C1 21', 'C4 21'])
  assert.deepEqual(found([fire(19), excluded(20), excluded(21), excluded(22), fire(23)]).sort(), ['C1 20', 'C4 20'])
})

test('what a calendar excludes may run in another round, if an operator asks for it', () => {
  const again = fire(21, { round: 2 })
  assert.deepEqual(found(SOUND.map((one) => (one.dueAt === day(21) ? again : one))), [])
  assert.deepEqual(found(SOUND.map((one) => (one.dueAt === day(21) ? { ...again, round: 1 } : one))).sort(), [
    'C1 21',
    'C4 21',
  ])
})

test('a range of excluded times counts those, and not the fires between them', () => {
  const range = fire(21, { outcome: 'skipped', reason: 'calendar', untilAt: day(22), count: 2 })
  assert.deepEqual(found([fire(19), fire(20), range, fire(23)]), [])
  assert.deepEqual(found([fire(19), fire(20), { ...range, count: 3 }, fire(23)]), ['C10 21'])
})

const dates = (fires: readonly number[]): string[] => fires.map((at) => new Date(at).toISOString().slice(5, 10))
const from = Date.UTC(2026, 11, 20)
const to = Date.UTC(2027, 0, 12)

function both(expression: string, days: string, rule?: 'next-working-day' | 'previous-working-day' | 'nearest') {
  const options = { calendar: { days, ...(rule === undefined ? {} : { excluded: rule }) } }
  return [dates(oracleFires(expression, options, from, to)), dates(oracleExcluded(expression, options, from, to))]
}

// Written by hand, from a calendar on paper: 25 December 2026 and 1 January 2027 are Fridays.
test('the oracle moves and excludes by the rule', () => {
  const days = 'SAT SUN 12-25 01-01'
  assert.deepEqual(both('0 9 25 12 *', days), [[], ['12-25']])
  assert.deepEqual(both('0 9 25 12 *', days, 'next-working-day'), [['12-28'], []])
  assert.deepEqual(both('0 9 25 12 *', days, 'previous-working-day'), [['12-24'], []])
  assert.deepEqual(both('0 9 25 12 *', days, 'nearest'), [['12-24'], []])
  assert.deepEqual(both('0 9 26,27 12 *', days, 'nearest'), [['12-24', '12-28'], []])
  assert.deepEqual(both('0 9 25-27 12 *', days, 'next-working-day'), [['12-28'], ['12-26', '12-27']])
  assert.deepEqual(both('0 9 25,28 12 *', days, 'next-working-day'), [['12-28'], ['12-25']])
  assert.deepEqual(both('0 9 1 * *', days, 'previous-working-day'), [['12-31'], []])
  assert.deepEqual(both('0 9 27 12 *', `${days} +2026-12-26`, 'nearest'), [['12-26'], []])
  assert.deepEqual(both('0 9 * * *', '2026-12-21/2027-01-10', 'next-working-day')[0], ['12-20', '01-11'])
  assert.deepEqual(both('0 9 21 12 *', '2026-12-21/2027-03-30', 'next-working-day'), [[], []])
  assert.deepEqual(both('0 9 21 12 *', '2026-12-21/2027-03-31', 'next-working-day'), [[], ['12-21']])
})

test('the oracle finds the open day for W and LW', () => {
  assert.deepEqual(both('0 9 LW * *', 'SAT SUN 12-31 2026-12-30'), [['12-29'], []])
  assert.deepEqual(both('0 9 25W * *', 'SAT SUN 12-25'), [['12-24'], []])
  assert.deepEqual(both('0 9 1W 1 *', 'SAT SUN 01-01'), [['01-04'], []])
})
