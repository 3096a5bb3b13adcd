/** node-cron's grammar, with its messages: which values each field of an expression names. */
export interface ParsedFields {
  second: number[]
  minute: number[]
  hour: number[]
  dayOfMonth: (number | string)[]
  month: number[]
  dayOfWeek: (number | string)[]
}

/** What is wrong with one field of an expression. */
export interface CronFieldError {
  field: string
  value?: string
  message: string
}

/** The answer of `validateDetailed()`. */
export interface DetailedValidation {
  valid: boolean
  fields?: ParsedFields
  errors: CronFieldError[]
}

type Values = (number | string)[]

interface Field {
  readonly key: keyof ParsedFields
  readonly label: string
  readonly min: number
  /** The highest value, and the highest that a range or a star comes to. */
  readonly max: number
  readonly rangeMax: number
  /** Whether it may stand there although it is not a number. */
  readonly isSpecial: (value: string) => boolean
}

const none = (): boolean => false

const FIELDS: readonly Field[] = [
  { key: 'second', label: 'second', min: 0, max: 59, rangeMax: 59, isSpecial: none },
  { key: 'minute', label: 'minute', min: 0, max: 59, rangeMax: 59, isSpecial: none },
  { key: 'hour', label: 'hour', min: 0, max: 23, rangeMax: 23, isSpecial: none },
  { key: 'dayOfMonth', label: 'day of month', min: 1, max: 31, rangeMax: 31, isSpecial: isSpecialDay },
  { key: 'month', label: 'month', min: 1, max: 12, rangeMax: 12, isSpecial: none },
  {
    ...{ key: 'dayOfWeek', label: 'week day', min: 0, max: 7, rangeMax: 6 },
    isSpecial: (value) => /^[0-7]#[1-5]$/.test(value) || /^[0-7]L$/.test(value),
  },
]

const NICKNAMES: ReadonlyMap<string, string> = new Map([
  ['@yearly', '0 0 1 1 *'],
  ['@annually', '0 0 1 1 *'],
  ['@monthly', '0 0 1 * *'],
  ['@weekly', '0 0 * * 0'],
  ['@daily', '0 0 * * *'],
  ['@midnight', '0 0 * * *'],
  ['@hourly', '0 * * * *'],
])

const MONTHS = 'january february march april may june july august september october november december'.split(' ')
const WEEKDAYS = 'sunday monday tuesday wednesday thursday friday saturday'.split(' ')
const DAYS_IN_MONTHS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
/** Larger numbers are in no field: they are left as they are, and refused. */
const LARGEST = 99

/** Whether node-cron accepts the expression. */
export function validate(expression: string): boolean {
  return validateDetailed(expression).valid
}

/** The values of each field. Throws if the expression is invalid. */
export function parse(expression: string): ParsedFields {
  const { fields, errors } = validateDetailed(expression)
  if (fields === undefined) throw new Error(errors[0]?.message)
  return fields
}

