/**
 * The fields of a trigger's `normalized` form, read far enough to talk about them. The engine has validated it, so this
 * only takes apart; what it cannot read it reports as `undefined` rather than guess.
 */

export interface Span {
  readonly from: number
  readonly to: number
  readonly step: number
}

export type Special =
  /** `L`, `L-3`, and with `weekday` `LW`, `L-3W`. */
  | { readonly kind: 'last day'; readonly before: number; readonly weekday: boolean }
  /** `15W` */
  | { readonly kind: 'nearest weekday'; readonly day: number }
  /** `5#2` */
  | { readonly kind: 'nth'; readonly weekday: number; readonly nth: number }
  /** `5L`, `5#L` */
  | { readonly kind: 'last weekday'; readonly weekday: number }

export interface Field {
  /** Written as a star, as `?` or as a star with step 1: decides nothing. */
  readonly open: boolean
  readonly spans: readonly Span[]
  /** What the spans name, ascending. */
  readonly values: readonly number[]
  /** The spans name everything the field can be. */
  readonly full: boolean
  readonly specials: readonly Special[]
}

export interface Fields {
  readonly second: Field
  readonly minute: Field
  readonly hour: Field
  readonly dayOfMonth: Field
  readonly month: Field
  readonly dayOfWeek: Field
  readonly year: Field
  /** `+` in front of the weekday: both day fields must agree. */
  readonly and: boolean
}

const RANGES = {
  second: [0, 59],
  minute: [0, 59],
  hour: [0, 23],
  dayOfMonth: [1, 31],
  month: [1, 12],
  dayOfWeek: [0, 6],
  year: [1970, 2199],
} as const

export type FieldKey = keyof typeof RANGES

export const FIELD_NAMES: Readonly<Record<FieldKey, string>> = {
  second: 'second',
  minute: 'minute',
  hour: 'hour',
  dayOfMonth: 'day of month',
  month: 'month',
  dayOfWeek: 'day of week',
  year: 'year',
}

export function rangeOf(key: FieldKey): readonly [number, number] {
  return RANGES[key]
}

/** A missing second is 0, a missing year is `*`. */
export function splitFields(expression: string): Readonly<Record<FieldKey, string>> | undefined {
  const parts = expression.trim().split(/[ \t]+/)
  if (parts.length === 5) parts.unshift('0')
  if (parts.length === 6) parts.push('*')
  const [second, minute, hour, dayOfMonth, month, dayOfWeek, year, ...rest] = parts
  if (second === undefined || minute === undefined || hour === undefined || dayOfMonth === undefined) return undefined
  if (month === undefined || dayOfWeek === undefined || year === undefined || rest.length > 0) return undefined
  return { second, minute, hour, dayOfMonth, month, dayOfWeek, year }
}

export function readFields(normalized: string): Fields | undefined {
  const texts = splitFields(normalized)
  if (texts === undefined) return undefined
  const and = texts.dayOfWeek.startsWith('+')

  const second = readField(texts.second, 'second')
  const minute = readField(texts.minute, 'minute')
  const hour = readField(texts.hour, 'hour')
  const dayOfMonth = readField(texts.dayOfMonth, 'dayOfMonth')
  const month = readField(texts.month, 'month')
  const dayOfWeek = readField(and ? texts.dayOfWeek.slice(1) : texts.dayOfWeek, 'dayOfWeek')
  const year = readField(texts.year, 'year')
  if (!second || !minute || !hour || !dayOfMonth || !month || !dayOfWeek || !year) return undefined
  return { second, minute, hour, dayOfMonth, month, dayOfWeek, year, and }
}

function readField(text: string, key: FieldKey): Field | undefined {
  const [min, max] = RANGES[key]
  const spans: Span[] = []
  const specials: Special[] = []
  for (const item of text.split(',')) {
    const span = readSpan(item, min, max)
    const special = span ? undefined : readSpecial(item, key)
    if (span) spans.push(span)
    else if (special) specials.push(special)
    else return undefined
  }
  const named = spans.flatMap((span) => [...valuesOf(span)])
  // 7 is Sunday, like 0.
  const values = [...new Set(key === 'dayOfWeek' ? named.map((value) => value % 7) : named)].sort((a, b) => a - b)
  const full = values.length === max - min + 1
  return { open: /^(\*|\?|\*\/1)$/.test(text), spans, values, full, specials }
}

function* valuesOf({ from, to, step }: Span): Generator<number> {
  for (let value = from; value <= to; value += step) yield value
}

function readSpan(item: string, min: number, max: number): Span | undefined {
  const match = /^(?:[*?]|(\d{1,4})(?:-(\d{1,4}))?)(?:\/(\d{1,4}))?$/.exec(item)
  if (!match) return undefined
  const [, first, last, every] = match
  const step = every === undefined ? 1 : Number(every)
  if (step < 1) return undefined
  if (first === undefined) return { from: min, to: max, step }
  const from = Number(first)
  // `a/n` runs to the end of the field.
  if (last === undefined) return { from, to: every === undefined ? from : max, step }
  return { from, to: Number(last), step }
}

function readSpecial(item: string, key: FieldKey): Special | undefined {
  if (key === 'dayOfMonth') {
    const last = /^L(?:-(\d{1,2}))?(W)?$/i.exec(item)
    if (last) return { kind: 'last day', before: Number(last[1] ?? 0), weekday: last[2] !== undefined }
    const nearest = /^(\d{1,2})W$/i.exec(item)
    if (nearest) return { kind: 'nearest weekday', day: Number(nearest[1]) }
  }
  if (key === 'dayOfWeek') {
    const last = /^([0-7])#?L$/i.exec(item)
    if (last) return { kind: 'last weekday', weekday: Number(last[1]) % 7 }
    const nth = /^([0-7])#([1-5])$/.exec(item)
    if (nth) return { kind: 'nth', weekday: Number(nth[1]) % 7, nth: Number(nth[2]) }
  }
  return undefined
}

/** Ascending values as runs of neighbours. */
export function runsOf(values: readonly number[]): [from: number, to: number][] {
  const runs: [number, number][] = []
  for (const value of values) {
    const last = runs.at(-1)
    if (last !== undefined && last[1] === value - 1) last[1] = value
    else runs.push([value, value])
  }
  return runs
}
