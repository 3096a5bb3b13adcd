import { setTimeout as sleep } from 'node:timers/promises'

const POLL_MS = 25

/** Ask until the answer is yes. `false` when the limit passed first; the last question may overrun it. */
export async function waitUntil(check: () => boolean | Promise<boolean>, limitMs: number): Promise<boolean> {
  const deadline = performance.now() + limitMs
  do {
    if (await check()) return true
    await sleep(POLL_MS)
  } while (performance.now() < deadline)
  return false
}

/** Whether a promise settles within the limit. Its value and its error stay with its other awaiters. */
export function settlesWithin(promise: Promise<unknown>, limitMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), limitMs)
    const settled = () => {
      clearTimeout(timer)
      resolve(true)
    }
    promise.then(settled, settled)
  })
}
