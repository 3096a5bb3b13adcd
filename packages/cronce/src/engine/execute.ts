import type { Clock } from '../clock.ts'
import { CronceError } from '../errors.ts'
import type { Json } from '../model/json.ts'
import { cut, LIMITS } from '../model/limits.ts'
import { type Ending, ending } from '../model/outcome.ts'
import type { StartedRun } from '../policy/decision.ts'
import type { Settlement } from '../policy/settle.ts'
import type { StoreInfo } from '../store/store.ts'
import type { Core } from './core.ts'
import { describeError } from './describe-error.ts'
import { handBackPauseMs } from './input-refused.ts'
import type { NoteKeeper } from './notes.ts'
import type { Job, RunHandle } from './parts.ts'
import { QUIETLY } from './quietly.ts'
import { runHandle } from './run-handle.ts'
import { type AbortReason, type AsideKind, aboutRun, type LocalRun } from './run-table.ts'
import type { Settler } from './settle.ts'
import { toJson } from './to-json.ts'
import { leaseHolds } from './trust.ts'

/** How a handler ended, as seen from here. `gave-up`: it ignored its signal, and may still be at it. */
type Ended =
  | { readonly kind: 'returned'; readonly value: unknown }
  | { readonly kind: 'threw'; readonly error: unknown }
  | typeof GAVE_UP

const GAVE_UP = { kind: 'gave-up' } as const

/** Whether its end is on record as its own. `stale`: it was overtaken. `lost`: nobody knows. */
export type Settled = Awaited<ReturnType<Settler['add']>>

/** A run that was not claimed because it was due: it takes none of the room that jobs have. */
export interface Aside<Tx> {
  readonly kind: AsideKind
  readonly job: Job<Tx>
}

/** The whole life of a run on this instance, from the applied claim to the acknowledged settlement. Never rejects. */
export async function execute<Tx>(
  core: Core<Tx>,
  started: StartedRun,
  settler: Settler,
  notes: NoteKeeper,
  aside: Aside<Tx> | null = null,
): Promise<Settled> {
  const run = new ExecutedRun(core.parts.clock, started, aside?.kind ?? null)
  const { schedule, token } = started.record
  const { slots = [] } = started.fire.run
  core.runs.add(run)
  // What the store has acknowledged is known, and so is when it is due again; else somebody must look.
  let isKnown = false
  let freesPlace = false
  let settled: Settled = 'lost'
  try {
    await core.parts.sync('run:starting')
    const name = started.record.job
    const job = aside?.job ?? core.parts.jobs.get(name) ?? core.parts.jobs.get(core.renamedJobs.get(name)?.job ?? name)
    // Right before it starts: the claim's answer may have taken longer than the lease.
    const isHeld = await leaseHolds(core)
    if (job === undefined || core.stopping || !isHeld || core.instance !== run.instance) {
      isKnown = (await settler.add(schedule, handBack(token, 'not-started'))) === 'settled'
      return settled
    }
    watchTimeout(run)
    const ended = await callHandler(run, job, runHandle(core, run, notes))
    // A handler that does not wait for its own transaction: that settles the fire, or leaves it to us.
    if (run.transaction !== null) await unlessGivenUp(run, run.transaction)
    run.end()
    await core.parts.sync('run:returned')
    if (notes.has(run)) await notes.flush(run)
    isKnown = run.committed
    if (run.committed) return 'settled'
    run.settling = true
    if (ended.kind === 'gave-up') tellOverran(core as Core, run)
    const settlement = handedBack(core as Core, run, ended) ?? settlementOf(run, ended, job.retryable)
    const wake = settlement.handBack !== null || wakesWaiters(aside?.kind ?? null, core.parts.store.info)
    // Before it ends: the look that follows is to see also those who waited for its place.
    freesPlace = slots.length > 0 && core.fullUntil.size > 0
    if (freesPlace) core.fullUntil.clear()
    settled = await settler.add(schedule, settlement, wake)
    isKnown = settled === 'settled'
    // A transaction that was given up may have been committed after all: then nobody overtook it.
    if (settled === 'stale' && !run.committed) tellFenced(core as Core, run)
    return settled
  } finally {
    run.end()
    core.runs.remove(run)
    core.known.released(schedule)
    freesPlace ||= slots.length > 0 && core.fullUntil.size > 0
    if (freesPlace) core.fullUntil.clear()
    if (!isKnown || freesPlace || core.leftSome) core.claimAlarm.ring()
  }
}

