import { type Cron, compile } from './cron-compile.ts'
import { CronError } from './cron-error.ts'
import { DEFAULTS, demandOptions, type ResolvedCronOptions, resolveCronOptions } from './cron-options.ts'
import { Recent } from './recent.ts'
import type { CronOptions } from './trigger.ts'
import { ZONE_LIMIT, zoneOf } from './zone.ts'

/** Expressions with equal options. Schedules are many and expressions few: equal ones share one trigger, which is frozen. */
interface Group {
  readonly options: ResolvedCronOptions
  /** `null` where there is nothing to share. */
  readonly recent: Recent<Cron> | null
}

/** How many different expressions a group remembers. */
const SHARED_LIMIT = 8_192

const utc: Group = { options: DEFAULTS, recent: new Recent(SHARED_LIMIT) }
/** By zone, where that is the only option: what nearly everybody writes. */
const zones = new Recent<Group>(ZONE_LIMIT)
const others = new Recent<Group>(ZONE_LIMIT)

/** Parse a cron expression. Throws a CronError that says what is wrong, where, and what to write instead. */
export function cron(expression: string, options?: CronOptions): Cron {
  if (typeof expression !== 'string') throw notText(expression)
  const { options: resolved, recent } = options === undefined ? utc : groupOf(options)
  if (recent === null) return compile(expression, resolved)
  return recent.get(expression) ?? recent.add(expression, compile(expression, resolved))
}

function groupOf(options: CronOptions): Group {
  demandOptions(options)
  // Each is read once: a getter may answer differently the next time.
  const { tz, dst, gap, overlap, days, dialect, wrap, seed } = options
  const isPlain = dst === undefined && gap === undefined && overlap === undefined && days === undefined
  if (isPlain && dialect === undefined && wrap === undefined && seed === undefined && typeof tz === 'string') {
    return zones.get(tz) ?? zones.add(tz, tz === 'UTC' ? utc : makeGroup({ ...DEFAULTS, tz }))
  }
  const resolved = resolveCronOptions({ tz, dst, gap, overlap, days, dialect, wrap, seed })
  // Seeds are names of schedules, of which hardly two are equal.
  if (seed !== undefined) return { options: resolved, recent: null }
  // All but the last are words of ours by now, so that no two sets of options look alike.
  const key = `${dst} ${gap} ${overlap} ${days} ${dialect} ${wrap} ${tz}`
  return others.get(key) ?? others.add(key, makeGroup(resolved))
}

function makeGroup(options: ResolvedCronOptions): Group {
  // A name that is no zone leaves no trace.
  zoneOf(options.tz, { expression: options.tz, position: 0 })
  return { options, recent: new Recent(SHARED_LIMIT) }
}

function notText(expression: unknown): CronError {
  const shown = expression === null ? 'null' : typeof expression
  return new CronError('EXPRESSION_INVALID', `A cron expression is a text, not ${shown}.`, {
    expression: '',
    position: 0,
    length: 0,
    expected: 'a text such as 0 3 * * *',
    hint: 'Is the configuration that it comes from loaded?',
  })
}
