import { type Case, type Subject, standingOf } from '../case.ts'
import type { Story } from '../evidence.ts'
import { claimOf, type Instant, type LedgerFire, type Spec } from '../history.ts'

/** When the fire could start for the first time, as far as the record still shows it. */
export function firstReadyAt({ runs, record, dueAt }: Story): Instant {
  return runs[0]?.readyAt ?? (runs.length === 0 ? record?.readyAt : undefined) ?? dueAt
}

/** Whether an instant was claimed for the first time before this. */
export function isClaimedBefore({ runs }: Story, at: Instant): boolean {
  return runs.some((run) => claimOf(run) < at)
}

/** Whether time behind active fires of the schedule is not lateness: the policy promises the fire its turn. */
export function isPromisedTurn({ overlap, misfire }: Spec, { operations }: Subject): boolean {
  return overlap.kind === 'queue' || misfire.late === 'all' || operations.some(({ verb }) => verb === 'backfill')
}

/**
 * Whether a fire waits and is late at this instant, for certain: nothing but the time since it was ready counts, and that is longer
 * than the grace.
 */
export function isSurelyLate(judged: Case, subject: Subject, story: Story, at: Instant): boolean {
  const { specs, paused } = standingOf(judged, subject, story.dueAt, at)
  if (
    isClaimedBefore(story, at + 1) ||
    story.record === null ||
    story.record.round > 1 ||
    paused !== 'no' ||
    judged.clock.wasSetBack
  )
    return false
  return specs.every((spec) => {
    return (
      !isPromisedTurn(spec, subject) &&
      spec.overlap.kind !== 'queue-all' &&
      at - firstReadyAt(story) > spec.misfire.graceMs
    )
  })
}

/** The last end of another fire that was active, up to and including this instant. Turns claimed after `claimedBy` do not count. */
export function lastTurnEnd({ stories }: Subject, story: Story | null, at: Instant, claimedBy = at): Instant {
  let last = Number.NEGATIVE_INFINITY
  for (const other of stories.values()) {
    if (other === story) continue
    for (const { from, to } of turnsOf(other)) {
      if (from <= claimedBy && to !== null && to <= at) last = Math.max(last, to)
    }
  }
  return last
}

interface Turn {
  /** The first claim. */
  readonly from: Instant
  readonly to: Instant | null
}

/** The record of a fire has the end of its last round only: that of an earlier one was the end of a run. */
function turnsOf({ runs, record }: Story): readonly Turn[] {
  const first = runs.find(({ round }) => round === record?.round) ?? runs[0]
  if (first === undefined || record === null) return []
  const turn = { from: claimOf(first), to: record.endedAt }
  return record.round > 1 ? [turn, ...runs.map((run) => ({ from: claimOf(run), to: run.endedAt }))] : [turn]
}

/** Whether another fire was active when this one was judged, for certain. */
export function isBehindActive({ stories }: Subject, story: Story | null, at: Instant): boolean {
  for (const other of stories.values()) {
    if (other === story || other.record === null || other.record.round > 1) continue
    const { endedAt } = other.record
    if (isClaimedBefore(other, at) && (endedAt === null || endedAt > at)) return true
  }
  return false
}

/** Whether a newer scheduled fire may have been open after what was decided at this instant. */
export function mayHaveNewerOpen(subject: Subject, last: Instant, at: Instant): boolean {
  for (const story of subject.stories.values()) if (mayBeNewerOpen(subject, story, last, at)) return true
  return false
}

/** How many newer scheduled fires may have been kept late by what was decided at this instant, whichever definition planned them. */
export function countNewerLate(subject: Subject, last: Instant, at: Instant, graceMs: number): number {
  return [...subject.stories.values()].filter((story) => {
    const mayBeLate = !isClaimedBefore(story, at) && at - firstReadyAt(story) > graceMs
    return mayBeLate && mayBeNewerOpen(subject, story, last, at)
  }).length
}

function mayBeNewerOpen({ prunedTo }: Subject, story: Story, last: Instant, at: Instant): boolean {
  const { nonce, dueAt, record, runs } = story
  if (nonce !== '' || dueAt <= last) return false
  if (record === null || record.round > 1 || dueAt <= prunedTo) return true
  // What was run within the same millisecond was open in it.
  const wasOpen = record.endedAt === null || record.endedAt > at || (record.endedAt === at && runs.length > 0)
  return record.plannedAt <= at && (wasOpen || isEndedByCommand(record))
}

/** What a command ends may have been opened in the same moment. */
function isEndedByCommand({ outcome }: LedgerFire): boolean {
  return outcome === 'cancelled'
}
