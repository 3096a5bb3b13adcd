import type { MissedChoice } from '../../model/schedule.ts'
import { type Draft, set } from '../draft.ts'
import { noteWaits } from '../fires.ts'
import type { Ledger } from '../ledger.ts'
import { aboutSchedule } from '../records.ts'
import { planPaused } from './plan.ts'
import { waitAfterPause } from './waiting.ts'

/** A very long stretch takes several steps: until the last one the pause ends "now", so that an instance continues at once. */
export function resumeStep(
  draft: Draft,
  missed: MissedChoice,
  ledger: Ledger | null,
  { author, note }: { readonly author: string | null; readonly note: string | null } = { author: null, note: null },
): void {
  const { pause, retiredAt } = draft.state
  if (pause === null) return
  const hasMore = retiredAt === null && planPaused(draft, missed, ledger)
  if (hasMore) {
    const until = Math.min(pause.until ?? Infinity, draft.context.now + 1)
    set(draft, { pause: { ...pause, missed, until } })
    return
  }
  const endedAt = Math.min(pause.until ?? Infinity, draft.context.now)
  noteWaits(draft, (fire) => waitAfterPause(fire, endedAt))
  // Failures are counted anew: otherwise the next one would pause it again at once.
  set(draft, { pause: null, failedInRow: 0 })
  draft.events.push({ type: 'schedule.resumed', ...aboutSchedule(draft), note, author })
}

/** The pause has reached its end, even if no instance has looked at the schedule since. */
export function isPauseOver({ state, context }: Draft): boolean {
  const until = state.pause?.until ?? null
  return until !== null && until <= context.now
}
