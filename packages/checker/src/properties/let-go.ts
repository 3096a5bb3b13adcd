import { type Case, type Subject, standingOf } from '../case.ts'
import { timesOf } from '../definitions.ts'
import type { Story } from '../evidence.ts'
import type { Instant, Start, Time } from '../history.ts'

/**
 * Whether a run that was begun may have lost its fire by this time, although its handler had not thrown: its node was
 * hit or stopped, its time was up, somebody cancelled it or took its schedule away, or a newer fire took its place.
 */
export function hasLetGo(judged: Case, subject: Subject, story: Story, start: Start, by: Time): boolean {
  if (judged.fleet.wasHit(start.node, start.at, by)) return true
  const { specs } = subject.definitions.during({ from: judged.clock.timesOf(story.dueAt).from, to: by })
  if (specs.some(({ overlap }) => overlap.kind === 'replace')) return true
  // Its own clock counts, and that may be off by a little.
  if (specs.some(({ timeout }) => timeout.runMs !== null && timeout.runMs * 0.8 <= by - start.at)) return true
  return subject.operations.some((operation) => {
    const { from, to } = timesOf(operation)
    if (from > by || to < start.at) return operation.verb === 'cancel' && from <= by
    return operation.verb === 'cancel' || operation.verb === 'remove' || operation.verb === 'retire'
  })
}

/** How long a run may take until nobody waits for it any longer, by a clock that is a little slow; infinite: for ever. */
export function longestRunMs(judged: Case, subject: Subject, story: Story, until: Instant): number {
  const { specs } = standingOf(judged, subject, story.dueAt, until)
  const limits = specs.map(({ timeout }) => (timeout.runMs ?? Number.POSITIVE_INFINITY) + timeout.graceMs)
  return limits.length === 0 ? Number.POSITIVE_INFINITY : Math.max(...limits) * 1.25
}
