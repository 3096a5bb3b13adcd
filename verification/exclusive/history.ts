/** What was seen of a contest for locks, terms and keys, from outside of the store. All times are milliseconds of the host's monotonic clock. */
export interface History {
  readonly lines: readonly Line[]
  /** In the order in which the resource was asked. */
  readonly accesses: readonly Access[]
  /** Processes that were ended with SIGKILL, and when that signal was sent. */
  readonly killedAt: ReadonlyMap<string, number>
  /** Processes that were there to the end, and the keys that each of them called. */
  readonly survivors: readonly string[]
  readonly keys: readonly string[]
  /** Processes that could not go on for longer than their lease, and from when. */
  readonly stops: readonly { readonly process: string; readonly at: number }[]
}

/** Written down by a process with write(2), so that it outlives the process, however that ends. */
export type Line = { readonly process: string; readonly at: number } & (
  | { readonly what: 'entered' | 'left'; readonly token: string }
  /** `lock()` has returned, it has reported that the lock was lost, or the resource has rejected the token. */
  | { readonly what: 'locked' | 'refused'; readonly token: string }
  /** `leads`: it asked itself whether it leads, at this time, and the answer was yes. */
  | { readonly what: 'elected' | 'leads' | 'lost'; readonly term: string }
  | { readonly what: 'effect' | 'result'; readonly key: string; readonly value: string }
  /** STEP_UNKNOWN. */
  | { readonly what: 'unknown'; readonly key: string }
)

/** A resource that remembers the highest token or term it was shown, and refuses lower ones. */
export interface Access {
  readonly process: string
  readonly what: 'read' | 'write' | 'term'
  readonly token: string
  readonly isAccepted: boolean
  /** What was read, or is to be written. */
  readonly value: number
}

export type LineBody = Line extends infer One ? (One extends Line ? Omit<One, 'process' | 'at'> : never) : never

/** One clock for all processes of a host. */
export function now(): number {
  return Number(process.hrtime.bigint()) / 1e6
}
