import type { Change } from '../../model/change.ts'
import type { ScheduleState } from '../../model/schedule.ts'
import { pauseAmong } from '../../policy/contention.ts'
import { findRun } from '../../store/list-views.ts'
import type { Core } from '../core.ts'
import { persist } from '../store-calls.ts'
import type { LocalRun } from './run-table.ts'

/** More rounds than peers could plausibly win in a row, or one transaction could keep the row locked. */
const ROUNDS = 50

/**
 * Finds out whether a transaction committed whose answer was lost. First it moves the schedule's version, so that the transaction
 * can no longer commit; then it reads. Throws if the engine is stopped before the store answers.
 */
export async function resolveTransaction(core: Core, run: LocalRun, error: unknown): Promise<boolean> {
  if ((error as { notApplied?: unknown } | null)?.notApplied === true) return false
  const { schedule, token } = run.started.record
  const giveUp = (): boolean => core.stopped.aborted
  for (let round = 0; round < ROUNDS; round++) {
    const pauseMs = pauseAmong(round, core.parts.random)
    if (pauseMs > 0) await core.parts.clock.pause(pauseMs)
    const { schedules, epoch } = await persist(
      core,
      'transaction (look)',
      () => core.parts.store.load([schedule]),
      giveUp,
    )
    const state = schedules[0]
    const isOpen = state?.open.some((fire) => fire.run?.token === token) === true
    if (!isOpen) return isSucceeded(core, run)
    const touch = () => core.parts.store.apply([unchanged(state, epoch)])
    const { results } = await persist(core, 'transaction (fence)', touch, giveUp)
    if (results[0]!.kind === 'applied') return false
  }
  return false
}

async function isSucceeded(core: Core, run: LocalRun): Promise<boolean> {
  const { record } = run.started
  const ask = () => findRun(core.parts.store, record, record.token)
  const found = await persist(core, 'transaction (look)', ask, () => core.stopped.aborted)
  return found?.ending?.outcome === 'succeeded'
}

/** The same state under a new version: nothing that was decided on the old version can be written any more. */
function unchanged(state: ScheduleState, epoch: number): Change {
  return {
    id: state.id,
    version: state.version,
    epoch,
    state: { ...state, version: state.version + 1 },
    notBefore: null,
    creates: [],
    reopens: [],
    history: [],
    rewrites: [],
    limits: [],
    trim: null,
  }
}
