import { statSync } from 'node:fs'
import { realpath } from 'node:fs/promises'
import type { DatabaseSync } from 'node:sqlite'
import type { OpenOptions } from '../store.ts'
import { StoreError } from '../store-error.ts'
import { type Driver, loadDriver, statement } from './driver.ts'
import { translate } from './errors.ts'
import { createFile, createFolder } from './file-mode.ts'
import type { Host } from './host.ts'
import { identify, settleIdentity } from './identity.ts'
import { LOG_BYTES } from './log.ts'
import { migrate } from './migrations.ts'
import { placeOf } from './place.ts'
import { whileBusy } from './retry.ts'
import { rollback } from './writer.ts'

/** Two processes may create the file at once, and the first process recovers a large log. */
const OPEN_PATIENCE_MS = 15_000

export interface OpenedFile {
  readonly driver: Driver
  readonly db: DatabaseSync
  /** The real path. */
  readonly file: string
  /** The folder of locks and signals, beside the file. */
  readonly folder: string
  /** The mode of the files in that folder. */
  readonly mode: number
  readonly epoch: number
  /** The identity from `fileId`. */
  readonly id: string
  /** The identity of its log, which exists as long as a process has the file open. */
  readonly logId: string
}

export interface FileOptions {
  readonly file: string
  readonly ephemeral: boolean
  readonly mode: number
}

export async function openFile(
  { file: path, ephemeral, mode }: FileOptions,
  host: Host,
  options: OpenOptions,
): Promise<OpenedFile> {
  const driver = await loadDriver()
  const place = await placeOf(path, ephemeral, host, options)
  let db: DatabaseSync | undefined
  try {
    createFile(place, mode)
    db = await whileBusy(() => connect(driver, place), OPEN_PATIENCE_MS)
    // A dangling link now leads to the file that was created.
    const file = await realpath(place)
    const epoch = await prepare(db, file, host, options)
    const folder = `${file}-cronce`
    await createFolder(folder, mode)
    return { driver, db, file, folder, mode, epoch, id: fileId(file), logId: fileId(logOf(file)) }
  } catch (error) {
    db?.close()
    throw translate(error, place, true)
  }
}

/** A connection that never waits for a lock by itself, and whose commits survive a power failure. */
export function connect(driver: Driver, file: string): DatabaseSync {
  const db = new driver.DatabaseSync(file, { timeout: 0 })
  try {
    const mode = statement(db, 'pragma journal_mode = wal').get()?.journal_mode
    if (mode !== 'wal') {
      throw new StoreError('STORE_NO_LOG', `${file} can't have a write-ahead log where it is.`, {
        hint: 'Put the file on a local disk.',
      })
    }
    // A large batch alone fills a thousand pages, SQLite's default, and would move the log into the file at every commit.
    db.exec('pragma wal_autocheckpoint = 4000')
    // The log is truncated after it was long once, or a busy hour would keep its size forever.
    db.exec(`pragma synchronous = full; pragma journal_size_limit = ${LOG_BYTES}; pragma cache_size = -16384`)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/** What the path leads to now: it may be another file. */
export function fileId(file: string): string {
  const { dev, ino } = statSync(file, { bigint: true })
  return `${dev}:${ino}`
}

function logOf(file: string): string {
  return `${file}-wal`
}

/**
 * No other process sees writes to an unlinked file: they would do everything again. The same holds for its log, which other
 * processes remove when they close the file if the locks of this process were lost. Reading the file by other means than SQLite,
 * for example to copy it, is enough for that.
 */
export function requireSameFile({ file, id, logId }: Pick<OpenedFile, 'file' | 'id' | 'logId'>): void {
  let isSame = false
  try {
    isSame = fileId(file) === id && fileId(logOf(file)) === logId
  } catch {
    // The file is gone.
  }
  if (isSame) return
  throw new StoreError('STORE_REPLACED', `${file} or its log was removed or replaced while it was in use.`, {
    hint: 'Restart all instances: others may use another file of this name. Copy a store with VACUUM INTO only.',
  })
}

/** Bring the tables up to date and check the identity of the file, in one transaction. Returns the epoch. */
async function prepare(db: DatabaseSync, file: string, host: Host, options: OpenOptions): Promise<number> {
  const identity = await identify(file)
  return whileBusy(() => {
    db.exec('begin immediate')
    try {
      migrate(db, file)
      const epoch = settleIdentity(db, file, identity, host, { ...options, now: host.wall() })
      db.exec('commit')
      return epoch
    } catch (error) {
      rollback(db)
      throw error
    }
  }, OPEN_PATIENCE_MS)
}
