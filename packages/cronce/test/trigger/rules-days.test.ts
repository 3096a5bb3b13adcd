import assert from 'node:assert/strict'
import { test } from 'node:test'
import { oracleFires } from '../../../checker/src/oracle/ask-oracle.ts'
import { type CronOptions, cron } from '../../src/cron.ts'
import { firesBetween } from './expected-fires.ts'

// R4 and R5: which dates a pair of day fields names. Every date list was read off a calendar.

interface DayRow {
  readonly rule: string
  readonly dom: string
  readonly month?: string
  readonly dow: string
  readonly options?: CronOptions
  /** First and last month of the window, as YYYY-MM. */
  readonly months: readonly [string, string]
  readonly dates: readonly string[]
}

const rows: readonly DayRow[] = [
  {
    rule: 'R4 L is the last day',
    dom: 'L',
    dow: '*',
    months: ['2024-01', '2024-04'],
    dates: ['01-31', '02-29', '03-31', '04-30'],
  },
  {
    rule: 'R4 L-n counts back from the last day',
    dom: 'L-2',
    dow: '*',
    months: ['2023-01', '2023-03'],
    dates: ['01-29', '02-26', '03-29'],
  },
  { rule: 'R4 L-0 is L', dom: 'L-0', dow: '*', months: ['2023-02', '2023-03'], dates: ['02-28', '03-31'] },
  {
    rule: 'R4 L-30 exists in months of 31 days only',
    dom: 'L-30',
    dow: '*',
    months: ['2023-01', '2023-06'],
    dates: ['01-01', '03-01', '05-01'],
  },
  {
    rule: 'R4 nW is day n when that is a weekday',
    dom: '15W',
    dow: '*',
    months: ['2024-05', '2024-05'],
    dates: ['05-15'],
  },
  {
    rule: 'R4 nW on a Saturday is the Friday before',
    dom: '15W',
    dow: '*',
    months: ['2024-06', '2024-06'],
    dates: ['06-14'],
  },
  {
    rule: 'R4 nW on a Sunday is the Monday after',
    dom: '15W',
    dow: '*',
    months: ['2024-09', '2024-09'],
    dates: ['09-16'],
  },
  {
    rule: 'R4 1W on a Saturday stays in its month',
    dom: '1W',
    dow: '*',
    months: ['2024-06', '2024-06'],
    dates: ['06-03'],
  },
  { rule: 'R4 1W on a Sunday is the 2nd', dom: '1W', dow: '*', months: ['2024-09', '2024-09'], dates: ['09-02'] },
  {
    rule: 'R4 31W on a Sunday is Friday the 29th',
    dom: '31W',
    dow: '*',
    months: ['2020-05', '2020-05'],
    dates: ['05-29'],
  },
  {
    rule: 'R4 31W has no fire in a month of 30 days',
    dom: '31W',
    dow: '*',
    months: ['2024-03', '2024-05'],
    dates: ['03-29', '05-31'],
  },
  {
    rule: 'R4 30W has no fire in February',
    dom: '30W',
    dow: '*',
    months: ['2024-01', '2024-03'],
    dates: ['01-30', '03-29'],
  },
  {
    rule: 'R4 LW is the last weekday',
    dom: 'LW',
    dow: '*',
    months: ['2024-03', '2024-06'],
    dates: ['03-29', '04-30', '05-31', '06-28'],
  },
  {
    rule: 'R4 L-nW is the weekday nearest to L-n',
    dom: 'L-1W',
    dow: '*',
    months: ['2024-06', '2024-09'],
    dates: ['06-28', '07-30', '08-30', '09-30'],
  },
  {
    rule: 'R4 L-30W exists in months of 31 days only',
    dom: 'L-30W',
    dow: '*',
    months: ['2024-06', '2024-08'],
    dates: ['07-01', '08-01'],
  },
  {
    rule: 'R4 dL is the last such weekday',
    dom: '*',
    dow: '5L',
    months: ['2024-02', '2024-04'],
    dates: ['02-23', '03-29', '04-26'],
  },
  { rule: 'R4 d#L is dL', dom: '*', dow: 'FRI#L', months: ['2024-02', '2024-04'], dates: ['02-23', '03-29', '04-26'] },
  {
    rule: 'R4 7L is 0L, the last Sunday',
    dom: '*',
    dow: '7L',
    months: ['2024-03', '2024-04'],
    dates: ['03-31', '04-28'],
  },
  {
    rule: 'R4 d#n is the n-th such weekday',
    dom: '?',
    dow: 'TUE#2',
    months: ['2024-10', '2024-11'],
    dates: ['10-08', '11-12'],
  },
  {
    rule: 'R4 d#5 has no fire in a month with four',
    dom: '*',
    dow: '1#5',
    months: ['2024-08', '2024-12'],
    dates: ['09-30', '12-30'],
  },
  {
    rule: 'R4 lists of specials are allowed',
    dom: '1,15W,L',
    dow: '*',
    months: ['2024-06', '2024-06'],
    dates: ['06-01', '06-14', '06-30'],
  },
  {
    rule: 'R4 lists of specials are allowed',
    dom: '*',
    dow: 'MON#1,WED,FRIL',
    months: ['2024-02', '2024-02'],
    dates: ['02-05', '02-07', '02-14', '02-21', '02-23', '02-28'],
  },
  {
    rule: 'R4 the letters are read in any case',
    dom: 'l-1w',
    dow: '*',
    months: ['2024-09', '2024-09'],
    dates: ['09-30'],
  },
  {
    rule: 'R4 the letters are read in any case',
    dom: '*',
    dow: 'friL',
    months: ['2024-02', '2024-02'],
    dates: ['02-23'],
  },
  {
    rule: 'R5 one open: the other decides',
    dom: '13',
    dow: '*',
    months: ['2024-09', '2024-10'],
    dates: ['09-13', '10-13'],
  },
  {
    rule: 'R5 one open: the other decides',
    dom: '13',
    dow: '*/1',
    months: ['2024-09', '2024-10'],
    dates: ['09-13', '10-13'],
  },
  {
    rule: 'R5 one open: the other decides',
    dom: '?',
    dow: '5#2',
    months: ['2024-09', '2024-10'],
    dates: ['09-13', '10-11'],
  },
  {
    rule: 'R5 neither open: either',
    dom: '13',
    dow: 'FRI',
    months: ['2024-10', '2024-10'],
    dates: ['10-04', '10-11', '10-13', '10-18', '10-25'],
  },
  {
    rule: 'R5 + on the day of week: both',
    dom: '13',
    dow: '+FRI',
    months: ['2024-09', '2024-12'],
    dates: ['09-13', '12-13'],
  },
  {
    rule: 'R5 */2 is not open',
    dom: '*/10',
    dow: 'MON',
    months: ['2024-10', '2024-10'],
    dates: ['10-01', '10-07', '10-11', '10-14', '10-21', '10-28', '10-31'],
  },
  {
    rule: 'R5 days: and wants both',
    dom: '13',
    dow: 'FRI',
    options: { days: 'and' },
    months: ['2024-09', '2024-12'],
    dates: ['09-13', '12-13'],
  },
  {
    rule: 'R5 days: and with one open is the other',
    dom: '13',
    dow: '*',
    options: { days: 'and' },
    months: ['2024-09', '2024-10'],
    dates: ['09-13', '10-13'],
  },
  {
    rule: 'R5 days: vixie ands when a field starts with a star',
    dom: '*/10',
    dow: 'MON',
    options: { days: 'vixie' },
    months: ['2024-07', '2024-10'],
    dates: ['07-01', '10-21'],
  },
  {
    rule: 'R5 days: vixie ands when a field starts with a star',
    dom: '1-7',
    dow: '*/3',
    options: { days: 'vixie' },
    months: ['2024-10', '2024-10'],
    dates: ['10-02', '10-05', '10-06'],
  },
  {
    rule: 'R5 days: vixie ors when neither does',
    dom: '13',
    dow: 'FRI',
    options: { days: 'vixie' },
    months: ['2024-10', '2024-10'],
    dates: ['10-04', '10-11', '10-13', '10-18', '10-25'],
  },
]

