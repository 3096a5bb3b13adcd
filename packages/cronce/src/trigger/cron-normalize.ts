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
  const written = [compact(seconds, 0, 59, 2), compact(minutes, 0, 59, 2), compact(hours, 0, 23, 2)]
  if (written.some((text) => /[*/-]/.test(text))) return written
  const repeating = values.findIndex((field) => field.length > 1)
  return written.map((text, index) =>
    index === repeating ? `${values[index]![0]}-${text}`.replace(/^(\d+)-\1/, '$1-$1') : text,
  )
}

/** A restricted day field is written without a star: `*` would leave the day to the other field, and Vixie reads `*\/2` so. */
function writeDays(set: CronSet): string {
  if ((set.rules & DAYS_OPEN) !== 0) return '*'
  const values = valuesOf(set.days & 0x3fffffff, set.days >>> 30, 1)
  const plain = values.length === 0 ? [] : [compact(values, 1, 31).replace('*', '1-31')]
  return [...plain, ...(set.rare?.days ?? []).map(writeSpecial)].join(',')
}

function writeWeekdays(set: CronSet): string {
  if ((set.rules & WEEKDAYS_OPEN) !== 0) return '*'
  const isAnd = (set.rules & (DAYS_AND | DAYS_OPEN)) === DAYS_AND
  // Days of the week are known by name, not by rhythm: 1,3,5 rather than 1-5/2.
  const runs = runsOf(valuesOf((set.rules >>> WEEKDAYS_AT) & 0x7f, 0), 3)
  return (isAnd ? '+' : '') + [...runs, ...(set.rare?.weekdays ?? []).map(writeSpecial)].join(',')
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

/** `*`, `*\/15`, `9-17`, `1-31/2`, or a list. Two values are no rhythm, but in an interval. */
function compact(values: readonly number[], min: number, max: number, rhythm = 3): string {
  const first = values[0]!
  const last = values.at(-1)!
  if (values.length === max - min + 1) return '*'
  const step = (values[1] ?? first) - first
  const isSteady = values.length >= rhythm && values.every((value, index) => value === first + index * step)
  if (isSteady && step > 1 && first === min && last + step > max) return `*/${step}`
  if (isSteady && values.length > 2) return step === 1 ? `${first}-${last}` : `${first}-${last}/${step}`
  return runsOf(values, rhythm).join(',')
}

function runsOf(values: readonly number[], shortest: number): string[] {
  const runs: string[] = []
  for (let from = 0; from < values.length; ) {
    let to = from
    while (values[to + 1] === values[to]! + 1) to++
    if (to - from + 1 < shortest) to = from
    runs.push(to === from ? `${values[from]}` : `${values[from]}-${values[to]}`)
    from = to + 1
  }
  return runs
}
