import type { Bounds, Entry, Fault, Healthy, NodeEntry, Time } from './history.ts'

/**
 * Stretches in which no witness vouches for a node, or for the store, as faults. A starved machine makes everything late, and a
 * node may lose its lease through no fault of the scheduler.
 */
export function starvationIn(entries: readonly Entry[], { starvedMs }: Pick<Bounds, 'starvedMs'>, end: Time): Fault[] {
  if (starvedMs === null) return []
  const witnessed = Map.groupBy(entries.filter(isHealthy), ({ node }) => node)
  const nodes = entries.filter((entry) => entry.kind === 'node')
  const gaps = (node: string | null, from: Time, to: Time): Fault[] =>
    gapsIn(witnessed.get(node) ?? [], from, to)
      .filter((gap) => gap.until - gap.at > starvedMs)
      .map((gap) => ({ kind: 'fault', fault: 'starved', node, ...gap }))
  const readyAt = new Map(nodes.filter(({ what }) => what === 'ready').map(({ node, at }) => [node, at]))
  const begins = new Map(readyAt)
  for (const { node, at } of [...witnessed.values()].flat()) {
    if (node !== null) begins.set(node, Math.min(at, begins.get(node) ?? at))
  }
  const begin = Math.min(end, ...readyAt.values())
  return [...gaps(null, begin, end), ...[...begins].flatMap(([node, at]) => gaps(node, at, endOf(nodes, node, end)))]
}

function isHealthy(entry: Entry): entry is Healthy {
  return entry.kind === 'healthy'
}

function endOf(nodes: readonly NodeEntry[], node: string, end: Time): Time {
  return nodes.find((entry) => entry.node === node && entry.what === 'ended')?.at ?? end
}

/** What these stretches leave uncovered, from the first time to the last one. */
function gapsIn(stretches: readonly Healthy[], from: Time, to: Time): { at: Time; until: Time }[] {
  const gaps: { at: Time; until: Time }[] = []
  let covered = from
  for (const { at, until } of stretches.toSorted((a, b) => a.at - b.at)) {
    if (at > covered && covered < to) gaps.push({ at: covered, until: Math.min(at, to) })
    covered = Math.max(covered, until)
  }
  if (covered < to) gaps.push({ at: covered, until: to })
  return gaps
}
