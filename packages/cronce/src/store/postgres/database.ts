/** One statement of the store. It takes texts and returns one row with one text, so that conversions of drivers do not matter. */
export interface Statement {
  /** Unique among all texts of this version: the name of the prepared statement, where that is possible. */
  readonly name: string
  readonly sql: string
}

/**
 * The database as the store sees it, with any driver. Every call ends in bounded time. It throws a `StoreError`, whose
 * `notApplied` tells whether anything can have been written; errors of the user's own work in a transaction pass through
 * unchanged.
 */
export interface Database<Tx = unknown> {
  /** Its address for messages, without secrets. */
  readonly name: string
  /** Whether `transaction` works: it needs a dedicated connection. */
  readonly transactions: boolean
  /** The answer of the statement, on its own: it is committed when this resolves. */
  ask(statement: Statement, values: readonly string[]): Promise<string>
  /** The same within a transaction of the user's, of any library. Its owner commits it. */
  askIn(tx: Tx, statement: Statement, values: readonly string[]): Promise<string>
  /**
   * Any number of plain statements at once, outside every transaction unless they open one; returns the rows of the last. For
   * migrations.
   */
  script(sql: string): Promise<readonly Readonly<Record<string, unknown>>[]>
  /**
   * Committed when `work` resolves, rolled back when it throws. A commit without an answer throws with `notApplied: false`.
   * `requireOpen` throws if the transaction was ended from within; without it, that is noticed only at the end.
   */
  transaction<Value>(work: (tx: Tx, requireOpen: () => Promise<void>) => Promise<Value>): Promise<Value>
  /**
   * A dedicated connection that no pooler shares; `null` if there is none, which is reported once to `warn`. Opened on first use.
   */
  session(): Promise<Session | null>
  close(): Promise<void>
}

/** One session of the server for the life of this process: it is reopened whenever it was lost. */
export interface Session {
  /** Listen to notifications on this channel. Returns how to stop. */
  listen(channel: string, onNotify: (payload: string) => void): Promise<() => void>
  /** Hold this lock for the life of the process, also on later sessions. */
  hold(lock: bigint): Promise<void>
  release(lock: bigint): Promise<void>
  /** Whether all locks that should be held are held, as far as is known. */
  isHolding(): boolean
  /**
   * The locks among these that this session has seen held by others before, and that are free now. Waits up to `waitMs` for one
   * to become free; a lock that was never seen held proves nothing.
   */
  freed(locks: readonly bigint[], waitMs: number): Promise<readonly bigint[]>
  /** Calls the listener when the session is lost, and when there is one again. Returns a function that stops listening. */
  onChange(listener: (state: 'lost' | 'back') => void): () => void
}
