import assert from 'node:assert/strict'
import { test } from 'node:test'
import { iso } from '../../../checker/src/oracle/ask-oracle.ts'
import { CronError, type CronOptions, cron } from '../../src/cron.ts'
import { assertSameSet } from './expected-fires.ts'

// A dialect is a grammar and a rule for the two day fields. `dst` stays 'auto' in every one of them.

type Dialect = NonNullable<CronOptions['dialect']>

const SAME: readonly (readonly [Dialect, written: string, meaning: string])[] = [
  ['default', '5/20 0 L * ?', '5,25,45 0 L * *'],
  ['vixie', '*/5 1-5/2 * jan-mar MON', '*/5 1,3,5 * 1,2,3 1'],
  ['vixie', '@daily', '0 0 * * *'],
  ['vixie', '0 0 */2 * 1', '0 0 */2 * +1'],
  ['vixie', '0 0 13 * */2', '0 0 13 * +0,2,4,6'],
  ['vixie', '0 0 13 * 5', '0 0 13 * 5'],
  ['vixie', '0 0 * * FRI-SUN', '0 0 * * 5,6,0'],
  ['ocps', '0 0 L * *', '0 0 L * *'],
  ['ocps', '0 0 15W * fri#2', '0 0 15W * 5#2'],
  ['ocps', '0 0 13 * +FRI', '0 0 13 * +5'],
  ['ocps', '0 0 ? * 1', '0 0 * * 1'],
  ['ocps', '@daily', '0 0 * * *'],
  ['ocps', '0 0 0 1 jan * 2025-2030', '0 0 0 1 1 * 2025-2030'],
  ['ocps', '0 0 */2 * 1', '0 0 */2 * 1'],
  ['quartz', '0 0 12 ? * 2', '0 12 * * 1'],
  ['quartz', '0 0 12 1 * ?', '0 12 1 * *'],
  ['quartz', '0 15 10 ? * 6L 2025', '0 15 10 * * 5L 2025'],
  ['quartz', '0 0 12 ? * 6#3', '0 12 * * 5#3'],
  ['quartz', '0 0 12 ? * L', '0 12 * * 6'],
  ['quartz', '0 0 12 ? * 1L', '0 12 * * 0L'],
  ['quartz', '0 0 22-2 ? * MON', '0 22,23,0,1,2 * * 1'],
  ['quartz', '0 0 12 ? * FRI-MON', '0 12 * * 5,6,0,1'],
  ['quartz', '0 0 12 ? * 6-2', '0 12 * * 5,6,0,1'],
  ['quartz', '0 0 12 ? * SAT-SUN', '0 12 * * 6,0'],
  ['quartz', '0 0 12 ? * 1-7', '0 12 * * *'],
  ['quartz', '0 0 12 ? * 3/2', '0 12 * * 2,4,6'],
  ['quartz', '0 0/5 14 * * ?', '*/5 14 * * *'],
  ['quartz', '0 0 12 LW * ?', '0 12 LW * *'],
  ['quartz', '0 0 12 L-3 * ?', '0 12 L-3 * *'],
  ['quartz', '0 0 0 1 NOV-FEB ?', '0 0 1 11,12,1,2 *'],
  ['quartz', '0 11 11 11 11 ?', '11 11 11 11 *'],
  ['eventbridge', '0 10 * * ? *', '0 10 * * *'],
  ['eventbridge', 'cron(0 10 * * ? *)', '0 10 * * *'],
  ['eventbridge', '15 12 ? * 2#1 2025', '0 15 12 * * 1#1 2025'],
  ['eventbridge', '0 18 ? * MON-FRI *', '0 18 * * 1-5'],
  ['eventbridge', '0 8 1 * ? 2025-2026', '0 0 8 1 * * 2025,2026'],
  ['eventbridge', '0 0 ? * L *', '0 0 * * 6'],
  ['eventbridge', '0 0 ? * 6L *', '0 0 * * 5L'],
  ['eventbridge', '0 0 3W * ? *', '0 0 3W * *'],
  ['eventbridge', '0/15 22-2 * * ? *', '*/15 22,23,0-2 * * *'],
  ['kubernetes', '0 0 * * 0-6', '0 0 * * *'],
  ['kubernetes', '0 0 ? * 1', '0 0 * * 1'],
  ['kubernetes', '5/10 * * * *', '5,15,25,35,45,55 * * * *'],
  ['kubernetes', '0 0 */2 * 1', '0 0 */2 * 1'],
  ['kubernetes', '@weekly', '0 0 * * 0'],
]

for (const [dialect, written, meaning] of SAME) {
  test(`${dialect} reads ${written} as ${meaning}`, () => {
    assertSameSet(cron(written, { dialect }), cron(meaning), written)
  })
}

