import fc from 'fast-check'

/** Values that occur near the instant under test. Without them a random expression almost never fires there. */
export interface HotValues {
  readonly second: readonly number[]
  readonly minute: readonly number[]
  readonly hour: readonly number[]
  readonly dom: readonly number[]
  readonly month: readonly number[]
  readonly dow: readonly number[]
  readonly year: readonly number[]
}

interface FieldShape {
  readonly low: number
  readonly high: number
  /** Largest step: the size of the field. */
  readonly size: number
  readonly hot: readonly number[]
  readonly write: (value: number, place: 'alone' | 'start' | 'end') => string
}

const MONTHS = ['jan', 'Feb', 'MAR', 'apr', 'May', 'JUN', 'jul', 'Aug', 'SEP', 'oct', 'Nov', 'DEC']
const WEEKDAYS = ['SUN', 'mon', 'Tue', 'WED', 'thu', 'Fri', 'SAT']

const digits = (value: number): string => String(value)
const padded = (value: number): string => String(value).padStart(2, '0')

/** All of R2 to R5 in the default dialect; with `wrap` also backward ranges. */
export function expressions(hot: HotValues, wrap: boolean): fc.Arbitrary<string> {
  const time = { low: 0, high: 59, size: 60 }
  const second = field({ ...time, hot: hot.second, write: digits }, wrap)
  const minute = field({ ...time, hot: hot.minute, write: padded }, wrap)
  const hour = field({ low: 0, high: 23, size: 24, hot: hot.hour, write: digits }, wrap)
  const month = fc.oneof(
    { weight: 3, arbitrary: fc.constant('*') },
    {
      weight: 1,
      arbitrary: field({ low: 1, high: 12, size: 12, hot: hot.month, write: monthName }, wrap),
    },
  )
  const year = field({ low: 1970, high: 2199, size: 230, hot: hot.year, write: digits }, false)
  const time5 = fc.tuple(minute, hour)
  const days = dayFields(hot, wrap).chain(([dom, dow]) => month.map((text) => `${dom} ${text} ${dow}`))
  return fc.oneof(
    { weight: 50, arbitrary: fc.tuple(time5, days).map(([[m, h], rest]) => `${m} ${h} ${rest}`) },
    { weight: 20, arbitrary: fc.tuple(second, time5, days).map(([s, [m, h], rest]) => `${s} ${m}\t${h} ${rest}`) },
    {
      weight: 10,
      arbitrary: fc.tuple(second, time5, days, year).map(([s, [m, h], rest, y]) => ` ${s}  ${m} ${h} ${rest} ${y}`),
    },
    { weight: 2, arbitrary: fc.constantFrom('@daily', '@Hourly', '@weekly', '@midnight', '@monthly', '@yearly') },
  )
}

function monthName(value: number): string {
  return value % 2 === 0 ? MONTHS[value - 1]! : digits(value)
}

/** A name at the end of a range reads SUN as 7, so 0 is written as a digit there. */
function weekdayName(value: number, place: 'alone' | 'start' | 'end'): string {
  if (value % 2 === 0 || (place === 'end' && value === 0)) return digits(value)
  return WEEKDAYS[value % 7]!
}

function field(shape: FieldShape, wrap: boolean): fc.Arbitrary<string> {
  const item = items(shape, wrap)
  return fc.oneof(
    { weight: 2, arbitrary: fc.constant('*') },
    { weight: 6, arbitrary: item },
    { weight: 2, arbitrary: fc.array(item, { minLength: 2, maxLength: 4 }).map((list) => list.join(',')) },
  )
}

function items(shape: FieldShape, wrap: boolean): fc.Arbitrary<string> {
  const value = someValue(shape)
  // Small steps and the largest ones: the middle teaches little.
  const step = fc.oneof(fc.integer({ min: 1, max: Math.min(6, shape.size) }), fc.integer({ min: 1, max: shape.size }))
  const range = fc.tuple(value, value).map(([a, b]) => {
    const [from, to] = wrap ? [a, b] : [Math.min(a, b), Math.max(a, b)]
    return `${shape.write(from, 'start')}-${shape.write(to, 'end')}`
  })
  return fc.oneof(
    { weight: 5, arbitrary: value.map((one) => shape.write(one, 'alone')) },
    { weight: 2, arbitrary: range },
    { weight: 2, arbitrary: step.map((n) => `*/${n}`) },
    { weight: 1, arbitrary: fc.tuple(range, step).map(([text, n]) => `${text}/${n}`) },
    { weight: 1, arbitrary: fc.tuple(value, step).map(([one, n]) => `${shape.write(one, 'alone')}/${n}`) },
  )
}

function someValue(shape: FieldShape): fc.Arbitrary<number> {
  return fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...shape.hot) },
    { weight: 1, arbitrary: fc.integer({ min: shape.low, max: shape.high }) },
  )
}

function dayFields(hot: HotValues, wrap: boolean): fc.Arbitrary<readonly [string, string]> {
  const open = fc.constantFrom('*', '*', '?', '*/1')
  const dom = domField(hot, wrap)
  const dow = dowField(hot, wrap)
  return fc.oneof(
    { weight: 3, arbitrary: fc.tuple(open, open) },
    { weight: 2, arbitrary: fc.tuple(dom, open) },
    { weight: 2, arbitrary: fc.tuple(open, dow) },
    { weight: 3, arbitrary: fc.tuple(dom, dow) },
    { weight: 1, arbitrary: fc.tuple(dom, dow).map(([left, right]) => [left, `+${right}`] as const) },
  )
}

function domField(hot: HotValues, wrap: boolean): fc.Arbitrary<string> {
  const shape: FieldShape = { low: 1, high: 31, size: 31, hot: hot.dom, write: digits }
  const back = fc.integer({ min: 0, max: 30 })
  const special = fc.oneof(
    fc.constantFrom('L', 'l', 'LW', 'lw'),
    back.map((n) => `L-${n}`),
    back.map((n) => `L-${n}W`),
    someValue(shape).map((n) => `${n}W`),
    someValue(shape).map((n) => `${n}w`),
  )
  return listOf(fc.oneof({ weight: 3, arbitrary: items(shape, wrap) }, { weight: 2, arbitrary: special }))
}

function dowField(hot: HotValues, wrap: boolean): fc.Arbitrary<string> {
  const shape: FieldShape = { low: 0, high: 7, size: 7, hot: hot.dow, write: weekdayName }
  const day = someValue(shape).map((value) => weekdayName(value, 'alone'))
  const special = fc.oneof(
    day.map((text) => `${text}L`),
    day.map((text) => `${text}#L`),
    fc.tuple(day, fc.integer({ min: 1, max: 5 })).map(([text, nth]) => `${text}#${nth}`),
  )
  return listOf(fc.oneof({ weight: 3, arbitrary: items(shape, wrap) }, { weight: 2, arbitrary: special }))
}

function listOf(item: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 4, arbitrary: item },
    { weight: 1, arbitrary: fc.array(item, { minLength: 2, maxLength: 3 }).map((list) => list.join(',')) },
  )
}
