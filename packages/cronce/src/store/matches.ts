import type { Change } from '../model/change.ts'
import type { FireKey, FireRecord, RunRecord } from '../model/record.ts'
import type { ScheduleState } from '../model/schedule.ts'
import { stateOf } from '../model/state-of.ts'
import { viewEndedFire, viewOpenFire } from '../model/views.ts'
import type { End, FireQuery, RunQuery, ScheduleQuery } from './store.ts'

// Whether a record is one that was asked for, where the store itself does not tell.

export function matchesSchedule(state: ScheduleState, { tenant, app, state: status }: ScheduleQuery): boolean {
  const { definition, source } = state
  return (
    (tenant === undefined || definition.tenant === tenant) &&
    (app === undefined || (source.kind === 'code' && source.app === app)) &&
    (status === undefined || stateOf(state) === status)
  )
}

export function matchesFire(fire: FireRecord, { job, tenant, outcome, nonce, from, to }: FireQuery): boolean {
  return (
    (job === undefined || fire.job === job) &&
    (tenant === undefined || fire.tenant === tenant) &&
    (outcome === undefined || (fire.ending?.outcome ?? 'open') === outcome) &&
    (nonce === undefined || fire.nonce === nonce) &&
    (from === undefined || (fire.range?.untilAt ?? fire.dueAt) >= from) &&
    (to === undefined || fire.dueAt < to)
  )
}

export function matchesRun(run: RunRecord, query: RunQuery): boolean {
  const { schedule, job, instance, outcome, fire, token, from, to } = query
  return (
    (schedule === undefined || run.schedule === schedule) &&
    (job === undefined || run.job === job) &&
    (instance === undefined || run.instance === instance) &&
    (outcome === undefined || (run.ending?.outcome ?? 'open') === outcome) &&
    (fire === undefined || isSameFire(run, fire)) &&
    (token === undefined || run.token === token) &&
    (from === undefined || run.startedAt >= from) &&
    (to === undefined || run.startedAt < to)
  )
}

/** Whether there is a record, and it has ended: a fire may be open again. */
export function isEnd(end: End | null): end is End {
  return end !== null && (end.kind === 'run' || end.fire.ending !== null)
}

function isSameFire(one: FireKey, other: FireKey): boolean {
  return one.dueAt === other.dueAt && one.nonce === other.nonce && one.schedule === other.schedule
}

/** Two of the fires that a change creates are one: the change contradicts itself, and the store need not be asked. */
export function findTwin(change: Change): FireRecord | null {
  const { creates } = change
  if (creates.length < 2) return null
  const seen = new Map<string, FireKey>()
  for (const fire of creates) {
    const key = twinKey(fire)
    const twin = seen.get(key)
    if (twin !== undefined) return viewCreated(change, twin)
    seen.set(key, fire)
  }
  return null
}

function twinKey({ schedule, dueAt, nonce }: FireKey): string {
  return JSON.stringify(nonce === '' ? [schedule, dueAt] : [schedule, nonce])
}

/** A fire as it would be listed if the change that creates it were written. */
function viewCreated({ state, history }: Change, fire: FireKey): FireRecord {
  const open = state?.open.find(({ dueAt, nonce }) => dueAt === fire.dueAt && nonce === fire.nonce)
  if (state !== null && open !== undefined) return viewOpenFire(state, open)
  const line = history.findLast((one) => isSameFire(one, fire))
  if (line !== undefined) return viewEndedFire(line)
  throw new Error(`The change creates the fire of ${fire.schedule} due ${fire.dueAt}, but neither opens nor ends it.`)
}
