import { type Cron, compile } from './cron-compile.ts'
import { CronError } from './cron-error.ts'
import {
  checkCalendar,
  checkCronOptions,
  DEFAULTS,
  demandOptions,
  type ResolvedCronOptions,
  resolveCronOptions,
} from './cron-options.ts'
import type { CronOptions } from './trigger.ts'
import { zoneOf } from './zone.ts'

/** Expressions with equal options. Schedules are many and expressions few: equal ones share one trigger, which is frozen. */
interface Group {
  readonly options: ResolvedCronOptions
  /** `null` where there is nothing to share. */
  readonly triggers: Map<string, Cron> | null
}

/** How many triggers are remembered in all. When there are more, all are forgotten: those in use are soon known again. */
const SHARED_LIMIT = 16_384
let sharedCount = 0

let utc = makeGroup(DEFAULTS)
/** Keyed by zone, for expressions whose only option is the zone: the most common case. */
const zones = new Map<string, Group>()
const others = new Map<string, Group>()

/** Parse a cron expression. Throws a CronError that says what is wrong, where, and what to write instead. */
export function cron(expression: string, options?: CronOptions): Cron {
  if (typeof expression !== 'string') throw notText(expression)
  const { options: resolved, triggers } = options === undefined ? utc : groupOf(options)
  if (triggers === null) return compile(expression, resolved)
  return triggers.get(expression) ?? share(triggers, expression, compile(expression, resolved))
}

function share(triggers: Map<string, Cron>, expression: string, trigger: Cron): Cron {
  makeRoom()
  triggers.set(expression, trigger)
  return trigger
}

/** Before anything is remembered: triggers and groups count alike, since either could come without end. */
function makeRoom(): void {
  if (++sharedCount <= SHARED_LIMIT) return
  sharedCount = 1
  utc = makeGroup(DEFAULTS)
  zones.clear()
  others.clear()
}

function groupOf(options: CronOptions): Group {
  demandOptions(options)
  // Each is read once: a getter may answer differently the next time.
  const { tz = 'UTC', dst, gap, overlap, days, dialect, wrap, seed, calendar: wanted } = options
  const isPlain =
    wanted === undefined && dst === undefined && gap === undefined && overlap === undefined && days === undefined
  if (isPlain && dialect === undefined && wrap === undefined && seed === undefined && typeof tz === 'string') {
    return tz === 'UTC' ? utc : (zones.get(tz) ?? addGroup(zones, tz, { ...DEFAULTS, tz }))
  }
  return groupOfMany({ tz, dst, gap, overlap, days, dialect, wrap, seed, calendar: wanted })
}

function groupOfMany(wanted: CronOptions): Group {
  checkCronOptions(wanted)
  const { tz, dst, gap, overlap, days, dialect, wrap, seed } = wanted
  const calendar = wanted.calendar === undefined ? undefined : checkCalendar(wanted.calendar)
  const given = { ...wanted, calendar }
  // Seeds are names of schedules, of which hardly two are equal.
  if (seed !== undefined) return { options: resolveCronOptions(given), triggers: null }
  // All but the last two are words of ours by now, so that no two sets of options look alike.
  const key = `${dst} ${gap} ${overlap} ${days} ${dialect} ${wrap} ${JSON.stringify([tz, calendar])}`
  return others.get(key) ?? addGroup(others, key, resolveCronOptions(given))
}

function addGroup(groups: Map<string, Group>, key: string, options: ResolvedCronOptions): Group {
  // First, so that a name that is not a zone leaves no trace.
  zoneOf(options.tz, { expression: options.tz, position: 0 })
  makeRoom()
  const group = makeGroup(options)
  groups.set(key, group)
  return group
}

function makeGroup(options: ResolvedCronOptions): Group {
  return { options, triggers: new Map() }
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
