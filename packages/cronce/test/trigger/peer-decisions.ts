import { oracleNext } from '../../../checker/src/oracle/ask-oracle.ts'
import { type CalendarDate, calendarDate } from '../../../checker/src/oracle/day-rules.ts'
import type { ShiftOptions } from '../../../checker/src/oracle/enumerate-fires.ts'
import { readExpression } from '../../../checker/src/oracle/read-expression.ts'
import { type OffsetChange, offsetOf } from '../../../checker/src/oracle/zone-clock.ts'

export type Peer = 'croner' | 'cron-parser'

export interface Disagreement {
  readonly expression: string
  readonly tz: string
  readonly from: number
  readonly ours: number | null
  readonly theirs: number | null | 'error'
  /** Offset changes within four days. */
  readonly changes: readonly OffsetChange[]
}

export interface Decision {
  /** What the other library does, which rule requires otherwise, and that ours stands. */
  readonly name: string
  readonly holds: (found: Disagreement) => boolean
  /** Comes up too seldom to be demanded of every run. */
  readonly rare?: true
}

/** Whether the other library's answer is exactly what our rules give under other options: then we know what it does. */
function reads(options: ShiftOptions): (found: Disagreement) => boolean {
  return ({ expression, tz, from, theirs }) => theirs === oracleNext(expression, { tz, ...options }, from)
}

const isFixed = ({ expression }: Disagreement): boolean => readExpression(expression).timing === 'fixed'

const namesOneTime = ({ expression }: Disagreement): boolean => {
  const { minutes, hours } = readExpression(expression)
  return minutes.length * hours.length === 1
}

const sizeOf = ({ before, after }: OffsetChange): number => after - before

const hasGap = ({ changes }: Disagreement): boolean => changes.some((change) => sizeOf(change) > 0)
const hasOverlap = ({ changes }: Disagreement): boolean => changes.some((change) => sizeOf(change) < 0)

/** 23:00 -> 00:00: the wall clock's date is another one when the gap ends. */
const crossesDate = ({ changes }: Disagreement): boolean =>
  changes.some(({ at, before, after }) => Math.floor((at - 1 + before) / 86_400) !== Math.floor((at + after) / 86_400))

/** Not one hour, or not on the hour: Lord Howe, Troll, Chatham (02:45), St. John's (00:01). */
const isOddShift = ({ changes }: Disagreement): boolean =>
  changes.some((change) => Math.abs(sizeOf(change)) !== 3600 || (change.at + change.before) % 3600 !== 0)

const isLongOverlap = ({ changes }: Disagreement): boolean => changes.some((change) => sizeOf(change) <= -5 * 3600)

// The two disagreements that have nothing to do with zones.
export const AFTER_SHORT_MONTH =
  'croner overlooks the first days after a month of less than 31 when a day field is restricted; R1 has them in the set; ours stands'
export const NO_NEXT = 'cron-parser throws when there is no next fire; R11 answers null; ours stands'

const all =
  (...tests: readonly ((found: Disagreement) => boolean)[]) =>
  (found: Disagreement): boolean =>
    tests.every((holds) => holds(found))

const not =
  (holds: (found: Disagreement) => boolean) =>
  (found: Disagreement): boolean =>
    !holds(found)

/** Our answer is one of the first three days of a month, asked from an earlier and shorter one; a day field restricted. */
const isAfterShortMonth = ({ expression, tz, from, ours }: Disagreement): boolean => {
  const [, , dom, , dow] = expression.split(' ')
  const answer = localDate(tz, ours ?? 0)
  const asked = localDate(tz, from)
  return (dom !== '*' || dow !== '*') && answer.day <= 3 && answer.month !== asked.month && asked.lastDay < 31
}

const localDate = (tz: string, instant: number): CalendarDate =>
  calendarDate(Math.floor((instant / 1000 + offsetOf(tz, Math.floor(instant / 1000))) / 86_400))

export const DECISIONS: Readonly<Record<Peer, readonly Decision[]>> = {
  croner: [
    {
      name: 'croner treats lists of times as intervals and loses them in a gap; R7 calls lists fixed; ours fires when the gap ends',
      holds: all(isFixed, not(namesOneTime), hasGap, reads({ gap: 'skip', overlap: 'both' })),
    },
    {
      name: 'croner treats lists of times as intervals and fires them twice in an overlap; R7 calls lists fixed; ours fires once',
      holds: all(isFixed, not(namesOneTime), hasOverlap, reads({ gap: 'skip', overlap: 'both' })),
    },
    {
      name: 'croner loses a fixed time whose gap ends on the next date; R8 fires at the end of the gap whatever its date; ours fires',
      holds: all(isFixed, namesOneTime, hasGap, crossesDate, reads({ gap: 'skip' })),
      rare: true,
    },
    {
      name: AFTER_SHORT_MONTH,
      holds: all(isAfterShortMonth, ({ ours, theirs }) => Number(theirs) > Number(ours)),
      rare: true,
    },
    {
      name: 'croner jumps to the second pass of an overlap of seven hours (Vostok 1994); R10 takes every size under a day; ours stands',
      holds: isLongOverlap,
      rare: true,
    },
  ],
  'cron-parser': [
    { name: NO_NEXT, holds: ({ ours, theirs }) => ours === null && theirs === 'error', rare: true },
    {
      name: 'cron-parser moves a fixed time by the length of the gap; R8 fires when the gap ends; ours stands',
      holds: all(isFixed, hasGap, reads({ gap: 'shift' })),
    },
    {
      name: 'cron-parser makes up interval times that do not exist; R8 makes up nothing; ours stands',
      holds: all(not(isFixed), hasGap, reads({ gap: 'shift' })),
    },
    {
      name: 'cron-parser loses a fixed time in a gap at midnight or over a date; R8 loses no fixed fire; ours fires',
      holds: all(isFixed, hasGap, reads({ gap: 'skip' })),
    },
    {
      name: 'cron-parser fires an interval in the first pass only; R9 keeps the cadence through both; ours stands',
      holds: all(not(isFixed), hasOverlap, reads({ overlap: 'first' })),
      rare: true,
    },
    {
      name: 'cron-parser answers with the second pass; R9 says the first for fixed times and both for intervals; ours stands',
      holds: all(hasOverlap, (found) => reads({ overlap: 'second' })(found) || reads({ overlap: 'both' })(found)),
    },
    {
      name: 'cron-parser expects shifts of one hour on the hour and skips, repeats, delays or throws at others; R10 takes every size; ours stands',
      holds: isOddShift,
    },
  ],
}
