import { FIRST_YEAR, LAST_YEAR } from './calendar.ts'
import type { SpecialDay } from './cron-days.ts'
import { type CronSet, DAYS_AND, DAYS_OPEN, WEEKDAYS_AT, WEEKDAYS_OPEN } from './cron-set.ts'

/**
 * The set written in the default dialect, in one way only. Whether a list stays a list matters: `0,30` is fixed and
 * `0-59/30` an interval, and the two differ when the clock changes.
 */
export function normalize(set: CronSet, isInterval: boolean): string {
  const years = set.rare?.years ?? null
  const seconds = valuesOf(set.secondsLow, set.secondsHigh)
  const minutes = valuesOf(set.minutesLow, set.minutesHigh)
  const hours = valuesOf(set.hours, 0)
  const times = isInterval ? writeInterval(seconds, minutes, hours) : [seconds, minutes, hours].map(String)
  const hasSeconds = years !== null || seconds.length > 1 || seconds[0] !== 0
  const fields = [
    ...(hasSeconds ? times : times.slice(1)),
    writeDays(set),
    compact(valuesOf(set.rules & 0xfff, 0, 1), 1, 12),
    writeWeekdays(set),
  ]
  if (years !== null) fields.push(writeYears(years))
  return fields.join(' ')
}

/** Fields with a `*`, a range or a step in at least one that has two values: that is what makes an interval. */
function writeInterval(seconds: number[], minutes: number[], hours: number[]): string[] {
  const values = [seconds, minutes, hours]
  const written = [compact(seconds, 0, 59), compact(minutes, 0, 59), compact(hours, 0, 23)]
  if (written.some((text) => /[*/-]/.test(text))) return written
  const repeating = values.findIndex((field) => field.length > 1)
  return written.map((text, index) =>
    index === repeating ? `${values[index]![0]}-${text}`.replace(/^(\d+)-\1/, '$1-$1') : text,
  )
}

function writeDays(set: CronSet): string {
  if ((set.rules & DAYS_OPEN) !== 0) return '*'
  const values = valuesOf(set.days & 0x3fffffff, set.days >>> 30, 1)
  return writeDayField({ values, min: 1, max: 31, specials: set.rare?.days ?? [], mayBeginWithStar: !isEither(set) })
}

function writeWeekdays(set: CronSet): string {
  if ((set.rules & WEEKDAYS_OPEN) !== 0) return '*'
  const values = valuesOf((set.rules >>> WEEKDAYS_AT) & 0x7f, 0)
  const isAnd = (set.rules & (DAYS_AND | DAYS_OPEN)) === DAYS_AND
  const field = { values, min: 0, max: 6, specials: set.rare?.weekdays ?? [], mayBeginWithStar: !isEither(set) }
  return (isAnd ? '+' : '') + writeDayField(field)
}

/** Both day fields are restricted, and either suffices. */
function isEither(set: CronSet): boolean {
  return (set.rules & (DAYS_OPEN | WEEKDAYS_OPEN | DAYS_AND)) === 0
}

interface DayField {
  readonly values: readonly number[]
  readonly min: number
  readonly max: number
  readonly specials: readonly SpecialDay[]
  /** A star in front would turn "either" into "both" for readers that follow Vixie. */
  readonly mayBeginWithStar: boolean
}

/** A restricted day field never becomes a bare `*`, which would mean that the other one decides. */
function writeDayField({ values, min, max, specials, mayBeginWithStar }: DayField): string {
  let plain = values.length === 0 ? '' : compact(values, min, max)
  if (plain === '*' || (plain.startsWith('*') && !mayBeginWithStar)) plain = plain.replace('*', `${min}-${max}`)
  return [...(plain === '' ? [] : [plain]), ...specials.map(writeSpecial)].join(',')
}

function writeSpecial(special: SpecialDay): string {
  switch (special.kind) {
    case 'last':
      return special.before === 0 ? 'L' : `L-${special.before}`
    case 'nearest':
      return `${special.day}W`
    case 'lastNearest':
      return special.before === 0 ? 'LW' : `L-${special.before}W`
    case 'lastWeekday':
      return `${special.weekday}L`
    case 'nthWeekday':
      return `${special.weekday}#${special.nth}`
  }
}

function writeYears(years: Uint8Array): string {
  const values = Array.from(years.keys(), (index) => FIRST_YEAR + index).filter(
    (year) => years[year - FIRST_YEAR] === 1,
  )
  return compact(values, FIRST_YEAR, LAST_YEAR)
}

function valuesOf(low: number, high: number, first = 0): number[] {
  const values: number[] = []
  for (let bit = 0; bit < 30; bit++) if ((low >>> bit) & 1) values.push(first + bit)
  for (let bit = 0; bit < 30; bit++) if ((high >>> bit) & 1) values.push(first + 30 + bit)
  return values
}

/** `*`, `*\/15`, `9-17`, `1-31/2`, or a list of values and runs of three or more. */
function compact(values: readonly number[], min: number, max: number): string {
  const first = values[0]!
  const last = values.at(-1)!
  if (values.length === max - min + 1) return '*'
  const step = (values[1] ?? first) - first
  const isSteady = values.length > 1 && values.every((value, index) => value === first + index * step)
  if (isSteady && step > 1 && first === min && last + step > max) return `*/${step}`
  if (isSteady && values.length > 2) return step === 1 ? `${first}-${last}` : `${first}-${last}/${step}`
  return runsOf(values).join(',')
}

function runsOf(values: readonly number[]): string[] {
  const runs: string[] = []
  for (let from = 0; from < values.length; ) {
    let to = from
    while (values[to + 1] === values[to]! + 1) to++
    if (to - from < 2) to = from
    runs.push(to === from ? `${values[from]}` : `${values[from]}-${values[to]}`)
    from = to + 1
  }
  return runs
}
