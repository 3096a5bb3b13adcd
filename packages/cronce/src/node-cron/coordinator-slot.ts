import type { RunHandle } from '../engine/parts.ts'
import { CronceError } from '../errors.ts'
import type { SlotKey } from './coordinator-key.ts'

/** A slot that this process runs. */
export interface Slot extends SlotKey {
  /** Higher than that of every slot of the task that was claimed before: for resources that can refuse older ones. */
  readonly token: bigint
  /** Aborted when others may run the next slot although this one has not ended, or when the app stops. */
  readonly signal: AbortSignal
}

/** From when it was granted until it is on record how it ended. */
export class OpenSlot implements Slot {
  readonly name: string
  readonly dueAt: number
  readonly token: bigint
  /** What it came to. Rejects with what `fail` was told. */
  readonly ended: Promise<void>
  readonly #handle: RunHandle
  readonly #resolvers = Promise.withResolvers<void>()
  #error: { readonly thrown: unknown } | null = null

  constructor({ name, dueAt }: SlotKey, handle: RunHandle) {
    this.name = name
    this.dueAt = dueAt
    this.token = BigInt(handle.started.record.token)
    this.#handle = handle
    this.ended = this.#resolvers.promise
  }

  get signal(): AbortSignal {
    return this.#handle.signal
  }

  /** The task threw; node-cron will say that it is complete all the same. */
  fail(error: unknown): void {
    this.#error = { thrown: error }
  }

  complete(): void {
    if (this.#error === null) this.#resolvers.resolve()
    else this.#resolvers.reject(this.#error.thrown)
  }

  /** No call will say that it is complete. */
  giveUp(error: unknown): void {
    this.#resolvers.reject(error)
  }
}

export function outlasted({ name, dueAt }: SlotKey, longestMs: number): CronceError {
  const slot = new Date(dueAt).toISOString()
  return new CronceError('RUN_TIMEOUT', `${name} of ${slot} was not reported as complete within ${longestMs} ms.`, {
    hint: 'Raise longest if the task takes so long; a task that is stopped in its random delay never ends.',
  })
}
