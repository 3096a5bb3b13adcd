import type { DatabaseSync } from 'node:sqlite'
import { bucketOf } from '../../model/bucket.ts'
import type { Change } from '../../model/change.ts'
import type { Instant, ScheduleState } from '../../model/schedule.ts'
import { stateOf } from '../../model/state-of.ts'
import type { Due, DueQuery } from '../store.ts'
import { type Row, statement } from './driver.ts'
import { floorOf, raiseFloor } from './meta.ts'
import { FORMAT, scheduleOf, stateText } from './rows.ts'

export const LOAD = `
select format, state, definition
  from cronce_schedules join cronce_definitions using (key)
 where namespace = ? and id = ?`

/** All requested columns are in the index, so that no row is read in vain. */
export const DUE = `
select wake_at, id
  from cronce_schedules indexed by cronce_schedules_due
 where namespace = ? and job = ? and wake_at is not null and wake_at <= ? and substr(?, bucket + 1, 1) = ? and format <= ${FORMAT}
 order by wake_at
 limit ?`

export const NEXT = `
select wake_at
  from cronce_schedules indexed by cronce_schedules_due
 where namespace = ? and job = ? and wake_at is not null and wake_at > ? and substr(?, bucket + 1, 1) = ? and format <= ${FORMAT}
 order by wake_at
 limit 1`

export const NEWER = `
select id
  from cronce_schedules indexed by cronce_schedules_format
 where namespace = ? and format > ${FORMAT}
 limit 1`

export const HEAD = `
select key, version, revision, format, mark, open_fires, held_slots
  from cronce_schedules
 where namespace = ? and id = ?`

