import { didYouMean } from '../did-you-mean.ts'
import { kindOf } from '../words.ts'
import { closedDays } from './closed-days.ts'
import { DIALECTS, type Dialect } from './cron-dialect.ts'
import { CronError } from './cron-error.ts'
import { pointAt, quote } from './cron-hints.ts'
import type { GapRule, OverlapRule } from './cron-trigger.ts'
import type { CalendarData, CronOptions } from './trigger.ts'

export interface ResolvedCronOptions {
  readonly tz: string
  readonly gap: GapRule | 'auto'
  readonly overlap: OverlapRule | 'auto'
  readonly days: 'or' | 'and' | 'vixie'
  readonly dialect: Dialect
  readonly wrap: boolean
  readonly seed: string | undefined
  readonly calendar: CalendarData | null
  /** What was given besides `tz`, for storing; `null` if nothing was. */
  readonly given: CronOptions | null
}

const CHOICES = {
  dst: ['auto', 'wall', 'once', 'shift'],
  gap: ['auto', 'after', 'skip', 'shift'],
  overlap: ['auto', 'first', 'second', 'both'],
  days: ['or', 'and', 'vixie'],
  dialect: Object.keys(DIALECTS),
} as const satisfies Partial<Record<keyof CronOptions, readonly string[]>>

const NAMES: ReadonlySet<string> = new Set<keyof CronOptions>([
  'tz',
  'dst',
  'gap',
  'overlap',
  'days',
  'dialect',
  'wrap',
  'seed',
  'calendar',
])

const CALENDAR_NAMES: ReadonlySet<string> = new Set<keyof CalendarData>(['name', 'days', 'excluded', 'only'])
const EXCLUDED = ['skip', 'next-working-day', 'previous-working-day', 'nearest']
/** Of the name of a calendar, in characters. */
const NAME_LIMIT = 200

/** A schedule's name, not a document: every `H` keeps it. */
const SEED_LIMIT = 1_024

/** What `dst` means for either half. */
const GAP_OF_DST = { auto: 'auto', wall: 'skip', once: 'skip', shift: 'shift' } as const
const OVERLAP_OF_DST = { auto: 'auto', wall: 'both', once: 'first', shift: 'first' } as const

export const DEFAULTS: ResolvedCronOptions = {
  tz: 'UTC',
  gap: 'auto',
  overlap: 'auto',
  days: 'or',
  dialect: DIALECTS.default,
  wrap: false,
  seed: undefined,
  calendar: null,
  given: null,
}

/** Options must be an object that says nothing we do not know. */
export function demandOptions(options: unknown): void {
  const isOptions = typeof options === 'object' && options !== null && !Array.isArray(options)
  if (!isOptions || options instanceof Map || options instanceof Date) throw notOptions(options)
  for (const name of Object.keys(options)) if (!NAMES.has(name)) throw unknownOption(name)
}

/** Refuses values that no option can have. */
export function checkCronOptions(options: CronOptions): void {
  const { tz, wrap, seed } = options
  if (tz !== undefined && typeof tz !== 'string') throw invalid('tz', tz, 'an IANA name such as Europe/London')
  checkChoice('dst', options.dst)
  checkChoice('gap', options.gap)
  checkChoice('overlap', options.overlap)
  checkChoice('days', options.days)
  checkChoice('dialect', options.dialect)
  if (wrap !== undefined && typeof wrap !== 'boolean') throw invalid('wrap', wrap, 'true or false')
  if (seed !== undefined && !(typeof seed === 'string' && seed.length <= SEED_LIMIT)) {
    throw invalid('seed', seed, `a text of at most ${SEED_LIMIT} characters`)
  }
}

/** The calendar with its days in the one way they are stored, and without what is the default. */
export function checkCalendar(calendar: CalendarData): CalendarData {
  if (typeof calendar !== 'object' || calendar === null || typeof calendar.days !== 'string') {
    throw invalid('calendar', calendar, "an object such as { days: 'SAT SUN 12-25' }")
  }
  const { name, excluded } = calendar
  for (const key of Object.keys(calendar)) if (!CALENDAR_NAMES.has(key)) throw unknownOption(`calendar.${key}`)
  if (name !== undefined && !(typeof name === 'string' && name !== '' && name.length <= NAME_LIMIT)) {
    throw invalid('calendar.name', name, `a text of 1 to ${NAME_LIMIT} characters`)
  }
  checkOneOf('excluded', excluded, EXCLUDED)
  const days = closedDays(calendar.days).text
  const isSkip = excluded === undefined || excluded === 'skip'
  return Object.freeze({ ...(name === undefined ? {} : { name }), days, ...(isSkip ? {} : { excluded }) })
}

/** Defaults filled in, for options that have been checked. */
export function resolveCronOptions(options: CronOptions): ResolvedCronOptions {
  const { tz, ...besides } = options
  const given = Object.fromEntries(Object.entries(besides).filter(([, value]) => value !== undefined))
  const dialect = DIALECTS[options.dialect ?? 'default']
  const dst = options.dst ?? 'auto'
  return {
    tz: tz ?? 'UTC',
    // 'auto' in one half leaves that half to `dst`.
    gap: chosen(options.gap) ?? GAP_OF_DST[dst],
    overlap: chosen(options.overlap) ?? OVERLAP_OF_DST[dst],
    days: options.days ?? dialect.days,
    dialect,
    wrap: options.wrap ?? false,
    seed: options.seed,
    calendar: options.calendar ?? null,
    given: Object.keys(given).length > 0 ? Object.freeze(given) : null,
  }
}

function chosen<Rule extends string>(rule: Rule | 'auto' | undefined): Rule | undefined {
  return rule === 'auto' ? undefined : (rule as Rule | undefined)
}

function checkChoice(name: keyof typeof CHOICES, value: unknown): void {
  checkOneOf(name, value, CHOICES[name])
}

function checkOneOf(name: string, value: unknown, choices: readonly string[]): void {
  if (value === undefined) return
  if (typeof value === 'string' && choices.includes(value)) return
  const meant = typeof value === 'string' ? didYouMean(value, choices) : undefined
  throw invalid(name, value, choices.join(', '), meant)
}

function unknownOption(name: string): CronError {
  const meant = didYouMean(name, NAMES)
  const hint = meant === undefined ? `The options are ${[...NAMES].join(', ')}.` : `Did you mean ${meant}?`
  return new CronError('OPTION_UNKNOWN', `There is no option ${quote(name)}.`, { ...pointAt(name), hint })
}

function invalid(name: string, value: unknown, expected: string, meant?: string): CronError {
  const shown = typeof value === 'string' ? quote(value) : kindOf(value)
  return new CronError('OPTION_INVALID', `The option ${name} can't be ${shown}: expected ${expected}.`, {
    ...pointAt(typeof value === 'string' ? value : name),
    expected,
    hint: meant === undefined ? `Use ${expected}.` : `Did you mean ${meant}?`,
  })
}

function notOptions(options: unknown): CronError {
  return new CronError('OPTION_INVALID', `Options are an object, not ${kindOf(options)}.`, {
    ...pointAt(''),
    expected: 'an object',
    hint: "Write cron('0 3 * * *', { tz: 'Europe/London' }).",
  })
}
