import { DAY_MS } from './calendar.ts'
import { countLocal } from './cron-count.ts'
import { nextLocal } from './cron-set.ts'
import { CompiledCron, repeatsTimes, skipsTimes } from './cron-trigger.ts'
import { DATE_LIMIT_MS, toInstant } from './instant.ts'
import type { Trigger } from './trigger.ts'
import { type Segment, ZONE_END, ZONE_START } from './zone.ts'

/** How often a trigger fires, and what clock changes do to it. */
export interface TriggerStats {
  readonly from: number
  readonly to: number
  /** Instants in (from, to]; an estimate if not `exact`. */
  readonly fires: number
  /** False when there are more than a million, which are not all looked at. */
  readonly exact: boolean
  /** On average. */
  readonly perDay: number
  /** `null` with fewer than two fires. */
  readonly smallestGapMs: number | null
  /** Every change of the zone's offset in the range, also those that do nothing to this trigger. */
  readonly changes: readonly ZoneEffect[]
}

/** What a clock change does to a trigger. */
export interface ZoneEffect {
  readonly at: number
  readonly offsetBeforeMs: number
  readonly offsetAfterMs: number
  readonly effect: 'none' | 'moved' | 'dropped' | 'repeated'
  /** How many local times are affected. */
  readonly count: number
  /** The first twenty of them: the local time, and the instants it fires at (none, one or two). */
  readonly fires: readonly { readonly local: string; readonly at: readonly number[] }[]
}

const FIRE_LIMIT = 1_000_000
const LISTED_LIMIT = 20

/** How often a trigger fires in a range (default: 366 days), how close its fires come, and what zone changes do to it. */
export function stats(trigger: Trigger, range: { from: Date | number; to?: Date | number | undefined }): TriggerStats {
  const from = toInstant(range.from)
  const to = toInstant(range.to ?? Math.min(from + 366 * DAY_MS, DATE_LIMIT_MS))
  const changes = trigger instanceof CompiledCron ? changesOf(trigger, from, to) : []
  let seen = 0
  let smallest = Number.POSITIVE_INFINITY
  let last: number | null = null
  let at = trigger.next(from)
  while (at !== null && at <= to && seen < FIRE_LIMIT) {
    if (last !== null) smallest = Math.min(smallest, at - last)
    last = at
    seen++
    at = trigger.next(at)
  }
  const isExact = at === null || at > to
  const fires = isExact ? seen : seen + estimate(trigger, at!, to)
  return {
    from,
    to,
    fires,
    exact: isExact,
    perDay: to > from ? (fires * DAY_MS) / (to - from) : 0,
    smallestGapMs: smallest === Number.POSITIVE_INFINITY ? null : smallest,
    changes,
  }
}

/** How many come from `from` to `to`, by the calendar alone: zone changes are not looked at. */
function estimate(trigger: Trigger, from: number, to: number): number {
  if (trigger.kind === 'at') return 1
  if (trigger.kind === 'every') return Math.floor((to - from) / trigger.everyMs) + 1
  if (!(trigger instanceof CompiledCron)) return 0
  const { offset } = trigger.zone.at(from)
  return countLocal(trigger, from + offset, to + offset + 1)
}

function changesOf(cron: CompiledCron, from: number, to: number): ZoneEffect[] {
  const effects: ZoneEffect[] = []
  const end = Math.min(to, ZONE_END - 1)
  let here = cron.zone.at(Math.min(Math.max(from, ZONE_START), ZONE_END - 1))
  while (here.end <= end) {
    here = cron.zone.at(here.end)
    if (here.shift !== 0) effects.push(effectOf(cron, here))
  }
  return effects
}

/** What the change at the start of a segment does. */
function effectOf(cron: CompiledCron, here: Segment): ZoneEffect {
  const { start: at, offset, shift } = here
  const before = offset - shift
  // The local times that are skipped (from the old clock on) or repeated (from the new clock on).
  const localFrom = at + Math.min(before, offset)
  const localTo = at + Math.max(before, offset)
  const fires: { local: string; at: number[] }[] = []
  let count = 0
  for (let local = nextLocal(cron, localFrom - 1); local < localTo; local = nextLocal(cron, local)) {
    count++
    if (fires.length < LISTED_LIMIT) fires.push({ local: wallText(local), at: instantsOf(cron, here, local) })
  }
  const effect = count === 0 ? 'none' : effectName(cron, shift)
  const shown = effect === 'none' ? { count: 0, fires: [] } : { count, fires }
  return { at, offsetBeforeMs: before, offsetAfterMs: offset, effect, ...shown }
}

function effectName(cron: CompiledCron, shift: number): ZoneEffect['effect'] {
  if (shift > 0) return skipsTimes(shift) && cron.gap !== 'skip' ? 'moved' : 'dropped'
  return repeatsTimes(shift) && cron.overlap !== 'both' ? 'none' : 'repeated'
}

function instantsOf(cron: CompiledCron, here: Segment, local: number): number[] {
  const before = here.offset - here.shift
  if (here.shift < 0) return [local - before, local - here.offset]
  if (!skipsTimes(here.shift) || cron.gap === 'skip') return []
  return [cron.gap === 'after' ? here.start : local - before]
}

function wallText(local: number): string {
  return new Date(local).toISOString().slice(0, 19)
}
