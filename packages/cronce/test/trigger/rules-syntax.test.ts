import assert from 'node:assert/strict'
import { test } from 'node:test'
import { iso } from '../../../checker/src/oracle/ask-oracle.ts'
import { readExpression } from '../../../checker/src/oracle/read-expression.ts'
import { CronError, type CronOptions, cron } from '../../src/cron.ts'
import { assertSameSet } from './expected-fires.ts'

// R2, R3 and R6: what may be written, and which other spelling means the same.

const SAME: readonly (readonly [rule: string, written: string, meaning: string, options?: CronOptions])[] = [
  ['R2 five fields have second 0', '5 4 3 2 *', '0 5 4 3 2 * *'],
  ['R2 six fields start with the second', '30 5 4 3 2 *', '30 5 4 3 2 * *'],
  ['R2 seven fields end with the year', '0 0 0 1 1 * *', '0 0 1 1 *'],
  ['R2 a missing year is every year', '0 0 0 1 1 * 1970-2199', '0 0 1 1 *'],
  ['R2 runs of blanks and tabs separate', ' \t 5  4\t\t3 \t2 * \t', '5 4 3 2 *'],
  ['R2 7 is Sunday', '0 0 * * 7', '0 0 * * 0'],
  ['R3 a list', '5,10,7 * * * *', '5,7,10 * * * *'],
  ['R3 a list may repeat itself', '5,5,5-5 * * * *', '5 * * * *'],
  ['R3 a range', '5-8 0 * * *', '5,6,7,8 0 * * *'],
  ['R3 a range of one', '5-5 0 * * *', '5 0 * * *'],
  ['R3 a star with a step', '*/25 0 * * *', '0,25,50 0 * * *'],
  ['R3 a range with a step', '10-40/15 0 * * *', '10,25,40 0 * * *'],
  ['R3 a value with a step goes to the end', '5/20 0 * * *', '5,25,45 0 * * *'],
  ['R3 a step as large as the field', '*/60 */24 */31 */12 *', '0 0 1 1 *'],
  ['R3 a step as large as the week', '0 0 * * */7', '0 0 * * 0'],
  ['R3 a step as large as the years', '0 0 0 1 1 * */230', '0 0 0 1 1 * 1970'],
  ['R3 a step in the days of the month starts at 1', '0 0 */10 * *', '0 0 1,11,21,31 * *'],
  ['R3 a step in the months starts at 1', '0 0 1 */5 *', '0 0 1 1,6,11 *'],
  ['R3 a step in the years starts at 1970', '0 0 0 1 1 * */100', '0 0 0 1 1 * 1970,2070,2170'],
  ['R3 a star in a list', '*,5 * * * *', '* * * * *'],
  ['R3 month names in any case', '0 0 1 jan,Feb,DEC *', '0 0 1 1,2,12 *'],
  ['R3 ranges of month names', '0 0 1 MAR-may *', '0 0 1 3,4,5 *'],
  ['R3 ranges of month names with a step', '0 0 1 JAN-DEC/6 *', '0 0 1 1,7 *'],
  ['R3 a month name with a step', '0 0 1 oct/2 *', '0 0 1 10,12 *'],
  ['R3 names and numbers mix', '0 0 1 1-MAR *', '0 0 1 1,2,3 *'],
  ['R3 weekday names in any case', '0 0 * * sun,Mon,TUE', '0 0 * * 0,1,2'],
  ['R3 SUN at the end of a range is 7', '0 0 * * FRI-SUN', '0 0 * * 5,6,0'],
  ['R3 SUN at the end of a range is 7', '0 0 * * 1-SUN', '0 0 * * *'],
  ['R3 SUN at the start of a range is 0', '0 0 * * SUN-TUE', '0 0 * * 0,1,2'],
  ['R3 SUN-SUN is the whole week', '0 0 * * SUN-SUN', '0 0 * * 0-6'],
  ['R3 0-7 is the whole week', '0 0 * * 0-7', '0 0 * * 0-6'],
  ['R3 7-7 is Sunday', '0 0 * * 7-7', '0 0 * * 0'],
  ['R3 5-7 keeps its Sunday', '0 0 * * 5-7', '0 0 * * 0,5,6'],
  ['R3 5-7 with a step keeps its Sunday', '0 0 * * 5-7/2', '0 0 * * 0,5'],
  ['R3 SAT-SUN with a step', '0 0 * * SAT-SUN/2', '0 0 * * 6'],
  ['R3 a star in the weekdays is 0 to 6', '0 0 * * */3', '0 0 * * 0,3,6'],
  ['R3 a weekday with a step ends at 6', '0 0 * * 5/2', '0 0 * * 5'],
  ['R3 a weekday with a step ends at 6', '0 0 * * MON/3', '0 0 * * 1,4'],
  ['R3 7/2 is 0/2', '0 0 * * 7/2', '0 0 * * 0/2'],
  ['R3 leading zeros', '00 007 01 02 03', '0 7 1 2 3'],
  ['R6 @yearly', '@yearly', '0 0 1 1 *'],
  ['R6 @annually', '@annually', '0 0 1 1 *'],
  ['R6 @monthly', '@monthly', '0 0 1 * *'],
  ['R6 @weekly', '@weekly', '0 0 * * 0'],
  ['R6 @daily', '@daily', '0 0 * * *'],
  ['R6 @midnight', '@midnight', '0 0 * * *'],
  ['R6 @hourly', '@hourly', '0 * * * *'],
  ['R4 macros in any case', '@DaIlY', '0 0 * * *'],
  ['R6 blanks around a macro', '  @daily\t', '0 0 * * *'],
  ['option wrap: hours', '0 22-2 * * *', '0 22-23,0-2 * * *', { wrap: true }],
  ['option wrap: hours with a step', '0 22-3/2 * * *', '0 22,0,2 * * *', { wrap: true }],
  ['option wrap: minutes', '58-1 0 * * *', '58,59,0,1 0 * * *', { wrap: true }],
  ['option wrap: seconds', '58-1 0 0 * * *', '58,59,0,1 0 0 * * *', { wrap: true }],
  ['option wrap: months', '0 0 1 NOV-FEB *', '0 0 1 11,12,1,2 *', { wrap: true }],
  ['option wrap: months with a step', '0 0 1 NOV-FEB/3 *', '0 0 1 11,2 *', { wrap: true }],
  ['option wrap: days of the month', '0 0 30-2 * *', '0 0 30,31,1,2 * *', { wrap: true }],
  ['option wrap: weekdays', '0 0 * * FRI-MON', '0 0 * * 5,6,0,1', { wrap: true }],
  ['option wrap: weekdays with a step', '0 0 * * FRI-MON/2', '0 0 * * 5,0', { wrap: true }],
  ['option wrap: from Sunday as 7', '0 0 * * 7-1', '0 0 * * 0,1', { wrap: true }],
  ['option wrap: to Sunday as 0', '0 0 * * 5-0', '0 0 * * 5,6,0', { wrap: true }],
  ['option wrap leaves forward ranges alone', '0 2-22/5 * * 5-7', '0 2,7,12,17,22 * * 5,6,0', { wrap: true }],
]

