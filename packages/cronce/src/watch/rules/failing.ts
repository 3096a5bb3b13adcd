import type { ScheduleFacts, Verdict } from './facts.ts'
import type { ThresholdOf } from './thresholds.ts'

interface FailingFacts {
  readonly schedule: Pick<ScheduleFacts['schedule'], 'state' | 'failedInRow'> & {
    readonly pause: { readonly author: string | null } | null
  }
}

/** The author of pauses that `pauseAfter` makes. */
const PAUSED_BY_POLICY = 'cronce'

/** Several fires in a row failed or were abandoned, or `pauseAfter` paused it for that. */
export function failing({ schedule }: FailingFacts, { count }: ThresholdOf<'failing'>): Verdict {
  const { state, failedInRow, pause } = schedule
  if (state === 'retired') return 'fine'
  if (pause?.author === PAUSED_BY_POLICY) return { text: `paused after ${failedInRow} failed fires in a row` }
  return failedInRow >= count ? { text: `${failedInRow} fires in a row failed` } : 'fine'
}
