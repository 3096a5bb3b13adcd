import type { Core } from '../core.ts'
import { persist } from '../store-calls.ts'

/**
 * The store refused a write of a run as if it did not know the run. True: it had lost the run, which is restored by now, so the
 * caller may try once more. Throws if the engine is stopped before the store answers.
 */
export async function wasForgotten(core: Core, schedule: string): Promise<boolean> {
  const look = () => core.parts.store.load([schedule])
  const { epoch } = await persist(core, 'look', look, () => core.stopped.aborted)
  core.epochs.observe(epoch)
  if (core.epochs.isSettled()) return false
  await core.epochs.ready()
  return !core.stopped.aborted
}
