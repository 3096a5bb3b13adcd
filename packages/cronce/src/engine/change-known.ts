import type { Decision } from '../policy/decision.ts'
import type { ApplyOptions } from '../store/store.ts'
import { applyDecisions, type Changed, type Decide } from './change-schedules.ts'
import type { Core } from './core.ts'

/**
 * Decide and write without reading, where this instance knows the schedule as it wrote it last. Answers the ids that are left:
 * what it does not know, and what somebody else has changed since. Throws when the store does.
 *
 * The store's clock was not asked either. What is recorded is a time that it has passed for certain, some milliseconds ago
 * (`StoreTime.floor`), unless it was set back; and the store refuses a change that comes before its own time. So times on
 * record never run ahead of the store's clock, and nobody can begin before what is on record as the end of somebody else.
 */
export async function changeKnown(
  core: Core,
  operation: string,
  ids: readonly string[],
  decide: Decide,
  options: ApplyOptions<unknown>,
  done: Map<string, Changed>,
): Promise<string[]> {
  const now = core.time.floor()
  if (now === null) return [...ids]
  const left: string[] = []
  const decisions: Decision[] = []
  for (const id of ids) {
    const known = core.known.find(id)
    const decision = known === undefined ? null : decide(id, known.state, core.context({ now, epoch: known.epoch }))
    // That nothing is to be done is for the store to say.
    if (decision === null) left.push(id)
    else decisions.push(notBefore(decision, now))
  }
  left.push(...(await applyDecisions(core, operation, decisions, options, done)))
  for (const { change } of decisions) {
    if (done.get(change.id)?.kind !== 'refused') continue
    done.delete(change.id)
    left.push(change.id)
  }
  return left
}

function notBefore(decision: Decision, now: number): Decision {
  const { change } = decision
  return { ...decision, change: { ...change, notBefore: Math.max(change.notBefore ?? now, now) } }
}
