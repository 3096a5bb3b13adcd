import type { DatabaseSync } from 'node:sqlite'
import { type ActivityRecord, scheduleOfActivity } from '../../model/activity.ts'
import type { Instant } from '../../model/schedule.ts'
import { activityPage, readActivityPlace } from '../cursor.ts'
import type { ActivityQuery, Page } from '../store.ts'
import { statement } from './driver.ts'
import { json } from './rows.ts'

const INSERT = `
insert into cronce_activity (namespace, at, id, schedule, expires_at, line) values (?, ?, ?, ?, ?, ?)`
/** The first two values of the order are those of the cursor. */
const OF_ALL = `
select line
  from cronce_activity
 where namespace = ? and (at, id) < (?, ?) and at >= ? and at < ?
 order by at desc, id desc
 limit ?`
const OF_SCHEDULE = `
select line
  from cronce_activity indexed by cronce_activity_schedule
 where namespace = ? and schedule = ? and (at, id) < (?, ?) and at >= ? and at < ?
 order by at desc, id desc
 limit ?`
const EXPIRED = `
select at, id
  from cronce_activity indexed by cronce_activity_expiry
 where namespace = ? and expires_at <= ?
 order by expires_at
 limit ?`
const DELETE = 'delete from cronce_activity where namespace = ? and at = ? and id = ?'
const DELETE_OF_SCHEDULE = 'delete from cronce_activity where namespace = ? and schedule = ?'

const [EARLIEST, LATEST] = [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER]

export function addActivity(db: DatabaseSync, namespace: string, line: ActivityRecord | undefined): void {
  if (line === undefined) return
  const { at, id, expiresAt } = line
  statement(db, INSERT).run(namespace, at, id, scheduleOfActivity(line), expiresAt, JSON.stringify(line))
}

export function listActivity(
  db: DatabaseSync,
  namespace: string,
  query: ActivityQuery,
  now: Instant,
): Page<ActivityRecord> {
  const { schedule, from = EARLIEST, to = LATEST, limit } = query
  const { at, id } = readActivityPlace(query) ?? { at: LATEST, id: '' }
  const bounds = [at, id, from, to, limit + 1] as const
  const rows =
    schedule === undefined
      ? statement(db, OF_ALL).all(namespace, ...bounds)
      : statement(db, OF_SCHEDULE).all(namespace, schedule, ...bounds)
  return activityPage(
    now,
    rows.map((row) => json<ActivityRecord>(row.line)),
    query,
  )
}

export function pruneActivity(db: DatabaseSync, namespace: string, limit: number, now: Instant): void {
  for (const row of statement(db, EXPIRED).all(namespace, now, limit)) {
    statement(db, DELETE).run(namespace, Number(row.at), String(row.id))
  }
}

export function eraseActivity(db: DatabaseSync, namespace: string, schedule: string): void {
  statement(db, DELETE_OF_SCHEDULE).run(namespace, schedule)
}
