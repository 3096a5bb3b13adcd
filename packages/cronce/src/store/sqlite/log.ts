import { statSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { statement } from './driver.ts'

/** Far beyond what SQLite's own checkpoints leave, unless readers block them. */
export const LOG_BYTES = 67_108_864
/** Nothing else happens in this process meanwhile; reads of other processes take less. */
const WAIT_MS = 100
const RETRY_MS = 1_000
const LONGEST_RETRY_MS = 60_000

/**
 * Truncates a long log. SQLite restarts the log when no reader uses it, without waiting for that: with a permanent reader it
 * would grow forever. So, when it is long, writers wait while the readers finish; later readers read from the file.
 */
export class Log {
  readonly #db: DatabaseSync
  readonly #path: string
  readonly #mostBytes: number
  #retryMs = RETRY_MS
  #tryAt = Number.NEGATIVE_INFINITY

  constructor(db: DatabaseSync, file: string, mostBytes = LOG_BYTES) {
    this.#db = db
    this.#path = `${file}-wal`
    this.#mostBytes = mostBytes
  }

  /** Between two transactions. Never throws: if it fails now, it is tried later. */
  keepShort(): void {
    if (performance.now() < this.#tryAt || this.#bytes() <= this.#mostBytes) return
    if (this.#cut()) {
      this.#retryMs = RETRY_MS
      return
    }
    // A long reader, perhaps a person with a shell. Writers should not have to stop for it every second.
    this.#tryAt = performance.now() + this.#retryMs
    this.#retryMs = Math.min(2 * this.#retryMs, LONGEST_RETRY_MS)
  }

  #bytes(): number {
    try {
      return statSync(this.#path).size
    } catch {
      // The next write gets the error.
      return 0
    }
  }

  #cut(): boolean {
    try {
      this.#db.exec(`pragma busy_timeout = ${WAIT_MS}`)
      return statement(this.#db, 'pragma wal_checkpoint(truncate)').get()?.busy === 0
    } catch {
      // A disk that is full or fails.
      return false
    } finally {
      this.#db.exec('pragma busy_timeout = 0')
    }
  }
}
