import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CronceError, CronError, type CronOptions, cron } from '../../src/cron.ts'

// What is wrong, where, and the fix. Positions count from 0 in the given text.

type ErrorRow = readonly [expression: string, code: string, field: string | undefined, position: number, length: number]

const rows: readonly ErrorRow[] = [
  ['60 * * * *', 'VALUE_OUT_OF_RANGE', 'minute', 0, 2],
  ['  60 * * * *', 'VALUE_OUT_OF_RANGE', 'minute', 2, 2],
  ['60 * * * * *', 'VALUE_OUT_OF_RANGE', 'second', 0, 2],
  ['* 24 * * *', 'VALUE_OUT_OF_RANGE', 'hour', 2, 2],
  ['* * 0 * *', 'VALUE_OUT_OF_RANGE', 'day of month', 4, 1],
  ['*\t\t*   32 * *', 'VALUE_OUT_OF_RANGE', 'day of month', 7, 2],
  ['* * * 13 *', 'VALUE_OUT_OF_RANGE', 'month', 6, 2],
  ['* * * * 8', 'VALUE_OUT_OF_RANGE', 'day of week', 8, 1],
  ['0 0 0 1 1 * 1969', 'VALUE_OUT_OF_RANGE', 'year', 12, 4],
  ['5-60 * * * *', 'VALUE_OUT_OF_RANGE', 'minute', 2, 2],
  ['1,2,75,3 * * * *', 'VALUE_OUT_OF_RANGE', 'minute', 4, 2],
  ['0 0 L-31 * *', 'VALUE_OUT_OF_RANGE', 'day of month', 6, 2],
  ['0 0 * * MON#6', 'VALUE_OUT_OF_RANGE', 'day of week', 12, 1],
  ['30-10 * * * *', 'RANGE_BACKWARD', 'minute', 0, 5],
  ['* 1,22-2 * * *', 'RANGE_BACKWARD', 'hour', 4, 4],
  ['* * * NOV-FEB *', 'RANGE_BACKWARD', 'month', 6, 7],
  ['* * * * FRI-MON', 'RANGE_BACKWARD', 'day of week', 8, 7],
  ['*/0 * * * *', 'STEP_OUT_OF_RANGE', 'minute', 2, 1],
  ['0-30/61 * * * *', 'STEP_OUT_OF_RANGE', 'minute', 5, 2],
  ['* */25 * * *', 'STEP_OUT_OF_RANGE', 'hour', 4, 2],
  ['1, * * * *', 'VALUE_MISSING', 'minute', 2, 1],
  ['1- * * * *', 'VALUE_MISSING', 'minute', 2, 1],
  ['*/ * * * *', 'VALUE_MISSING', 'minute', 2, 1],
  ['* * * * L', 'VALUE_MISSING', 'day of week', 8, 1],
  ['1,,2 * * * *', 'CHARACTER_UNEXPECTED', 'minute', 2, 1],
  ['5* * * * *', 'CHARACTER_UNEXPECTED', 'minute', 1, 1],
  ['* 1.5 * * *', 'CHARACTER_UNEXPECTED', 'hour', 3, 1],
  ['* 0x5 * * *', 'CHARACTER_UNEXPECTED', 'hour', 3, 1],
  ['+5 * * * *', 'CHARACTER_UNEXPECTED', 'minute', 0, 1],
  ['* ٣ * * *', 'CHARACTER_UNEXPECTED', 'hour', 2, 1],
  ['0 0 1-15W * *', 'CHARACTER_UNEXPECTED', 'day of month', 8, 1],
  ['0 0 * * MON-FRIL', 'CHARACTER_UNEXPECTED', 'day of week', 15, 1],
  ['0 0 * * *#2', 'CHARACTER_UNEXPECTED', 'day of week', 9, 1],
  ['0 0 * * 1-5,?', 'CHARACTER_UNEXPECTED', 'day of week', 12, 1],
  ['0 0 ?,1 * *', 'CHARACTER_UNEXPECTED', 'day of month', 4, 1],
  ['0 0 ?/2 * *', 'CHARACTER_UNEXPECTED', 'day of month', 4, 1],
  ['MON * * * *', 'NAME_UNKNOWN', 'minute', 0, 3],
  ['* * * JANUARY *', 'NAME_UNKNOWN', 'month', 6, 7],
  ['* * * * MON,FOO', 'NAME_UNKNOWN', 'day of week', 12, 3],
  ['* * * *', 'FIELDS_MISCOUNTED', undefined, 0, 7],
  ['@dailly', 'MACRO_UNKNOWN', undefined, 0, 7],
  ['@every 5x', 'DURATION_INVALID', undefined, 7, 2],
  ['CRON_TZ=Europe/Berln 0 0 * * *', 'ZONE_UNKNOWN', undefined, 8, 12],
  ['CRON_TZ=Europe/Berlin 0 99 * * *', 'VALUE_OUT_OF_RANGE', 'hour', 24, 2],
]