for (const [rule, written, meaning, options = {}] of SAME) {
  test(`${rule}: ${JSON.stringify(written)} is ${meaning}`, () => {
    assertSameSet(cron(written, options), cron(meaning), written)
  })
}

test('R2 the zone may stand in front of the fields, and wins over the option', () => {
  const subject = cron('CRON_TZ=America/New_York 0 9 * * *', { tz: 'Asia/Tokyo' })
  assert.ok(subject.kind === 'cron')
  assert.equal(subject.tz, 'America/New_York')
  assert.equal(iso(subject.next(Date.parse('2025-01-01T00:00Z'))), '2025-01-01T14:00:00Z')
})

test('the zone is UTC when none is given, in every zone of the host', () => {
  const subject = cron('0 9 * * *')
  assert.ok(subject.kind === 'cron')
  assert.equal(subject.tz, 'UTC')
  assert.equal(iso(subject.next(Date.parse('2025-07-01T00:00Z'))), '2025-07-01T09:00:00Z')
})

test('a fixed offset is a zone', () => {
  const next = (tz: string) => iso(cron('0 9 * * *', { tz }).next(Date.parse('2025-07-01T00:00Z')))
  assert.equal(next('+05:30'), '2025-07-01T03:30:00Z')
  assert.equal(next('-03:00'), '2025-07-01T12:00:00Z')
  assert.equal(next('+14:00'), '2025-07-01T19:00:00Z')
  assert.equal(next('-09:30'), '2025-07-01T18:30:00Z')
})

