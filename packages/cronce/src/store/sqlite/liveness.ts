import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import type { Driver } from './driver.ts'
import { createFile, createFolder } from './file-mode.ts'
import { whileBusy } from './retry.ts'

const SUFFIX = '.lock'

/** A process that probes holds the lock briefly. */
const HOLD_PATIENCE_MS = 1_000

/**
 * Tells whether the process of an instance still lives: it keeps a lock on a file of its own, which the system releases with
 * the process, however that ends. Process ids would not do, since every container counts its own. Node can't lock files, so
 * the file is an empty SQLite database, and the lock is that of a transaction that never ends.
 *
 * Such a file must never be opened by other means: a process that closes it loses all locks that it has on it.
 */
export class Liveness {
  readonly #driver: Driver
  readonly #folder: string
  readonly #mode: number
  readonly #namespace: string
  readonly #held = new Map<string, DatabaseSync>()

  /** `mode`: of the lock files. */
  constructor(driver: Driver, folder: string, mode: number, namespace: string) {
    this.#driver = driver
    this.#folder = folder
    this.#mode = mode
    this.#namespace = namespace
  }

  /** Hold the lock of this instance. Harmless if it is held already. */
  async hold(instance: string): Promise<void> {
    if (this.#held.has(instance)) return
    const file = this.#fileOf(instance)
    await createFolder(this.#folder, this.#mode)
    // A peer that sweeps may delete a file that is not locked yet; then there is none at its path any more.
    for (let tries = 0; tries < 10; tries++) {
      createFile(file, this.#mode)
      const db = await whileBusy(() => lock(this.#driver, file), HOLD_PATIENCE_MS)
      if (existsSync(file)) {
        this.#held.set(instance, db)
        return
      }
      db.close()
    }
    throw new Error(`${file} was removed again and again`)
  }

  /** Release it, and delete the file. */
  async release(instance: string): Promise<void> {
    const db = this.#held.get(instance)
    if (db === undefined) return
    this.#held.delete(instance)
    await rm(this.#fileOf(instance), { force: true }).catch(() => {})
    db.close()
  }

  /** Release all. The files stay: an instance that ends without leaving must be found dead, as if its process had ended. */
  close(): void {
    for (const db of this.#held.values()) db.close()
    this.#held.clear()
  }

  /** The instances whose process is gone: the file exists, and its lock is free. A missing file proves nothing. */
  probe(instances: readonly string[]): string[] {
    return instances.filter((instance) => {
      if (this.#held.has(instance)) return false
      const db = this.#take(this.#fileOf(instance))
      db?.close()
      return db !== null
    })
  }

  /** Delete the file of an ended instance. If its process lives, it does so itself when it learns of it. */
  async remove(instance: string): Promise<void> {
    if (!this.#held.has(instance)) await this.#removeFree(this.#fileOf(instance))
  }

  /** Delete the files of dead processes, except those of these instances, which are still to be probed. */
  async sweep(keep: readonly string[]): Promise<void> {
    const kept = new Set(keep.map((instance) => this.#nameOf(instance)))
    const names = await readdir(this.#folder).catch(() => [])
    for (const name of names) {
      if (!name.startsWith(this.#prefix) || !name.endsWith(SUFFIX) || kept.has(name)) continue
      await this.#removeFree(join(this.#folder, name))
    }
  }

  async #removeFree(file: string): Promise<void> {
    const db = this.#take(file)
    if (db === null) return
    // While it is locked: a process that waits for the lock finds the file gone, and creates another.
    await rm(file, { force: true }).catch(() => {})
    db.close()
  }

  #take(file: string): DatabaseSync | null {
    if (!existsSync(file)) return null
    // Only if it still exists: a file that is created here would mean that a live process is gone.
    const url = pathToFileURL(file)
    url.search = '?mode=rw'
    try {
      return lock(this.#driver, url)
    } catch {
      return null
    }
  }

  #fileOf(instance: string): string {
    return join(this.#folder, this.#nameOf(instance))
  }

  // Ids and namespaces may contain characters that file names can't.
  #nameOf(instance: string): string {
    return `${this.#prefix}${hash(instance)}${SUFFIX}`
  }

  get #prefix(): string {
    return `${hash(this.#namespace)}-`
  }
}

function lock(driver: Driver, file: string | URL): DatabaseSync {
  const db = new driver.DatabaseSync(file, { timeout: 0 })
  try {
    // Nothing is ever written: no journal is needed, and a killed process leaves none behind.
    db.exec('pragma journal_mode = memory; begin exclusive')
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

export function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 24)
}
