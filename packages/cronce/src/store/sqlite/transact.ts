import type { DatabaseSync } from 'node:sqlite'
import type { Instant } from '../../model/schedule.ts'
import type { Transacted, Transaction } from '../store.ts'
import { StoreError } from '../store-error.ts'
import { applyChange } from './apply.ts'
import { forgetStatements } from './driver.ts'
import { translate } from './errors.ts'
import { epochOf } from './meta.ts'
import { connect, fileId, type OpenedFile, requireSameFile } from './open.ts'
import { loadSchedules } from './schedules.ts'
import { liveRun } from './steps.ts'
import { Rollback } from './writer.ts'

/**
 * The connection that users get in a transaction: separate from the store's, and closed with the transaction. Everything they
 * leave behind goes with it: settings, temporary tables, a half-read statement that would block truncation of the log forever.
 */
export class UserConnection {
  readonly #opened: OpenedFile
  #db: DatabaseSync | null = null
  #working = false

  constructor(opened: OpenedFile) {
    this.#opened = opened
  }

  readonly open = (): DatabaseSync => {
    if (this.#db?.isOpen) return this.#db
    const { driver, file } = this.#opened
    // Otherwise a new file would be created in place of a removed one.
    requireSameFile(this.#opened)
    const db = connect(driver, file)
    const { SQLITE_DENY, SQLITE_OK, SQLITE_TRANSACTION } = driver.constants
    // Not in every version of Node. Without it, a commit by the user is noticed only afterwards.
    db.setAuthorizer?.((action) => (this.#working && action === SQLITE_TRANSACTION ? SQLITE_DENY : SQLITE_OK))
    this.#db = db
    return db
  }

  /** While it works, the user can neither begin nor end a transaction. */
  work<Value>(work: () => Value): Value {
    this.#working = true
    try {
      return work()
    } finally {
      this.#working = false
    }
  }

  /** Code that still has the connection can do nothing with it. */
  close(): void {
    if (this.#db?.isOpen) this.#db.close()
    this.#db = null
  }
}

/** The result of a transaction. The user's own error is not reworded. */
export type Ended<Value> = Transacted<Value> | { readonly kind: 'threw'; readonly error: unknown }

/** The user's work and the settlement, on a connection with an open transaction. Throws a `Rollback` to write nothing. */
export function transactOn<Value>(
  db: DatabaseSync,
  connection: UserConnection,
  namespace: string,
  { schedule, token, work, settle }: Transaction<DatabaseSync, Value>,
  clock: () => Instant,
): Ended<Value> {
  if (liveRun(db, namespace, schedule, token) === null) throw new Rollback({ kind: 'stale' })
  db.exec('savepoint cronce_work')
  let value: Value | Promise<Value>
  try {
    value = connection.work(() => work(db))
  } catch (error) {
    throw new Rollback({ kind: 'threw', error })
  }
  if (isPromise(value)) {
    // It was given up: its result is ignored.
    value.then(undefined, () => {})
    // Otherwise later writes would be committed at once, outside of every transaction.
    connection.close()
    throw new Rollback({ kind: 'threw', error: asyncError() })
  }
  requireSameTransaction(db)
  const now = clock()
  const [state] = loadSchedules(db, namespace, [schedule], () => {})
  const change = state === undefined ? null : settle(state, now, value)
  if (change === null) throw new Rollback({ kind: 'stale' })
  const result = applyChange({ db, namespace, now, epoch: epochOf(db), slots: new Map() }, change)
  if (result.kind !== 'applied') {
    throw new StoreError('TRANSACTION_CONFLICT', `The settlement of ${schedule} was refused: ${result.kind}.`, {
      hint: 'Run it again.',
    })
  }
  return { kind: 'committed', value, now }
}

/** A savepoint ends with its transaction, even if another one has begun since. */
function requireSameTransaction(db: DatabaseSync): void {
  try {
    db.exec('release cronce_work')
  } catch (cause) {
    throw new StoreError('TRANSACTION_ENDED', 'The function given to transaction() ended the transaction itself.', {
      hint: 'Leave begin, commit and rollback to cronce; throw to roll back.',
      cause,
      notApplied: false,
    })
  }
}

function isPromise<Value>(value: Value | Promise<Value>): value is Promise<Value> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}

function asyncError(): StoreError {
  return new StoreError(
    'TRANSACTION_ASYNC',
    'The function given to transaction() returned a promise; on SQLite it must do its work at once. All was rolled back.',
    { hint: 'Do what takes time before transaction(), and only write in it.' },
  )
}

/** The user's own connection to the same file, with a transaction open on it. */
export function requireTransaction(tx: unknown, opened: OpenedFile): DatabaseSync {
  requireSameFile(opened)
  if (!(tx instanceof opened.driver.DatabaseSync) || !tx.isOpen || !tx.isTransaction) {
    throw new StoreError('TRANSACTION_NOT_OPEN', 'The argument tx is not a DatabaseSync with an open transaction.', {
      hint: 'Begin a transaction with "begin immediate" on a connection of node:sqlite, and pass that connection.',
    })
  }
  const location = tx.location()
  if (location === null || fileId(location) !== opened.id) {
    throw new StoreError(
      'TRANSACTION_ELSEWHERE',
      'The argument tx is a transaction on another database than the store.',
      {
        hint: "Pass a connection to the store's own file.",
      },
    )
  }
  // It may have been closed and reopened since, which drops its statements.
  forgetStatements(tx)
  return tx
}

/** All of it or nothing, within a transaction that continues. */
export function withinTransaction<Value>(tx: DatabaseSync, file: string, work: () => Value): Value {
  try {
    tx.exec('savepoint cronce_call')
    try {
      return work()
    } catch (error) {
      if (tx.isTransaction) tx.exec('rollback to cronce_call')
      throw error
    } finally {
      if (tx.isTransaction) tx.exec('release cronce_call')
    }
  } catch (error) {
    throw translate(error, file, true)
  }
}