/** Candidates sleep until a term ends. Those who wait for a lock or a key ask again by themselves, so a wake-up only saves them time. */
function wakesWaiters(kind: AsideKind | null, { freeWakes = false }: StoreInfo): boolean {
  return kind === 'term' || (kind === 'section' && freeWakes)
}

/** What most runs end without is made when it is asked for: signals, waits. A class, since there are thousands a second. */
class ExecutedRun implements LocalRun {
  readonly started: StartedRun
  /** Not who we are by now: a claim may be answered after its claimant was declared dead. */
  readonly instance: string
  readonly begunAt: number
  readonly aside: AsideKind | null
  settling = false
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
  #tellers: ((gaveUp: typeof GAVE_UP) => void)[] | null = null

  constructor(clock: Clock, started: StartedRun, aside: AsideKind | null) {
    this.started = started
    this.aside = aside
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
    // Nobody awaits it: sleeps never reject. A run that has ended by then is given up without effect.
    void this.outlasts(this.started.policy.timeout.graceMs).then(() => this.giveUp())
  }

  giveUp(): void {
    this.#isGivenUp = true
    for (const tell of this.#tellers?.splice(0) ?? []) tell(GAVE_UP)
  }

  /** Call this when it is given up; at once, if it has been. */
  onGiveUp(tell: (gaveUp: typeof GAVE_UP) => void): void {
    if (this.#isGivenUp) tell(GAVE_UP)
    else if (this.#tellers === null) this.#tellers = [tell]
    else this.#tellers.push(tell)
  }

  /** Wait, but not longer than the handler takes. True: so long it took. */
  async outlasts(ms: number): Promise<boolean> {
    if (this.ended) return false
    this.#waiting ??= new AbortController()
    await this.#clock.sleep(ms, this.#waiting.signal)
    return !this.ended
  }

  /** The handler has ended: whatever waits for it need not. */
  end(): void {
    this.ended = true
    this.#waiting?.abort(QUIETLY)
  }
}

/** What this comes to, which never rejects, unless the run is given up before. */
function unlessGivenUp<Value>(run: ExecutedRun, doing: Promise<Value>): Promise<Value | typeof GAVE_UP> {
  return new Promise((resolve) => {
    run.onGiveUp(resolve)
    void doing.then(resolve)
  })
}

/** Anything that comes out of user code becomes a value. */
function callHandler<Tx>(run: ExecutedRun, job: Job<Tx>, handle: RunHandle<Tx>): Promise<Ended> {
  return new Promise((resolve) => {
    run.onGiveUp(resolve)
    try {
      job.execute(handle).then(
        (value) => resolve({ kind: 'returned', value }),
        (error: unknown) => resolve({ kind: 'threw', error }),
      )
    } catch (error) {
      resolve({ kind: 'threw', error })
    }
  })
}

const ABORTS: Record<AbortReason, readonly [code: string, message: string]> = {
  timeout: ['RUN_TIMEOUT', 'The run took longer than its timeout.'],
  'cancelled-by-operator': ['RUN_CANCELLED', 'An operator cancelled the run.'],
  replaced: ['RUN_REPLACED', 'A newer fire takes the place of this one.'],
  stopping: ['RUN_STOPPED', 'The instance stops; the fire will be run by another one.'],
  'lease-lost': ['LEASE_LOST', 'The lease can not be trusted any more: another instance may run this fire.'],
  fenced: ['RUN_FENCED', 'The run was overtaken: its token is no longer current.'],
}

function abortError(reason: AbortReason, detail: string | null): CronceError {
  const [code, message] = ABORTS[reason]
  return new CronceError(code, detail === null ? message : `${message} ${detail}`, {
    hint: 'Pass run.signal on, and stop when it is aborted.',
  })
}

// Not awaited by anybody: sleeps never reject, and they end with the run.
function watchTimeout(run: ExecutedRun): void {
  const { runMs } = run.started.policy.timeout
  if (runMs === null) return
  void run.outlasts(runMs).then((isLate) => {
    if (isLate) run.abort('timeout', null)
  })
}

function settlementOf(run: ExecutedRun, ended: Ended, retryable: (error: unknown) => boolean): Settlement {
  const { token } = run.started.record
  if (ended.kind === 'returned') {
    const { parkMs } = run
    if (parkMs !== null) {
      return { token, ending: ending('completed'), error: null, result: null, retryable: false, parkMs, handBack: null }
    }
    const result = toJson(ended.value, LIMITS.result)
    // An output, so it is cut with a mark rather than refused.
    const kept: Json = result.kind === 'json' ? result.json : `[cut: ${cut(result.problem, 200)}]`
    return { token, ending: ending('completed'), error: null, result: kept, retryable: false, handBack: null }
  }
  const error = ended.kind === 'threw' ? ended.error : run.signal.reason
  const record = describeError(error)
  switch (run.aborted?.reason) {
    case 'stopping':
    case 'lease-lost':
    case 'fenced':
      return { ...handBack(token, 'started'), error: record }
    case 'timeout':
      return {
        token,
        ending: ending('timeout', record.message),
        error: record,
        result: null,
        retryable: true,
        handBack: null,
      }
    case 'cancelled-by-operator':
    case 'replaced':
      // The request stands in the schedule; the decision finds it there.
      return {
        token,
        ending: ending('error', record.message),
        error: record,
        result: null,
        retryable: false,
        handBack: null,
      }
    case undefined: {
      const how = endingOf(record.code, record.message)
      const again = how.reason === 'error' && isRetryable(error, retryable)
      const settled = { token, ending: how, error: record, result: null, retryable: again, handBack: null }
      const retryAfterMs = again ? retryAfterOf(error) : null
      return retryAfterMs === null ? settled : { ...settled, retryAfterMs }
    }
  }
}

function endingOf(code: string | null, message: string): Ending {
  if (code === 'STEP_UNKNOWN') return ending('step-unknown', message)
  if (code === 'INPUT_INVALID') return ending('input-invalid', message)
  return ending('error', message)
}

/** Nobody is to wait longer for what somebody else wished for. */
const LONGEST_WISH_MS = 86_400_000

function retryAfterOf(error: unknown): number | null {
  try {
    const { retryAfterMs } = (error ?? {}) as { readonly retryAfterMs?: unknown }
    if (typeof retryAfterMs !== 'number' || !(retryAfterMs > 0)) return null
    return Math.min(LONGEST_WISH_MS, Math.ceil(retryAfterMs))
  } catch {
    // Whoever throws a proxy, or what computes its fields, has wished for nothing that could be read.
    return null
  }
}

function isRetryable(error: unknown, retryable: (error: unknown) => boolean): boolean {
  try {
    return retryable(error)
  } catch {
    // A filter that throws has not said no.
    return true
  }
}

/** A run whose handler was not called, because an instance of a newer deployment can read its input. `null`: it is none. */
function handedBack(core: Core, run: ExecutedRun, ended: Ended): Settlement | null {
  const { job, token, attempt } = run.started.record
  const retryAfterMs = ended.kind === 'threw' ? handBackPauseMs(core, job, attempt, ended.error) : null
  return retryAfterMs === null ? null : { ...handBack(token, 'not-started'), retryAfterMs }
}

function handBack(token: string, started: 'started' | 'not-started'): Settlement {
  return { token, ending: ending('handed-back'), error: null, result: null, retryable: false, handBack: started }
}

function tellOverran(core: Core, run: LocalRun): void {
  core.parts.emit({ type: 'run.overran', ...aboutRun(run) })
}

function tellFenced(core: Core, run: LocalRun): void {
  core.parts.emit({ type: 'run.fenced', refused: 'settle', ...aboutRun(run) })
}
