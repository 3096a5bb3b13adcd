import { type ActivityRecord, scheduleOfActivity } from '../model/activity.ts'
import type { Change } from '../model/change.ts'
import type { FireKey, FireRecord, HistoryRecord, ListedRecord } from '../model/record.ts'
import type { ScheduleState } from '../model/schedule.ts'
import { stateOf } from '../model/state-of.ts'
import { viewEndedFire, viewOpenFire } from '../model/views.ts'
import type { ActivityQuery, RecordQuery, ScheduleQuery } from './store.ts'

// Whether a record matches the query, where the store itself does not tell.

export function matchesSchedule(state: ScheduleState, { tenant, app, state: status }: ScheduleQuery): boolean {
  const { definition, source } = state
  return (
    (tenant === undefined || definition.tenant === tenant) &&
    (app === undefined || (source.kind === 'code' && source.app === app)) &&
    (status === undefined || stateOf(state) === status)
  )
}

/** Whether a record of the view matches the query. */
export function matchesRecord(record: ListedRecord, query: RecordQuery): boolean {
  return matchesFire(record, query) && matchesRun(record, query) && isDueWithin(record, query)
}

function matchesFire(record: ListedRecord, { schedule, job, tenant, nonce }: RecordQuery): boolean {
  return (
    (schedule === undefined || record.schedule === schedule) &&
    (job === undefined || record.job === job) &&
    (tenant === undefined || record.tenant === tenant) &&
    (nonce === undefined || record.nonce === nonce)
  )
}

function matchesRun({ run, ending }: ListedRecord, { outcome, instance, token }: RecordQuery): boolean {
  return (
    (outcome === undefined || (ending?.outcome ?? 'open') === outcome) &&
    (instance === undefined || run?.instance === instance) &&
    (token === undefined || run?.token === token)
  )
}

/** A range counts by its last instant at the beginning, and by its first at the end: it matches if it overlaps. */
function isDueWithin({ dueAt, range }: ListedRecord, { from, to }: RecordQuery): boolean {
  return (from === undefined || (range?.untilAt ?? dueAt) >= from) && (to === undefined || dueAt < to)
}

export function matchesActivity(line: ActivityRecord, { schedule, from, to }: ActivityQuery): boolean {
  return (
    (schedule === undefined || scheduleOfActivity(line) === schedule) &&
    (from === undefined || line.at >= from) &&
    (to === undefined || line.at < to)
  )
}

/** Whether a line is listed in this view. */
export function isInView({ isFinal, run }: HistoryRecord, view: RecordQuery['view']): boolean {
  return view === 'fires' ? isFinal : run !== null
}

function isSameFire(one: FireKey, other: FireKey): boolean {
  return one.dueAt === other.dueAt && one.nonce === other.nonce && one.schedule === other.schedule
}

/** Two of the fires that a change creates are the same: the change contradicts itself, and the store need not be asked. */
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
