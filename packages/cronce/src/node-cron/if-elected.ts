import type { Logger, RunCoordinator, SkipReason, TaskOptions } from './task-types.ts'

const LEASE_MS = 30_000

interface Slot {
  readonly key: string
  readonly leaseMs: TaskOptions['distributedLease']
  readonly logger: Logger
  readonly skipped: (reason: SkipReason) => void
}

/** Do the work of a slot if the user's coordinator says that it is ours, and tell it afterwards. One that fails says no. */
export async function ifElected(
  coordinator: RunCoordinator,
  { key, leaseMs = LEASE_MS, logger, skipped }: Slot,
  work: () => Promise<unknown>,
): Promise<unknown> {
  let isOurs: boolean
  try {
    isOurs = await coordinator.shouldRun(key, leaseMs)
  } catch (error) {
    logger.error('Run coordinator failed; skipping execution (fail-closed)', error as Error)
    skipped('coordinator-error')
    return null
  }
  if (!isOurs) {
    skipped('not-elected')
    return null
  }
  try {
    return await work()
  } finally {
    try {
      await coordinator.onComplete?.(key)
    } catch (error) {
      logger.error('Run coordinator onComplete failed', error as Error)
    }
  }
}
