import type { Bounds, Entry, Fault, NodeEntry, Ownership, Start, Time } from './history.ts'
import { ownersOf } from './owners.ts'
import { type Span, type SpanIndex, spanIndex } from './spans.ts'
import { starvationIn } from './starvation.ts'

/** The nodes, and the faults that hit them. */
export interface Fleet {
  /** No node had a fault, and no earlier fault still had an effect. */
  isCalm(from: Time, to: Time): boolean
  /** Some node that can run this job for this schedule was ready all the time, and had room for more. */
  canRun(schedule: string, job: string, from: Time, to: Time): boolean
  /**
   * A fault that may cost it its lease hit it or all nodes, or it was asked to stop, or ended. `null`: it is not known
   * which node it is.
   */
  wasHit(node: string | null, from: Time, to: Time): boolean
  /** A fault hit some node or all of them, or some node was asked to stop: a run that it had claimed ahead may have been put back. */
  mayHavePutBack(from: Time, to: Time): boolean
  /** When it was asked to stop; infinite if it was not. */
  stopOf(node: string): Time
  /** When it ended; infinite if it has not. */
  endOf(node: string): Time
  readonly faults: readonly Fault[]
  /** Stretches that no witness vouches for. They count as faults in all of the above. */
  readonly starved: readonly Fault[]
}

interface Readiness {
  readonly node: string
  readonly jobs: ReadonlySet<string>
  readonly room: number
  readonly app: string | null
}

/** `end`: when the history ends. */
export function fleetOf(
  recorded: readonly Entry[],
  bounds: Bounds,
  end: Time,
  ownerships: readonly Ownership[] | undefined,
): Fleet {
  const owners = ownersOf(ownerships)
  const starved = starvationIn(recorded, bounds, end)
  const entries = [...recorded, ...starved]
  const faults = entries.filter((entry): entry is Fault => entry.kind === 'fault')
  const nodes = entries.filter((entry): entry is NodeEntry => entry.kind === 'node')
  const when = (what: NodeEntry['what']): Map<string, Time> =>
    new Map(nodes.filter((entry) => entry.what === what).map(({ node, at }) => [node, at]))
  const [stops, ends] = [when('stopping'), when('ended')]
  const wrong = spanIndex(disturbances(entries, bounds.recoveryMs))
  const hits = hitsByNode(entries, bounds.leaseMs)
  const ready = spanIndex(readiness(nodes))
  const handlers = handlerSpans(entries, ends)
  const hitsAnybody = hits.get(null)!
  return {
    isCalm: (from, to) => !wrong.some(from, to),
    canRun(schedule, job, from, to) {
      return ready.some(from, from, ({ node, jobs, room, app }) => {
        const until = leaveOf(nodes, node, from)
        const isEntitled = owners.mayRun(app, schedule, job, { from, to })
        return isEntitled && jobs.has(job) && until > to && (handlers.get(node)?.count(from, to) ?? 0) < room
      })
    },
    wasHit: (node, from, to) => (hits.get(node) ?? hitsAnybody).some(from, to),
    mayHavePutBack(from, to) {
      if ([...stops.values()].some((at) => from <= at && at <= to)) return true
      return faults.some((fault) => fault.at <= to && fault.until >= from)
    },
    stopOf: (node) => stops.get(node) ?? Number.POSITIVE_INFINITY,
    endOf: (node) => ends.get(node) ?? Number.POSITIVE_INFINITY,
    faults,
    starved,
  }
}

/** Clocks that are set and nodes that come and go disturb as well, if only for a while. */
function disturbances(entries: readonly Entry[], recoveryMs: number): readonly Span<Entry>[] {
  return entries.flatMap((entry) => {
    if (entry.kind !== 'fault' && entry.kind !== 'clock' && entry.kind !== 'node') return []
    const end = entry.kind === 'fault' ? entry.until : entry.at
    return [{ from: entry.at, to: end + recoveryMs, item: entry }]
  })
}

/**
 * A node that was cut off may be taken for dead a lease later. Of an unknown node, everything is believed. Clocks that are
 * set, of nodes or of the store, are no excuse: they must cost no lease.
 */
function hitsByNode(entries: readonly Entry[], leaseMs: number): ReadonlyMap<string | null, SpanIndex<Entry>> {
  const all: Span<Entry>[] = []
  const spans = new Map<string | null, Span<Entry>[]>()
  const ofAll: Span<Entry>[] = []
  for (const entry of entries) {
    if (entry.kind === 'node' || entry.kind === 'start') spans.set(entry.node, spans.get(entry.node) ?? [])
    const isStop = entry.kind === 'node' && (entry.what === 'stopping' || entry.what === 'ended')
    const isHit = entry.kind === 'fault' && entry.sparesRuns !== true
    if (!isHit && !isStop) continue
    const { node } = entry
    const end = isHit ? entry.until + leaseMs : Number.POSITIVE_INFINITY
    const span = { from: entry.at, to: end, item: entry }
    all.push(span)
    if (node === null) ofAll.push(span)
    else spans.set(node, [...(spans.get(node) ?? []), span])
  }
  const indexes = new Map<string | null, SpanIndex<Entry>>()
  for (const [node, own] of spans) indexes.set(node, spanIndex([...own, ...ofAll]))
  return indexes.set(null, spanIndex(all))
}

function readiness(nodes: readonly NodeEntry[]): readonly Span<Readiness>[] {
  return nodes
    .filter(({ what }) => what === 'ready')
    .map(({ at, node, jobs, concurrency = Number.POSITIVE_INFINITY, app = null }) => {
      return { from: at, to: leaveOf(nodes, node, at), item: { node, jobs: new Set(jobs), room: concurrency, app } }
    })
}

function leaveOf(nodes: readonly NodeEntry[], node: string, from: Time): Time {
  const stop = nodes.find((entry) => {
    return entry.node === node && entry.at >= from && (entry.what === 'stopping' || entry.what === 'ended')
  })
  return stop?.at ?? Number.POSITIVE_INFINITY
}

function handlerSpans(entries: readonly Entry[], ends: ReadonlyMap<string, Time>): Map<string, SpanIndex<Start>> {
  const finished = new Map<string, Time>()
  for (const entry of entries) if (entry.kind === 'finish') finished.set(`${entry.schedule} ${entry.token}`, entry.at)
  const spans = new Map<string, Span<Start>[]>()
  for (const entry of entries) {
    if (entry.kind !== 'start') continue
    const to = finished.get(`${entry.schedule} ${entry.token}`) ?? ends.get(entry.node) ?? Number.POSITIVE_INFINITY
    const known = spans.get(entry.node)
    if (known === undefined) spans.set(entry.node, [{ from: entry.at, to, item: entry }])
    else known.push({ from: entry.at, to, item: entry })
  }
  return new Map([...spans].map(([node, own]) => [node, spanIndex(own)]))
}
