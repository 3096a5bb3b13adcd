import { type Case, type Subject, standingOf } from '../case.ts'
import { timesOf } from '../definitions.ts'
import type { Story } from '../evidence.ts'
import type { Instant, Operation, Start, Time } from '../history.ts'

type Cancel = Extract<Operation, { readonly verb: 'cancel' }>

/**
 * Whether a run that was begun may have lost its fire by this time, although its handler had not thrown: its node was
 * hit or stopped, its time was up, an operator cancelled it or removed its schedule, or a newer fire took its place.
 */
export function hasLetGo(judged: Case, subject: Subject, story: Story, start: Start, by: Time): boolean {
  if (judged.fleet.wasHit(start.node, start.at, by)) return true
  const { specs } = subject.definitions.during({ from: judged.clock.timesOf(story.dueAt).from, to: by })
  const isReplaced = subject.open.some(start.at, by, ({ dueAt }) => dueAt > story.dueAt)
  if (isReplaced && specs.some(({ overlap }) => overlap.kind === 'replace')) return true
  // Its own clock counts, and that may be off by a little.
  if (specs.some(({ timeout }) => timeout.runMs !== null && timeout.runMs * 0.8 <= by - start.at)) return true
  return subject.operations.some((operation) => {
    const { from, to } = timesOf(operation)
    if (from > by) return false
    if (operation.verb === 'cancel') return isCancelOf(operation, story, start.token)
    return to >= start.at && (operation.verb === 'remove' || operation.verb === 'retire')
  })
}

/** Whether this is about the fire, or about this run of it. */
export function isCancelOf(cancel: Cancel, { dueAt, nonce }: Pick<Start, 'dueAt' | 'nonce'>, token?: string): boolean {
  return cancel.dueAt === dueAt && cancel.nonce === nonce && (cancel.token === null || cancel.token === token)
}

/** How long a run may take until it is given up, by a clock that is a little slow; infinite: for ever. */
export function longestRunMs(judged: Case, subject: Subject, story: Story, until: Instant): number {
  const { specs } = standingOf(judged, subject, story.dueAt, until)
  const limits = specs.map(({ timeout }) => (timeout.runMs ?? Number.POSITIVE_INFINITY) + timeout.graceMs)
  return limits.length === 0 ? Number.POSITIVE_INFINITY : Math.max(...limits) * 1.25
}
