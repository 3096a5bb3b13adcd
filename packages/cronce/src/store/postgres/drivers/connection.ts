export interface Row {
  /** What all statements of the store answer in. */
  readonly answer?: unknown
  readonly [column: string]: unknown
}

export interface Query {
  readonly text: string
  readonly values: readonly string[]
  /** What to prepare it under; `undefined`: not at all. */
  readonly name: string | undefined
}

/** One connection, of whatever driver. Nothing that happens to it ends the process. */
export interface Connection {
  /** The process id of the session, as reported at login; a pooler reports another one. `null`: not reported. */
  readonly pid: number | null
  readonly isOpen: boolean
  query(query: Query): Promise<readonly Row[]>
  /** Plain statements, in one go; the rows of the last. */
  script(sql: string): Promise<readonly Row[]>
  /** A transaction as the driver makes them: committed if `work` resolves. */
  begin<Value>(work: (tx: unknown) => Promise<Value>): Promise<Value>
  /** Called once, when it is over, for whatever reason. */
  onLost(listener: () => void): void
  onNotify(listener: (channel: string, payload: string) => void): void
  /** Whether the process may not end while it is open. */
  keepsProcess(keeps: boolean): void
  /** Closes at once, even if the server does not answer. */
  destroy(): void
}

/** Opens a connection, or fails in this time. */
export type Connect = (timeoutMs: number) => Promise<Connection>

export type Use = 'statement' | 'transaction'

/** Connections to take for a while and to put back. */
export interface Lanes {
  /** Fails with an error of ours that says that nothing was sent. */
  take(use: Use, deadline: Deadline): Promise<Connection>
  put(connection: Connection): void
  close(): Promise<void>
}

/** By the monotonic clock. */
export interface Deadline {
  readonly timeoutMs: number
  leftMs(): number
}

export function deadlineIn(timeoutMs: number): Deadline {
  const endsAt = performance.now() + timeoutMs
  return { timeoutMs, leftMs: () => Math.max(0, endsAt - performance.now()) }
}

/** What `promise` comes to, or what `late` throws when it takes longer. */
export function within<Value>(promise: Promise<Value>, ms: number, late: () => Value): Promise<Value> {
  return new Promise((resolve, reject) => {
    // After a blocked event loop the answer may lie there unread: it is read before this is decided.
    const timer = setTimeout(() => setImmediate(decide), ms)
    const decide = (): void => {
      try {
        resolve(late())
      } catch (error) {
        reject(error)
      }
    }
    promise.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
