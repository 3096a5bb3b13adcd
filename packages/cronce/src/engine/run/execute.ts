import { isPromise } from '../../model/is-promise.ts'
import type { Instant } from '../../model/schedule.ts'
import { epochOf } from '../../model/token.ts'
import { isOnTime } from '../../policy/plan/misfire.ts'
import type { Core } from '../core.ts'
import type { Job } from '../parts.ts'
import type { ExclusiveRun } from './exclusive-run.ts'
import { type ExecutedRun, NOT_STARTED } from './local-run.ts'
import type { NoteKeeper } from './notes.ts'
import { runHandle } from './run-handle.ts'
import { aboutRun } from './run-table.ts'
import type { Ended } from './settlement.ts'

/**
 * Calls the handler of a run, unless the run may not start any more, and `onEnd` once when it has ended. A run that has nothing to wait
 * for makes no promise besides its handler's.
 */
export function execute<Tx>(
  core: Core<Tx>,
  run: ExecutedRun,
  notes: NoteKeeper,
  exclusive: ExclusiveRun<Tx> | null,
  onEnd: (ended: Ended) => void,
): void {
  const start = (): void => {
    const readiness = readinessOf(core, run)
    if (isPromise(readiness)) {
      void readiness.then(start)
      return
    }
    const job = exclusive?.job ?? jobOf(core, run.started.record.job)
    if (readiness === 'never' || job === undefined) onEnd(NOT_STARTED)
    else callHandler(core, run, notes, job, onEnd)
  }
  const held = core.parts.sync('run:starting')
  if (held === undefined) start()
  else void held.then(start)
}

function jobOf<Tx>({ parts, deploys: { renamedJobs } }: Core<Tx>, name: string): Job<Tx> | undefined {
  return parts.jobs.get(name) ?? parts.jobs.get(renamedJobs.get(name)?.job ?? name)
}

/** `never`: it must not start any more. A promise: ask again when it resolves. */
type Readiness = 'now' | 'never' | PromiseLike<unknown>

/** Asked right before the start: the process may have stood still since the claim was sent, and peers may have declared it dead. */
function readinessOf<Tx>(core: Core<Tx>, run: ExecutedRun): Readiness {
  const { lease, plannedStarts, fleet } = core
  if (core.stopping || fleet.instance !== run.instance || run.aborted !== null || !lease.trusted()) return 'never'
  if (lease.jumped()) return core.confirm()
  if (run.started.isAhead === true) return readinessAhead(core, run)
  if (!lease.isFresh()) return plannedStarts.renew()
  return mayBeEarly(core, run) ? plannedStarts.reached(run.started.record.readyAt) : 'now'
}

/** The store's clock may have been set back since the claim. Locks and terms have no due time. */
function mayBeEarly<Tx>({ time }: Core<Tx>, { started, exclusive }: ExecutedRun): boolean {
  const known = time.atLeast()
  // The bound is up to half a millisecond lower than the answer to the claim. It is unknown after a failed call.
  return exclusive === null && (known === null || known + 1 < started.record.readyAt)
}

function readinessAhead<Tx>({ plannedStarts, epochs, time, parts }: Core<Tx>, run: ExecutedRun): Readiness {
  const { record, policy } = run.started
  const { readyAt, token } = record
  if (epochOf(token) !== epochs.latest) return 'never'
  if (!plannedStarts.has(readyAt)) return plannedStarts.reached(readyAt).then(() => parts.sync('run:due'))
  const startedAt = Math.floor(time.atLeast()!)
  // The misfire policy judges a start that is later than the grace: the next look finds the fire waiting.
  if (!isOnTime(policy.misfire, startedAt - readyAt)) return 'never'
  run.calledAt = startedAt
  const lateness = { latenessMs: startedAt - readyAt, cause: null }
  if (parts.hears('run.started')) parts.emit({ type: 'run.started', ...aboutRun(run), ...lateness })
  return 'now'
}

/** Any return value or error of user code becomes a value. */
function callHandler<Tx>(
  core: Core<Tx>,
  run: ExecutedRun,
  notes: NoteKeeper,
  job: Job<Tx>,
  onEnd: (ended: Ended) => void,
): void {
  run.retryable = job.retryable
  // A hand-back would end an at-most-once fire: a run that was started never starts again.
  run.waits = job.waits === true && run.started.policy.guarantee !== 'at-most-once'
  watchTimeout(run)
  let hasEnded = false
  const end = (ended: Ended): void => {
    // A handler that was given up may still return.
    if (hasEnded) return
    hasEnded = true
    afterHandler(core, run, notes, () => onEnd(ended))
  }
  run.onGiveUp(end)
  // It was given up before it started.
  if (hasEnded) return
  run.calledAt ??= core.time.estimate()
  measureStart(core, run, run.calledAt)
  let value: unknown
  try {
    value = job.execute(runHandle(core, run, notes))
  } catch (error) {
    end({ kind: 'threw', error })
    return
  }
  if (isPromise(value)) {
    value.then(
      (returned: unknown) => end({ kind: 'returned', value: returned }),
      (error: unknown) => end({ kind: 'threw', error }),
    )
  } else end({ kind: 'returned', value })
}

/** Locks, terms and keys have no due time that they could be late for. */
function measureStart<Tx>(
  { parts: { meters } }: Core<Tx>,
  { started, exclusive }: ExecutedRun,
  calledAt: Instant,
): void {
  if (meters.length === 0 || exclusive !== null) return
  const { job, startedAt, readyAt } = started.record
  // A run that was claimed ahead starts at its due time, so it was not claimed late.
  const claimLagMs = Math.max(0, startedAt - readyAt)
  const startLagMs = Math.max(claimLagMs, calledAt - readyAt)
  for (const meter of meters) meter.runStarted(job, claimLagMs, startLagMs)
}

/** Ends the run once its transaction has ended, and writes its last notes. */
function afterHandler<Tx>(core: Core<Tx>, run: ExecutedRun, notes: NoteKeeper, then: () => void): void {
  const over = (): void => {
    run.end()
    const held = core.parts.sync('run:returned')
    if (held === undefined && !notes.has(run)) then()
    else void flushNotes(run, notes, held).then(then)
  }
  // A handler may not await its own transaction, which settles the fire or leaves that to the engine.
  if (run.transaction === null) over()
  else void unlessGivenUp(run, run.transaction).then(over)
}

async function flushNotes(run: ExecutedRun, notes: NoteKeeper, held: Promise<void> | void): Promise<void> {
  await held
  if (notes.has(run)) await notes.flush(run)
}

/** Resolves when `doing` does, which never rejects, or earlier when the run is given up. */
function unlessGivenUp(run: ExecutedRun, doing: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    run.onGiveUp(() => resolve())
    void doing.then(resolve)
  })
}

// Not awaited: sleeps never reject, and they end with the run.
function watchTimeout(run: ExecutedRun): void {
  const { runMs } = run.started.policy.timeout
  if (runMs === null) return
  void run.outlasts(runMs).then((isLate) => {
    if (isLate) run.abort('timeout', null)
  })
}
