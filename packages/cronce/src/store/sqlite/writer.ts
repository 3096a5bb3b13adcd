import type { DatabaseSync } from 'node:sqlite'
import { setImmediate as turn } from 'node:timers/promises'
import { isBusy, RESULT, resultOf, translate } from './errors.ts'
import { Log } from './log.ts'
import { lockPause } from './retry.ts'

/** One call that writes. Its work is synchronous: no transaction is open while code awaits. */
interface Job {
  /** How much of a transaction it fills. */
  readonly weight: number
  /** A connection other than the store's. Such a job has its transaction to itself, and runs at most once. */
  readonly connection: (() => DatabaseSync) | null
  readonly work: (db: DatabaseSync) => unknown
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
  readonly giveUpAt: number
  alone: boolean
}

/** Thrown by work that wants nothing of it written, with this as its answer. */
export class Rollback extends Error {
  readonly value: unknown

  constructor(value: unknown) {
    super('rolled back')
    this.value = value
  }
}

/** Most that one commit carries: it blocks the event loop, and the writes of other processes. */
const FULL_TRANSACTION = 1_000

/**
 * All writes of a store go through here, one transaction at a time. Waiting calls share a transaction, since the commit is the
 * expensive part; each keeps its own answer.
 */
export class Writer {
  readonly #db: DatabaseSync
  readonly #file: string
  readonly #patienceMs: number
  readonly #log: Log
  readonly #queue: Job[] = []
  #draining: Promise<void> | null = null

  constructor(db: DatabaseSync, file: string, patienceMs: number, logBytes?: number) {
    this.#db = db
    this.#log = new Log(db, file, logBytes)
    this.#file = file
    this.#patienceMs = patienceMs
  }

  write<Value>(
    work: (db: DatabaseSync) => Value,
    { weight = 1, connection = null }: { weight?: number; connection?: (() => DatabaseSync) | null } = {},
  ): Promise<Value> {
    return new Promise((resolve, reject) => {
      this.#queue.push({
        weight,
        connection,
        work,
        resolve: resolve as (value: unknown) => void,
        reject,
        giveUpAt: performance.now() + this.#patienceMs,
        alone: connection !== null,
      })
      this.#draining ??= this.#drain()
    })
  }

  /** Resolves when nothing is left to write. */
  async idle(): Promise<void> {
    while (this.#draining !== null) await this.#draining
  }

  async #drain(): Promise<void> {
    // Calls in the same turn join the first transaction.
    await turn()
    while (this.#queue.length > 0) {
      if (this.#begin()) {
        await turn()
        this.#log.keepShort()
      } else await lockPause()
    }
    this.#draining = null
  }

  /** One transaction, unless another process has the lock: then false. Never throws. */
  #begin(): boolean {
    const first = this.#queue[0]!
    let db: DatabaseSync
    try {
      db = first.connection === null ? this.#db : first.connection()
      db.exec('begin immediate')
    } catch (error) {
      if (isBusy(error) && performance.now() < first.giveUpAt) return false
      this.#queue.shift()
      first.reject(translate(error, this.#file, true))
      return true
    }
    const group = this.#takeGroup()
    if (group.length === 1) this.#runOne(db, first)
    else this.#runGroup(db, group)
    return true
  }

  #takeGroup(): Job[] {
    let count = 1
    let weight = this.#queue[0]!.weight
    if (this.#queue[0]!.alone) return this.#queue.splice(0, 1)
    for (; count < this.#queue.length; count++) {
      const next = this.#queue[count]!
      weight += next.weight
      if (next.alone || weight > FULL_TRANSACTION) break
    }
    return this.#queue.splice(0, count)
  }

  #runOne(db: DatabaseSync, job: Job): void {
    try {
      const value = job.work(db)
      this.#commit(db)
      job.resolve(value)
    } catch (error) {
      rollback(db)
      if (error instanceof Rollback) job.resolve(error.value)
      else job.reject(error instanceof Uncertain ? error.error : translate(error, this.#file, true))
    }
  }

  #runGroup(db: DatabaseSync, group: readonly Job[]): void {
    const values: unknown[] = []
    try {
      for (const job of group) values.push(job.work(db))
    } catch {
      // One of them can't be written, and must not affect the others: each runs on its own then.
      rollback(db)
      for (const job of group) job.alone = true
      this.#queue.unshift(...group)
      return
    }
    try {
      this.#commit(db)
    } catch (error) {
      rollback(db)
      const reason = error instanceof Uncertain ? error.error : translate(error, this.#file, true)
      for (const job of group) job.reject(reason)
      return
    }
    for (const [index, job] of group.entries()) job.resolve(values[index])
  }

  #commit(db: DatabaseSync): void {
    try {
      db.exec('commit')
    } catch (error) {
      // Full or busy: it was rolled back, or is now. On a failing disk, only a later read shows what was kept.
      const known = resultOf(error) === RESULT.full || isBusy(error)
      throw new Uncertain(translate(error, this.#file, known))
    }
  }
}

/** An error of the commit: only that can leave the outcome unknown. */
class Uncertain extends Error {
  readonly error: unknown

  constructor(error: unknown) {
    super('commit failed')
    this.error = error
  }
}

/** SQLite may have rolled back by itself, for example after a full disk. */
export function rollback(db: DatabaseSync): void {
  try {
    if (db.isOpen && db.isTransaction) db.exec('rollback')
  } catch {
    // If the rollback fails, the transaction is gone anyway: the next one begins with what was committed.
  }
}
