import { epochOf } from '../../model/token.ts'
import { isOnTime } from '../../policy/plan/misfire.ts'
import type { Core } from '../core.ts'
import { leaseHolds } from '../fleet/trust.ts'
import type { Job, RunHandle } from '../parts.ts'
import type { ExclusiveRun } from './exclusive-run.ts'
import { type ExecutedRun, type GAVE_UP, NOT_STARTED } from './local-run.ts'
import type { NoteKeeper } from './notes.ts'
import { runHandle } from './run-handle.ts'
import { aboutRun } from './run-table.ts'
import type { Ended } from './settlement.ts'

/** Calls the handler of a run and waits for its end, unless the run may not start any more. Never rejects. */
export async function execute<Tx>(
  core: Core<Tx>,
  run: ExecutedRun,
  notes: NoteKeeper,
  exclusive: ExclusiveRun<Tx> | null,
): Promise<Ended> {
  await core.parts.sync('run:starting')
  const job = exclusive?.job ?? jobOf(core, run.started.record.job)
  if (job === undefined || !(await mayStart(core, run))) return NOT_STARTED
  if (run.started.isAhead && !(await startAtDueTime(core as Core, run))) return NOT_STARTED
  run.retryable = job.retryable
  watchTimeout(run)
  run.isExecuting = true
  const ended = await handlerEnd(run, job, runHandle(core, run, notes))
  // A handler may not wait for its own transaction, which settles the fire, or leaves that to us.
  if (run.transaction !== null) await unlessGivenUp(run, run.transaction)
  run.end()
  await core.parts.sync('run:returned')
  if (notes.has(run)) await notes.flush(run)
  return ended
}

function jobOf<Tx>({ parts, deploys: { renamedJobs } }: Core<Tx>, name: string): Job<Tx> | undefined {
  return parts.jobs.get(name) ?? parts.jobs.get(renamedJobs.get(name)?.job ?? name)
}

/** Asked right before the start: the claim's answer may have taken longer than the lease. */
async function mayStart<Tx>(core: Core<Tx>, run: ExecutedRun): Promise<boolean> {
  const isHeld = await leaseHolds(core)
  return isHeld && !core.stopping && core.fleet.instance === run.instance
}

/** Waits until a run that was claimed ahead is due. False: it must not start any more. */
async function startAtDueTime(core: Core, run: ExecutedRun): Promise<boolean> {
  const { readyAt, token } = run.started.record
  const { misfire } = run.started.policy
  do {
    await core.plannedStarts.reached(readyAt)
    await core.parts.sync('run:due')
    if (run.aborted !== null || !(await mayStart(core, run)) || epochOf(token) !== core.epochs.latest) return false
  } while (!core.plannedStarts.has(readyAt))
  const startedAt = Math.floor(core.time.atLeast()!)
  // The misfire policy judges a start that is later than the grace: the next look finds the fire waiting.
  if (!isOnTime(misfire, startedAt - readyAt)) return false
  run.startedAt = startedAt
  const lateness = { latenessMs: startedAt - readyAt, cause: null }
  if (core.parts.hears('run.started')) core.parts.emit({ type: 'run.started', ...aboutRun(run), ...lateness })
  return true
}

/** What `doing` resolves to, which never rejects, unless the run is given up before. */
function unlessGivenUp<Value>(run: ExecutedRun, doing: Promise<Value>): Promise<Value | typeof GAVE_UP> {
  return new Promise((resolve) => {
    run.onGiveUp(resolve)
    void doing.then(resolve)
  })
}

/** Whatever user code returns or throws becomes a value. */
function handlerEnd<Tx>(run: ExecutedRun, job: Job<Tx>, handle: RunHandle<Tx>): Promise<Ended> {
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

// Not awaited: sleeps never reject, and they end with the run.
function watchTimeout(run: ExecutedRun): void {
  const { runMs } = run.started.policy.timeout
  if (runMs === null) return
  void run.outlasts(runMs).then((isLate) => {
    if (isLate) run.abort('timeout', null)
  })
}
