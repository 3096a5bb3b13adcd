import type { Effect, Entry, Fault, NodeEntry, Request, RunOfFire, Time } from '../../packages/checker/src/history.ts'
import type { World } from '../../packages/cronce/test/virtual/world.ts'

/** Writes down what the harness and the handlers see; nothing that goes wrong in the fleet disturbs it. */
export interface Recorder {
  readonly start: (run: RunOfFire, node: string) => void
  readonly finish: (run: RunOfFire, node: string, how: 'returned' | 'threw') => void
  readonly effect: (run: RunOfFire, node: string, sink: Effect['sink'], key: string, accepted: boolean) => void
  readonly node: (node: string, what: NodeEntry['what'], able: Pick<NodeEntry, 'jobs' | 'concurrency' | 'app'>) => void
  /** Lasts until `until`, or until the returned function is called. Its effects end this much later. */
  readonly fault: (
    fault: string,
    node: string | null,
    options?: { readonly until?: Time } & Pick<Fault, 'sparesRuns'>,
  ) => (laterMs?: number) => void
  readonly clock: (byMs: number) => void
  /** To be answered by what is returned; what never is stays unknown. */
  readonly ask: (schedule: string, request: Request) => (result: 'ok' | 'fail' | 'info') => void
  /** Done just now, on a decision that is this old by the store's clock. Counts as certain after `aheadMs`. */
  readonly done: (schedule: string, request: Request, agoMs: number, aheadMs?: number) => void
  /** It was done just now, and what it ends may go on, or may have passed to another schedule. */
  readonly maybe: (schedule: string, request: Request, agoMs: number) => void
  readonly now: () => Time
  /** Everything so far, by time. */
  readonly entries: () => Entry[]
}

type Open<Item> = { -readonly [Name in keyof Item]: Item[Name] }

export function createRecorder(world: World): Recorder {
  const entries: Entry[] = []
  const now = (): Time => world.now()
  /** If the store's clock was set back since, a time that it showed is longer ago than the difference. */
  const before = (agoMs: number): Time => {
    let at = now() - agoMs
    for (const entry of entries.toReversed())
      if (entry.kind === 'clock' && entry.at >= at) at += Math.min(0, entry.byMs)
    return Math.max(0, at)
  }
  return {
    start: (run, node) => void entries.push({ kind: 'start', at: now(), node, ...run }),
    finish: (run, node, how) => void entries.push({ kind: 'finish', at: now(), node, how, ...run }),
    effect: (run, node, sink, key, accepted) =>
      void entries.push({ kind: 'effect', at: now(), node, sink, key, accepted, ...run }),
    node: (node, what, able) => void entries.push({ kind: 'node', at: now(), node, what, ...able }),
    fault(name, node, { until = now(), sparesRuns } = {}) {
      const spares = sparesRuns === true ? { sparesRuns } : {}
      const fault: Open<Fault> = { kind: 'fault', at: now(), until, fault: name, node, ...spares }
      entries.push(fault)
      return (laterMs = 0) => {
        fault.until = now() + laterMs
      }
    },
    clock: (byMs) => void entries.push({ kind: 'clock', at: now(), byMs }),
    ask(schedule, request) {
      const asked = { kind: 'operation' as const, at: now(), endedAt: null as Time | null, schedule }
      const operation = { ...asked, result: 'info' as 'ok' | 'fail' | 'info', ...request }
      entries.push(operation)
      return (result) => {
        operation.result = result
        operation.endedAt = now()
      }
    },
    done(schedule, request, agoMs, aheadMs = 0) {
      const at = before(agoMs)
      entries.push({ kind: 'operation', at, endedAt: now() + aheadMs, result: 'ok', schedule, ...request })
    },
    maybe(schedule, request, agoMs) {
      const at = before(agoMs)
      entries.push({ kind: 'operation', at, endedAt: null, result: 'info', schedule, ...request })
    },
    now,
    entries: () => entries.toSorted((one, other) => one.at - other.at),
  }
}
