import { DEFAULT_POLICY, type PolicyChoices } from '../model/policy.ts'
import type { FireRecord, RunRecord } from '../model/record.ts'
import type { OpenFire, RunningFire } from '../model/schedule.ts'
import { viewOpenFire, viewOpenRun } from '../model/views.ts'
import type { Draft } from './draft.ts'

export { isRunning, type RunningFire } from '../model/schedule.ts'

export function recordOf(draft: Draft, fire: OpenFire): FireRecord {
  return viewOpenFire(draft.state, fire)
}

export function runRecordOf(draft: Draft, fire: RunningFire): RunRecord {
  return viewOpenRun(draft.state, fire)
}

/** A fleet-wide limit: its name, and how many runs may count against it at once. */
export interface Slot {
  readonly slot: string
  readonly limit: number
}

/** The fleet-wide limits that a run counts against. */
export function slotsOf(job: string, choices: PolicyChoices): readonly Slot[] {
  const { limits = DEFAULT_POLICY.limits } = choices
  const slots = []
  if (limits.job !== null) slots.push({ slot: `job:${job}`, limit: limits.job })
  if (limits.group !== null) slots.push({ slot: `group:${limits.group.name}`, limit: limits.group.limit })
  return slots
}

export function aboutFire(draft: Draft, { dueAt, nonce }: OpenFire) {
  return { schedule: draft.state.id, job: draft.state.definition.job, dueAt, nonce }
}

export function aboutRun(draft: Draft, fire: RunningFire) {
  const { token, instance } = fire.run
  return { ...aboutFire(draft, fire), token, attempt: fire.attempt, instance }
}

export function aboutSchedule(draft: Draft) {
  return { schedule: draft.state.id, job: draft.state.definition.job }
}
