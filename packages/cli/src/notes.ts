import type { CronFields, CronOptions, CronTrigger, SpecialDay } from 'cronce/cron'
import { monthNames, weekdayName } from './date-words.ts'
import { formatDuration, formatUtc, joinWords } from './format.ts'
import type { Schedule } from './schedule.ts'
import { zonePrefixOf } from './zone-prefix.ts'

/** Something worth knowing about an expression: where schedulers disagree, and what surprises people. */
export interface Note {
  readonly code: string
  readonly message: string
}

const FIELD_NAMES = {
  seconds: 'second',
  minutes: 'minute',
  hours: 'hour',
  days: 'day of month',
  months: 'month',
  weekdays: 'day of week',
  years: 'year',
} as const

type FieldKey = keyof typeof FIELD_NAMES
type Texts = Readonly<Record<FieldKey, string>>

const FIELD_KEYS = Object.keys(FIELD_NAMES) as FieldKey[]

interface Subject {
  readonly trigger: CronTrigger
  readonly fields: CronFields
  readonly options: CronOptions
  /** The fields as written, `undefined` for a macro. */
  readonly written: Texts | undefined
  readonly count: number
  /** Quartz and EventBridge have seconds or years, `?`, L, W and # by nature. */
  readonly isRich: boolean
}

export function notesOn(schedule: Schedule): Note[] {
  const { trigger, options } = schedule
  if (trigger.kind === 'every') return everyNotes(schedule, trigger.anchor)
  if (trigger.timing === 'event') return []
  const { dialect } = options
  const parts = writtenParts(trigger.expression)
  const subject: Subject = {
    trigger,
    fields: trigger.fields,
    options,
    // EventBridge has the year, and no second, in its six.
    written: parts.length === 0 ? undefined : splitFields(dialect === 'eventbridge' ? ['0', ...parts] : parts),
    count: parts.length,
    isRich: dialect === 'quartz' || dialect === 'eventbridge',
  }
  return [
    ...neverNotes(subject),
    ...prefixNotes(subject),
    ...fieldCountNotes(subject),
    ...quartzNotes(subject),
    ...dayNotes(subject),
    ...hashNotes(subject),
    ...stepNotes(subject),
    ...shortMonthNotes(subject),
    ...portabilityNotes(subject),
  ]
}

/** Without zone prefix and EventBridge's `cron( )`; nothing for a macro. */
function writtenParts(expression: string): string[] {
  const bare = expression.trim().replace(/^(CRON_)?TZ=\S+[ \t]+/, '')
  if (bare.startsWith('@')) return []
  return bare
    .replace(/^cron\((.*)\)$/, '$1')
    .trim()
    .split(/[ \t]+/)
}

/** A missing second is 0, a missing year is `*`. */
function splitFields(parts: readonly string[]): Texts {
  const [seconds, minutes, hours, days, months, weekdays, years] = parts.length === 5 ? ['0', ...parts] : parts
  return {
    seconds: seconds!,
    minutes: minutes!,
    hours: hours!,
    days: days!,
    months: months!,
    weekdays: weekdays!,
    years: years ?? '*',
  }
}

function everyNotes({ expression, options, tz }: Schedule, anchor: number): Note[] {
  const others =
    options.dialect === 'eventbridge'
      ? 'EventBridge counts a rate from its start date or, without one, from when it was created.'
      : 'Others count @every from when a process starts; crontab does not know it.'
  const message = `Counted from ${formatUtc(anchor)}, so all instances agree without talking to each other. ${others}`
  const prefix = zonePrefixOf(expression)
  const zone = prefix && `${prefix.written} decides the zone of the times printed, ${tz}; the interval has none.`
  return [...(zone === undefined ? [] : [{ code: 'ZONE_PREFIX', message: zone }]), { code: 'EVERY', message }]
}

function neverNotes({ trigger }: Subject): Note[] {
  return trigger.never ? [{ code: 'NEVER', message: neverBecause(trigger) }] : []
}

const LONGEST = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] as const

/** Why a trigger without a single instant has none. */
export function neverBecause({ fields }: CronTrigger): string {
  const { days, months } = fields
  const [earliest] = days.values
  const isLate = earliest !== undefined && months.every((month) => LONGEST[month - 1]! < earliest)
  if (isLate && days.specials.length === 0) {
    return `${monthNames(months)} ${months.length === 1 ? 'has' : 'have'} no day ${earliest}.`
  }
  return 'No time from 1970 to 2199 satisfies all its fields.'
}

function prefixNotes({ trigger }: Subject): Note[] {
  const prefix = zonePrefixOf(trigger.expression)
  if (prefix === undefined) return []
  const message = `${prefix.written} decides the zone, ${trigger.tz}, whatever --tz says. Kubernetes refuses it: use spec.timeZone there.`
  return [{ code: 'ZONE_PREFIX', message }]
}

