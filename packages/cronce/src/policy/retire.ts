import { ending } from '../model/outcome.ts'
import type { ScheduleState } from '../model/schedule.ts'
import type { Context, Decision } from './decision.ts'
import { begin, finish, set } from './draft.ts'
import { endFire } from './fires.ts'
import { aboutSchedule, isRunning } from './records.ts'
import { settleUpToNow } from './up-to-now.ts'

/**
 * The active deployment of its app no longer declares it: nothing more is begun, what runs goes on. `null`: it is not that
 * app's to retire, or not any more, or has been.
 */
export function retire(
  state: ScheduleState,
  by: { readonly app: string; readonly term: number },
  context: Context,
): Decision | null {
  const { source } = state
  if (source.kind !== 'code' || source.app !== by.app || by.term < source.term || state.retiredAt !== null) return null
  const draft = begin(state, context)
  // More instants than can be settled at once: go on when called again.
  if (!settleUpToNow(draft, 'skip')) return finish(draft)
  for (const fire of draft.open.filter((open) => !isRunning(open))) endFire(draft, fire, ending('retired'))
  set(draft, { retiredAt: context.now, backfills: [], source: { ...source, term: by.term } })
  draft.events.push({ type: 'schedule.retired', ...aboutSchedule(draft) })
  return finish(draft)
}
