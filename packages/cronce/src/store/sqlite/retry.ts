import { setTimeout as sleep } from 'node:timers/promises'
import { isBusy } from './errors.ts'

/**
 * The lock of SQLite is unfair, and waiting for it inside SQLite stops the event loop: ask without waiting, and again after
 * a moment of random length, so that each of many callers gets a turn.
 */
export function lockPause(): Promise<void> {
  return sleep(1 + Math.random() * 7)
}

/** Try until the lock is free or the time is up; then throw the last error. */
export async function whileBusy<Value>(attempt: () => Value, patienceMs: number): Promise<Value> {
  const end = performance.now() + patienceMs
  for (;;) {
    try {
      return attempt()
    } catch (error) {
      if (!isBusy(error) || performance.now() >= end) throw error
    }
    await lockPause()
  }
}
