import type { Change } from './change.ts'
import type { FireKey, FireRecord, RunRecord } from './record.ts'

/**
 * The fires that a change ends otherwise than by a run: those that never ran, those that end while they wait for a retry, and those
 * that end for another reason than the run that the change ends with them.
 */
export function ownEndsOf({ creates, updates, runs }: Change): readonly FireRecord[] {
  const isOwn = (fire: FireRecord): boolean =>
    fire.ending !== null && !runs.some((run) => isOf(run, fire) && run.ending?.reason === fire.ending?.reason)
  return [...creates, ...updates].filter(isOwn)
}

function isOf(run: RunRecord, { schedule, dueAt, nonce }: FireKey): boolean {
  return run.dueAt === dueAt && run.nonce === nonce && run.schedule === schedule
}
