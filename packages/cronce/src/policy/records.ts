import { DEFAULT_POLICY, type PolicyChoices } from '../model/policy.ts'
import type { FireRecord, RunRecord } from '../model/record.ts'
import type { OpenFire, OpenRun } from '../model/schedule.ts'
import { choicesOfFire, type Draft } from './draft.ts'

export interface RunningFire extends OpenFire {
  readonly run: OpenRun
}

export function isRunning(fire: OpenFire): fire is RunningFire {
  return fire.run !== null
}

export function recordOf(draft: Draft, fire: OpenFire): FireRecord {
  const { id, definition } = draft.state
  return {
    schedule: id,
    dueAt: fire.dueAt,
    nonce: fire.nonce,
    job: definition.job,
    tenant: fire.tenant === undefined ? definition.tenant : fire.tenant,
    kind: fire.kind,
    round: fire.round,
    plannedAt: fire.plannedAt,
    readyAt: fire.readyAt,
    attempt: fire.attempt,
    input: fire.own === null ? null : fire.own.input,
    ...(fire.own !== null && fire.own.input === null ? { givenNull: true } : {}),
    ...(fire.asked === undefined ? {} : { asked: fire.asked }),
    ending: null,
    endedAt: null,
    number: null,
    expiresAt: null,
    range: null,
  }
}

/** How a run ended. */
type RunEnd = Pick<RunRecord, 'ending' | 'endedAt' | 'error' | 'result'>
const OPEN: RunEnd = { ending: null, endedAt: null, error: null, result: null }

export function runRecordOf(draft: Draft, fire: RunningFire, end: RunEnd = OPEN): RunRecord {
  const { run } = fire
  return {
    schedule: draft.state.id,
    dueAt: fire.dueAt,
    nonce: fire.nonce,
    token: run.token,
    job: draft.state.definition.job,
    round: fire.round,
    attempt: fire.attempt,
    instance: run.instance,
    request: run.request,
    startedAt: run.startedAt,
    readyAt: fire.readyAt,
    ...(run.cause === undefined ? {} : { cause: run.cause }),
    slots: slotsOf(draft.state.definition.job, choicesOfFire(draft, fire)).map(({ slot }) => slot),
    cancel: run.cancel,
    ending: end.ending,
    endedAt: end.endedAt,
    error: end.error,
    result: end.result,
  }
}

interface Slot {
  readonly slot: string
  readonly limit: number
}

/** Names of the fleet-wide limits that a run counts against. */
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
