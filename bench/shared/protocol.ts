/** The start message of every benchmark process: one instance on one server. Systems may extend it. */
export interface Setup {
  readonly url: string
  /** Runs at a time. */
  readonly concurrency: number
}

/** Which schedules there are; for a queue, which jobs. Numbers start at `first`. */
export type Load = { readonly count: number; readonly first?: number } & (
  | {
      /** All due at one instant, and again after the interval. A queue has them waiting. */
      readonly kind: 'burst'
      readonly at: number
      readonly intervalMs?: number
    }
  | {
      /** Each due once a second, one after the other. */
      readonly kind: 'steady'
    }
  | {
      /** All due at the same instants, again and again. */
      readonly kind: 'together'
      readonly intervalMs: number
    }
  | {
      /** None due within the hour. */
      readonly kind: 'idle'
    }
  | {
      /** At once, and the first run of each never ends. */
      readonly kind: 'stuck'
    }
)

/** What the parent asks of a process. One question is under way at a time. */
export type Request =
  | { readonly do: 'create'; readonly load: Load }
  /** Everything that can be done before there is something to do. */
  | { readonly do: 'connect' }
  | { readonly do: 'start' }
  /** Claim nothing new until asked to start again. */
  | { readonly do: 'pause' }
  | { readonly do: 'count' }
  | { readonly do: 'collect' }
  | { readonly do: 'look'; readonly looks: number }
  | { readonly do: 'weigh' }
  /** Of the fires that were due before then; without a time, of all. */
  | { readonly do: 'audit'; readonly before?: number }
  | { readonly do: 'profile' }
  | { readonly do: 'profiled' }
  | { readonly do: 'stop' }

export type Reply = Done | Counted | Collected | Looked | Weighed | Audited | Profiled

interface Done {
  readonly is: 'done'
  readonly ms: number
}

export interface Counted {
  readonly is: 'counted'
  readonly pid: number
  readonly started: number
  readonly ended: number
  /** Epoch milliseconds. */
  readonly lastEndedAt: number
  /** Of the process in milliseconds, and of that what its one thread for JavaScript took. */
  readonly cpuMs: number
  readonly mainMs: number
}

/** Of each run: the number of its schedule, when it was due, how many milliseconds later its handler was called, and its number within the fire. */
export type Start = readonly [schedule: number, dueAt: number, lateMs: number, attempt: number]

export interface Collected {
  readonly is: 'collected'
  readonly starts: readonly Start[]
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
  /** Fires on record that ended well, and the others by why they did not. */
  readonly succeeded: number
  readonly others: Readonly<Record<string, number>>
}

export interface Profiled {
  readonly is: 'profiled'
  /** Share of the main thread's busy time by where the code comes from, the largest first. */
  readonly shares: readonly (readonly [where: string, share: number])[]
  /** Single functions by the time in themselves. */
  readonly functions: readonly (readonly [name: string, share: number])[]
}
