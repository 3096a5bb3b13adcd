import type { Core } from '../core.ts'
import { persist } from '../store-calls.ts'

/**
 * The store refused what a run wanted as if it did not know the run. True: it had forgotten it, and what it had forgotten is
 * written again by now, so that it may be asked once more. Throws if the engine is stopped before the store answers.
 */
export async function wasForgotten(core: Core, schedule: string): Promise<boolean> {
  const look = () => core.parts.store.load([schedule])
  const { epoch } = await persist(core, 'look', look, () => core.stopped.aborted)
  core.epochs.observe(epoch)
  if (core.epochs.isSettled()) return false
  await core.epochs.ready()
  return !core.stopped.aborted
}
