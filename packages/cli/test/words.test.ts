import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type CronTrigger, cron } from 'cronce/cron'
import fc from 'fast-check'
import { words } from '../src/words.ts'
import { readBack } from './read-back.ts'

/** Every element of the grammar, each sentence read and checked by a person. */
const SENTENCES: Readonly<Record<string, string>> = {
  // time of day
  '* * * * *': 'Every minute',
  '*/1 * * * *': 'Every minute',
  '0-59 * * * *': 'Every minute',
  '0 * * * *': 'Every hour, on the hour',
  '15 0-23 * * *': 'At 15 minutes past the hour',
  '*/5 * * * *': 'Every 5 minutes',
  '10/15 * * * *': 'Every 15 minutes, starting at 10 minutes past the hour',
  '5,10 * * * *': 'At 5 and 10 minutes past the hour',
  '1-5,10-20 * * * *': 'At 1 through 5 and 10 through 20 minutes past the hour',
  '5 4 * * *': 'At 04:05, every day',
  '0,30 2 * * *': 'At 02:00 and 02:30, every day',
  '0 2,14 * * *': 'At 02:00 and 14:00, every day',
  '0-30 2 * * *': 'Minutes 0 through 30 past the hour, between 02:00 and 02:59, every day',
  '0-30/10 2 * * *': 'At 02:00, 02:10, 02:20, and 02:30, every day',
  '0 9-17 * * *': 'Every hour, between 09:00 and 17:00, every day',
  '30 9-17 * * *': 'At 30 minutes past the hour, between 09:00 and 17:59, every day',
  '*/15 9-17 * * *': 'Every 15 minutes, between 09:00 and 17:59, every day',
  '*/15 2,4 * * *': 'Every 15 minutes, between 02:00 and 02:59 and between 04:00 and 04:59, every day',
  '0 */2 * * *': 'On the hour, every 2 hours, starting at 00:00, every day',
  '5 1-23/2 * * *': 'At 5 minutes past the hour, every 2 hours, starting at 01:00, every day',
  '* */6 * * *': 'Every minute, during hours 0, 6, 12, and 18, every day',
  // steps that do not divide their range are not "every n"
  '*/7 * * * *': 'At 0, 7, 14, 21, 28, 35, 42, 49, and 56 minutes past the hour',
  '*/45 * * * *': 'At 0 and 45 minutes past the hour',
  '*/60 2 * * *': 'At 02:00, every day',
  '0 */5 * * *': 'At 00:00, 05:00, 10:00, 15:00, and 20:00, every day',
  '*/7 * * * * *': 'At 0, 7, 14, 21, 28, 35, 42, 49, and 56 seconds past the minute',
  // seconds
  '* * * * * *': 'Every second',
  '*/10 * * * * *': 'Every 10 seconds',
  '30 * * * * *': 'At 30 seconds past the minute',
  '30 15 2 * * *': 'At 02:15:30, every day',
  '0,30 15 2 * * *': 'At 02:15:00 and 02:15:30, every day',
  '30 0 9-17 * * *': 'At 30 seconds past the minute, on the hour, between 09:00 and 17:59, every day',
  '* 15 2 * * *': 'Every second, at 15 minutes past the hour, between 02:00 and 02:59, every day',
  // hashed
  'H H * * *': 'At 15:41, every day',
  'H/15 * * * *': 'Every 15 minutes, starting at 11 minutes past the hour',
  'H(0-29)/10 * * * *': 'At 1, 11, and 21 minutes past the hour',
  // days of the month
  '0 0 1 * *': 'At 00:00, on day 1 of the month',
  '0 0 1,15 * *': 'At 00:00, on days 1 and 15 of the month',
  '0 0 1-7,10 * *': 'At 00:00, on days 1 through 7 and 10 of the month',
  '0 0 */2 * *': 'At 00:00, on every 2nd day of the month from day 1 through day 31',
  '0 0 */7 * *': 'At 00:00, on days 1, 8, 15, 22, and 29 of the month',
  '0 0 L * *': 'At 00:00, on the last day of the month',
  '0 0 L-0 * *': 'At 00:00, on the last day of the month',
  '0 0 L-1 * *': 'At 00:00, on the second-last day of the month',
  '0 0 L-3 * *': 'At 00:00, on the day 3 days before the last of the month',
  '0 0 15W * *': 'At 00:00, on the weekday (Mon-Fri) nearest day 15 of the month',
  '0 0 LW * *': 'At 00:00, on the last weekday (Mon-Fri) of the month',
  '0 0 L-3W * *': 'At 00:00, on the weekday (Mon-Fri) nearest the day 3 days before the last of the month',
  '0 0 1,L-2 * *': 'At 00:00, on day 1 of the month and on the day 2 days before the last of the month',
  '0 0 1,15W,L * *':
    'At 00:00, on day 1 of the month, on the weekday (Mon-Fri) nearest day 15 of the month, and on the last day of the month',
  // weekdays
  '0 0 * * 1': 'At 00:00, every Monday',
  '0 0 * * 7': 'At 00:00, every Sunday',
  '0 0 * * MON-FRI': 'At 00:00, Monday through Friday',
  '0 0 * * FRI-SUN': 'At 00:00, Friday through Sunday',
  '0 0 * * 0-7': 'At 00:00, every day',
  '0 0 * * 1,3,5': 'At 00:00, every Monday, Wednesday, and Friday',
  '0 0 * * */2': 'At 00:00, every Tuesday, Thursday, Saturday, and Sunday',
  '0 0 * * 5L': 'At 00:00, on the last Friday of the month',
  '0 0 * * 5#L': 'At 00:00, on the last Friday of the month',
  '0 0 * * 5#2': 'At 00:00, on the second Friday of the month',
  '0 0 * * 1#1,1#3': 'At 00:00, on the first Monday of the month and on the third Monday of the month',
  '0 0 * * 1,5#2': 'At 00:00, every Monday and on the second Friday of the month',
  '0 0 ? * 1': 'At 00:00, every Monday',
  '0 0 1 * ?': 'At 00:00, on day 1 of the month',
  // both day fields
  '0 0 13 * 5': 'At 00:00, on day 13 of the month, and also every Friday',
  '0 0 13 * +5': 'At 00:00, on day 13 of the month, but only if that is a Friday',
  '0 0 1-7 * +1,3': 'At 00:00, on days 1 through 7 of the month, but only if that is a Monday or a Wednesday',
  '0 0 L * 5L': 'At 00:00, on the last day of the month, and also on the last Friday of the month',
  '0 0 L * +5L': 'At 00:00, on the last day of the month, but only if that is the last Friday of the month',
  '0 0 29 2 +1': 'At 00:00, in February, on day 29 of the month, but only if that is a Monday',
  '0 0 1-31 * 1': 'At 00:00, every day',
  '0 0 1-31 * +1': 'At 00:00, every Monday',
  '0 0 1 * +0-6': 'At 00:00, on day 1 of the month',
  // months and years
  '0 0 * JAN *': 'At 00:00, every day in January',
  '0 0 * 6-8 *': 'At 00:00, every day in June through August',
  '0 0 1 */3 *': 'At 00:00, on day 1 of the month, in January, April, July, and October',
  '* * * 1,12 *': 'Every minute, in January and December',
  '0 0 0 1 1 * 2027': 'At 00:00, on day 1 of the month, in January, in 2027',
  '0 0 0 1 1 * 2027-2029,2035': 'At 00:00, on day 1 of the month, in January, in 2027 through 2029 and 2035',
  '0 0 0 1 1 * 2028-2040/4': 'At 00:00, on day 1 of the month, in January, in 2028, 2032, 2036, and 2040',
  '0 0 0 1 1 * */4': 'At 00:00, on day 1 of the month, in January, in every 4th year from 1970 through 2198',
  '0 0 0 * * 1 2028/4': 'At 00:00, every Monday, in every 4th year from 2028 through 2196',
  // macros
  '@yearly': 'At 00:00, on day 1 of the month, in January',
  '@monthly': 'At 00:00, on day 1 of the month',
  '@weekly': 'At 00:00, every Sunday',
  '@daily': 'At 00:00, every day',
  '@hourly': 'Every hour, on the hour',
}

