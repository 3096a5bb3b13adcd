import { type CronTrigger, cron, stats } from 'cronce/cron'
import type { Dialect } from '../facts/schedule.ts'

/** An expression as one scheduler understands it. */
export interface Judged {
  /** Why this scheduler rejects it, or `null`. */
  readonly problem: string | null
  /** Second, minute, hour, day of month, month, day of week as written; a missing second is '0'. Empty for macros. */
  readonly fields: readonly string[]
  /** `null` if the engine does not understand it. */
  readonly trigger: CronTrigger | null
}

interface Grammar {
  /** Counts of fields that are accepted. */
  readonly counts: readonly number[]
  /** Dialects of the engine; the expression is valid if one of them accepts it. */
  readonly engines: readonly NonNullable<Parameters<typeof cron>[1]>[]
}

const LOOSE: Grammar['engines'] = [
  { wrap: true, seed: 'audit' },
  { dialect: 'quartz', wrap: true },
]
const FIVE_OR_SIX: Grammar = { counts: [5, 6], engines: LOOSE }

/** What each source accepts. Where versions of a library differ, the union: an error must be certain. */
const GRAMMARS: Readonly<Record<Dialect, Grammar>> = {
  'node-cron': FIVE_OR_SIX,
  cron: FIVE_OR_SIX,
  'cron-parser': { counts: [1, 2, 3, 4, 5, 6], engines: LOOSE },
  croner: { counts: [5, 6, 7], engines: LOOSE },
  vixie: {
    counts: [5],
    engines: [
      { dialect: 'vixie', wrap: true },
      { wrap: true, seed: 'audit' },
    ],
  },
  robfig: { counts: [5], engines: [{ dialect: 'kubernetes' }] },
  quartz: { counts: [6, 7], engines: LOOSE },
  eventbridge: { counts: [6], engines: [{ dialect: 'eventbridge' }] },
  github: { counts: [5], engines: [{ dialect: 'vixie' }] },
  vercel: { counts: [5], engines: [{ dialect: 'vixie' }] },
  celery: { counts: [5], engines: LOOSE },
  apscheduler: { counts: [5, 6, 7], engines: LOOSE },
}

export function judge(expression: string, dialect: Dialect): Judged {
  const written = expression.trim().replace(/^(?:CRON_)?TZ=\S+\s+/, '')
  const fields = written.split(/\s+/)
  const { counts, engines } = GRAMMARS[dialect]
  if (written.startsWith('@')) return { problem: null, fields: [], trigger: compile(written, {}).trigger }
  if (!counts.includes(fields.length)) {
    const expected = counts.filter((count) => count >= 5).join(' or ')
    return { problem: `it has ${fields.length} fields, and ${expected} are expected`, fields: [], trigger: null }
  }
  if (fields.length < 5) return { problem: null, fields: [], trigger: null }
  const layout =
    dialect === 'eventbridge'
      ? ['0', ...fields.slice(0, 5)]
      : fields.length === 5
        ? ['0', ...fields]
        : fields.slice(0, 6)
  let problem: string | null = null
  for (const options of engines) {
    // kelektiv/cron counted months from 0 before its version 3.
    const text = dialect === 'cron' ? withMonthsFromOne(fields) : written
    const result = compile(text, options)
    if (result.trigger !== null) return { problem: null, fields: layout, trigger: result.trigger }
    problem ??= result.problem
  }
  return { problem, fields: layout, trigger: null }
}

function withMonthsFromOne(fields: readonly string[]): string {
  const month = fields.length - 2
  return fields.map((field, index) => (index === month && field === '0' ? '1' : field)).join(' ')
}

function compile(
  text: string,
  options: Parameters<typeof cron>[1],
): { trigger: CronTrigger | null; problem: string | null } {
  try {
    const trigger = cron(text, options)
    return { trigger: trigger.kind === 'cron' ? trigger : null, problem: null }
  } catch (error) {
    return { trigger: null, problem: error instanceof Error ? error.message : String(error) }
  }
}

/** Any instant would do: the answer must not depend on the day of the audit. */
const FROM = Date.UTC(2026, 0, 1)
const SAMPLE = 300

/** The times between two fires, in milliseconds, with the number of each. */
function countGaps(trigger: CronTrigger): ReadonlyMap<number, number> {
  const instants = trigger.nextN(FROM, SAMPLE)
  const counts = new Map<number, number>()
  for (let index = 1; index < instants.length; index++) {
    const gap = instants[index]! - instants[index - 1]!
    counts.set(gap, (counts.get(gap) ?? 0) + 1)
  }
  return counts
}

/** The shortest time between two fires, in milliseconds. */
export function shortestGap(trigger: CronTrigger): number | null {
  const counts = countGaps(trigger)
  return counts.size === 0 ? null : Math.min(...counts.keys())
}

/** The most frequent time between two fires, in milliseconds, and whether there is no other. */
export function usualGap(trigger: CronTrigger): { readonly ms: number; readonly isOnly: boolean } | null {
  const counts = [...countGaps(trigger)].sort(([, one], [, other]) => other - one)
  return counts[0] === undefined ? null : { ms: counts[0][0], isOnly: counts.length === 1 }
}

const EVERY_HOUR = /^(?:\*|\?|\*\/\d+|0-23(?:\/\d+)?|0\/\d+|H(?:\/\d+)?)$/

/** Whether the expression names hours of the day, so that the zone decides when it fires. */
export function namesHours({ fields, trigger }: Judged): boolean {
  if (fields.length === 0)
    return (
      trigger !== null &&
      trigger.timing === 'fixed' &&
      trigger.fields.hours.length > 0 &&
      trigger.fields.hours.length < 24
    )
  return !EVERY_HOUR.test(fields[2]!)
}

const YEARS = 10
const YEAR_MS = 366 * 86_400_000
/** Above this number of fires per day a skipped or doubled one does not matter. */
const MANY_PER_DAY = 24

export interface ClockChange {
  readonly local: string
  readonly effect: 'dropped' | 'repeated'
}

/** The first local time of the next ten years that does not exist in the zone, or exists twice. */
export function clockChange(expression: string, zone: string): ClockChange | null {
  const trigger = compile(expression, {
    tz: zone,
    dst: 'wall',
    gap: 'skip',
    overlap: 'both',
    wrap: true,
    seed: 'audit',
  }).trigger
  if (trigger === null || trigger.never) return null
  if (stats(trigger, { from: FROM, to: FROM + 7 * 86_400_000 }).perDay > MANY_PER_DAY) return null
  for (const change of stats(trigger, { from: FROM, to: FROM + YEARS * YEAR_MS }).changes) {
    if (change.effect === 'none' || change.effect === 'moved') continue
    const local = change.fires[0]?.local
    if (local !== undefined) return { local, effect: change.effect }
  }
  return null
}

export function isZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}