/** What is wrong with each field of an expression. */
export function validateDetailed(expression: string): DetailedValidation {
  if (typeof expression !== 'string') return refused({ field: 'expression', message: 'pattern must be a string' })
  const resolved = NICKNAMES.get(expression.trim().toLowerCase()) ?? expression
  if (!/^[a-zA-Z0-9-*/,#? ]+$/.test(resolved))
    return refused({ field: 'expression', value: expression, message: 'pattern includes illegal characters' })
  const raw = resolved.trim().split(/ +/)
  if (raw.length !== 5 && raw.length !== 6)
    return refused({ field: 'expression', value: expression, message: `expected 5 or 6 fields but got ${raw.length}` })
  const texts = raw.length === 5 ? ['0', ...raw] : raw
  const values = FIELDS.map((field, index) => valuesOf(texts[index]!, field))
  const errors = FIELDS.flatMap((field, index) => errorsOf(field, texts[index]!, values[index]!))
  if (errors.length > 0) return { valid: false, errors }
  const [second, minute, hour, dayOfMonth, month, dayOfWeek] = values as [
    Values,
    Values,
    Values,
    Values,
    Values,
    Values,
  ]
  if (isImpossible(dayOfMonth, month as number[])) {
    const message = `${texts[3]} ${texts[4]} is an impossible day of month for the given month`
    return refused({ field: 'dayOfMonth', value: texts[3]!, message })
  }
  const fields = { second, minute, hour, dayOfMonth, month, dayOfWeek } as ParsedFields
  return { valid: true, errors: [], fields }
}

function refused(error: CronFieldError): DetailedValidation {
  return { valid: false, errors: [error] }
}

function errorsOf({ key, label, min, max, isSpecial }: Field, text: string, values: Values): CronFieldError[] {
  const isRefused = values.some((value) => (typeof value === 'number' ? value < min || value > max : !isSpecial(value)))
  const isMisused =
    key === 'dayOfMonth' && text.split(',').some((part) => /w/i.test(part) && !/^(\d{1,2}|L)W$/i.test(part))
  if (!isRefused && !isMisused) return []
  return [{ field: key, value: text, message: `${text} is a invalid expression for ${label}` }]
}

/** Numbers where it can be, in the order in which they are written. */
function valuesOf(text: string, field: Field): Values {
  const { key } = field
  const isDay = key === 'dayOfMonth' || key === 'dayOfWeek'
  let named = isDay && text === '?' ? '*' : text
  if (key === 'month') named = withoutNames(named, MONTHS, 1)
  if (key === 'dayOfWeek') named = withoutNames(named, WEEKDAYS, 0)
  const values = named
    .split(',')
    .map((part) => part.replace('*', `${field.min}-${field.rangeMax}`))
    .flatMap((part) => rangeOf(part, field) ?? [readValue(part)])
  return key === 'dayOfWeek' ? [...new Set(values.map(sundayIsZero))] : values
}

/** In the text, wherever they stand, and the long ones first: so it is done there. */
function withoutNames(text: string, names: readonly string[], first: number): string {
  const all = [...names.entries()]
  const long = all.reduce((read, [index, name]) => read.replace(new RegExp(name, 'gi'), String(index + first)), text)
  return all.reduce(
    (read, [index, name]) => read.replace(new RegExp(name.slice(0, 3), 'gi'), String(index + first)),
    long,
  )
}

/** `null`: it is not a range. One that goes down goes around. */
function rangeOf(part: string, { min, rangeMax }: Field): number[] | null {
  const [, from, to, every = '1'] = /^(\d+)-(\d+)(?:\/(\d+))?$/.exec(part) ?? []
  if (from === undefined || to === undefined) return null
  const [first, last, step] = [Number(from), Number(to), Number(every)]
  if (step < 1 || first > LARGEST || last > LARGEST) return null
  const size = rangeMax - min + 1
  const span = first <= last ? last - first : (((last - first) % size) + size) % size
  const values: number[] = []
  for (let offset = 0; offset <= span; offset += step) {
    const value = first + offset
    values.push(first > last && value > rangeMax ? value - size : value)
  }
  return values
}

function readValue(part: string): number | string {
  if (/^\d+$/.test(part)) return Number(part)
  return /^l$|^l-\d{1,2}$|^[0-7]l$|w/i.test(part) ? part.toUpperCase() : part
}

function sundayIsZero(value: number | string): number | string {
  if (value === 7) return 0
  return typeof value === 'string' && value.startsWith('7') ? `0${value.slice(1)}` : value
}

function isSpecialDay(value: string): boolean {
  if (value === 'L' || value === 'LW') return true
  const [, day] = /^(\d{1,2})W$/.exec(value) ?? []
  if (day !== undefined) return Number(day) >= 1 && Number(day) <= 31
  const [, before] = /^L-(\d{1,2})$/.exec(value) ?? []
  return before !== undefined && Number(before) >= 1 && Number(before) <= 30
}

function isImpossible(days: Values, months: readonly number[]): boolean {
  if (days.some((day) => typeof day !== 'number')) return false
  return !months.some((month) => days.some((day) => Number(day) <= DAYS_IN_MONTHS[month - 1]!))
}
