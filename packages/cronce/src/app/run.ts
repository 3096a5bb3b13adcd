import type { RunHandle, RunLease, StepOptions } from '../engine/parts.ts'
import { CronceError } from '../errors.ts'
import type { Jsonified, ReturnsJson } from '../model/json.ts'
import type { FireKind, Instant } from '../model/schedule.ts'
import { capacityOf } from '../policy/plan/overlap.ts'
import { enter, isWithin } from './call-chain.ts'
import { idempotencyKey } from './identity.ts'

/** What a handler gets. */
export interface Run<Input = unknown, Tx = unknown> {
  readonly fire: Fire<Input>
  /** 1 for the first run of the fire. */
  readonly attempt: number
  /** The fencing token: higher than that of every earlier run of the schedule. For resources that can check it. */
  readonly token: bigint
  /** Aborted on timeout, cancel, replace, when the instance stops, and when the lease can't be trusted any more. */
  readonly signal: AbortSignal
  readonly instance: string
  /** Of the schedule, before this fire: for work that goes on where the last one ended. */
  readonly previous: Previous
  /**
   * A durable step: `work` is called by one run of the fire, and its result kept; later runs get that and do not call it.
   * If an earlier run began it and nobody knows how it ended, it throws STEP_UNKNOWN, unless `rerun` allows it again.
   * The result is stored as JSON. One that JSON would change (a Date, a Map, an Error) is refused: STEP_RESULT_INVALID.
   */
  once<Value>(
    step: string,
    work: (() => Value | Promise<Value>) & ReturnsJson<Value>,
    options?: StepOptions,
  ): Promise<Jsonified<Value>>
  /** Stable for the fire, whatever attempt asks; for payment gateways and others that take one. */
  idempotencyKey(step?: string): string
  /** 0 to 1. Kept with the run, written at most once a second. */
  progress(fraction: number, message?: string): void
  /** Kept with the run, up to 64 KB. */
  readonly log: RunLog
  /** Work in a transaction of the store's own database, which also settles the fire: both happen or neither. Once per run. */
  transaction<Value>(work: (tx: Tx) => Value | Promise<Value>): Promise<Value>
}

export interface Fire<Input> {
  readonly schedule: string
  readonly job: string
  /** The instant it stands for, in epoch milliseconds, however late it runs. */
  readonly dueAt: Instant
  /** Empty, but for fires that somebody triggered. */
  readonly nonce: string
  readonly kind: FireKind
  readonly input: Input
}

export interface Previous {
  /** Of the last fire that ended, and of the last that succeeded; `null`: there was none. */
  readonly dueAt: Instant | null
  readonly succeededDueAt: Instant | null
  readonly succeededAt: Instant | null
  /** From the last success's dueAt to this one's. */
  readonly sinceSuccessMs: number | null
}

export interface RunLog {
  (message: string): void
  debug(message: string): void
  info(message: string): void
  warn(message: string): void
  error(message: string): void
}

/**
 * Call `begin` with work that knows which step it is part of. `run`: whose step it is. A step within itself is rejected, since it
 * would wait for itself.
 */
export async function onceOf<Value>(
  run: object,
  step: string,
  work: () => Value | Promise<Value>,
  begin: (work: () => Promise<Value>) => Promise<unknown>,
): Promise<Jsonified<Value>> {
  if (isWithin(run, step)) {
    throw new CronceError('STEP_NESTED', `Step '${step}' was called within its own work, and would wait for itself.`, {
      hint: 'Give the inner step another name, or call the inner function directly.',
    })
  }
  // What `begin` stores as JSON is what it resolves to.
  return (await begin(() => enter(run, step, work))) as Jsonified<Value>
}

export function createRun<Tx>(handle: RunHandle<Tx>, input: unknown, namespace: string): Run<unknown, Tx> {
  return new HandledRun(handle, input, namespace)
}

/** A class for the sake of its getters: most handlers ask for little of this, and what is made for every run costs more than they do. */
class HandledRun<Tx> implements Run<unknown, Tx> {
  readonly fire: Fire<unknown>
  /** For targets, see `TargetRun`. */
  readonly namespace: string
  readonly #handle: RunHandle<Tx>
  #log: RunLog | undefined
  // Functions of their own, so that a handler may take them out of the run.
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
    this.#transaction ??= (work) => this.#handle.transaction(work)
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
