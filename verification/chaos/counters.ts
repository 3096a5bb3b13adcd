import type { CronceEvent } from '../../packages/cronce/src/model/event.ts'
import type { ServerUnderChaos } from './stores/store.ts'

/** What happened, so that a run in which nothing did is not taken for a good one. None of it is evidence. */
export interface Counters {
  readonly event: (event: CronceEvent) => void
  readonly count: (what: string) => void
  readonly of: (what: string) => number
  /** With the faults that there were. */
  total(faults: readonly string[]): Record<string, number>
  /** What was too rare for a run of this many seconds. */
  lacking(faults: readonly string[], seconds: number): Lack[]
}

export interface Lack {
  /** Of the demand. */
  readonly name: string
  readonly words: string
  /** Faults that may bring it about. */
  readonly cards: readonly string[]
}

/** How often, within half a minute; and the faults that may bring it about. A shorter run needs less, but one of each. */
type Demands = Readonly<Record<string, readonly [least: number, ...cards: string[]]>>

const LEAST_SECONDS = 30

/** It has no time for all that there is: what a verdict can't do without comes first. */
export function isShort(seconds: number): boolean {
  return seconds < LEAST_SECONDS
}

/** Faults, by how their names begin. */
const LEAST_FAULTS: Demands = {
  kill: [4, 'kill'],
  pause: [3, 'pause until overtaken'],
  block: [1, 'block'],
  'clock step': [1, 'clock step'],
  'full disk': [1, 'full disk'],
  'too many files': [1, 'too many files'],
  'answer-lost': [2, 'ambush to lose an answer'],
  'request-lost': [2, 'ambush to lose a request'],
  'stop at': [1, 'ambush to stop'],
  'stop in a transaction': [1, 'stop while writing'],
}

/** Where there is a network. */
const LEAST_NETWORK_FAULTS: Demands = {
  cut: [1, 'cut'],
  'black-hole': [1, 'black hole'],
  'lose-answers': [1, 'lost answers'],
}
/** Where there is a server. */
const LEAST_SERVER_FAULTS: Demands = {
  'server ': [2, 'server crash'],
  'connections ended': [1, 'connections ended'],
  'store clock step': [1, 'store clock step'],
}
/** Of each that its kind has; too many for a short run. */
const LEAST_TRICKS = 1

/** Where locks last as long as a process: sessions with a server come and go, and more so the more is done to it. */
const LEAST_LOCKS: Demands = { 'found dead by its lock': [2, 'kill'] }

/** Outcomes of the calls. */
const LEAST_CONSEQUENCES: Demands = {
  'deploys done': [1, 'deploy'],
  'found dead by its lease': [2, 'pause until overtaken'],
  'runs lost': [3, 'pause until overtaken'],
  'refused as overtaken': [2, 'pause until overtaken'],
  'store failed': [5, 'lossy link'],
  'leases lost': [2, 'pause until overtaken'],
  retried: [5, 'kill'],
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
  const leastTricks: Demands = Object.fromEntries(
    (has.server?.tricks ?? []).map(({ name }) => [name, [LEAST_TRICKS, name]]),
  )
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
        ...(isShort(seconds) ? [] : tooRare(leastTricks, seconds, struck)),
        ...tooRare(leastConsequences, seconds, (what) => counts.get(what) ?? 0),
      ]
    },
  }
}

function tooRare(wanted: Demands, seconds: number, has: (name: string) => number): Lack[] {
  return Object.entries(wanted).flatMap(([name, [least, ...cards]]) => {
    const found = has(name)
    const enough = Math.max(1, Math.floor((least * seconds) / LEAST_SECONDS))
    return found < enough ? [{ name, words: `${name}: ${found} of at least ${enough}`, cards }] : []
  })
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