test('R6 @reboot is an event without instants', () => {
  const subject = cron('@reboot')
  assert.ok(subject.kind === 'cron')
  assert.equal(subject.timing, 'event')
  assert.equal(subject.next(0), null)
  assert.equal(subject.prev(Date.parse('2025-01-01T00:00Z')), null)
  assert.equal(subject.matches(0), false)
  assert.deepEqual(subject.nextN(0, 3), [])
})

test('R6 @every is an interval schedule of its own kind', () => {
  const subject = cron('@every 90m')
  assert.ok(subject.kind === 'every')
  assert.equal(subject.everyMs, 5_400_000)
  assert.deepEqual(subject.nextN(0, 3).map(iso), [
    '1970-01-01T01:30:00Z',
    '1970-01-01T03:00:00Z',
    '1970-01-01T04:30:00Z',
  ])
})

const REFUSED: readonly (readonly [rule: string, expressions: readonly string[]])[] = [
  ['R2 the number of fields', ['*', '* *', '* * *', '* * * *', '* * * * * * * *', '0 0 0 1 1 * 2025 *']],
  [
    'R2 other separators',
    [
      '*\n* * * *',
      '* * * *\r\n*',
      '*\u00a0* * * *',
      '* *\v* * *',
      '* *\f* * *',
      '* * * * *\n',
      '\u2003* * * * *',
      '* * * * *;',
      '*,* * * * *\u200b',
    ],
  ],
  [
    'R2 values out of range',
    [
      '60 * * * *',
      '* 24 * * *',
      '* * 0 * *',
      '* * 32 * *',
      '* * * 0 *',
      '* * * 13 *',
      '* * * * 8',
      '60 * * * * *',
      '0 0 0 1 1 * 1969',
      '0 0 0 1 1 * 2200',
      '0 0 0 1 1 * 25',
      '5-60 * * * *',
      '* * 0-5 * *',
      '99999999999999999999 * * * *',
    ],
  ],
  [
    'R3 backward ranges',
    [
      '30-10 * * * *',
      '* 22-2 * * *',
      '* * 28-3 * *',
      '* * * NOV-FEB *',
      '* * * * FRI-MON',
      '* * * * 5-0',
      '* * * * 7-1',
      '0 0 0 1 1 * 2030-2025',
      '* 22-2/2 * * *',
    ],
  ],
  [
    'R3 steps',
    [
      '*/0 * * * *',
      '*/00 * * * *',
      '*/61 * * * *',
      '*/60 */25 * * *',
      '* * */32 * *',
      '* * * */13 *',
      '* * * * */8',
      '*/-1 * * * *',
      '*/-2 * * * *',
      '*/1.5 * * * *',
      '*/ * * * *',
      '/5 * * * *',
      '5// * * * *',
      '*/5/5 * * * *',
      '*/a * * * *',
      '*/* * * * *',
      '0 0 0 1 1 * */231',
      '1-5/0 * * * *',
      '5/61 * * * *',
    ],
  ],
  [
    'R3 unfinished items',
    [
      ', * * * *',
      '1, * * * *',
      ',1 * * * *',
      '1,,2 * * * *',
      '1- * * * *',
      '-1 * * * *',
      '1--2 * * * *',
      '1-2-3 * * * *',
      '- * * * *',
      '*-5 * * * *',
      '5-* * * * *',
      '** * * * *',
      '5* * * * *',
      '*5 * * * *',
      '1 -5 * * *',
    ],
  ],
  [
    'R3 other ways to write numbers',
    [
      '+5 * * * *',
      '1.5 * * * *',
      '0x5 * * * *',
      '1e1 * * * *',
      '１ * * * *',
      '٣ * * * *',
      '1_0 * * * *',
      "'5' * * * *",
      '5h * * * *',
    ],
  ],
  [
    'R3 names',
    [
      'MON * * * *',
      '* JAN * * *',
      '* * JAN * *',
      '* * * MON *',
      '* * * * JAN',
      '* * * JANUARY *',
      '* * * * MONDAY',
      '* * * JA *',
      '* * * * MO',
      '* * * * MO,TU',
      '* * * FOO *',
      '* * * * *MON',
      '0 0 0 1 1 * JAN',
      '* * * JANFEB *',
      '* * * * ＭＯＮ',
    ],
  ],
  [
    'R4 ranges with day specials',
    [
      '0 0 1-15W * *',
      '0 0 1W-15W * *',
      '0 0 1-L * *',
      '0 0 L-5-3 * *',
      '0 0 * * MON-FRIL',
      '0 0 * * MON-FRI#2',
      '0 0 * * *#2',
      '0 0 * * *L',
      '0 0 *W * *',
      '0 0 L/2 * *',
      '0 0 15W/2 * *',
      '0 0 * * 1#2/2',
      '0 0 * * 5L/2',
      '0 0 */2W * *',
    ],
  ],
  [
    'R4 malformed day specials',
    [
      '0 0 * * L',
      '0 0 * * MON#',
      '0 0 * * #2',
      '0 0 * * MON#0',
      '0 0 * * MON#6',
      '0 0 * * MON#1#2',
      '0 0 * * 8L',
      '0 0 * * 8#1',
      '0 0 W * *',
      '0 0 0W * *',
      '0 0 32W * *',
      '0 0 L-31 * *',
      '0 0 L- * *',
      '0 0 L-W * *',
      '0 0 WL * *',
      '0 0 LL * *',
      '0 0 15L * *',
      '0 0 L15 * *',
      '0 0 L+1 * *',
      '0 0 15WW * *',
      '0 0 * * LW',
      '0 0 * * 5W',
      '0 0 1#2 * *',
      '0 0 * * MON##2',
      '0 0 * * MON#-1',
      '0 0 L-1L * *',
    ],
  ],
  [
    'R4 specials and ? only in the day fields',
    [
      'L * * * *',
      '* L * * *',
      '* * * L *',
      '? * * * *',
      '* ? * * *',
      '* * * ? *',
      '0 0 0 1 1 * ?',
      '0 0 0 1 1 * L',
      '15W * * * *',
      '* 1#2 * * *',
    ],
  ],
  [
    'R5 + only in front of the day of week',
    [
      '+* * * * *',
      '* * +1 * *',
      '* * * +1 *',
      '* * * * ++1',
      '* * * * 1+',
      '* * * * 1,+2',
      '* * * * +',
      '0 0 0 1 1 * +2025',
    ],
  ],
  [
    'R6 macros',
    [
      '@',
      '@dailly',
      '@daily @daily',
      '@daily 0',
      '0 @daily',
      '@every',
      '@every 5',
      '@every x',
      '@every -5m',
      '@every 0s',
      '@ daily',
      '@reboot now',
      'daily',
    ],
  ],
]

