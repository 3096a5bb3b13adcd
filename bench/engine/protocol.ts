export type StoreKind = 'memory' | 'sqlite'

/** A process of the benchmark: a number of instances on one store. */
export interface Setup {
  readonly store: StoreKind
  /** Of SQLite. */
  readonly file: string
  readonly instances: number
  readonly concurrency: number
  /** Count SQL statements, which costs a little. */
  readonly countSql: boolean
}

/** Which schedules there are. */
export type Load =
  /** All due at one instant. */
  | { readonly kind: 'burst'; readonly count: number; readonly at: number }
  /** Each due once a second, one after the other. */
  | { readonly kind: 'steady'; readonly count: number }
  /** None due within the hour. */
  | { readonly kind: 'idle'; readonly count: number }

/** What the parent asks of a process. One question is under way at a time. */
export type Request =
  | { readonly do: 'create'; readonly load: Load }
  | { readonly do: 'start' }
  | { readonly do: 'count' }
  | { readonly do: 'collect' }
  | { readonly do: 'look'; readonly looks: number }
  | { readonly do: 'weigh' }
  | { readonly do: 'audit' }
  | { readonly do: 'stop' }

export type Reply = Done | Counted | Collected | Looked | Weighed | Audited

interface Done {
  readonly is: 'done'
  readonly ms: number
}

export interface Counted {
  readonly is: 'counted'
  readonly started: number
  readonly ended: number
  /** Epoch milliseconds. */
  readonly lastEndedAt: number
  /** Calls of the store by name. */
  readonly calls: Readonly<Record<string, number>>
  readonly statements: number
  /** Of the process in milliseconds, and of that what its one thread for JavaScript took. */
  readonly cpuMs: number
  readonly mainMs: number
}

export interface Collected {
  readonly is: 'collected'
  /** Of each run: the number of its schedule, when it was due, and how many milliseconds later its handler was called. */
  readonly starts: readonly (readonly [schedule: number, dueAt: number, lateMs: number])[]
}

export interface Looked {
  readonly is: 'looked'
  readonly each: readonly number[]
}

export interface Weighed {
  readonly is: 'weighed'
  readonly rssBytes: number
  readonly heapBytes: number
}

export interface Audited {
  readonly is: 'audited'
  /** Fires on record that ended well, and others. */
  readonly succeeded: number
  readonly others: number
}
