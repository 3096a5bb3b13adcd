export interface Row {
  /** The column of every answer. */
  readonly answer?: unknown
  readonly [column: string]: unknown
}

export interface Query {
  readonly text: string
  readonly values: readonly string[]
  /** The name to prepare it under; `undefined`: do not prepare. */
  readonly name: string | undefined
}

/** One connection, with any driver. No failure of it ends the process. */
export interface Connection {
  /** The process id of the session, as reported at login; a pooler reports another one. `null`: not reported. */
  readonly pid: number | null
  readonly isOpen: boolean
  query(query: Query): Promise<readonly Row[]>
  /** Plain statements at once; returns the rows of the last. */
  script(sql: string): Promise<readonly Row[]>
  /** A transaction as the driver implements it: committed if `work` resolves. */
  begin<Value>(work: (tx: unknown) => Promise<Value>): Promise<Value>
  /** Called once when the connection has ended, for any reason. */
  onLost(listener: () => void): void
  onNotify(listener: (channel: string, payload: string) => void): void
  /** Whether it keeps the process alive while it is open. */
  keepsProcess(keeps: boolean): void
  /** Closes at once, even if the server does not answer. */
  destroy(): void
}

/** Opens a connection, or fails within this time. */
export type Connect = (timeoutMs: number) => Promise<Connection>

export type Use = 'statement' | 'transaction'

/** Connections that are borrowed and returned. */
export interface Lanes {
  /** Fails with a StoreError that says that nothing was sent. */
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

/** The result of `promise`, or the error of `late` if it takes longer. */
export function within<Value>(promise: Promise<Value>, ms: number, late: () => Value): Promise<Value> {
  return new Promise((resolve, reject) => {
    // After a blocked event loop the answer may have arrived unread: read it before deciding.
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
