import type { DatabaseSync } from 'node:sqlite'
import { COUNTS_KEPT_MS } from '../../model/hours.ts'
import type { FireKey } from '../../model/record.ts'
import type { Instant } from '../../model/schedule.ts'
import { StoreError } from '../store-error.ts'
import { eraseActivity, pruneActivity } from './activity.ts'
import { statement } from './driver.ts'
import { fireKeyOf } from './rows.ts'
import { headOf } from './schedules.ts'

const DAY_MS = 86_400_000

export const EXPIRED = `
select schedule, due_at, nonce
  from cronce_history indexed by cronce_history_expiry
 where namespace = ? and expires_at <= ? and is_final = 1
 order by expires_at
 limit ?`

/** An instance whose runs have not been recovered yet must stay: recovery finds them by it. */
export const GONE = `
select id
  from cronce_instances indexed by cronce_instances_ended
 where namespace = ? and ended_at is not null and ended_at <= ?
   and not exists (
     select 1
       from cronce_open indexed by cronce_open_held
      where cronce_open.namespace = cronce_instances.namespace and instance = cronce_instances.id and token is not null
   )
 limit ?`

export const FIRES_OF =
  'select schedule, due_at, nonce from cronce_history where namespace = ? and schedule = ? limit ?'
/** Records that have outlived their fire. */
export const STEPS_OF = 'select schedule, due_at, nonce from cronce_steps where namespace = ? and schedule = ? limit ?'

const DELETE_COUNTS = 'delete from cronce_counts where namespace = ? and hour < ?'
const DELETE_INSTANCE = 'delete from cronce_instances where namespace = ? and id = ?'

const OF_FIRE = 'namespace = ? and schedule = ? and due_at = ? and nonce = ?'
/** Everything that refers to a fire, and then its lines. Without numbered parameters, which older versions of Node can't bind. */
export const DELETE_NOTES = `
delete from cronce_run_notes
 where namespace = ? and schedule = ?
   and token in (select token from cronce_history indexed by cronce_history_fire where ${OF_FIRE} and token is not null)`
export const DELETE_FIRE = [
  `delete from cronce_steps where ${OF_FIRE}`,
  `delete from cronce_history indexed by cronce_history_fire where ${OF_FIRE}`,
] as const

export function deleteFires(db: DatabaseSync, namespace: string, fires: readonly FireKey[]): void {
  for (const { schedule, dueAt, nonce } of fires) {
    statement(db, DELETE_NOTES).run(namespace, schedule, namespace, schedule, dueAt, nonce)
    for (const sql of DELETE_FIRE) statement(db, sql).run(namespace, schedule, dueAt, nonce)
  }
}

/** Returns how many records were deleted: fires and instances. */
export function prune(db: DatabaseSync, namespace: string, limit: number, now: Instant): number {
  const fires = statement(db, EXPIRED).all(namespace, now, limit).map(fireKeyOf)
  deleteFires(db, namespace, fires)
  const gone = statement(db, GONE).all(namespace, now - DAY_MS, limit)
  for (const row of gone) statement(db, DELETE_INSTANCE).run(namespace, String(row.id))
  pruneActivity(db, namespace, limit, now)
  statement(db, DELETE_COUNTS).run(namespace, now - COUNTS_KEPT_MS)
  return fires.length
}

export function isPrunable(db: DatabaseSync, namespace: string, now: Instant): boolean {
  const isExpired = statement(db, EXPIRED).get(namespace, now, 1) !== undefined
  return isExpired || statement(db, GONE).get(namespace, now - DAY_MS, 1) !== undefined
}

/** Of a schedule that does not exist. */
export function pruneSchedule(db: DatabaseSync, namespace: string, schedule: string, limit: number): number {
  if (headOf(db, namespace, schedule) !== undefined) {
    throw new StoreError('SCHEDULE_EXISTS', `Schedule ${schedule} still exists.`, {
      hint: 'Remove it first: its records are what keeps it from running twice.',
    })
  }
  eraseActivity(db, namespace, schedule)
  for (const sql of [FIRES_OF, STEPS_OF]) {
    const found = statement(db, sql).all(namespace, schedule, limit).map(fireKeyOf)
    deleteFires(db, namespace, found)
    if (found.length > 0) return found.length
  }
  return 0
}
