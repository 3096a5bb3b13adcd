import type { Change } from '../../src/model/change.ts'
import type { FireKey, FireRecord, RunRecord } from '../../src/model/record.ts'
import { isRunning } from '../../src/model/schedule.ts'
import { viewEndedFire, viewEndedRun, viewOpenFire, viewOpenRun } from '../../src/model/views.ts'

/** The fires and runs of a schedule as a change leaves them: all that are open, and those that it ends. */
export function recordsOf({ creates, state, history, rewrites }: Change): {
  readonly creates: readonly FireRecord[]
  readonly updates: readonly FireRecord[]
  readonly runs: readonly RunRecord[]
} {
  const lines = [...rewrites, ...history]
  const open = state?.open ?? []
  const fires = [
    ...open.map((fire) => viewOpenFire(state!, fire)),
    ...lines.filter(({ isFinal }) => isFinal).map(viewEndedFire),
  ]
  const isNew = (fire: FireKey): boolean =>
    creates.some(({ dueAt, nonce }) => dueAt === fire.dueAt && nonce === fire.nonce)
  return {
    creates: fires.filter(isNew).toSorted((one, other) => one.dueAt - other.dueAt),
    updates: fires.filter((fire) => !isNew(fire)),
    runs: [
      ...lines.flatMap((line) => viewEndedRun(line) ?? []),
      ...open.filter(isRunning).map((fire) => viewOpenRun(state!, fire)),
    ],
  }
}