const REFUSED: readonly (readonly [Dialect, why: string, expressions: readonly string[]])[] = [
  ['vixie', 'has five fields', ['0 0 0 * * *', '0 0 0 * * * 2025', '* * * *']],
  ['vixie', 'has no a/n', ['5/10 * * * *', '0 0 * * MON/2']],
  [
    'vixie',
    'has no L, W, #, ?, +, H',
    ['0 0 L * *', '0 0 15W * *', '0 0 * * 5L', '0 0 * * 1#2', '0 0 ? * *', '0 0 1 * +1', 'H * * * *'],
  ],
  ['ocps', 'has no a/n', ['5/10 * * * *', '0 0 * * MON/2']],
  [
    'ocps',
    'tells l, w and macros by case',
    ['0 0 l * *', '0 0 15w * *', '0 0 lW * *', '0 0 * * 5l', '@Daily', '@DAILY'],
  ],
  ['quartz', 'has six or seven fields', ['0 12 * * ?', '0 0 0 12 ? * 2 2025 *']],
  ['quartz', 'wants ? in exactly one day field', ['0 0 12 * * *', '0 0 12 ? * ?', '0 0 12 1 * 2']],
  ['quartz', 'counts weekdays from 1 to 7', ['0 0 12 ? * 0', '0 0 12 ? * 8', '0 0 12 ? * 0-6']],
  ['eventbridge', 'has six fields', ['0 10 * * ?', '0 0 10 * * ? *', 'cron(0 10 * * ?)', 'cron(0 10 * * ? *']],
  ['eventbridge', 'wants ? in exactly one day field', ['0 10 * * * *', '0 10 ? * ? *', '0 10 1 * 2 *']],
  ['eventbridge', 'counts weekdays from 1 to 7', ['0 10 ? * 0 *', '0 10 ? * 8 *']],
  [
    'eventbridge',
    'has rates of a positive number and a unit',
    ['rate(0 minutes)', 'rate(5)', 'rate(minutes)', 'rate(5 parsecs)', 'rate(-5 minutes)', 'rate(5 minutes'],
  ],
  ['kubernetes', 'has five fields', ['0 0 0 * * *', '0 0 0 * * * 2025']],
  ['kubernetes', 'takes no zone in the text', ['CRON_TZ=UTC 0 0 * * *', 'TZ=UTC 0 0 * * *']],
  [
    'kubernetes',
    'has no L, W, #, H, +',
    ['0 0 L * *', '0 0 15W * *', '0 0 * * 5L', '0 0 * * 1#2', 'H * * * *', '0 0 1 * +1'],
  ],
  ['kubernetes', 'counts weekdays from 0 to 6', ['0 0 * * 7', '0 0 * * 5-7']],
  ['default', 'takes foreign wrappers only in their dialect', ['cron(0 10 * * ? *)', 'rate(5 minutes)']],
]

for (const [dialect, why, expressions] of REFUSED) {
  test(`${dialect} ${why}`, () => {
    for (const expression of expressions)
      assert.throws(() => cron(expression, { dialect, seed: 'x' }), CronError, expression)
  })
}

test('vixie and kubernetes do not wrap, quartz and eventbridge do', () => {
  for (const dialect of ['default', 'vixie', 'ocps', 'kubernetes'] as const) {
    assert.throws(() => cron('0 22-2 * * *', { dialect }), { code: 'RANGE_BACKWARD' }, dialect)
  }
  assert.equal(cron('0 0 22-2 * * ?', { dialect: 'quartz' }).never, false)
  assert.equal(cron('0 22-2 * * ? *', { dialect: 'eventbridge' }).never, false)
})

test('eventbridge rates count elapsed time', () => {
  const rates = {
    'rate(5 minutes)': 300_000,
    'rate(1 minute)': 60_000,
    'rate(1 hour)': 3_600_000,
    'rate(7 days)': 604_800_000,
  }
  for (const [expression, everyMs] of Object.entries(rates)) {
    const subject = cron(expression, { dialect: 'eventbridge', tz: 'Europe/Berlin' })
    assert.ok(subject.kind === 'every')
    assert.equal(subject.everyMs, everyMs, expression)
  }
})

test('kubernetes knows @every', () => {
  const subject = cron('@every 1h30m', { dialect: 'kubernetes' })
  assert.ok(subject.kind === 'every')
  assert.equal(subject.everyMs, 5_400_000)
})

test('no dialect changes what a gap or an overlap does', () => {
  const written: Readonly<Record<Dialect, string>> = {
    default: '30 1,2 * * *',
    vixie: '30 1,2 * * *',
    ocps: '30 1,2 * * *',
    kubernetes: '30 1,2 * * *',
    quartz: '0 30 1,2 * * ?',
    eventbridge: '30 1,2 * * ? *',
  }
  let dialects = 0
  for (const [dialect, expression] of Object.entries(written) as [Dialect, string][]) {
    const subject = cron(expression, { dialect, tz: 'America/New_York' })
    const spring = subject.nextN(Date.parse('2025-03-09T05:00Z'), 2).map(iso)
    const autumn = subject.nextN(Date.parse('2025-11-02T04:00Z'), 2).map(iso)
    assert.deepEqual(spring, ['2025-03-09T06:30:00Z', '2025-03-09T07:00:00Z'], dialect)
    assert.deepEqual(autumn, ['2025-11-02T05:30:00Z', '2025-11-02T07:30:00Z'], dialect)
    dialects += 1
  }
  assert.equal(dialects, 6)
})

test('days given explicitly wins over the rule of the dialect', () => {
  const subject = cron('0 0 */10 * MON', { dialect: 'vixie', days: 'or' })
  assertSameSet(subject, cron('0 0 */10 * MON'), 'vixie with days: or')
})

test('normalized is written in the default dialect', () => {
  let count = 0
  for (const [dialect, written, meaning] of SAME) {
    const subject = cron(written, { dialect })
    assert.ok(subject.kind === 'cron')
    assertSameSet(cron(subject.normalized), cron(meaning), `${written} as ${subject.normalized}`)
    count += 1
  }
  assert.equal(count, SAME.length)
})
