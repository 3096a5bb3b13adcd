import type { CronTrigger, EveryTrigger } from 'cronce/cron'
import { hasChanges } from './zone.ts'

const GAP_WORDS = {
  after: 'a time that the clock skips fires once, when the gap ends',
  skip: 'times that the clock skips do not fire',
  shift: 'a time that the clock skips fires later by the length of the gap',
} as const

const OVERLAP_WORDS = {
  first: 'one that comes twice fires the first time only',
  second: 'one that comes twice fires the second time only',
  both: 'those that come twice fire both times',
} as const

/** The timing class, and what it means when the clock changes. */
export function timingWords(trigger: CronTrigger | EveryTrigger): string {
  if (trigger.kind === 'every') return 'elapsed time: whatever clocks and zones do'
  switch (trigger.timing) {
    case 'event':
      return 'event: it has no times of its own, so there is no next one'
    case 'fixed':
      return `fixed: it names times of day${clockWords(trigger)}`
    case 'interval':
      return `interval: it repeats within the day${clockWords(trigger)}`
  }
}

function clockWords({ tz, gap, overlap }: CronTrigger): string {
  return hasChanges(tz) ? `; ${GAP_WORDS[gap]}, and ${OVERLAP_WORDS[overlap]}` : ' (the clock never changes here)'
}
