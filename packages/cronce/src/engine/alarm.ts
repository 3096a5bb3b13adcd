import type { Clock } from '../clock.ts'
import { WAIT_ENDED } from './wait-ended.ts'

/** A sleep that other code can end early. A ring before the sleep is not lost: the next wait returns at once. */
export interface Alarm {
  ring(): void
  wait(ms: number): Promise<void>
}

export function alarm(clock: Clock): Alarm {
  let rung = false
  let sleeping: AbortController | null = null
  return {
    ring() {
      rung = true
      sleeping?.abort(WAIT_ENDED)
    },
    async wait(ms) {
      if (!rung && ms > 0) {
        sleeping = new AbortController()
        await clock.sleep(ms, sleeping.signal)
        sleeping = null
      }
      rung = false
    },
  }
}
