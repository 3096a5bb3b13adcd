import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { iso, namesDay, oracleNext } from '../../../checker/src/oracle/ask-oracle.ts'
import { readExpression } from '../../../checker/src/oracle/read-expression.ts'
import { cron } from '../../src/cron.ts'
import { caseScale } from '../case-count.ts'

// Rare schedules: the next fire is months, years or centuries away, or there is none. The oracle goes date by date.

const { CRONCE_SEED = '20261101' } = process.env
const RUNS = Math.ceil(120 * caseScale(0.4))
const DAY = 86_400_000
const LAST_DAY = Date.UTC(2199, 11, 31) / DAY

const pickDom = fc.constantFrom(
  '*',
  '29',
  '30',
  '31',
  '31W',
  '30W',
  '1W',
  'L',
  'L-30',
  'L-29',
  'L-28W',
  'LW',
  '29-31',
  '13',
  '*/30',
)
const pickDow = fc.constantFrom('*', 'MON', '+FRI', '+1#5', '0#5', '+TUE', '+6L', '+SUN#1', '2#L', '+3-5/2')
const pickMonth = fc.constantFrom('*', '2', 'FEB', '4,6', '2,4,6,9,11', 'JAN', '*/11', '12')
const pickYear = fc.oneof(
  fc.constantFrom('*', '*', '*', '*/4', '*/100', '2100', '1970', '2199', '2000-2100'),
  fc.integer({ min: 1970, max: 2190 }).map((year) => `${year}-${Math.min(2199, year + 9)}/3`),
)
const expressions = fc
  .tuple(fc.constantFrom('0 0', '59 23', '30 2', '0,30 12'), pickDom, pickMonth, pickDow, pickYear)
  .map(([time, dom, month, dow, year]) => `0 ${time} ${dom} ${month} ${dow} ${year}`)
const zones = fc.constantFrom('UTC', 'America/New_York', 'Asia/Kolkata', 'Pacific/Chatham', '-03:00')
const starts = fc.integer({ min: -DAY * 400, max: Date.UTC(2200, 1, 1) })

test('the next fire is the first one on the calendar, however far away', () => {
  let far = 0
  let none = 0
  fc.assert(
    fc.property(expressions, zones, starts, (expression, tz, from) => {
      const label = `next(${iso(from)}) of ${expression} in ${tz}`
      const found = cron(expression, { tz }).next(from)
      const expected = oracleNext(expression, { tz }, from)
      assert.equal(iso(found), iso(expected), label)
      if (found === null) none += 1
      else if (found - from > 366 * DAY) far += 1
    }),
    { numRuns: RUNS, seed: Number(CRONCE_SEED) },
  )
  assert.ok(far > RUNS / 10 && none > RUNS / 50, `${far} far and ${none} without a next, of ${RUNS}`)
})

test('never is true for exactly those expressions that name no date', () => {
  let never = 0
  fc.assert(
    fc.property(expressions, (expression) => {
      const schedule = readExpression(expression)
      let day = 0
      while (day <= LAST_DAY && !namesDay(schedule, day)) day += 1
      assert.equal(cron(expression).never, day > LAST_DAY, expression)
      if (day > LAST_DAY) never += 1
    }),
    { numRuns: Math.ceil(RUNS / 2), seed: Number(CRONCE_SEED) },
  )
  assert.ok(never > RUNS / 100, `${never} of ${RUNS / 2} never fire`)
})
