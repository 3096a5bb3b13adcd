import { ending } from '../../model/outcome.ts'
import type { ScheduleState } from '../../model/schedule.ts'
import type { Context, Decision, Refusal } from '../decision.ts'
import { begin, finishWithout } from '../draft.ts'
import { endFire, endRun } from '../fires.ts'
import { settleUpToNow } from '../plan/up-to-now.ts'
import { aboutSchedule, isRunning } from '../records.ts'

/** Remove a schedule. Its records stay and give the outcome of every fire that was open. */
export function remove(
  state: ScheduleState,
  { force }: { readonly force: boolean },
  context: Context,
): Decision | Refusal {
  const refusal = force ? null : refuse(state)
  if (refusal !== null) return refusal
  const draft = begin(state, context)
  settleUpToNow(draft, 'skip')
  const removed = ending('removed')
  for (const fire of [...draft.open]) {
    if (isRunning(fire)) endRun(draft, fire, removed)
    endFire(draft, fire, removed)
  }
  draft.events.push({ type: 'schedule.removed', ...aboutSchedule(draft) })
  return finishWithout(draft)
}

function refuse(state: ScheduleState): Refusal | null {
  if (state.source.kind === 'code' && state.retiredAt === null) {
    return {
      refused: 'SCHEDULE_IN_CODE',
      message: `The schedule ${state.id} is declared in the code of ${state.source.app}, which would make it again.`,
      hint: 'Remove it from the code, or pause it.',
    }
  }
  const running = state.open.find(isRunning)
  if (running === undefined) return null
  return {
    refused: 'SCHEDULE_BUSY',
    message: `The schedule ${state.id} has a run ${running.run.parkedUntil === undefined ? `on ${running.run.instance}` : 'that waits for its call-back'}.`,
    hint: 'Cancel it first, or use force: writes of the run are then refused.',
  }
}