function fieldCountNotes({ count, fields, isRich }: Subject): Note[] {
  const notes: Note[] = []
  if (!isRich && count === 6) {
    const message =
      'Six fields: the first is the second. crontab and Kubernetes have no seconds, and EventBridge reads a sixth field as the year; for a year write seven fields.'
    notes.push({ code: 'SIX_FIELDS', message })
  }
  if (!isRich && count === 7) {
    const message = 'Seven fields: the first is the second, the last the year. crontab and Kubernetes have neither.'
    notes.push({ code: 'SEVEN_FIELDS', message })
  }
  if (fields.seconds.length === 60) {
    const message =
      '* in the second field fires 60 times in every minute that matches. Write 0 there for once a minute.'
    notes.push({ code: 'EVERY_SECOND', message })
  }
  return notes
}

/** Seven fields, or six with `?`, were often written for Quartz, whose weekdays count from 1 for Sunday. */
function quartzNotes({ written, count, options }: Subject): Note[] {
  const looksLikeQuartz = count === 7 || (count === 6 && (written?.days === '?' || written?.weekdays === '?'))
  const number = Number(/^[1-7]/.exec(written?.weekdays ?? '')?.[0] ?? 0)
  if (options.dialect !== undefined || !looksLikeQuartz || number === 0) return []
  const [here, there] = [weekdayName(number % 7), weekdayName(number - 1)]
  const message = `${number} is ${here} here, and ${there} in Quartz and EventBridge. Write ${there.slice(0, 3).toUpperCase()}, or --dialect quartz, if ${there} is meant.`
  return [{ code: 'QUARTZ_WEEKDAY', message }]
}

function dayNotes({ trigger, written, fields, options }: Subject): Note[] {
  const { days, weekdays, daysAnd } = fields
  if (days.open || weekdays.open) return []

  // Vixie cron looks at the first character alone, so `*,5` counts as well; `*/1` is a plain star to everybody.
  const star = [written?.days, written?.weekdays].find((text) => /^\*(?!$|\/0*1$)/.test(text ?? ''))
  const isVixie = options.days === 'vixie' || (options.days === undefined && options.dialect === 'vixie')
  if (daysAnd && isVixie && star !== undefined) {
    const message = `Both day fields are restricted, and ${star} begins with *: Vixie cron then wants both to match (AND). Kubernetes, and cronce by default, are content with either (OR).`
    return [{ code: 'DAYS_AND', message }]
  }
  if (daysAnd) {
    const reason = written?.weekdays.startsWith('+') ? 'the +' : '--days and'
    const message = `Both day fields are restricted and, because of ${reason}, must both match (AND), as in Spring, Cronos, node-cron and temporal.io. Without it either is enough (OR), as in crontab and Kubernetes.`
    return [{ code: 'DAYS_AND', message }]
  }
  const notes: Note[] = []
  const message = `Both day fields are restricted, and a day that matches either fires (OR), as in crontab and Kubernetes. Spring, Cronos, node-cron and temporal.io want both to match (AND); for that, cronce takes a + before the weekday: ${withPlus(trigger.normalized)}`
  notes.push({ code: 'DAYS_OR', message })
  const isAnyDay = days.values.length === 31
  if (isAnyDay || weekdays.values.length === 7) {
    const [full, other] = isAnyDay ? ['day of month', 'weekday'] : ['day of week', 'day of month']
    const every = `The ${full} field names every day but is not *, so the ${other} makes no difference. Write * to let the ${other} decide.`
    notes.push({ code: 'DAYS_ALL', message: every })
  }
  if (star !== undefined && !isVixie) {
    const vixie = `Vixie cron and cronie take a field that begins with *, such as ${star}, for unrestricted and would want both to match (AND). Use --days vixie for that.`
    notes.push({ code: 'DAYS_VIXIE', message: vixie })
  }
  return notes
}

function withPlus(normalized: string): string {
  const parts = normalized.split(' ')
  const weekday = parts.length === 5 ? 4 : 5
  return parts.map((text, i) => (i === weekday ? `+${text}` : text)).join(' ')
}

function hashNotes({ trigger, written, options }: Subject): Note[] {
  const hashed = written ? FIELD_KEYS.filter((key) => /(^|,)\+?H(?![A-Z])/i.test(written[key])) : []
  if (written === undefined || hashed.length === 0) return []
  // The normal form may write a value as `30-30`, to say that a list is an interval.
  const normal = splitFields(trigger.normalized.replace(/\b(\d+)-\1\b/g, '$1').split(' '))
  const values = hashed.map((key) => `${written[key]} in the ${FIELD_NAMES[key]} became ${normal[key]}`)
  const message = `${joinWords(values)} for the seed ${JSON.stringify(options.seed)}. The same seed gives the same values everywhere. Jenkins, cron-parser and Cronos have H, too, and hash differently.`
  return [{ code: 'HASHED', message }]
}

/** When a field starts again, and after how many of its values. Months differ, and years do not start again. */
const CYCLES = {
  seconds: { cycle: 'minute', size: 60, unitMs: 1_000, suffix: 's' },
  minutes: { cycle: 'hour', size: 60, unitMs: 60_000, suffix: 'm' },
  hours: { cycle: 'day', size: 24, unitMs: 3_600_000, suffix: 'h' },
  months: { cycle: 'year', size: 12, unit: 'month' },
  weekdays: { cycle: 'week', size: 7, unit: 'day' },
} as const

