import type { Clock } from '../../clock.ts'
import type { ErrorCode } from '../../errors.ts'
import { CronceError } from '../../errors.ts'
import type { Instant } from '../../model/schedule.ts'
import type { StartedRun } from '../../policy/decision.ts'
import { WAIT_ENDED } from '../wait-ended.ts'
import type { AbortReason, ExclusiveKind, LocalRun } from './run-table.ts'

/** The handler ignored its signal, and may still be working. */
export const GAVE_UP = { kind: 'gave-up' } as const

/** The handler was not called. */
export const NOT_STARTED = { kind: 'not-started' } as const

function always(): boolean {
  return true
}

/** A run on this instance. Its signal and waits are created on first use, because most runs end without them. */
export class ExecutedRun implements LocalRun {
  readonly started: StartedRun
  /** The claimant. This instance may have another id by now: a claim may be answered after its claimant was declared dead. */
  readonly instance: string
  readonly begunAt: number
  readonly exclusive: ExclusiveKind | null
  settling = false
  calledAt: Instant | undefined = undefined
  /** The store has acknowledged its end, so the next due time of the schedule is known. */
  isOnRecord = false
  /** Whether an error of its handler is retried. */
  retryable: (error: unknown) => boolean = always
  waits = false
  doing: Set<string> | null = null
  transaction: Promise<void> | null = null
  committed = false
  parkMs: number | null = null
  ended = false
  aborted: { readonly reason: AbortReason; readonly detail: string | null } | null = null
  readonly #clock: Clock
  #controller: AbortController | null = null
  #waiting: AbortController | null = null
  #isGivenUp = false
  #onGiveUp: ((gaveUp: typeof GAVE_UP) => void) | null = null

  constructor(clock: Clock, started: StartedRun, exclusive: ExclusiveKind | null) {
    this.started = started
    this.exclusive = exclusive
    this.instance = started.record.instance
    this.begunAt = clock.mono()
    this.#clock = clock
  }

  get signal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController()
      if (this.aborted !== null) this.#controller.abort(abortError(this.aborted.reason, this.aborted.detail))
    }
    return this.#controller.signal
  }

  abort(reason: AbortReason, detail: string | null): void {
    if (this.aborted !== null) return
    this.aborted = { reason, detail }
    this.#controller?.abort(abortError(reason, detail))
    // Not awaited: sleeps never reject. Giving up a run that has ended by then has no effect.
    void this.outlasts(this.started.policy.timeout.graceMs).then(() => this.giveUp())
  }

  giveUp(): void {
    this.#isGivenUp = true
    this.#onGiveUp?.(GAVE_UP)
  }

  /** Calls `tell` when the run is given up; at once, if it already is. Only the last `tell` is called. */
  onGiveUp(tell: (gaveUp: typeof GAVE_UP) => void): void {
    if (this.#isGivenUp) tell(GAVE_UP)
    else this.#onGiveUp = tell
  }

  /** Waits, but not longer than the handler takes. True: the handler has not ended. */
  async outlasts(ms: number): Promise<boolean> {
    if (this.ended) return false
    this.#waiting ??= new AbortController()
    await this.#clock.sleep(ms, this.#waiting.signal)
    return !this.ended
  }

  /** The handler has ended: ends all waits. */
  end(): void {
    this.ended = true
    this.#waiting?.abort(WAIT_ENDED)
  }
}

const ABORTS: Record<AbortReason, readonly [code: ErrorCode, message: string]> = {
  timeout: ['RUN_TIMEOUT', 'The run took longer than its timeout.'],
  'cancelled-by-operator': ['RUN_CANCELLED', 'An operator cancelled the run.'],
  replaced: ['RUN_REPLACED', 'A newer fire replaces this one.'],
  stopping: ['RUN_STOPPED', 'The instance stops; the fire will be run by another one.'],
  'lease-lost': ['LEASE_LOST', 'The lease can no longer be trusted: another instance may run this fire.'],
  fenced: ['RUN_FENCED', 'The run was overtaken: its token is no longer current.'],
}

function abortError(reason: AbortReason, detail: string | null): CronceError {
  const [code, message] = ABORTS[reason]
  return new CronceError(code, detail === null ? message : `${message} ${detail}`, {
    hint: 'Pass run.signal on, and stop when it is aborted.',
  })
}
