import type { ScheduleView } from 'cronce'
import { trigger as makeTrigger } from 'cronce/cron'
import { comingOf } from '../schedule-times.ts'

export interface MovedFire {
  readonly from: number
  readonly to: number
}

/** What becomes of the due times of a schedule. Each old one is kept, moved or lost; each new one is kept, moved to or added. */
export interface FireChanges {
  readonly kept: number
  readonly moved: readonly MovedFire[]
  readonly lost: readonly number[]
  readonly added: readonly number[]
}

/**
 * Compares ascending due times under two rules. An old due time that is gone has *moved* to a new one if each lies between the
 * neighbours of the other: between the due times before and after it under its own rule. Of two such, it has moved to the earlier one,
 * and none is taken twice.
 */
export function compareDueTimes(before: readonly number[], after: readonly number[]): FireChanges {
  const [old, now] = [new Set(before), new Set(after)]
  const moved: MovedFire[] = []
  const lost: number[] = []
  const taken = new Set<number>()
  let next = 0
  for (const [index, at] of before.entries()) {
    if (now.has(at)) continue
    while (next < after.length && after[next]! < at) next++
    const [from, to] = [before[index - 1] ?? Number.NEGATIVE_INFINITY, before[index + 1] ?? Number.POSITIVE_INFINITY]
    // Of the new due times, only the ones right before and right after it have it between their neighbours.
    const target = [after[next - 1], after[next]].find(
      (other) => other !== undefined && other > from && other < to && !old.has(other) && !taken.has(other),
    )
    if (target === undefined) {
      lost.push(at)
      continue
    }
    moved.push({ from: at, to: target })
    taken.add(target)
  }
  const added = after.filter((at) => !old.has(at) && !taken.has(at))
  return { kept: before.length - moved.length - lost.length, moved, lost, added }
}

/** A schedule with more due times in the horizon is compared up to this number of them. */
export const MOST_COMPARED = 20_000

export interface ComparedFires extends FireChanges {
  readonly before: number
  readonly after: number
  /** Compared up to here (not included); earlier than the horizon if there are too many due times. */
  readonly until: number
  readonly switch: Switch | null
}

/** What stands out where one rule ends and the next begins. */
export interface Switch {
  /** `soon`: the new rule is due again soon after the old one was. `late`: longer than either rule ever waits. */
  readonly kind: 'soon' | 'late'
  /** The last due time under the old rule, and the first one under the new rule. */
  readonly last: number
  readonly first: number
}

/** Due times after `now`; `null`: there is no such schedule. */
export function compareFires(
  before: ScheduleView | null,
  after: ScheduleView | null,
  { now, until }: { readonly now: number; readonly until: number },
): ComparedFires {
  const coming = (schedule: ScheduleView | null): number[] =>
    schedule === null ? [] : comingOf(schedule, now, MOST_COMPARED + 1, until)
  const [old, next] = [coming(before), coming(after)]
  const ends = [old, next].flatMap((times) => (times.length > MOST_COMPARED ? [times[MOST_COMPARED]!] : []))
  const end = Math.min(until, ...ends)
  const isIn = (at: number): boolean => at < end
  // The last ones may have moved across the end.
  const beyond = (schedule: ScheduleView | null): number[] =>
    schedule === null ? [] : comingOf(schedule, end - 1, NEIGHBOURS)
  const [was, is] = [old.filter(isIn), next.filter(isIn)]
  const all = compareDueTimes([...was, ...beyond(before)], [...is, ...beyond(after)])
  const moved = all.moved.filter(({ from }) => isIn(from))
  const lost = all.lost.filter(isIn)
  const added = all.added.filter(isIn)
  const isMoved = moved.length + lost.length + added.length > 0
  const at = before === null || after === null || !isMoved ? null : switchOf(before, was, is, now)
  const kept = was.length - moved.length - lost.length
  return { kept, moved, lost, added, before: was.length, after: is.length, until: end, switch: at }
}

const NEIGHBOURS = 3

/** Half of the shortest wait, and one and a half times the longest one. */
const SOON = 0.5
const LATE = 1.5

function switchOf(
  { trigger, pause, startAt }: ScheduleView,
  was: readonly number[],
  is: readonly number[],
  now: number,
): Switch | null {
  const [first] = is
  const last = trigger === null ? null : makeTrigger(trigger).prev(now + 1)
  const gaps = [...gapsOf(was), ...gapsOf(is)]
  if (first === undefined || last === null || pause !== null || last < (startAt ?? 0) || gaps.length === 0) return null
  if (was[0] === first) return null
  if (first - last < SOON * Math.min(...gaps)) return { kind: 'soon', last, first }
  return first - last > LATE * Math.max(...gaps) ? { kind: 'late', last, first } : null
}

const MOST_GAPS = 1_000

function gapsOf(times: readonly number[]): readonly number[] {
  return times.slice(1, MOST_GAPS).map((at, index) => at - times[index]!)
}
