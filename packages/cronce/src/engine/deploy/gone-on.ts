import type { ScheduleState } from '../../model/schedule.ts'
import { hasContinued } from '../../policy/deploy/continue-job.ts'
import { markOf } from '../../policy/plan/series.ts'
import { listFires } from '../../store/list-views.ts'
import type { Core } from '../core.ts'
import { callStore } from '../store-calls.ts'
import { isOf } from './declarations.ts'
import { nextName } from './other-names.ts'

/**
 * Whether the job of an old name went on under its next name, which this app no longer has: another app took it, or it was removed then.
 * Otherwise the rename stopped half-way. `schedules`: what exists, under the next name as well. Throws when the store does.
 */
export async function hasGoneOn(core: Core, old: ScheduleState, schedules: readonly ScheduleState[]): Promise<boolean> {
  const name = nextName(old)
  const next = schedules.find(({ id }) => id === name)
  if (name === undefined || (next !== undefined && isOf(next, core.settings.app))) return false
  if (next !== undefined && hasContinued(next, old)) return true
  // What a removed schedule has planned is on record. What a later schedule of the name has planned says nothing.
  const from = markOf(old) + 1
  const to = next?.createdAt
  if (to !== undefined && to <= from) return false
  const query = { schedule: name, nonce: '', from, ...(to === undefined ? {} : { to }), after: null, limit: 1 }
  const { items } = await callStore(core, 'rename (look)', () => listFires(core.parts.store, query))
  return items.length > 0
}
