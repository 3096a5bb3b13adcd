import type { RunHandle, RunLease } from '../engine/parts.ts'
import { capacityOf } from '../policy/plan/overlap.ts'
import { idempotencyKey } from '../run/idempotency-key.ts'
import { onceOf } from '../run/once-of.ts'
import type { Fire, Previous, Run, RunLog } from '../run/run.ts'

export function createRun<Tx>(handle: RunHandle<Tx>, input: unknown, namespace: string): Run<unknown, Tx> {
  return new HandledRun(handle, input, namespace)
}

/**
 * A class because of its getters: most handlers read little of it, and creating all of it for every run would cost more than they
 * do.
 */
class HandledRun<Tx> implements Run<unknown, Tx> {
  readonly fire: Fire<unknown>
  /** For targets, see `TargetRun`. */
  readonly namespace: string
  readonly #handle: RunHandle<Tx>
  #log: RunLog | undefined
  // Bound functions, so that a handler may destructure them.
  #once: Run<unknown, Tx>['once'] | undefined
  #idempotencyKey: Run['idempotencyKey'] | undefined
  #progress: Run['progress'] | undefined
  #transaction: Run<unknown, Tx>['transaction'] | undefined

  constructor(handle: RunHandle<Tx>, input: unknown, namespace: string) {
    const { record, kind } = handle.started
    const { schedule, job, dueAt, nonce } = record
    this.fire = { schedule, job, dueAt, nonce, kind, input }
    this.namespace = namespace
    this.#handle = handle
  }

  get attempt(): number {
    return this.#handle.started.record.attempt
  }

  get token(): bigint {
    return BigInt(this.#handle.started.record.token)
  }

  get instance(): string {
    return this.#handle.started.record.instance
  }

  get previous(): Previous {
    const { previous } = this.#handle.started
    const { succeededDueAt } = previous
    return { ...previous, sinceSuccessMs: succeededDueAt === null ? null : this.fire.dueAt - succeededDueAt }
  }

  get once(): Run<unknown, Tx>['once'] {
    const handle = this.#handle
    this.#once ??= (step, work, options) => onceOf(handle, step, work, (entered) => handle.once(step, entered, options))
    return this.#once
  }

  get idempotencyKey(): Run['idempotencyKey'] {
    const { schedule, dueAt, nonce } = this.fire
    this.#idempotencyKey ??= (step = '') => idempotencyKey([this.namespace, schedule, dueAt, nonce, step])
    return this.#idempotencyKey
  }

  get progress(): Run['progress'] {
    this.#progress ??= (fraction, message) => this.#handle.progress(fraction, message ?? null)
    return this.#progress
  }

  get transaction(): Run<unknown, Tx>['transaction'] {
    this.#transaction ??= <Value>(work: (tx: Tx) => Value) =>
      this.#handle.transaction(work as (tx: Tx) => Awaited<Value> | Promise<Awaited<Value>>)
    return this.#transaction
  }

  get graceMs(): number {
    return this.#handle.started.policy.timeout.graceMs
  }

  get isSingle(): boolean {
    return capacityOf(this.#handle.started.policy.overlap) === 1
  }

  get lease(): RunLease {
    return this.#handle.lease
  }

  get signal(): AbortSignal {
    return this.#handle.signal
  }

  get log(): RunLog {
    this.#log ??= runLog(this.#handle)
    return this.#log
  }
}

function runLog<Tx>(handle: RunHandle<Tx>): RunLog {
  return Object.assign((message: string) => handle.log('info', String(message)), {
    debug: (message: string) => handle.log('debug', String(message)),
    info: (message: string) => handle.log('info', String(message)),
    warn: (message: string) => handle.log('warn', String(message)),
    error: (message: string) => handle.log('error', String(message)),
  })
}
