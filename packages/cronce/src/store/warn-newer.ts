import type { OpenOptions } from './store.ts'

/** Tells once of schedules that a newer version of cronce has written, whichever is the first. */
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
