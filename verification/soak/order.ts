/** What a process of the soak is started with. */
export interface Order {
  readonly node: string
  readonly module: string
  readonly url: string
  readonly schedules: number
  readonly everyMs: number
  readonly leaseMs: number
}

export type Command =
  | { readonly type: 'sample'; readonly question: number }
  | { readonly type: 'block'; readonly ms: number }

export type Report =
  | { readonly type: 'ready' }
  | { readonly type: 'sampled'; readonly question: number; readonly own: OwnSample }

/** What a process knows of itself, after a full garbage collection. */
export interface OwnSample {
  readonly rss: number
  readonly heap: number
  /** Outside of the heap: buffers. */
  readonly external: number
  /** Timers, sockets, requests under way. */
  readonly handles: number
  readonly files: number
  readonly fires: number
}

/** Every ten seconds, of one process. */
export interface Sample extends OwnSample {
  /** Seconds since all processes were ready. */
  readonly at: number
  /** Open through its proxy. `null`: the store has no network. */
  readonly connections: number | null
}

export interface SizeSample {
  readonly at: number
  readonly bytes: number
  /** Due times of all schedules by then. Each of them is recorded, whatever became of it. */
  readonly due: number
}
