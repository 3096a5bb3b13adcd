import type { Context, Decision } from '../../policy/decision.ts'
import type { Changed } from '../../store/change-schedules.ts'
import type { ApplyOptions } from '../../store/store.ts'
import { applyAsInstance, type Decide } from '../change-schedules.ts'
import type { Core } from '../core.ts'

/**
 * Decides and writes without reading, where this instance knows the schedule as it wrote it last. Returns the ids that are left:
 * unknown ones, and those that a peer has changed since. Throws when the store does. The store's clock is not read either: the
 * recorded time is the latest that it can show by now (`StoreTime.stamp`), so nothing ends on record before it did, and the store
 * refuses the write before its clock shows that time (`notBefore`). If the clocks do not agree closely enough, this instance
 * reads first.
 */
export async function changeKnown(
  core: Core,
  operation: string,
  ids: readonly string[],
  decide: Decide,
  options: ApplyOptions<unknown>,
  done: Map<string, Changed>,
): Promise<string[]> {
  const stamp = core.time.stamp()
  if (stamp === null || ids.length === 0) return [...ids]
  const left: string[] = []
  const decisions: Decision[] = []
  const { at: now, waitMs } = stamp
  const contextIn = (epoch: number): Context => ({ ...core.context({ now, epoch }), notBefore: now })
  let context: Context | undefined
  for (const id of ids) {
    const known = core.known.find(id)
    if (known !== undefined && known.epoch !== context?.epoch) context = contextIn(known.epoch)
    const decision = known === undefined ? null : decide(id, known.state, context!)
    // Only the store can tell that nothing is to be done.
    if (decision === null) left.push(id)
    else decisions.push(decision)
  }
  if (waitMs > 0 && decisions.length > 0) await core.parts.clock.sleep(waitMs)
  left.push(...(await applyAsInstance(core, operation, decisions, options, done)))
  for (const { change } of decisions) {
    if (done.get(change.id)?.kind !== 'refused') continue
    done.delete(change.id)
    left.push(change.id)
  }
  return left
}