function stepNotes({ written, fields }: Subject): Note[] {
  if (written === undefined) return []
  return FIELD_KEYS.flatMap((key) => {
    const match = /^\+?([^,-]+\/(\d+))$/.exec(written[key])
    const message = match && unevenStep(key, match[1]!, Number(match[2]), fields)
    return message ? [{ code: 'STEP_UNEVEN', message }] : []
  })
}

/** What is wrong with believing that `text` means "every `step`", if anything is. */
function unevenStep(key: FieldKey, text: string, step: number, fields: CronFields): string | undefined {
  if (step === 1 || key === 'years') return undefined
  const values = key === 'days' || key === 'weekdays' ? fields[key].values : fields[key]
  const first = values[0]!
  const last = values.at(-1)!
  if (first === last) {
    // Dialects number the weekdays differently.
    const only = key === 'weekdays' ? weekdayName(first) : first
    return `${text} in the ${FIELD_NAMES[key]} names only ${only}: the step is too large to repeat.`
  }
  if (key === 'days') {
    if (first > 28) return undefined
    const gaps = [28, 29, 30, 31].map((length) => first + length - values.findLast((day) => day <= length)!)
    return `${text} starts again every month: the gap at the end of a month is ${Math.min(...gaps)} to ${Math.max(...gaps)} days, not ${step}.`
  }
  const field = CYCLES[key]
  const gap = first + field.size - last
  if (gap === step) return undefined
  if ('unit' in field) {
    const left = gap === 1 ? `1 ${field.unit}` : `${gap} ${field.unit}s`
    return `${text} in the ${FIELD_NAMES[key]} starts again every ${field.cycle}: the last gap is ${left}, not ${step}.`
  }
  const { cycle, unitMs, suffix } = field
  return `${text} starts again every ${cycle}: the gap after ${FIELD_NAMES[key]} ${last} is ${formatDuration(gap * unitMs)}, not ${formatDuration(step * unitMs)}. For a steady interval, cronce has @every ${step}${suffix}.`
}

/** Days that not every month has: the commonest reason for "it did not run". */
function shortMonthNotes({ fields }: Subject): Note[] {
  const { days, weekdays, months, daysAnd } = fields
  const notes: Note[] = []
  // Where either day field is enough, the weekday fires in every month.
  const isDecisive = weekdays.open || daysAnd
  const earliest = Math.min(...days.values, ...days.specials.map(daysNeeded))
  const lengths = months.map((month) => LONGEST[month - 1]!)
  if (isDecisive && lengths.some((length) => length < earliest) && lengths.some((length) => length >= earliest)) {
    const message =
      days.specials.length === 0
        ? `Months without day ${earliest} are left out. For the last day of every month write L.`
        : `Months with fewer than ${earliest} days are left out.`
    notes.push({ code: 'DAY_MISSING', message })
  }
  if (isDecisive && earliest === 29 && months.includes(2)) {
    notes.push({ code: 'LEAP_DAY', message: '29 February exists only in leap years.' })
  }
  if (weekdays.specials.some((special) => special.kind === 'nthWeekday' && special.nth === 5)) {
    const message =
      'Months without a 5th such weekday are left out. For the last one of every month write L instead of #5.'
    notes.push({ code: 'NTH_MISSING', message })
  }
  return notes
}

/** How long a month must be to have the day. */
function daysNeeded(special: SpecialDay): number {
  if (special.kind === 'nearest') return special.day
  return special.kind === 'last' || special.kind === 'lastNearest' ? special.before + 1 : 0
}

function portabilityNotes({ written, options, isRich }: Subject): Note[] {
  if (written === undefined || isRich) return []
  const notes: Note[] = []
  const { days, weekdays } = written
  const specials = [
    // No name of a weekday has an L in it.
    ...(/L/i.test(days + weekdays) ? ['L'] : []),
    ...(/W/i.test(days) ? ['W'] : []),
    ...(weekdays.includes('#') ? ['#'] : []),
  ]
  if (specials.length > 0) {
    const verb = specials.length === 1 ? 'is' : 'are'
    notes.push({ code: 'SPECIALS', message: `${joinWords(specials)} ${verb} unknown to crontab and Kubernetes.` })
  }
  if (days.includes('?') || weekdays.includes('?')) {
    notes.push({ code: 'QUESTION', message: '? means * here and in Kubernetes; crontab does not know it.' })
  }
  const open = Object.values(written).find((text) => /(^|,)\+?(?!H[/(])[^*,/-]+\/\d/i.test(text))
  if (open !== undefined && options.dialect !== 'kubernetes') {
    notes.push({
      code: 'OPEN_STEP',
      message: `${open} has a step without a range, which crontab does not know. Write the range out.`,
    })
  }
  return notes
}
