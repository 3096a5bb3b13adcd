import type { Case, Subject } from '../case.ts'
import { timesOf } from '../definitions.ts'
import type { Story } from '../evidence.ts'
import type { Start, Time } from '../history.ts'

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