const INSERT = `
insert into cronce_schedules 
  (namespace, id, format, version, revision, job, bucket, wake_at, tenant, app, status, mark, open_fires, held_slots, state)
values (?, ?, ${FORMAT}, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
const INSERT_DEFINITION = 'insert into cronce_definitions (key, definition) values (?, ?)'

export const UPDATE = `
update cronce_schedules
   set version = ?, wake_at = ?, app = ?, status = ?, mark = ?, open_fires = ?, held_slots = ?, state = ?
 where key = ?`
const REDEFINE = 'update cronce_schedules set revision = ?, job = ?, tenant = ? where key = ?'
const UPDATE_DEFINITION = 'update cronce_definitions set definition = ? where key = ?'

const TOKENS = "select json_extract(state, '$.tokens') as tokens from cronce_schedules where key = ?"
/** Where a schedule of this name stopped. Reads all of its history, in the rare case that it had one. */
const LEFT = `
select max(number) as ended, max(due_at) filter (where nonce = '') as mark
  from cronce_history indexed by cronce_history_fire
 where namespace = ? and schedule = ?`
const DELETE = 'delete from cronce_schedules where key = ?'
const DELETE_DEFINITION = 'delete from cronce_definitions where key = ?'

/** The existing ones, each once. `newer` is called for each that a newer version wrote and this one can't read. */
export function loadSchedules(
  db: DatabaseSync,
  namespace: string,
  ids: Iterable<string>,
  newer: (id: string) => void,
): ScheduleState[] {
  const load = statement(db, LOAD)
  const found: ScheduleState[] = []
  for (const id of new Set(ids)) {
    const row = load.get(namespace, id)
    if (row === undefined) continue
    if (Number(row.format) > FORMAT) newer(id)
    else found.push(scheduleOf(row))
  }
  return found
}

/** The name of a schedule that a newer version wrote, if there is one. */
export function findNewer(db: DatabaseSync, namespace: string): string | null {
  const row = statement(db, NEWER).get(namespace)
  return row === undefined ? null : String(row.id)
}

interface Waiting {
  readonly id: string
  readonly wakeAt: Instant
  readonly mine: boolean
}

/** One index seek per job and side. Rows cut off by the limit count as the next ones. */
export function findDue(
  db: DatabaseSync,
  namespace: string,
  { jobs, patienceMs, aheadMs = 0, limit }: DueQuery,
  now: Instant,
): { readonly ids: readonly string[] } & Pick<Due, 'mineAt' | 'othersAt'> {
  const waiting: Waiting[] = []
  const later: Omit<Waiting, 'id'>[] = []
  for (const { job, buckets } of jobs) {
    for (const mine of [true, false]) {
      const digit = mine ? '1' : '0'
      // A search for rows that can't exist would read everything of the job.
      if (!buckets.includes(digit)) continue
      const until = mine ? now + aheadMs : now - patienceMs
      const rows = statement(db, DUE).all(namespace, job, until, buckets, digit, limit + 1)
      for (const row of rows) waiting.push({ id: String(row.id), wakeAt: Number(row.wake_at), mine })
      if (rows.length > limit) continue
      const next = statement(db, NEXT).get(namespace, job, until, buckets, digit)
      if (next !== undefined) later.push({ wakeAt: Number(next.wake_at), mine })
    }
  }
  waiting.sort((one, other) => one.wakeAt - other.wakeAt)
  later.push(...waiting.slice(limit))
  return {
    ids: waiting.slice(0, limit).map(({ id }) => id),
    mineAt: earliest(later.filter(({ mine }) => mine)),
    othersAt: earliest(later.filter(({ mine }) => !mine)),
  }
}

function earliest(waiting: readonly { readonly wakeAt: Instant }[]): Instant | null {
  return waiting.reduce<Instant | null>(
    (least, { wakeAt }) => (least === null || wakeAt < least ? wakeAt : least),
    null,
  )
}

export function headOf(db: DatabaseSync, namespace: string, id: string): Row | undefined {
  return statement(db, HEAD).get(namespace, id)
}

/** Write the new state of the schedule; `head` is the old one. */
export function writeSchedule(db: DatabaseSync, namespace: string, head: Row | undefined, change: Change): void {
  if (head === undefined) {
    if (change.state !== null) insertSchedule(db, namespace, change, change.state)
    return
  }
  const key = Number(head.key)
  if (change.state === null) {
    const tokens = Number(statement(db, TOKENS).get(key)?.tokens ?? 0)
    raiseFloor(db, namespace, Math.max(tokens, change.version))
    statement(db, DELETE).run(key)
    statement(db, DELETE_DEFINITION).run(key)
    return
  }
  const state = { ...change.state, version: change.version + 1 }
  const { wakeAt, revision, definition } = state
  const mark = markAfter(head.mark === null ? null : Number(head.mark), change)
  statement(db, UPDATE).run(
    state.version,
    wakeAt,
    appOf(state),
    stateOf(state),
    mark,
    state.open.length,
    heldSlots(state),
    stateText(state),
    key,
  )
  if (revision === Number(head.revision)) return
  statement(db, REDEFINE).run(revision, definition.job, definition.tenant, key)
  statement(db, UPDATE_DEFINITION).run(JSON.stringify(definition), key)
}

function insertSchedule(db: DatabaseSync, namespace: string, change: Change, created: ScheduleState): void {
  const floor = floorOf(db, namespace)
  const left = statement(db, LEFT).get(namespace, created.id)
  const mark = left?.mark === null || left?.mark === undefined ? null : Number(left.mark)
  const counters = { tokens: Math.max(created.tokens, floor), ended: Math.max(created.ended, Number(left?.ended ?? 0)) }
  const state = { ...created, ...counters, version: floor + 1 }
  const { id, version, revision, definition, wakeAt } = state
  const { lastInsertRowid } = statement(db, INSERT).run(
    namespace,
    id,
    version,
    revision,
    definition.job,
    bucketOf(id),
    wakeAt,
    definition.tenant,
    appOf(state),
    stateOf(state),
    markAfter(mark, change),
    state.open.length,
    heldSlots(state),
    stateText(state),
  )
  statement(db, INSERT_DEFINITION).run(lastInsertRowid, JSON.stringify(definition))
}

function markAfter(mark: Instant | null, { creates, history }: Change): Instant | null {
  return [...creates, ...history].reduce(
    (highest, { dueAt, nonce }) => (nonce === '' && (highest === null || dueAt > highest) ? dueAt : highest),
    mark,
  )
}

function heldSlots({ open }: ScheduleState): number {
  return open.reduce((count, { run }) => count + (run?.slots?.length ?? 0), 0)
}

function appOf({ source }: ScheduleState): string | null {
  return source.kind === 'code' ? source.app : null
}
