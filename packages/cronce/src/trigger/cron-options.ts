import { didYouMean } from '../did-you-mean.ts'
import { DIALECTS, type Dialect } from './cron-dialect.ts'
import { CronError } from './cron-error.ts'
import type { GapRule, OverlapRule } from './cron-trigger.ts'
import type { CronOptions } from './trigger.ts'

export interface ResolvedCronOptions {
  readonly tz: string
  readonly gap: GapRule | 'auto'
  readonly overlap: OverlapRule | 'auto'
  readonly days: 'or' | 'and' | 'vixie'
  readonly dialect: Dialect
  readonly wrap: boolean
  readonly seed: string | undefined
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

const NAMES: readonly (keyof CronOptions)[] = ['tz', 'dst', 'gap', 'overlap', 'days', 'dialect', 'wrap', 'seed']

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
  given: null,
}

export function hasOnlyZone(options: CronOptions): options is { tz: string } {
  for (const name in options) {
    if (name !== 'tz' && options[name as keyof CronOptions] !== undefined) return false
  }
  return typeof options?.tz === 'string'
}

/**
 * A key that no other pair of expression and options has: every value stands behind its name, type and length. Values that
 * no option can have get no key: they are for `resolveCronOptions` to refuse.
 */
export function keyOf(expression: string, options: CronOptions): string | undefined {
  if (typeof options !== 'object' || Array.isArray(options)) return undefined
  let key = ''
  for (const name in options) {
    const value: unknown = options[name as keyof CronOptions]
    if (typeof value === 'string') key += `${name}=${value.length}:${value};`
    else if (typeof value === 'boolean') key += `${name}=${value};`
    else if (value !== undefined) return undefined
  }
  return key + expression
}

export function resolveCronOptions(options: CronOptions): ResolvedCronOptions {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) throw notOptions(options)
  const given: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(options)) {
    checkOption(name, value)
    if (value !== undefined && name !== 'tz') given[name] = value
  }
  const dialect = DIALECTS[options.dialect ?? 'default']
  const dst = options.dst ?? 'auto'
  return {
    tz: options.tz ?? 'UTC',
    // 'auto' in one half leaves that half to `dst`.
    gap: chosen(options.gap) ?? GAP_OF_DST[dst],
    overlap: chosen(options.overlap) ?? OVERLAP_OF_DST[dst],
    days: options.days ?? dialect.days,
    dialect,
    wrap: options.wrap ?? false,
    seed: options.seed,
    given: Object.keys(given).length > 0 ? given : null,
  }
}

function chosen<Rule extends string>(rule: Rule | 'auto' | undefined): Rule | undefined {
  return rule === 'auto' ? undefined : (rule as Rule | undefined)
}

function checkOption(name: string, value: unknown): void {
  if (value === undefined) return
  switch (name) {
    case 'tz':
    case 'seed':
      if (typeof value !== 'string') throw invalid(name, value, 'a text')
      return
    case 'wrap':
      if (typeof value !== 'boolean') throw invalid(name, value, 'true or false')
      return
    case 'dst':
    case 'gap':
    case 'overlap':
    case 'days':
    case 'dialect': {
      const choices: readonly string[] = CHOICES[name]
      if (typeof value === 'string' && choices.includes(value)) return
      const meant = typeof value === 'string' ? didYouMean(value, choices) : undefined
      throw invalid(name, value, choices.join(', '), meant)
    }
    default: {
      const meant = didYouMean(name, NAMES)
      const hint = meant === undefined ? `The options are ${NAMES.join(', ')}.` : `Did you mean ${meant}?`
      throw new CronError('OPTION_UNKNOWN', `There is no option ${JSON.stringify(name.slice(0, 60))}.`, {
        ...pointAt(name),
        hint,
      })
    }
  }
}

function invalid(name: string, value: unknown, expected: string, meant?: string): CronError {
  const shown = typeof value === 'string' ? JSON.stringify(value.slice(0, 60)) : typeof value
  return new CronError('OPTION_INVALID', `The option ${name} can't be ${shown}: expected ${expected}.`, {
    ...pointAt(typeof value === 'string' ? value : name),
    expected,
    hint: meant === undefined ? `Use ${expected}.` : `Did you mean ${meant}?`,
  })
}

function notOptions(options: unknown): CronError {
  const shown = Array.isArray(options) ? 'an array' : options === null ? 'null' : `a ${typeof options}`
  return new CronError('OPTION_INVALID', `Options are an object, not ${shown}.`, {
    ...pointAt(''),
    expected: 'an object',
    hint: "Write cron('0 3 * * *', { tz: 'Europe/London' }).",
  })
}

function pointAt(text: string): { expression: string; position: number; length: number } {
  return { expression: text, position: 0, length: Math.max(1, text.length) }
}
