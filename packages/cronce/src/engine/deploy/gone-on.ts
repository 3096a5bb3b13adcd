import type { ScheduleState } from '../../model/schedule.ts'
import { hasContinued, isOldName } from '../../policy/deploy/continue-job.ts'
import { holderOf } from '../../policy/deploy/job-names.ts'
import { markOf } from '../../policy/plan/series.ts'
import { listFires } from '../../store/list-views.ts'
import type { Core } from '../core.ts'
import { callStore } from '../store-calls.ts'
import { isOf } from './declarations.ts'
import { nextName } from './other-names.ts'

/**
 * Whether the rename of a schedule stopped half-way: no schedule has continued its job. `schedules`: what exists, under the next name as
 * well. Throws when the store does.
 */
export async function isHalfRenamed(
  core: Core,
  state: ScheduleState,
  schedules: readonly ScheduleState[],
): Promise<boolean> {
  if (!isOldName(state)) return false
  const next = findNext(state, schedules)
  // The job may have had the next name before.
  if (next !== undefined) return holderOf([state, next]) === state
  return !(await hasGoneOn(core, state, schedules))
}

/**
 * Whether the job of an old name went on under its next name, which its app no longer has: another app took it, or it was removed then.
 * `schedules`: as above. Throws when the store does.
 */
export async function hasGoneOn(core: Core, old: ScheduleState, schedules: readonly ScheduleState[]): Promise<boolean> {
  const name = nextName(old)
  if (name === undefined || findNext(old, schedules) !== undefined) return false
  const next = schedules.find(({ id }) => id === name)
  if (next !== undefined && hasContinued(next, old)) return true
  // What a removed schedule has planned is on record. What a later schedule of the name has planned says nothing.
  const from = markOf(old) + 1
  const to = next?.createdAt
  if (to !== undefined && to <= from) return false
  const query = { schedule: name, nonce: '', from, ...(to === undefined ? {} : { to }), after: null, limit: 1 }
  const { items } = await callStore(core, 'rename (look)', () => listFires(core.parts.store, query))
  return items.length > 0
}

/** The schedule of the next name, if the app of the old one has it. */
function findNext(old: ScheduleState, schedules: readonly ScheduleState[]): ScheduleState | undefined {
  const { source } = old
  const name = nextName(old)
  return schedules.find((next) => next.id === name && source.kind === 'code' && isOf(next, source.app))
}
