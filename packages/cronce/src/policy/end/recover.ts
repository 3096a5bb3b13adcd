import { type Ending, ending } from '../../model/outcome.ts'
import type { ScheduleState } from '../../model/schedule.ts'
import { type Context, type Decision, STALE, type Stale } from '../decision.ts'
import { begin, type Draft, finish, policyOfFire } from '../draft.ts'
import { cancelEnding, endFire, endRun, findRunning } from '../fires.ts'
import { aboutRun, type RunningFire } from '../records.ts'
import { deadlineOf } from './retry.ts'
import { waitAgain } from './settle.ts'

/** The instance of a run is certainly dead: end the run, and run its fire again if the policy allows it. */
export function recover(state: ScheduleState, token: string, context: Context): Decision | Stale {
  const draft = begin(state, context)
  const fire = findRunning(draft, token)
  if (fire === undefined) return STALE
  const crashed = ending('crashed', `${fire.run.instance} died`)
  const crashes = fire.crashes + 1
  draft.events.push({ type: 'run.lost', ...aboutRun(draft, fire) })
  endRun(draft, fire, crashed)
  const end = endingOf(draft, fire, crashes, crashed)
  if (end !== null) endFire(draft, fire, end)
  else waitAgain(draft, fire, { crashes, readyAt: context.now }, crashed)
  return finish(draft)
}

/** `null`: it is run again. */
function endingOf(draft: Draft, fire: RunningFire, crashes: number, crashed: Ending): Ending | null {
  const policy = policyOfFire(draft, fire)
  const wish = fire.run.cancel
  if (policy.guarantee === 'at-most-once') return crashed
  if (wish !== null) return cancelEnding(wish)
  if (crashes > policy.retry.crashes)
    return ending('crash-budget', crashes === 1 ? 'its instance died' : `its instances died ${crashes} times`)
  if (draft.context.now > deadlineOf(fire, policy)) return ending('recovery-too-late', crashed.detail)
  return null
}
