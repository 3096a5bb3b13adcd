import type { ActivityRecord } from '../model/activity.ts'
import { type AlertRecord, NO_ALERTS } from '../model/alert.ts'
import { ALERTS_JOB, alertsSchedule } from '../model/exclusive-jobs.ts'
import type { Json } from '../model/json.ts'
import type { Definition, Instant, ScheduleState } from '../model/schedule.ts'
import type { Context } from '../policy/decision.ts'
import { define } from '../policy/operate/define.ts'
import { replaceInput } from '../policy/operate/replace-input.ts'
import { changeAny } from './change-schedule.ts'
import type { ClientParts } from './parts.ts'

/** Without a trigger and without a job that any instance has: it only holds the record, as its input. */
const DEFINITION: Definition = {
  job: ALERTS_JOB,
  ...{ trigger: null, input: null, policy: {}, start: null, end: null, limit: null, tenant: null },
}

/** The record that a schedule of `ALERTS_JOB` holds. */
export function alertRecordOf(state: ScheduleState | undefined): AlertRecord {
  return (state?.definition.input ?? NO_ALERTS) as unknown as AlertRecord
}

/** Reads and changes the record of an app, by compare-and-set. `change` returns `null` to leave it as it is. `log`: the line of the operator log about it. */
export async function changeAlertRecord<Tx>(
  parts: ClientParts<Tx>,
  app: string,
  change: (record: AlertRecord, now: Instant) => AlertRecord | null,
  log?: (now: Instant) => ActivityRecord,
): Promise<AlertRecord> {
  const id = alertsSchedule(app)
  let record = NO_ALERTS
  await changeAny(parts, id, (known, context) => {
    const state = known ?? newState(id, context)
    record = alertRecordOf(state)
    const next = change(record, context.now)
    if (next === null) return null
    record = next
    const decision = replaceInput(state, next as unknown as Json, context)
    return log === undefined ? decision : { ...decision, change: { ...decision.change, activity: log(context.now) } }
  })
  return record
}

/** As it would be created: the first change creates it. */
function newState(id: string, context: Context): ScheduleState {
  const created = define(null, id, { definition: DEFINITION, source: { kind: 'client' } }, context)
  if (created === null || 'refused' in created) throw new Error('A schedule without a trigger can be created.')
  return { ...created.change.state!, version: 0 }
}