for (const [rule, expressions] of REFUSED) {
  test(`${rule}: ${expressions.length} wrong expressions are refused with a place to look`, () => {
    for (const expression of expressions) {
      assert.throws(
        () => cron(expression),
        (error: unknown) => {
          assert.ok(error instanceof CronError, `${JSON.stringify(expression)} threw ${String(error)}`)
          assert.equal(error.expression, expression)
          // What is missing at the very end is pointed at one place behind the text.
          const end = error.position + error.length
          assert.ok(error.position >= 0 && error.length >= 0, `${expression}: ${error.position}, ${error.length}`)
          assert.ok(end <= expression.length + 1, `${expression}: ${error.position}, ${error.length}`)
          assert.ok(error.message.length > 0)
          return true
        },
        JSON.stringify(expression),
      )
    }
  })
}

test('R7 a field repeats when it is written with a star, a range or a step and names two values', () => {
  const fixed = ['30 2', '0,30 2', '0 2-2', '*/60 2', '59/2 2', '5-9/5 2', '0 1,2,3', '0 */24', '0 23/1', '00 02']
  const interval = [
    '*/30 2',
    '15 *',
    '0 1-5',
    '0 */2',
    '0-45/15 2',
    '* 2',
    '5,10-11 2',
    '0 22/1',
    '5-5,10 2',
    '*/60,5 2',
    '58/1 2',
  ]
  const timing = (time: string) => {
    const subject = cron(`${time} * * *`)
    assert.ok(subject.kind === 'cron')
    assert.equal(subject.timing, readExpression(`${time} * * *`).timing, time)
    return subject.timing
  }
  for (const time of fixed) assert.equal(timing(time), 'fixed', time)
  for (const time of interval) assert.equal(timing(time), 'interval', time)
})

test('R7 the second counts as well', () => {
  const timing = (expression: string) => {
    const subject = cron(expression)
    return subject.kind === 'cron' ? subject.timing : subject.kind
  }
  assert.equal(timing('*/30 0 2 * * *'), 'interval')
  assert.equal(timing('0,30 0 2 * * *'), 'fixed')
  assert.equal(timing('@daily'), 'fixed')
  assert.equal(timing('@hourly'), 'interval')
})
