import type { Subject } from '../case.ts'
import { timesOf } from '../definitions.ts'
import type { Story } from '../evidence.ts'
import type { Operation, Time } from '../history.ts'

/** When a run of a fire committed or was over, or when it started. */
export interface RunMoment {
  readonly token: string
  readonly at: Time
}

/**
 * Whether two runs of a fire that succeeded belong to different rounds. The record says so; if either run was pruned from it,
 * there must be a forced retry that may have happened after the earlier run and before the later one.
 */
export function areRoundsApart(subject: Subject, story: Story, earlier: RunMoment, later: RunMoment): boolean {
  const [first, second] = [roundOf(story, earlier), roundOf(story, later)]
  if (first !== null && second !== null) return first !== second
  return subject.operations.some((operation) => {
    if (operation.verb !== 'retry' || !operation.force || !isRetryOf(operation, story)) return false
    const { from, to } = timesOf(operation)
    return from <= later.at && to >= earlier.at
  })
}

export function roundOf({ runs }: Story, { token }: Pick<RunMoment, 'token'>): number | null {
  return runs.find((run) => run.token === token)?.round ?? null
}

export function isRetryOf(operation: Operation, { dueAt, nonce }: Pick<Story, 'dueAt' | 'nonce'>): boolean {
  return operation.verb === 'retry' && operation.dueAt === dueAt && operation.nonce === nonce
}
