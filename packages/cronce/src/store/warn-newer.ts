import type { OpenOptions } from './store.ts'

/** Reports schedules that a newer version of cronce has written, once, with the first one found. */
export function warnNewer(warn: OpenOptions['warn'], name: string): (schedule: string) => void {
  let isTold = false
  return (schedule) => {
    if (isTold) return
    isTold = true
    warn(
      'STORE_ROW_NEWER',
      `${name} has schedules that a newer version wrote, ${schedule} for one. This one leaves them alone.`,
    )
  }
}