for (const [expression, code, field, position, length] of rows) {
  test(`${code} points at ${position} in ${JSON.stringify(expression)}`, () => {
    const { code: found, ...rest } = errorOf(expression)
    assert.deepEqual(
      { code: found, field: rest.field, position: rest.position, length: rest.length, expression: rest.expression },
      { code, field, position, length, expression },
    )
    assert.ok(rest instanceof Object && rest.message !== '')
  })
}

const hints: readonly (readonly [expression: string, hint: RegExp, options?: CronOptions])[] = [
  ['*/90 * * * *', /@every 90m/],
  ['0 */36 * * *', /@every 36h/],
  ['* 22-2 * * *', /22-23,0-2.*wrap/],
  ['* * * NOV-FEB *', /11-12,1-2.*wrap/],
  ['0 0 1 1 * 2025', /7 fields/],
  ['* * * JANUARY *', /did you mean JAN\b/i],
  ['* * * * MONDAY', /did you mean MON\b/i],
  ['@dailly', /did you mean @daily\b/i],
  ['CRON_TZ=Europe/Berln 0 0 * * *', /did you mean Europe\/Berlin\b/i],
  ['* * * * *', /did you mean Europe\/Berlin\b/i, { tz: 'Europe/Berln' }],
  ['* * * * *', /did you mean overlap\b/i, { overlaps: 'first' } as CronOptions],
  ['H * * * *', /seed/],
  ['5/10 * * * *', /5-59/, { dialect: 'vixie' }],
  ['0 0 12 * * *', /\?/, { dialect: 'quartz' }],
  ['0 0 * * L', /5L/],
]

for (const [expression, hint, options] of hints) {
  test(`${JSON.stringify(expression)} ${options ? JSON.stringify(options) : ''} shows a way out: ${hint.source}`, () => {
    assert.match(errorOf(expression, options).hint ?? '', hint)
  })
}

test('a backward range in the hint is itself a valid expression', () => {
  const { hint = '' } = errorOf('* 22-2 * * *')
  const [written] = /[\d,-]*\d/.exec(hint) ?? []
  assert.equal(cron(`* ${written} * * *`).never, false)
})

const wrongOptions: readonly unknown[] = [
  { dst: 'never' },
  { gap: 'both' },
  { overlap: 'after' },
  { days: 'xor' },
  { dialect: 'quarz' },
  { dst: 1 },
  { gap: null },
  { wrap: 'yes' },
  { wrap: 1 },
  { seed: 5 },
  { tz: 5 },
  { tz: null },
  null,
  5,
  'UTC',
]

for (const options of wrongOptions) {
  test(`options ${JSON.stringify(options)} are refused`, () => {
    assert.throws(() => cron('* * * * *', options as CronOptions), { name: 'CronError', code: 'OPTION_INVALID' })
  })
}

test('an unknown option is refused, and options left undefined are not given', () => {
  assert.throws(() => cron('* * * * *', { timezone: 'UTC' } as CronOptions), { code: 'OPTION_UNKNOWN' })
  const nothing = { tz: undefined, dst: undefined, gap: undefined, overlap: undefined, days: undefined }
  const subject = cron('* * * * *', { ...nothing, dialect: undefined, wrap: undefined, seed: undefined })
  assert.equal(subject.next(0), 60_000)
})

test('an unknown zone is refused', () => {
  for (const tz of [
    '',
    ' ',
    'Europe/Berln',
    '+25:00',
    'Mars/Olympus',
    '../etc/passwd',
    'Europe/Berlin ',
    '\u0000',
    '__proto__',
  ]) {
    assert.throws(() => cron('* * * * *', { tz }), { name: 'CronError', code: 'ZONE_UNKNOWN' }, JSON.stringify(tz))
  }
})

test('a CronError is a CronceError with a name', () => {
  const error = errorOf('60 * * * *')
  assert.ok(error instanceof CronceError && error instanceof Error)
  assert.equal(error.name, 'CronError')
  assert.match(error.message, /60/)
})

function errorOf(expression: string, options?: CronOptions): CronError {
  try {
    cron(expression, options)
  } catch (error) {
    assert.ok(error instanceof CronError, String(error))
    return error
  }
  return assert.fail(`${expression} was accepted`)
}
