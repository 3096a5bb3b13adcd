import type { CronceEvent } from '../../packages/cronce/src/model/event.ts'
import type { ServerUnderChaos } from './stores/store.ts'

/** What happened, so that a run in which nothing did is not taken for a good one. None of it is evidence. */
export interface Counters {
  readonly event: (event: CronceEvent) => void
  readonly count: (what: string) => void
  readonly of: (what: string) => number
  /** With the faults that there were. */
  total(faults: readonly string[]): Record<string, number>
  /** What was too rare for so many seconds. */
  lacking(faults: readonly string[], seconds: number): string[]
}

/** Within half a minute. A shorter run needs less, but one of each. */
const LEAST_SECONDS = 30

/** Faults, by how their names begin. */
const LEAST_FAULTS: Readonly<Record<string, number>> = {
  kill: 4,
  pause: 3,
  block: 1,
  'clock step': 1,
  'full disk': 1,
  'too many files': 1,
  'answer-lost': 2,
  'request-lost': 2,
  'stop at': 1,
  'stop in a transaction': 1,
}

/** Where there is a network. */
const LEAST_NETWORK_FAULTS: Readonly<Record<string, number>> = { cut: 1, 'black-hole': 1, 'lose-answers': 1 }
/** Where there is a server. */
const LEAST_SERVER_FAULTS: Readonly<Record<string, number>> = {
  'server ': 2,
  'connections ended': 1,
  'store clock step': 1,
}
/** Of each that its kind has; too many for a short run. */
const LEAST_TRICKS = 1

/** Where locks last as long as a process: sessions with a server come and go, and more so the more is done to it. */
const LEAST_LOCKS: Readonly<Record<string, number>> = { 'found dead by its lock': 2 }

/** And what came of them. */
const LEAST_CONSEQUENCES: Readonly<Record<string, number>> = {
  'deploys done': 1,
  'found dead by its lease': 2,
  'runs lost': 3,
  'refused as overtaken': 2,
  'store failed': 5,
  'leases lost': 2,
  retried: 5,
}

export function createCounters(has: {
  readonly network: boolean
  readonly server: Pick<ServerUnderChaos, 'tricks'> | null
}): Counters {
  const counts = new Map<string, number>()
  const leastFaults = {
    ...LEAST_FAULTS,
    ...(has.network ? LEAST_NETWORK_FAULTS : {}),
    ...(has.server === null ? {} : LEAST_SERVER_FAULTS),
  }
  const leastTricks = Object.fromEntries((has.server?.tricks ?? []).map(({ name }) => [name, LEAST_TRICKS]))
  const count = (what: string): void => void counts.set(what, (counts.get(what) ?? 0) + 1)
  const leastConsequences = { ...LEAST_CONSEQUENCES, ...(has.server === null ? LEAST_LOCKS : {}) }
  return {
    count,
    of: (what) => counts.get(what) ?? 0,
    event(event) {
      const what = consequenceOf(event)
      if (what !== null) count(what)
    },
    total(faults) {
      const all = new Map(counts)
      for (const fault of faults) all.set(fault, (all.get(fault) ?? 0) + 1)
      return Object.fromEntries([...all].sort(([one], [other]) => one.localeCompare(other)))
    },
    lacking(faults, seconds) {
      const struck = (kind: string): number => faults.filter((fault) => fault.startsWith(kind)).length
      return [
        ...tooRare(leastFaults, seconds, struck),
        ...(seconds < LEAST_SECONDS ? [] : tooRare(leastTricks, seconds, struck)),
        ...tooRare(leastConsequences, seconds, (what) => counts.get(what) ?? 0),
      ]
    },
  }
}

function tooRare(wanted: Readonly<Record<string, number>>, seconds: number, has: (name: string) => number): string[] {
  return Object.entries(wanted)
    .map(([name, least]) => [name, has(name), Math.max(1, Math.floor((least * seconds) / LEAST_SECONDS))] as const)
    .filter(([, found, least]) => found < least)
    .map(([name, found, least]) => `${name}: ${found} of at least ${least}`)
}

function consequenceOf(event: CronceEvent): string | null {
  switch (event.type) {
    case 'instance.died':
      return event.by === 'probe' ? 'found dead by its lock' : 'found dead by its lease'
    case 'run.lost':
      return 'runs lost'
    case 'run.fenced':
      return 'refused as overtaken'
    case 'store.failed':
      return 'store failed'
    case 'lease.lost':
      return 'leases lost'
    case 'run.retried':
      return 'retried'
    default:
      return null
  }
}
