/**
 * One statement of the store. It takes texts and answers one row with one text, so that no driver's idea of numbers, arrays or
 * dates matters.
 */
export interface Statement {
  /** Unique among all texts of this version: what it is prepared under, where that is possible. */
  readonly name: string
  readonly sql: string
}

/**
 * The database as the store sees it, whatever the driver. Every call ends in bounded time. What it throws is a
 * `StoreError`, whose `notApplied` says whether anything can have been written; errors of the user's own work in a
 * transaction pass through unchanged.
 */
export interface Database<Tx = unknown> {
  /** For messages: where it is, without secrets. */
  readonly name: string
  /** Whether `transaction` works: it needs a connection of its own for as long as it takes. */
  readonly transactions: boolean
  /** The text that the statement answers. By itself: it is committed when this resolves. */
  ask(statement: Statement, values: readonly string[]): Promise<string>
  /** The same, within a transaction of the user's own, of whatever library. The commit is its owner's. */
  askIn(tx: Tx, statement: Statement, values: readonly string[]): Promise<string>
  /** Any number of plain statements in one go, outside every transaction unless they say so; the rows of the last. For migrations. */
  script(sql: string): Promise<readonly Readonly<Record<string, unknown>>[]>
  /**
   * Committed when `work` resolves, rolled back when it throws. A commit without an answer throws with `notApplied: false`.
   * `requireOpen` throws if the transaction was ended from within; without it that comes out at the end only.
   */
  transaction<Value>(work: (tx: Tx, requireOpen: () => Promise<void>) => Promise<Value>): Promise<Value>
  /** A connection of our own that no pooler shares; `null` where there is none, said once to `warn`. Opened when first asked for. */
  session(): Promise<Session | null>
  close(): Promise<void>
}

/** One session of the server that lives as long as this process wants it to: it is opened again whenever it was lost. */
export interface Session {
  /** Hear notifications on this channel. Returns how to stop. */
  listen(channel: string, onNotify: (payload: string) => void): Promise<() => void>
  /** Hold this lock for as long as the process lives, also on the sessions that follow. */
  hold(lock: bigint): Promise<void>
  release(lock: bigint): Promise<void>
  /** Whether all locks that should be held are, as far as is known. */
  isHolding(): boolean
  /**
   * The locks among these that this very session has found held by others before, and that are free now. Waits up to `waitMs`
   * for one to become free; a lock never seen held proves nothing.
   */
  freed(locks: readonly bigint[], waitMs: number): Promise<readonly bigint[]>
  /** Calls the listener when the session is lost, and when there is one again. Returns a function that stops listening. */
  onChange(listener: (state: 'lost' | 'back') => void): () => void
}
