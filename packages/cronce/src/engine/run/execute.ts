import type { StartedRun } from '../../policy/decision.ts'
import type { StoreInfo } from '../../store/store.ts'
import type { Core } from '../core.ts'
import { leaseHolds } from '../fleet/trust.ts'
import type { Job, RunHandle } from '../parts.ts'
import { ExecutedRun, type GAVE_UP } from './local-run.ts'
import type { NoteKeeper } from './notes.ts'
import { runHandle } from './run-handle.ts'
import { aboutRun, type ExclusiveKind } from './run-table.ts'
import type { Settler } from './settle.ts'
import { type Ended, handBack, settlementOf } from './settlement.ts'

/** Whether the run's end is on record as its own. `stale`: it was overtaken. `lost`: the outcome is unknown. */
export type Settled = Awaited<ReturnType<Settler['add']>>

/** A run that was not claimed because it was due: it takes none of the room that jobs have. */
export interface ExclusiveRun<Tx> {
  readonly kind: ExclusiveKind
  readonly job: Job<Tx>
}

/** The whole life of a run on this instance, from the applied claim to the acknowledged settlement. Never rejects. */
export async function execute<Tx>(
  core: Core<Tx>,
  started: StartedRun,
  settler: Settler,
  notes: NoteKeeper,
  exclusive: ExclusiveRun<Tx> | null = null,
): Promise<Settled> {
  const run = new ExecutedRun(core.parts.clock, started, exclusive?.kind ?? null)
  core.runs.add(run)
  try {
    await core.parts.sync('run:starting')
    const job = exclusive?.job ?? jobOf(core, started.record.job)
    if (job === undefined || !(await mayStart(core, run))) {
      const { schedule, token } = started.record
      run.isOnRecord = (await settler.add(schedule, handBack(token, 'not-started'))) === 'settled'
      return 'lost'
    }
    const ended = await callHandler(core, run, job, notes)
    return await settle(core, run, ended, job, settler)
  } finally {
    release(core, run)
  }
}

function jobOf<Tx>({ parts, deploys: { renamedJobs } }: Core<Tx>, name: string): Job<Tx> | undefined {
  return parts.jobs.get(name) ?? parts.jobs.get(renamedJobs.get(name)?.job ?? name)
}

/** Asked right before the start: the claim's answer may have taken longer than the lease. */
async function mayStart<Tx>(core: Core<Tx>, run: ExecutedRun): Promise<boolean> {
  const isHeld = await leaseHolds(core)
  return isHeld && !core.stopping && core.fleet.instance === run.instance
}

/** Calls the handler and waits for its end, and for that of a transaction that it did not wait for itself. */
async function callHandler<Tx>(core: Core<Tx>, run: ExecutedRun, job: Job<Tx>, notes: NoteKeeper): Promise<Ended> {
  watchTimeout(run)
  const ended = await handlerEnd(run, job, runHandle(core, run, notes))
  if (run.transaction !== null) await unlessGivenUp(run, run.transaction)
  run.end()
  await core.parts.sync('run:returned')
  if (notes.has(run)) await notes.flush(run)
  return ended
}

async function settle<Tx>(
  core: Core<Tx>,
  run: ExecutedRun,
  ended: Ended,
  job: Job<Tx>,
  settler: Settler,
): Promise<Settled> {
  run.isOnRecord = run.committed
  if (run.committed) return 'settled'
  run.settling = true
  if (ended.kind === 'gave-up') core.parts.emit({ type: 'run.overran', ...aboutRun(run) })
  const settlement = settlementOf(core as Core, run, ended, job.retryable)
  const wake = settlement.handBack !== null || wakesWaiters(run.exclusive, core.parts.store.info)
  // Before the run ends, so that the look that follows also sees the jobs that wait for its place.
  freePlaces(core, run)
  const settled = await settler.add(run.started.record.schedule, settlement, wake)
  run.isOnRecord = settled === 'settled'
  // A transaction that was given up may have been committed after all: then the run was not overtaken.
  if (settled === 'stale' && !run.committed)
    core.parts.emit({ type: 'run.fenced', refused: 'settle', ...aboutRun(run) })
  return settled
}

function release<Tx>(core: Core<Tx>, run: ExecutedRun): void {
  run.end()
  core.runs.remove(run)
  core.known.released(run.started.record.schedule)
  freePlaces(core, run)
  if (!run.isOnRecord || run.freesPlace || core.leftSome) core.claimAlarm.ring()
}

/** The run counts against a fleet-wide limit: jobs that met a limit that was used up may have a place now. */
function freePlaces<Tx>({ fullLimits }: Core<Tx>, run: ExecutedRun): void {
  if (fullLimits.size === 0 || (run.started.fire.run.slots ?? []).length === 0) return
  run.freesPlace = true
  fullLimits.clear()
}

/** Candidates sleep until a term ends. Callers that wait for a lock or a key ask again by themselves: a wake-up only saves them time. */
function wakesWaiters(kind: ExclusiveKind | null, { freeWakes = false }: StoreInfo): boolean {
  return kind === 'term' || (kind === 'section' && freeWakes)
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
