import { type FSWatcher, type Stats, unwatchFile, watch, watchFile, writeFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import type { WatchHint } from '../store.ts'
import { createFile } from './file-mode.ts'

/** Where the system can't report changes, each process polls this often. */
const POLL_MS = 1_000

/** Lets one process wake the others: it writes a file that they watch. Only a hint. Watching does not keep the process alive. */
export class WakeUp {
  readonly #file: string
  readonly #mode: number
  readonly #listeners = new Set<() => void>()
  #watcher: FSWatcher | null = null
  #polling = false
  #rings = 0

  constructor(file: string, mode: number) {
    this.#file = file
    this.#mode = mode
  }

  /** Wake all watchers, in this process and in others. */
  ring(): void {
    try {
      if (this.#rings === 0) createFile(this.#file, this.#mode)
      writeFileSync(this.#file, `${process.pid}.${++this.#rings}\n`)
    } catch {
      // A full disk, for example. Peers look by themselves when something is due.
    }
    this.tellAll()
  }

  /** Wake the watchers of this process, in a separate turn: an error of a listener must not surface in another caller's write. */
  tellAll(): void {
    setImmediate(() => {
      for (const listener of this.#listeners) {
        try {
          listener()
        } catch {
          // The listener was called nevertheless, and an error here must not end the process.
        }
      }
    })
  }

  watch(listener: (hint: WatchHint) => void): () => void {
    // The same function may be passed twice.
    const own = () => listener('wake')
    this.#listeners.add(own)
    this.#start()
    return () => {
      this.#listeners.delete(own)
      if (this.#listeners.size === 0) this.close()
    }
  }

  close(): void {
    this.#listeners.clear()
    this.#watcher?.close()
    this.#watcher = null
    if (this.#polling) unwatchFile(this.#file, this.#onPoll)
    this.#polling = false
  }

  #start(): void {
    if (this.#watcher !== null || this.#polling) return
    try {
      // The folder, since the file need not exist yet.
      this.#watcher = watch(dirname(this.#file), { persistent: false })
      this.#watcher.on('change', (_, name) => {
        if (name === null || name === basename(this.#file)) this.tellAll()
      })
      this.#watcher.on('error', () => this.#poll())
    } catch {
      this.#poll()
    }
  }

  #poll(): void {
    this.#watcher?.close()
    this.#watcher = null
    if (this.#polling || this.#listeners.size === 0) return
    this.#polling = true
    watchFile(this.#file, { persistent: false, interval: POLL_MS }, this.#onPoll)
  }

  readonly #onPoll = (now: Stats, before: Stats): void => {
    if (now.mtimeMs !== before.mtimeMs) this.tellAll()
  }
}
