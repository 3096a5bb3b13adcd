import { type Definitions, type Standing, timesOf } from './definitions.ts'
import type { Dossier } from './evidence.ts'
import type { Instant, Operation, Spec, Time } from './history.ts'
import { instantsOf, isInstant } from './instants.ts'
import type { StoreClock, Times } from './store-clock.ts'

/** An instant that a schedule has, or may have had. */
export interface Expected {
  readonly dueAt: Instant
  /** When it came. */
  readonly times: Times
  /** What the schedule was then. */
  readonly standing: Standing
  /** It was the schedule's, however unknown outcomes turned out. */
  readonly isCertain: boolean
  /** It is old enough at the last read that it must be on record, if the schedule has gone past it. */
  readonly isClosed: boolean
  readonly duty: 'required' | 'optional' | 'forbidden'
}

export interface Horizon {
  /** When the last read was asked for. */
  readonly endAt: Time
  readonly recoveryMs: number
}

/** Every instant up to the end that any definition names while it may have been the schedule's, in order. */
export function expectedOf(
  dossier: Dossier,
  definitions: Definitions,
  clock: StoreClock,
  horizon: Horizon,
): ReadonlyMap<Instant, Expected> {
  const { operations } = dossier
  const expected = new Map<Instant, Expected>()
  for (const dueAt of candidates(definitions, clock, horizon.endAt)) {
    const times = clock.timesOf(dueAt)
    const standing = definitions.during(times)
    const named = standing.specs.filter((spec) => isInstant(spec, dueAt))
    if (named.length === 0) continue
    const isCertain = !standing.mayBeAbsent && named.length === standing.specs.length
    const latest = times.to + Math.max(...named.map(({ jitterMs }) => jitterMs)) + horizon.recoveryMs
    const isClosed = latest <= horizon.endAt
    const duty = dutyOf(operations, { dueAt, times, standing, isRequired: isCertain && isClosed })
    expected.set(dueAt, { dueAt, times, standing: { ...standing, specs: named }, isCertain, isClosed, duty })
  }
  const isLimited = definitions.specs.some(({ limit }) => limit !== null)
  return isLimited ? withinLimits(expected, dossier, clock) : expected
}

function candidates({ stretches }: Definitions, clock: StoreClock, endAt: Time): readonly Instant[] {
  const found = new Set<Instant>()
  const begin = stretches[1]?.from ?? endAt
  const last = clock.shown(begin, Math.max(begin, endAt)).high
  for (const { from, to, specs } of stretches) {
    if (specs.length === 0 || from > endAt) continue
    const { low, high } = clock.shown(from, Math.min(to, endAt))
    for (const spec of specs) for (const at of instantsOf(spec, low, Math.min(high, last))) found.add(at)
  }
  return [...found].sort((a, b) => a - b)
}

function dutyOf(
  operations: readonly Operation[],
  instant: {
    readonly dueAt: Instant
    readonly times: Times
    readonly standing: Standing
    readonly isRequired: boolean
  },
): Expected['duty'] {
  const { dueAt, times, standing } = instant
  const skips = operations
    .filter(({ verb }) => verb === 'skip-next')
    .filter((skip) => 'dueAt' in skip && skip.dueAt === dueAt)
  if (skips.some(({ result }) => result === 'ok')) return 'forbidden'
  if (standing.paused === 'yes' && isSkippedPause(operations, times)) return 'forbidden'
  return instant.isRequired && skips.length === 0 && standing.paused === 'no' ? 'required' : 'optional'
}

/** Whether everything that may have ended a pause chose to skip what fell into it. */
function isSkippedPause(operations: readonly Operation[], { from }: Times): boolean {
  return operations.every((operation) => {
    const isChoice = operation.verb === 'resume' || operation.verb === 'pause'
    return !isChoice || operation.missed === 'skip' || (operation.verb === 'resume' && timesOf(operation).to < from)
  })
}

/** Beyond its limit a schedule has no instants; how many it had by then is known only roughly. */
function withinLimits(
  expected: ReadonlyMap<Instant, Expected>,
  { operations, stories, ranges }: Dossier,
  clock: StoreClock,
): ReadonlyMap<Instant, Expected> {
  const kept = new Map<Instant, Expected>()
  // Instants that passed while it was retired are not expected, but still count.
  const records = [...ranges, ...[...stories.values()].flatMap(({ record }) => record ?? [])]
  const retired = records.filter(({ reason }) => reason === 'while-retired')
  let [least, most] = [0, retired.reduce((sum, { count }) => sum + count, 0)]
  let wasAbsentAt = Number.NEGATIVE_INFINITY
  for (const instant of expected.values()) {
    if (mayBeNew(operations, wasAbsentAt, instant.times.to)) least = 0
    wasAbsentAt = instant.times.from
    const limits = instant.standing.specs.map(({ limit }) => limit ?? Number.POSITIVE_INFINITY)
    const isOver = least >= Math.max(...limits) && !clock.wasSetBack
    if (isOver) continue
    const isSure = most < Math.min(...limits)
    kept.set(instant.dueAt, isSure ? instant : { ...instant, isCertain: false, duty: weaker(instant.duty) })
    most++
    if (instant.isCertain && isSure) least++
  }
  return kept
}

function weaker(duty: Expected['duty']): Expected['duty'] {
  return duty === 'required' ? 'optional' : duty
}

/** Counting restarts with a schedule that is created again under its name; one for a single instant removes itself. */
function mayBeNew(operations: readonly Operation[], from: Time, to: Time): boolean {
  const wasOnce = operations.some((operation) => operation.verb === 'define' && operation.spec.trigger?.kind === 'at')
  return operations.some((operation) => {
    const times = timesOf(operation)
    const isMade = operation.verb === 'remove' || (operation.verb === 'define' && wasOnce)
    return isMade && times.from <= to && times.to >= from
  })
}

/** Definitions by which this instant may have been filled in, whenever it was due. */
export function backfillSpecs(dossier: Dossier, definitions: Definitions, dueAt: Instant): readonly Spec[] {
  const asked = dossier.operations.filter((operation) => {
    return operation.verb === 'backfill' && operation.from <= dueAt && dueAt <= operation.to
  })
  if (asked.length === 0) return []
  const from = Math.min(...asked.map(({ at }) => at))
  const { specs } = definitions.during({ from, to: Number.POSITIVE_INFINITY })
  return specs.filter((spec) => isInstant(spec, dueAt))
}