test('the words of every element of the grammar state the facts', () => {
  for (const [expression, sentence] of Object.entries(SENTENCES)) {
    assert.equal(words(parse(expression).fields), sentence, expression)
  }
})

test('every expression of the grammar has words, without leaked program values', () => {
  fc.assert(
    fc.property(expressions(), (expression) => {
      const said = words(parse(expression).fields)
      assert.ok(said.length > 5, `${expression}: ${said}`)
      assert.doesNotMatch(said, /undefined|null|NaN|Error|Infinity|\[object|, ,| {2}|,$/)
    }),
    { numRuns: 1_500, seed: 1 },
  )
})

test('a reader of the words arrives at the times of day that the expression has', () => {
  const midnight = Date.UTC(2027, 5, 15)
  const time = fc.oneof(
    fc.tuple(field(0, 59), field(0, 23)).map(([minute, hour]) => `${minute} ${hour}`),
    fc
      .tuple(fc.constantFrom('0', '30', '*/20', '0,30', '5-8'), field(0, 59), field(0, 23))
      .map((parts) => parts.join(' ')),
  )
  fc.assert(
    fc.property(time, (expression) => {
      const trigger = parse(`${expression} * * *`)
      const said = words(trigger.fields)
      const read = readBack(said)
      const fires = trigger.nextN(midnight - 1, read.length + 1).filter((fire) => fire < midnight + 86_400_000)
      // Compared by hand: there may be thousands, and the assertion's own picture of a difference takes minutes.
      const wrong = fires.findIndex((fire, i) => (fire - midnight) / 1000 !== read[i])
      assert.equal(wrong, -1, `${expression}: ${said} (fire ${wrong})`)
      assert.equal(fires.length, read.length, `${expression}: ${said}`)
    }),
    { numRuns: 1_500, seed: 3 },
  )
})

test('two schedules with the same words fire at the same times', () => {
  const byWords = new Map<string, CronTrigger>()
  let compared = 0
  fc.assert(
    fc.property(crowdedExpressions(), (expression) => {
      const trigger = parse(expression)
      const said = words(trigger.fields)
      const other = byWords.get(said)
      if (other === undefined) {
        byWords.set(said, trigger)
        return
      }
      if (other.normalized === trigger.normalized) return
      compared++
      for (const from of [Date.UTC(2026, 0, 1), Date.UTC(2027, 1, 27), Date.UTC(2028, 1, 28)]) {
        assert.deepEqual(
          trigger.nextN(from, 40),
          other.nextN(from, 40),
          `${expression} and ${other.expression}: ${said}`,
        )
      }
    }),
    { numRuns: 3_000, seed: 2 },
  )
  assert.ok(compared > 50, `only ${compared} pairs compared`)
})

function parse(expression: string): CronTrigger {
  const trigger = cron(expression, { seed: 'nightly' })
  assert.equal(trigger.kind, 'cron')
  return trigger as CronTrigger
}

function field(min: number, max: number): fc.Arbitrary<string> {
  const value = fc.integer({ min, max })
  const range = fc.tuple(value, value).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`)
  const step = fc.integer({ min: 1, max: Math.min(max - min + 1, 70) })
  const item = fc.oneof(
    value.map(String),
    range,
    fc.tuple(range, step).map(([text, by]) => `${text}/${by}`),
    fc.tuple(value, step).map(([from, by]) => `${from}/${by}`),
    step.map((by) => `*/${by}`),
  )
  return listOf(item)
}

function listOf(item: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.oneof(
    fc.constant('*'),
    item,
    fc.array(item, { minLength: 1, maxLength: 4 }).map((items) => items.join(',')),
  )
}

function days(): fc.Arbitrary<string> {
  const special = fc.constantFrom('L', 'L-1', 'L-3', 'L-30', 'LW', 'L-3W', '1W', '15W', '31W')
  return fc.oneof(field(1, 31), listOf(special), fc.tuple(field(1, 31), special).map(withSpecial))
}

function weekdays(): fc.Arbitrary<string> {
  const special = fc.constantFrom('0L', '5L', '7#L', 'MON#1', '5#2', '6#5')
  const restricted = fc.oneof(field(0, 6), listOf(special), fc.tuple(field(0, 6), special).map(withSpecial))
  return fc.oneof(
    restricted,
    restricted.map((text) => `+${text}`),
  )
}

function withSpecial([plain, special]: readonly [string, string]): string {
  return plain === '*' ? special : `${plain},${special}`
}

function expressions(): fc.Arbitrary<string> {
  const five = fc.tuple(field(0, 59), field(0, 23), days(), field(1, 12), weekdays())
  const hashed = fc.constantFrom('H', 'H/7', 'H(10-20)')
  return fc.oneof(
    five.map((parts) => parts.join(' ')),
    fc.tuple(field(0, 59), five).map(([second, parts]) => [second, ...parts].join(' ')),
    fc.tuple(field(0, 59), five, field(1970, 2199)).map(([second, parts, year]) => [second, ...parts, year].join(' ')),
    fc.tuple(hashed, five).map(([hash, [, ...parts]]) => [hash, ...parts].join(' ')),
  )
}

/** From few values, so that many of them mean the same or nearly the same. */
function crowdedExpressions(): fc.Arbitrary<string> {
  const minute = fc.constantFrom('0', '*', '*/2', '*/7', '*/30', '0,30', '0-59/2', '1-59/2', '30', '0-30', '0-58/2')
  const hour = fc.constantFrom('0', '*', '*/2', '*/5', '0-22/2', '1-23/2', '2,4', '2-4', '0-23', '*/12', '0-20/5', '1')
  const day = fc.constantFrom('*', '?', '1-31', '*/2', '1', 'L', 'L-1', '1,L', '1,L-2', 'L-2', 'L-3W', 'LW', '1-31/2')
  const month = fc.constantFrom('*', '*', '1-12', '1', '1-3', '1,2,3')
  const weekday = fc.constantFrom('*', '0-6', '1', '+1', '5L', '5#L', '+5L', '1,5#2', '5#2', '*/2', '0,2,4,6', '+0-6')
  return fc.tuple(minute, hour, day, month, weekday).map((parts) => parts.join(' '))
}
