import type { ScheduleView } from 'cronce'
import { viewSchedule } from 'cronce/internal'
import { type Collision, collisionsOf } from '../forecast/collisions.ts'
import { forecastOf } from '../forecast/forecast.ts'
import type { ScheduleState } from '../plan/copy-store.ts'
import { clockChanges } from '../plan/find-remarks.ts'
import type { Durations } from './durations.ts'
import { type Outage, tryOutage } from './outage.ts'
import { Tally } from './tally.ts'
import { VirtualFleet } from './virtual-fleet.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** Collisions repeat from week to week. */
const COLLISION_DAYS = 7
/** More runs than this take more than seconds. */
const MOST_RUNS = 1_000_000
const CHECKPOINT_MS = 7 * DAY_MS
/** Outages that are tried. */
const MOST_OUTAGES = 16

export interface SimulationOptions {
  readonly from: number
  readonly days: number
  /** Zone of the times of day in the advice. */
  readonly tz: string
  readonly room: number
  readonly zoneData: string
  readonly durations: Durations
  readonly outageMs: number
  /** Told now and then how far it got. */
  readonly onDay?: (day: number) => void
}

export interface Simulation {
  readonly from: number
  /** Not included; earlier than asked for if there are too many runs. */
  readonly until: number
  readonly isCut: boolean
  readonly tally: Tally
  readonly views: readonly ScheduleView[]
  readonly outage: Outage | null
  /** Starts of outages that were tried. */
  readonly outagesTried: number
  readonly clockChanges: readonly { readonly name: string; readonly words: string }[]
  readonly collisions: readonly Collision[]
}

/** Lets time pass for these schedules in a fleet of which nothing fails, then tries an outage where it hurts most. */
export function simulate(states: readonly ScheduleState[], options: SimulationOptions): Simulation {
  const { from, days, tz, room, zoneData, durations, outageMs } = options
  const end = from + days * DAY_MS
  const random = seededRandom(1)
  const durationOf = (schedule: string, dueAt: number, attempt: number): number => durations(schedule, dueAt, attempt)
  const fleet = new VirtualFleet(states, { now: from, room, zoneData, durationOf, random })
  const tally = new Tally(Math.floor(from / HOUR_MS) * HOUR_MS, end)
  fleet.begin(tally)
  const checkpoints: VirtualFleet[] = []
  const isFewEnough = (): boolean => tally.runs < MOST_RUNS
  for (let at = from; at < end && isFewEnough(); at += CHECKPOINT_MS) {
    checkpoints.push(fleet.copy())
    fleet.advance(Math.min(end, at + CHECKPOINT_MS), tally, isFewEnough)
    options.onDay?.(Math.round((fleet.now - from) / DAY_MS))
  }
  const until = fleet.now
  // Also right after the moment with the most runs, which it would interrupt.
  const hard = outageMs === 0 ? [] : [...tally.fullest(outageMs, MOST_OUTAGES), tally.peak.at + 1]
  const starts = hard.filter((at) => at >= from && at + outageMs <= until)
  const outages = starts.map((at) => outageAt(checkpoints, at, outageMs))
  const views = states.map(viewSchedule)
  const changes = views.flatMap((view) =>
    clockChanges(view, from, until, ['moved']).map((words) => ({ name: view.name, words })),
  )
  const week = forecastOf(
    views.filter(({ pause }) => pause === null),
    { from, days: Math.min(days, COLLISION_DAYS), tz },
  )
  return {
    ...{ from, until, isCut: until < end, tally, views, clockChanges: changes },
    ...{ outage: worstOf(outages), outagesTried: outages.length, collisions: collisionsOf(week.busiest, tz) },
  }
}

/** From the last checkpoint before it. */
function outageAt(checkpoints: readonly VirtualFleet[], at: number, forMs: number): Outage {
  const fleet = checkpoints.findLast(({ now }) => now <= at)!.copy()
  fleet.advance(at, { started: () => {}, ended: () => {} })
  return tryOutage(fleet, forMs)
}

/** The one with the most fires that neither run nor have a newer one that stands in, then the one that disturbs the most. */
function worstOf(outages: readonly Outage[]): Outage | null {
  const ordered = [...outages].sort(
    (one, other) =>
      other.lost + other.abandoned - (one.lost + one.abandoned) ||
      disturbed(other) - disturbed(one) ||
      one.from - other.from,
  )
  return ordered[0] ?? null
}

function disturbed({ superseded, ranLate, interrupted }: Outage): number {
  return superseded + ranLate + interrupted
}

/** Mulberry32: the same simulation each time. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
