import type { CronOptions, CronTrigger } from 'cronce/cron'
import { ordinal } from './date-words.ts'
import { FIELD_NAMES, type FieldKey, type Fields, rangeOf, readFields, type Special, splitFields } from './fields.ts'
import { formatDuration, joinWords } from './format.ts'

/** Something worth knowing about an expression: where schedulers disagree, and what surprises people. */
export interface Note {
  readonly code: string
  readonly message: string
}

type Texts = Readonly<Record<FieldKey, string>>

interface Subject {
  /** The fields as written, `undefined` for a macro. */
  readonly written: Texts | undefined
  readonly count: number
  readonly normalized: string
  readonly normal: Texts
  readonly fields: Fields
  readonly options: CronOptions
}

export function notesOn(trigger: CronTrigger, options: CronOptions): Note[] {
  const { normalized } = trigger
  const normal = splitFields(normalized)
  const fields = readFields(normalized)
  if (normal === undefined || fields === undefined) return []
  const parts = writtenParts(trigger.expression)
  const subject: Subject = {
    written: writtenTexts(parts, options),
    count: parts.length,
    normalized,
    normal,
    fields,
    options,
  }
  return [
    ...prefixNotes(trigger),
    ...fieldCountNotes(subject),
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

function writtenTexts(parts: readonly string[], { dialect }: CronOptions): Texts | undefined {
  // EventBridge has the year, and no second, in its six.
  return parts.length === 0 ? undefined : splitFields((dialect === 'eventbridge' ? ['0', ...parts] : parts).join(' '))
}

function prefixNotes({ expression, tz }: CronTrigger): Note[] {
  const prefix = /^\s*((?:CRON_)?TZ=)/.exec(expression)?.[1]
  if (prefix === undefined) return []
  const message = `${prefix} decides the zone, ${tz}, whatever --tz says. Kubernetes refuses it: use spec.timeZone there.`
  return [{ code: 'ZONE_PREFIX', message }]
}

function fieldCountNotes({ count, fields, options }: Subject): Note[] {
  const notes: Note[] = []
  const isOurs = options.dialect === undefined || options.dialect === 'default' || options.dialect === 'ocps'
  if (isOurs && count === 6) {
    const message =
      'Six fields: the first is the second. crontab and Kubernetes have no seconds, and EventBridge reads a sixth field as the year; for a year write seven fields.'
    notes.push({ code: 'SIX_FIELDS', message })
  }
  if (isOurs && count === 7) {
    const message = 'Seven fields: the first is the second, the last the year. crontab and Kubernetes have neither.'
    notes.push({ code: 'SEVEN_FIELDS', message })
  }
  if (fields.second.full) {
    const message =
      '* in the second field fires 60 times in every minute that matches. Write 0 there for once a minute.'
    notes.push({ code: 'EVERY_SECOND', message })
  }
  return notes
}

function dayNotes({ written, normalized, fields, options }: Subject): Note[] {
  const { dayOfMonth, dayOfWeek, and } = fields
  if (dayOfMonth.open || dayOfWeek.open) return []

  const star = [written?.dayOfMonth, written?.dayOfWeek].find((text) => /^\*\/(?!1$)/.test(text ?? ''))
  const isVixie = options.days === 'vixie' || (options.days === undefined && options.dialect === 'vixie')
  if (and && isVixie && star !== undefined) {
    const message = `Both day fields are restricted, and ${star} begins with *: Vixie cron then wants both to match (AND). Kubernetes, and cronce by default, are content with either (OR).`
    return [{ code: 'DAYS_AND', message }]
  }
  if (and) {
    const reason = written?.dayOfWeek.startsWith('+') ? 'the +' : '--days and'
    const message = `Both day fields are restricted and, because of ${reason}, must both match (AND), as in Spring, Cronos, node-cron and temporal.io. Without it either is enough (OR), as in crontab and Kubernetes.`
    return [{ code: 'DAYS_AND', message }]
  }
  const notes: Note[] = []
  const message = `Both day fields are restricted, and a day that matches either fires (OR), as in crontab and Kubernetes. Spring, Cronos, node-cron and temporal.io want both to match (AND); for that, put a + before the weekday: ${withWeekday(normalized, (text) => `+${text}`)}`
  notes.push({ code: 'DAYS_OR', message })
  if (dayOfMonth.full || dayOfWeek.full) {
    const [full, other] = dayOfMonth.full ? ['day of month', 'weekday'] : ['day of week', 'day of month']
    const every = `The ${full} field names every day but is not *, so the ${other} makes no difference. Write * to let the ${other} decide.`
    notes.push({ code: 'DAYS_ALL', message: every })
  }
  if (star !== undefined && !isVixie) {
    const vixie = `Vixie cron and cronie take a field that begins with *, such as ${star}, for unrestricted and would want both to match (AND). Use --days vixie for that.`
    notes.push({ code: 'DAYS_VIXIE', message: vixie })
  }
  return notes
}

function withWeekday(normalized: string, change: (text: string) => string): string {
  const parts = normalized.split(' ')
  const index = parts.length === 5 ? 4 : 5
  return parts.map((text, i) => (i === index ? change(text) : text)).join(' ')
}

function hashNotes({ written, normal, options }: Subject): Note[] {
  if (written === undefined || (options.dialect ?? 'default') !== 'default') return []
  const hashed = keysOf(written).filter((key) => /(^|,)\+?H(?![A-Z])/i.test(written[key]))
  if (hashed.length === 0) return []
  const values = hashed.map((key) => `${written[key]} in the ${FIELD_NAMES[key]} became ${plainly(normal[key])}`)
  const message = `${joinWords(values)} for the seed ${JSON.stringify(options.seed)}. The same seed gives the same values everywhere. Only Jenkins has H, too, and hashes differently.`
  return [{ code: 'HASHED', message }]
}

/** The normal form may write a value as `30-30`, to say that the list is an interval. */
function plainly(text: string): string {
  return text.replace(/\b(\d+)-\1\b/g, '$1')
}

const UNIT_MS: Partial<Record<FieldKey, number>> = { second: 1_000, minute: 60_000, hour: 3_600_000 }
const CYCLE: Partial<Record<FieldKey, string>> = { second: 'minute', minute: 'hour', hour: 'day' }

function stepNotes({ written }: Subject): Note[] {
  if (written === undefined) return []
  return keysOf(written).flatMap((key) => {
    const match = /^\+?(\*|\d+)\/(\d+)$/.exec(written[key])
    if (!match) return []
    const [min, max] = rangeOf(key)
    const from = match[1] === '*' ? min : Number(match[1])
    const step = Number(match[2])
    const message = unevenStep(key, written[key].replace('+', ''), Math.min(from, max), step, min, max)
    return message === undefined ? [] : [{ code: 'STEP_UNEVEN', message }]
  })
}

function unevenStep(key: FieldKey, text: string, from: number, step: number, min: number, max: number) {
  if (step === 1 || key === 'year') return undefined
  const size = max - min + 1
  const last = from + Math.floor((max - from) / step) * step
  const gap = from + size - last
  if (last === from) return `${text} in the ${FIELD_NAMES[key]} names only ${from}: the step is too large to repeat.`
  const unit = UNIT_MS[key]
  if (unit !== undefined) {
    if (gap === step) return undefined
    const suffix = { second: 's', minute: 'm', hour: 'h' }[key as 'second']
    return `${text} starts again every ${CYCLE[key]}: the gap after ${FIELD_NAMES[key]} ${last} is ${formatDuration(gap * unit)}, not ${formatDuration(step * unit)}. For a steady interval use @every ${step}${suffix}.`
  }
  if (key === 'dayOfMonth') {
    const gaps = [28, 29, 30, 31].map((length) => length - (from + Math.floor((length - from) / step) * step) + from)
    const [least, most] = [Math.min(...gaps), Math.max(...gaps)]
    if (from > 28) return undefined
    return `${text} starts again every month: the gap at the end of a month is ${least} to ${most} days, not ${step}.`
  }
  if (gap === step) return undefined
  const [cycle, units] = key === 'month' ? ['year', 'months'] : ['week', 'days']
  return `${text} in the ${FIELD_NAMES[key]} starts again every ${cycle}: the last gap is ${gap === 1 ? `1 ${units.slice(0, -1)}` : `${gap} ${units}`}, not ${step}.`
}

/** Days that not every month has: the commonest reason for "it did not run". */
function shortMonthNotes({ fields }: Subject): Note[] {
  const { dayOfMonth, dayOfWeek, month, and } = fields
  const notes: Note[] = []
  const [only] = dayOfMonth.values
  const isLate = only !== undefined && only > 28 && dayOfMonth.specials.length === 0
  const lengths = month.values.map((value) => [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][value - 1]!)
  if (isLate && lengths.some((length) => length < only) && lengths.some((length) => length >= only) && !and) {
    const day = `Months without day ${only} are left out.`
    notes.push({ code: 'DAY_MISSING', message: `${day} For the last day of every month write L.` })
  }
  const rare = dayOfMonth.specials.map(daysNeeded).find((days) => days > 28)
  if (rare !== undefined && !lengths.every((length) => length >= rare)) {
    notes.push({ code: 'DAY_MISSING', message: `Months with fewer than ${rare} days are left out.` })
  }
  if (only === 29 && month.values.length === 1 && month.values[0] === 2 && dayOfWeek.open) {
    notes.push({ code: 'LEAP_DAY', message: '29 February exists only in leap years.' })
  }
  const fifth = dayOfWeek.specials.some((special) => special.kind === 'nth' && special.nth === 5)
  if (fifth) {
    const message = `Months without a ${ordinal(5)} such weekday are left out. For the last one of every month write L instead of #5.`
    notes.push({ code: 'NTH_MISSING', message })
  }
  return notes
}

/** How long a month must be to have the day. */
function daysNeeded(special: Special): number {
  if (special.kind === 'nearest weekday') return special.day
  return special.kind === 'last day' ? special.before + 1 : 0
}

function portabilityNotes({ written, options }: Subject): Note[] {
  if (written === undefined || options.dialect === 'quartz' || options.dialect === 'eventbridge') return []
  const notes: Note[] = []
  const { dayOfMonth, dayOfWeek } = written
  const specials = [
    /L/i.test(dayOfMonth) || /[0-7NEUTDI]#?L/i.test(dayOfWeek) ? 'L' : '',
    /W/i.test(dayOfMonth) ? 'W' : '',
    dayOfWeek.includes('#') ? '#' : '',
  ].filter(Boolean)
  if (specials.length > 0) {
    const verb = specials.length === 1 ? 'is' : 'are'
    notes.push({ code: 'SPECIALS', message: `${joinWords(specials)} ${verb} unknown to crontab and Kubernetes.` })
  }
  if (dayOfMonth.includes('?') || dayOfWeek.includes('?')) {
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

function keysOf(texts: Texts): FieldKey[] {
  return Object.keys(texts) as FieldKey[]
}
