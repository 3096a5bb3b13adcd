import { signal } from '@preact/signals'

/** How far the store's clock is ahead of this browser's. */
export const skewMs = signal(0)
/** The store's clock, to the second. Stands still while the page is hidden. */
export const now = signal(Date.now())

export function noteServerTime(at: number, sentAt: number, receivedAt: number): void {
  skewMs.value = at - (sentAt + receivedAt) / 2
  now.value = serverNow()
}

export function serverNow(): number {
  return Math.round(Date.now() + skewMs.value)
}

setInterval(() => {
  if (!document.hidden) now.value = serverNow()
}, 1_000)
document.addEventListener('visibilitychange', () => {
  now.value = serverNow()
})
