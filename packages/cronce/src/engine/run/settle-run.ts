import type { StoreInfo } from '../../store/store.ts'
import type { Core } from '../core.ts'
import { describeError } from '../describe-error.ts'
import type { ExecutedRun } from './local-run.ts'
import { aboutRun, type ExclusiveKind } from './run-table.ts'
import type { Settled, Settler } from './settle.ts'
import { type Ended, settlementOf } from './settlement.ts'

/** Records how a run ended, unless its own transaction has. Calls `onSettled` when the store has acknowledged it. */
export function settleRun<Tx>(
  core: Core<Tx>,
  run: ExecutedRun,
  ended: Ended,
  settler: Settler,
  onSettled: (settled: Settled) => void,
): void {
  run.isOnRecord = run.committed
  if (run.committed) {
    if (ended.kind === 'threw') reportLateFailure(core, run, ended.error)
    onSettled('settled')
    return
  }
  if (ended.kind === 'returned') warnWithoutTransaction(core, run)
  run.settling = ended.kind !== 'not-started'
  if (ended.kind === 'gave-up') core.parts.emit({ type: 'run.overran', ...aboutRun(run) })
  const settlement = settlementOf(core as Core, run, ended)
  const wake = settlement.handBack !== null || wakesWaiters(run.exclusive, core.parts.store.info)
  const isUrgent = wake || run.exclusive !== null || isDueSoon(core, run)
  const conclude = (settled: Settled): void => {
    run.isOnRecord = settled === 'settled'
    // A transaction that was given up may have been committed after all: then the run was not overtaken.
    const isFenced = settled === 'stale' && !run.committed && ended.kind !== 'not-started'
    if (isFenced) core.parts.emit({ type: 'run.fenced', refused: 'settle', ...aboutRun(run) })
    onSettled(settled)
  }
  settler.add(run.started.record.schedule, settlement, wake, conclude, isUrgent)
}

/** Whether the next fire could be claimed while this end is gathered: `overlap` would find a run in the way that is over. */
function isDueSoon<Tx>({ settings, known, time }: Core<Tx>, { started }: ExecutedRun): boolean {
  const { settleDelayMs, claimAheadMs } = settings
  const nextAt = settleDelayMs === 0 ? null : (known.find(started.record.schedule)?.state.nextAt ?? null)
  return nextAt !== null && time.until(nextAt) <= settleDelayMs + claimAheadMs
}

/** The fire has succeeded with the run's transaction, so this error is in no record. */
function reportLateFailure<Tx>(core: Core<Tx>, run: ExecutedRun, error: unknown): void {
  core.parts.emit({ type: 'run.failedLate', ...aboutRun(run), error: describeError(error) })
}

/** Once for each job: without a transaction, exactly-once repeats what the handler wrote before a crash. */
function warnWithoutTransaction<Tx>({ parts, untransacted }: Core<Tx>, run: ExecutedRun): void {
  const { record, policy } = run.started
  if (policy.guarantee !== 'exactly-once' || untransacted.has(record.job)) return
  untransacted.add(record.job)
  parts.emit({ type: 'run.untransacted', ...aboutRun(run) })
}

/** The run is no longer this instance's. */
export function release<Tx>(core: Core<Tx>, run: ExecutedRun): void {
  run.end()
  core.runs.remove(run)
  core.known.released(run.started.record.schedule)
  // A limit that was used up has a free slot: schedules may wait for it.
  const freesPlace = core.fullLimits.free(run.started.fire.run.slots ?? [])
  if (!run.isOnRecord || freesPlace || core.leftSome) core.claimAlarm.ring()
}

/**
 * Candidates sleep until a term ends. Callers that wait for a lock or a key also ask by themselves; a wake-up only saves them
 * time.
 */
function wakesWaiters(kind: ExclusiveKind | null, { freeWakes = false }: StoreInfo): boolean {
  return kind === 'term' || (kind === 'section' && freeWakes)
}