for (const { rule, dom, dow, month = '*', options = {}, months, dates } of rows) {
  test(`${rule}: ${dom} and ${dow} from ${months[0]}`, () => {
    const expression = `0 0 ${dom} ${month} ${dow}`
    const from = `${months[0]}-01T00:00:00Z`
    const end = new Date(`${months[1]}-01T00:00:00Z`)
    const to = new Date(Date.UTC(end.getUTCFullYear(), end.getUTCMonth() + 1, 1)).toISOString()
    const year = months[0].slice(0, 4)
    const expected = dates.map((date) => `${year}-${date}T00:00:00Z`)
    const oracle = oracleFires(expression, options, Date.parse(from), Date.parse(to))
    assert.deepEqual(
      oracle.map((fire) => new Date(fire).toISOString().replace('.000', '')),
      expected,
      'the oracle',
    )
    assert.deepEqual(firesBetween(cron(expression, options), from, to), expected, 'the engine')
  })
}

test('R5 both open is every day, however it is written', () => {
  const everyDay = firesBetween(cron('0 0 * * *'), '2024-02-01T00:00Z', '2024-04-01T00:00Z')
  assert.equal(everyDay.length, 60)
  for (const days of ['or', 'and', 'vixie'] as const) {
    for (const dom of ['*', '?', '*/1']) {
      for (const dow of ['*', '?', '*/1', '+*']) {
        const subject = cron(`0 0 ${dom} * ${dow}`, { days })
        assert.deepEqual(
          firesBetween(subject, '2024-02-01T00:00Z', '2024-04-01T00:00Z'),
          everyDay,
          `${dom} ${dow} ${days}`,
        )
      }
    }
  }
})

test('R5 1-31 and 0-6 are not open, so that or makes every day of it', () => {
  assert.equal(firesBetween(cron('0 0 1-31 * MON'), '2024-02-01T00:00Z', '2024-03-01T00:00Z').length, 29)
  assert.equal(firesBetween(cron('0 0 13 * 0-6'), '2024-02-01T00:00Z', '2024-03-01T00:00Z').length, 29)
})

test('R4 every nearest weekday of 28 years is the one a calendar shows', () => {
  let months = 0
  for (const day of [1, 2, 15, 28, 29, 30, 31]) {
    const from = Date.parse('2000-01-01T00:00Z')
    const to = Date.parse('2028-01-01T00:00Z')
    const expected = oracleFires(`0 0 ${day}W * *`, {}, from, to)
    assert.deepEqual(cron(`0 0 ${day}W * *`).nextN(from - 1, expected.length), expected, `${day}W`)
    months += expected.length
  }
  assert.equal(months, 7 * 336 - 28 * 5 - 28 - 21)
})
