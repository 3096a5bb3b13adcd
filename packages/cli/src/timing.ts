import type { CronOptions, CronTrigger, EveryTrigger } from 'cronce/cron'
import { isUtc } from './zone.ts'

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
export function timingWords(trigger: CronTrigger | EveryTrigger, options: CronOptions): string {
  if (trigger.kind === 'every') return 'elapsed time: whatever clocks and zones do'
  switch (trigger.timing) {
    case 'event':
      return 'event: it has no times of its own, so there is no next one'
    case 'fixed':
      return `fixed: it names times of day${clockWords(trigger, gapRule(options, 'after'), overlapRule(options, 'first'))}`
    case 'interval':
      return `interval: it repeats within the day${clockWords(trigger, gapRule(options, 'skip'), overlapRule(options, 'both'))}`
  }
}

function clockWords({ tz }: CronTrigger, gap: Gap, overlap: Overlap): string {
  if (isUtc(tz) || /^[+-]/.test(tz)) return ' (the clock never changes here)'
  return `; ${GAP_WORDS[gap]}, and ${OVERLAP_WORDS[overlap]}`
}

type Gap = keyof typeof GAP_WORDS
type Overlap = keyof typeof OVERLAP_WORDS

/** `--gap` wins over `--dst`, which wins over what the class does by itself. */
function gapRule({ gap, dst }: CronOptions, own: Gap): Gap {
  if (gap !== undefined && gap !== 'auto') return gap
  switch (dst) {
    case 'wall':
    case 'once':
      return 'skip'
    case 'shift':
      return 'shift'
    default:
      return own
  }
}

function overlapRule({ overlap, dst }: CronOptions, own: Overlap): Overlap {
  if (overlap !== undefined && overlap !== 'auto') return overlap
  switch (dst) {
    case 'wall':
      return 'both'
    case 'once':
    case 'shift':
      return 'first'
    default:
      return own
  }
}
