import assert from 'node:assert/strict'
import { test } from 'node:test'
import { iso, type OracleOptions, oracleFires } from '../../src/oracle/ask-oracle.ts'
import { readExpression } from '../../src/oracle/read-expression.ts'
import { findTransitions } from '../../src/oracle/zone-clock.ts'

// The oracle is tested first: every expectation here was worked out by hand from rule set R.

const fires = (expression: string, options: OracleOptions, from: string, to: string) =>
  oracleFires(expression, options, Date.parse(from), Date.parse(to)).map(iso)

const GAP = ['2025-03-09T05:00Z', '2025-03-09T09:00Z'] as const
const OVERLAP = ['2025-11-02T04:00Z', '2025-11-02T08:00Z'] as const
const tz = 'America/New_York'

const cases: readonly [string, OracleOptions, readonly [string, string], readonly string[]][] = [
  ['30 2 * * *', { tz }, GAP, ['2025-03-09T07:00:00Z']],
  ['0,30 2 * * *', { tz }, GAP, ['2025-03-09T07:00:00Z']],
  ['*/30 2 * * *', { tz }, GAP, []],
  [
    '15 * * * *',
    { tz },
    GAP,
    ['2025-03-09T05:15:00Z', '2025-03-09T06:15:00Z', '2025-03-09T07:15:00Z', '2025-03-09T08:15:00Z'],
  ],
  ['30 2 * * *', { tz, dst: 'shift' }, GAP, ['2025-03-09T07:30:00Z']],
  ['30 2 * * *', { tz, dst: 'wall' }, GAP, []],
  ['30 2 * * *', { tz, dst: 'once' }, GAP, []],
  ['*/30 2 * * *', { tz, gap: 'after' }, GAP, ['2025-03-09T07:00:00Z']],
  ['30 1 * * *', { tz }, OVERLAP, ['2025-11-02T05:30:00Z']],
  ['30 1 * * *', { tz, overlap: 'second' }, OVERLAP, ['2025-11-02T06:30:00Z']],
  ['30 1 * * *', { tz, dst: 'wall' }, OVERLAP, ['2025-11-02T05:30:00Z', '2025-11-02T06:30:00Z']],
  ['30 1-2 * * *', { tz }, OVERLAP, ['2025-11-02T05:30:00Z', '2025-11-02T06:30:00Z', '2025-11-02T07:30:00Z']],
  [
    '0 12 * * *',
    { tz: 'Pacific/Apia' },
    ['2011-12-29T00:00Z', '2011-12-31T12:00Z'],
    ['2011-12-29T22:00:00Z', '2011-12-30T22:00:00Z'],
  ],
  ['30 23 * * *', { tz: 'America/Nuuk' }, ['2024-03-30T12:00Z', '2024-03-31T12:00Z'], ['2024-03-31T01:00:00Z']],
  ['0 0 31W 5 *', {}, ['2020-05-01T00:00Z', '2020-06-10T00:00Z'], ['2020-05-29T00:00:00Z']],
  ['0 0 1W 2 *', {}, ['2020-01-28T00:00Z', '2020-03-01T00:00Z'], ['2020-02-03T00:00:00Z']],
  [
    '0 0 L-1W * FRI#L',
    {},
    ['2024-02-01T00:00Z', '2024-03-01T00:00Z'],
    ['2024-02-23T00:00:00Z', '2024-02-28T00:00:00Z'],
  ],
  ['0 0 13 * +FRI', {}, ['2024-09-01T00:00Z', '2025-01-01T00:00Z'], ['2024-09-13T00:00:00Z', '2024-12-13T00:00:00Z']],
  [
    '0 0 * * FRI-MON',
    { wrap: true },
    ['2024-09-02T00:00Z', '2024-09-08T00:00Z'],
    ['2024-09-02T00:00:00Z', '2024-09-06T00:00:00Z', '2024-09-07T00:00:00Z'],
  ],
]

for (const [expression, options, [from, to], expected] of cases) {
  test(`the oracle expands ${expression} ${JSON.stringify(options)} from ${from} by hand-checked rules`, () => {
    assert.deepEqual(fires(expression, options, from, to), expected)
  })
}

test('the oracle distinguishes fixed from interval as the examples of R7 do', () => {
  const timing = (time: string) => readExpression(`${time} * * *`).timing
  for (const time of ['30 2', '0,30 2', '0 2-2', '*/60 2']) assert.equal(timing(time), 'fixed', time)
  for (const time of ['*/30 2', '15 *', '0 1-5', '0 */2', '0-45/15 2']) assert.equal(timing(time), 'interval', time)
})

test('the oracle finds changes that are seven days apart', () => {
  const october = findTransitions('America/Boa_Vista', 2000, 2001)
    .map(({ at }) => iso(at * 1000))
    .filter((at) => at?.startsWith('2000-10'))
  assert.deepEqual(october, ['2000-10-08T04:00:00Z', '2000-10-15T03:00:00Z'])
})

test('the oracle keeps an offset with seconds', () => {
  const [change] = findTransitions('Africa/Monrovia', 1971, 1973)
  assert.deepEqual(change, { at: Date.parse('1972-01-07T00:44:30Z') / 1000, before: -2670, after: 0 })
})
