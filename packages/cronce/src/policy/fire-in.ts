import type { Change } from '../model/change.ts'
import type { FireRecord } from '../model/record.ts'
import { viewEndedFire, viewOpenFire } from '../model/views.ts'

/** A fire as a change leaves it: open, or ended with it. `undefined`: the change does not tell. */
export function fireIn(
  { state, history }: Change,
  isMeant: (fire: Pick<FireRecord, 'dueAt' | 'nonce' | 'range'>) => boolean,
): FireRecord | undefined {
  const open = state?.open.find(({ dueAt, nonce }) => isMeant({ dueAt, nonce, range: null }))
  if (open !== undefined) return viewOpenFire(state!, open)
  const line = history.find((one) => one.isFinal && isMeant(one))
  return line && viewEndedFire(line)
}
