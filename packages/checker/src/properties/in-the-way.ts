import type { Case, Subject } from '../case.ts'
import type { Story } from '../evidence.ts'
import type { Spec } from '../history.ts'
import type { Times } from '../store-clock.ts'

/**
 * Whether a fire could start in these times: a node was there for it, no other fire of the schedule was open, and
 * nothing ran that shares a limit with it.
 */
export function isFreeToStart(
  judged: Case,
  subject: Subject,
  spec: Spec,
  { from, to }: Times,
  story: Story | null,
): boolean {
  if (!judged.fleet.canRun(subject.id, spec.job, from, to)) return false
  // An instance that finds a limit reached looks again a little later.
  const since = from - judged.bounds.lateMs
  if (subject.open.some(since, to, (other) => other !== story)) return false
  if (spec.jobLimit === null && spec.group === null) return true
  return judged.schedules.every((other) => {
    return !sharesLimit(other, spec) || !other.active.some(since, to, (active) => active !== story)
  })
}

function sharesLimit({ definitions }: Subject, { job, group }: Spec): boolean {
  return definitions.specs.some((spec) => spec.job === job || (group !== null && spec.group?.name === group.name))
}
