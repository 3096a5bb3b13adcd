import type { Operation, Spec, Time } from './history.ts'
import type { StoreClock, Times } from './store-clock.ts'

/** What a schedule may have been at some moment, or in some stretch of time. */
export interface Standing {
  /** Every definition that it may have had. None: there was no such schedule, or it was retired. */
  readonly specs: readonly Spec[]
  readonly mayBeAbsent: boolean
  readonly paused: 'no' | 'maybe' | 'yes'
}

/** What was asked of a schedule, and what that makes of it. */
export interface Definitions {
  during(times: Times): Standing
  readonly stretches: readonly Stretch[]
  /** All definitions that it may ever have had. */
  readonly specs: readonly Spec[]
}

export interface Stretch extends Standing, Times {}

/** Something was written at some time between two; `null`: it was removed, or continues. */
interface Write<Value> {
  readonly from: Time
  /** Infinite: it is not known whether it ever was. */
  readonly to: Time
  readonly value: Value
}

type Wish = Extract<Operation, { readonly verb: 'pause' }>

/** `mayPauseItself`: after a number of failed fires. Operations that failed are not among these. */
export function definitionsOf(
  operations: readonly Operation[],
  clock: StoreClock,
  mayPauseItself: boolean,
): Definitions {
  const specs = specWrites(operations)
  const pauses = pauseWrites(operations)
  const stretches = edgesOf(operations, clock).map(({ from, to }): Stretch => {
    const standing = standingAt(specs, pauses, { from, to }, clock)
    return { from, to, ...standing, paused: mayPauseItself && standing.paused === 'no' ? 'maybe' : standing.paused }
  })
  return {
    stretches,
    specs: unique(stretches.flatMap((stretch) => stretch.specs)),
    during: (times) => during(stretches, times),
  }
}

function specWrites(operations: readonly Operation[]): readonly Write<Spec | null>[] {
  const known = new Map<string, Spec>()
  const one = (spec: Spec): Spec => {
    const key = JSON.stringify(spec)
    known.set(key, known.get(key) ?? spec)
    return known.get(key)!
  }
  return operations.flatMap((operation): Write<Spec | null>[] => {
    if (operation.verb === 'define') return [{ ...timesOf(operation), value: one(operation.spec) }]
    return operation.verb === 'remove' || operation.verb === 'retire' ? [{ ...timesOf(operation), value: null }] : []
  })
}

/** A schedule that is made again after it was removed is not paused. One for a single instant may have gone by itself. */
function pauseWrites(operations: readonly Operation[]): readonly Write<Wish | null>[] {
  const isOnce = (operation: Operation) => operation.verb === 'define' && operation.spec.trigger?.kind === 'at'
  return operations.flatMap((operation): Write<Wish | null>[] => {
    if (operation.verb === 'pause') return [{ ...timesOf(operation), value: operation }]
    if (operation.verb === 'define' && operations.some((other) => isOnce(other) && other.at < operation.at)) {
      return [{ from: operation.at, to: Number.POSITIVE_INFINITY, value: null }]
    }
    return operation.verb === 'resume' || operation.verb === 'remove' ? [{ ...timesOf(operation), value: null }] : []
  })
}

export function timesOf({ at, endedAt, result }: Operation): Times {
  return { from: at, to: result === 'ok' && endedAt !== null ? endedAt : Number.POSITIVE_INFINITY }
}

/** Between two edges nothing changes. */
function edgesOf(operations: readonly Operation[], clock: StoreClock): readonly Times[] {
  const edges = new Set<Time>()
  for (const operation of operations) {
    const { from, to } = timesOf(operation)
    edges.add(from).add(to)
    if (operation.verb !== 'pause' || operation.until === null) continue
    const end = clock.timesOf(operation.until)
    edges.add(end.from).add(end.to)
  }
  edges.delete(Number.POSITIVE_INFINITY)
  const sorted = [Number.NEGATIVE_INFINITY, ...[...edges].sort((a, b) => a - b), Number.POSITIVE_INFINITY]
  return sorted.slice(1).map((to, index) => ({ from: sorted[index]!, to }))
}

function standingAt(
  specs: readonly Write<Spec | null>[],
  pauses: readonly Write<Wish | null>[],
  stretch: Times,
  clock: StoreClock,
): Standing {
  const values = possibleValues(specs, stretch)
  const wishes = possibleValues(pauses, stretch).map((wish) => pausedBy(wish, stretch, clock))
  const isSame = wishes.every((wish) => wish === wishes[0])
  return {
    specs: unique(values.filter((value) => value !== null)),
    mayBeAbsent: values.includes(null),
    paused: isSame ? wishes[0]! : 'maybe',
  }
}

function pausedBy(wish: Wish | null, { from, to }: Times, clock: StoreClock): Standing['paused'] {
  if (wish === null) return 'no'
  if (wish.until === null) return 'yes'
  const end = clock.timesOf(wish.until)
  if (to <= end.from) return 'yes'
  return from >= end.to ? 'no' : 'maybe'
}

/** What may have been the last thing written: begun before the stretch ends, and not written over before it begins. */
function possibleValues<Value>(writes: readonly Write<Value | null>[], stretch: Times): (Value | null)[] {
  const done = writes.filter(({ to }) => to <= stretch.from)
  const lastBegun = done.reduce((latest, { from }) => Math.max(latest, from), Number.NEGATIVE_INFINITY)
  const possible = writes.filter((write, index) => {
    if (write.from > stretch.from) return false
    if (write.to > lastBegun) return true
    return (
      write.to === lastBegun && !writes.slice(index + 1).some(({ from, to }) => from >= write.to && to <= stretch.from)
    )
  })
  const values = possible.map(({ value }) => value)
  return done.length === 0 ? [null, ...values] : values
}

function during(stretches: readonly Stretch[], { from, to }: Times): Standing {
  let index = indexAt(stretches, from)
  const first = stretches[index]!
  if (first.to > to) return first
  const touched: Stretch[] = []
  for (; index < stretches.length && stretches[index]!.from <= to; index++) touched.push(stretches[index]!)
  return {
    specs: unique(touched.flatMap(({ specs }) => specs)),
    mayBeAbsent: touched.some(({ mayBeAbsent }) => mayBeAbsent),
    paused: touched.every(({ paused }) => paused === first.paused) ? first.paused : 'maybe',
  }
}

/** The first stretch that has not ended before this. */
function indexAt(stretches: readonly Stretch[], at: Time): number {
  let low = 0
  let high = stretches.length - 1
  while (low < high) {
    const middle = (low + high) >> 1
    if (stretches[middle]!.to < at) low = middle + 1
    else high = middle
  }
  return low
}

function unique<Value>(values: readonly Value[]): readonly Value[] {
  return values.length < 2 ? values : [...new Set(values)]
}
