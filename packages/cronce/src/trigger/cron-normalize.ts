import { FIRST_YEAR, LAST_YEAR } from './calendar.ts'
import type { CronFields, SpecialDay } from './trigger.ts'

/**
 * The fields written in the default dialect, in one way only. Whether a list stays a list matters: `0,30` is fixed and
 * `0-59/30` an interval, and the two differ when the clock changes.
 */
export function normalize(fields: CronFields, isInterval: boolean): string {
  const { seconds, minutes, hours, months, years } = fields
  const times = isInterval ? writeInterval([seconds, minutes, hours]) : [seconds, minutes, hours].map(String)
  const hasSeconds = years !== null || seconds.length > 1 || seconds[0] !== 0
  const texts = [
    ...(hasSeconds ? times : times.slice(1)),
    writeDays(fields),
    compact(months, 1, 12),
    writeWeekdays(fields),
    ...(years === null ? [] : [compact(years, FIRST_YEAR, LAST_YEAR)]),
  ]
  return texts.join(' ')
}

/** A `*`, a range or a step in at least one field that has two values: that is what makes an interval. */
function writeInterval(fields: readonly (readonly number[])[]): string[] {
  const written = fields.map((values, index) => compact(values, 0, index === 2 ? 23 : 59, 2))
  if (written.some((text) => /[*/-]/.test(text))) return written
  // Values without any pattern, so one is written as a range of itself.
  const repeating = fields.findIndex((values) => values.length > 1)
  return written.map((text, index) => (index === repeating ? text.replace(/^\d+/, '$&-$&') : text))
}

/** A restricted day field is written without a star: `*` would leave the day to the other field, and Vixie reads `*\/2` so. */
function writeDays({ days: { open, values, specials } }: CronFields): string {
  if (open) return '*'
  const plain = values.length === 0 ? [] : [compact(values, 1, 31).replace('*', '1-31')]
  return [...plain, ...specials.map(writeSpecial)].join(',')
}

function writeWeekdays({ days, weekdays: { open, values, specials }, daysAnd }: CronFields): string {
  if (open) return '*'
  // Days of the week are known by name, not by rhythm: 1,3,5 rather than 1-5/2.
  const items = [...runsOf(values, 3), ...specials.map(writeSpecial)]
  return (daysAnd && !days.open ? '+' : '') + items.join(',')
}

export function writeSpecial(special: SpecialDay): string {
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
