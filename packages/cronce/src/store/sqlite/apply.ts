import type { DatabaseSync } from 'node:sqlite'
import type { Change } from '../../model/change.ts'
import { hourOf } from '../../model/hours.ts'
import type { FireKey, FireRecord, HistoryRecord } from '../../model/record.ts'
import type { Instant, OpenFire, ScheduleState } from '../../model/schedule.ts'
import { viewEndedFire, viewOpenFire } from '../../model/views.ts'
import type { ChangeResult } from '../store.ts'
import { addActivity } from './activity.ts'
import { type Row, statement } from './driver.ts'
import { deleteFires } from './prune.ts'
import { fireKeyOf, lineOf } from './rows.ts'
import { headOf, loadSchedules, writeSchedule } from './schedules.ts'

/** The final line of the fire, or its last one. */
const LINE = `
select line, is_final
  from cronce_history indexed by cronce_history_fire
 where namespace = ? and schedule = ? and due_at = ? and nonce = ?
 order by is_final desc, number desc
 limit 1`
const LINE_BY_NONCE = `
select line, is_final
  from cronce_history indexed by cronce_history_nonce
 where namespace = ? and schedule = ? and nonce = ? and nonce <> ''
 order by is_final desc, number desc
 limit 1`
const IS_OPEN = 'select 1 from cronce_open where namespace = ? and schedule = ? and due_at = ? and nonce = ?'
const OPEN_OF =
  'select due_at, nonce, job, tenant, token, instance from cronce_open where namespace = ? and schedule = ?'
const OPEN = `
insert or replace into cronce_open (namespace, schedule, due_at, nonce, job, tenant, token, instance)
values (?, ?, ?, ?, ?, ?, ?, ?)`
const CLOSE_ALL = 'delete from cronce_open where namespace = ? and schedule = ?'
const CLOSE = 'delete from cronce_open where namespace = ? and schedule = ? and due_at = ? and nonce = ?'
const REOPEN = `
update cronce_history indexed by cronce_history_fire
   set is_final = 0
 where namespace = ? and schedule = ? and due_at = ? and nonce = ? and is_final = 1`
const FINAL_LINES = `
select line, is_final
  from cronce_history indexed by cronce_history_fire
 where namespace = ? and schedule = ? and due_at = ? and nonce = ? and is_final = 1`
const OF_LINE = 'namespace = ? and schedule = ? and due_at = ? and nonce = ? and number = ?'
const LINE_AT = `select line, is_final from cronce_history indexed by cronce_history_fire where ${OF_LINE}`
const COUNT = `
insert into cronce_counts (namespace, hour, outcome, fires) values (?, ?, ?, ?)
on conflict do update set fires = fires + excluded.fires`
const DELETE_LINE = `delete from cronce_history indexed by cronce_history_fire where ${OF_LINE}`
const APPEND = `
insert into cronce_history
  (namespace, schedule, number, due_at, nonce, is_final, job, tenant, outcome, ended_at, expires_at, until_at,
   token, instance, line)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
const COUNT_SLOT = 'select count(*) as runs from cronce_run_slots where namespace = ? and slot = ?'
const SLOTS_OF =
  'select slot, token from cronce_run_slots indexed by cronce_run_slots_schedule where namespace = ? and schedule = ?'
const TAKE_SLOT = 'insert or ignore into cronce_run_slots (namespace, slot, schedule, token) values (?, ?, ?, ?)'
const FREE_SLOT = 'delete from cronce_run_slots where namespace = ? and slot = ? and schedule = ? and token = ?'
/** The oldest ones that are old enough. It holds the lock, so records behind a thousand younger ones can wait. */
export const TRIM = `
select schedule, due_at, nonce
  from (
    select schedule, due_at, nonce, number, ended_at
      from cronce_history indexed by cronce_history_fire
     where namespace = ? and schedule = ? and is_final = 1
     order by due_at
     limit 1000
  ) oldest
 where number < ? and ended_at < ? and due_at < ?
 limit 200`

/** The changes of one call, within one transaction. */
export interface Batch {
  readonly db: DatabaseSync
  readonly namespace: string
  readonly now: Instant
  readonly epoch: number
  /** Open runs by slot, counted once: a slot may have thousands. */
  readonly slots: Map<string, number>
}

/** All of the change, or nothing: every possible conflict is checked before anything is written. */
export function applyChange(batch: Batch, change: Change): ChangeResult {
  const head = headOf(batch.db, batch.namespace, change.id)
  const taken = head === undefined || head.held_slots === 0 ? [] : slotsOf(batch, change.id)
  const obstacle = obstacleTo(batch, head, change, taken)
  if (obstacle !== null) return obstacle
  const { db, namespace } = batch
  writeSchedule(db, namespace, head, change)
  writeOpen(batch, Number(head?.open_fires ?? 0), change)
  writeSlots(batch, change, taken)
  for (const { schedule, dueAt, nonce } of change.reopens) {
    const final = statement(db, FINAL_LINES).all(namespace, schedule, dueAt, nonce)
    for (const row of final) count(batch, lineOf(row), -1)
    statement(db, REOPEN).run(namespace, schedule, dueAt, nonce)
  }
  for (const { schedule, dueAt, nonce, number } of change.rewrites) {
    const row = statement(db, LINE_AT).get(namespace, schedule, dueAt, nonce, number)
    if (row !== undefined) count(batch, lineOf(row), -1)
    statement(db, DELETE_LINE).run(namespace, schedule, dueAt, nonce, number)
  }
  for (const line of change.rewrites) append(batch, line)
  for (const line of change.history) append(batch, line)
  if (change.trim !== null) {
    const { belowNumber, endedBefore } = change.trim
    const old = statement(db, TRIM).all(namespace, change.id, belowNumber, endedBefore, endedBefore)
    deleteFires(db, namespace, old.map(fireKeyOf))
  }
  addActivity(db, namespace, change.activity)
  return { kind: 'applied' }
}

function obstacleTo(batch: Batch, head: Row | undefined, change: Change, taken: readonly Taken[]): ChangeResult | null {
  if (change.epoch !== batch.epoch || Number(head?.version ?? 0) !== change.version) return { kind: 'conflict' }
  if (change.notBefore !== null && batch.now < change.notBefore) return { kind: 'early' }
  const fire = findExisting(batch, head, change)
  if (fire !== null) return { kind: 'exists', fire }
  const wanted = takenIn(change.state)
  const full = change.limits.find(({ slot, limit }) => {
    return slotNow(batch, slot) - countOf(slot, taken) + countOf(slot, wanted) > limit
  })
  return full === undefined ? null : { kind: 'full', slot: full.slot }
}

/** A fire that is open, on record, or named earlier in the same change, and that is one of `creates`. */
function findExisting(batch: Batch, head: Row | undefined, change: Change): FireRecord | null {
  const { creates } = change
  for (const [index, fire] of creates.entries()) {
    const isTwice = creates.slice(0, index).some((other) => isSame(other, fire))
    if (isTwice) return fireIn(change, fire)
    const known = isBeyondMark(head, fire) ? null : findFire(batch, fire)
    if (known !== null) return known
  }
  return null
}

/** No fire of the schedule was ever due this late. */
function isBeyondMark(head: Row | undefined, { dueAt, nonce }: FireKey): boolean {
  return nonce === '' && head !== undefined && (head.mark === null || dueAt > Number(head.mark))
}

/** As the change would leave it. */
function fireIn({ state, history }: Change, fire: FireKey): FireRecord | null {
  const open = state?.open.find((other) => isSame({ ...other, schedule: fire.schedule }, fire))
  if (open !== undefined) return viewOpenFire(state!, open)
  const line = history.find((other) => isSame(other, fire))
  return line === undefined ? null : viewEndedFire(line)
}

function findFire({ db, namespace }: Batch, fire: FireKey): FireRecord | null {
  const { schedule, dueAt, nonce } = fire
  const isOpen =
    statement(db, IS_OPEN).get(namespace, schedule, dueAt, nonce) !== undefined ||
    (nonce !== '' &&
      statement(db, OPEN_OF)
        .all(namespace, schedule)
        .some((row) => row.nonce === nonce))
  if (isOpen) {
    const [state] = loadSchedules(db, namespace, [schedule], () => {})
    const open = state?.open.find((other) => isSame({ ...other, schedule }, fire))
    if (state !== undefined && open !== undefined) return viewOpenFire(state, open)
  }
  const row =
    nonce === ''
      ? statement(db, LINE).get(namespace, schedule, dueAt, nonce)
      : statement(db, LINE_BY_NONCE).get(namespace, schedule, nonce)
  return row === undefined ? null : viewEndedFire(lineOf(row))
}

function isSame(one: FireKey, other: FireKey): boolean {
  return one.nonce === other.nonce && one.schedule === other.schedule && (one.nonce !== '' || one.dueAt === other.dueAt)
}

/** A fire has ended with this line (1), or is open again (-1). */
function count({ db, namespace }: Batch, { isFinal, dueAt, ending, range }: HistoryRecord, by: 1 | -1): void {
  if (isFinal) statement(db, COUNT).run(namespace, hourOf(dueAt), ending.outcome, by * (range?.count ?? 1))
}

function append(batch: Batch, line: HistoryRecord): void {
  const { db, namespace } = batch
  const { run } = line
  count(batch, line, 1)
  statement(db, APPEND).run(
    namespace,
    line.schedule,
    line.number,
    line.dueAt,
    line.nonce,
    line.isFinal ? 1 : 0,
    line.job,
    line.tenant,
    line.ending.outcome,
    line.endedAt,
    line.expiresAt,
    line.range?.untilAt ?? null,
    run?.token ?? null,
    run?.instance ?? null,
    JSON.stringify(line),
  )
}

/** Update the index of open fires from the state. */
function writeOpen({ db, namespace }: Batch, wereOpen: number, { id, state }: Change): void {
  const open = state?.open ?? []
  if (open.length === 0) {
    if (wereOpen > 0) statement(db, CLOSE_ALL).run(namespace, id)
    return
  }
  const before = wereOpen === 0 ? [] : statement(db, OPEN_OF).all(namespace, id)
  const isOf = (row: Row, { dueAt, nonce }: OpenFire): boolean => row.due_at === dueAt && row.nonce === nonce
  for (const row of before) {
    if (!open.some((fire) => isOf(row, fire))) {
      statement(db, CLOSE).run(namespace, id, Number(row.due_at), String(row.nonce))
    }
  }
  for (const fire of open) {
    const { job } = state!.definition
    const tenant = fire.tenant === undefined ? state!.definition.tenant : fire.tenant
    const { token = null, instance = null } = fire.run ?? {}
    const known = before.find((row) => isOf(row, fire))
    if (known !== undefined && isSameOpen(known, job, tenant, token, instance)) continue
    statement(db, OPEN).run(namespace, id, fire.dueAt, fire.nonce, job, tenant, token, instance)
  }
}

/** Whether the row of an open fire is already up to date. */
function isSameOpen(
  row: Row,
  job: string,
  tenant: string | null,
  token: string | null,
  instance: string | null,
): boolean {
  return row.token === token && row.instance === instance && row.job === job && row.tenant === tenant
}

interface Taken {
  readonly slot: string
  readonly token: string
}

/** The limits that open runs of the schedule count against, as stored. */
function slotsOf({ db, namespace }: Batch, id: string): readonly Taken[] {
  const rows = statement(db, SLOTS_OF).all(namespace, id)
  return rows.map(({ slot, token }) => ({ slot: String(slot), token: String(token) }))
}

function takenIn(state: ScheduleState | null): readonly Taken[] {
  return (state?.open ?? []).flatMap(({ run }) => run?.slots?.map((slot) => ({ slot, token: run.token })) ?? [])
}

function countOf(slot: string, taken: readonly Taken[]): number {
  return taken.filter((one) => one.slot === slot).length
}

function slotNow({ db, namespace, slots }: Batch, slot: string): number {
  let count = slots.get(slot)
  if (count === undefined) {
    count = Number(statement(db, COUNT_SLOT).get(namespace, slot)?.runs)
    slots.set(slot, count)
  }
  return count
}

function writeSlots(batch: Batch, { id, state }: Change, taken: readonly Taken[]): void {
  const { db, namespace } = batch
  const wanted = takenIn(state)
  const has = (list: readonly Taken[], { slot, token }: Taken): boolean =>
    list.some((one) => one.slot === slot && one.token === token)
  for (const one of taken.filter((old) => !has(wanted, old))) {
    batch.slots.set(one.slot, slotNow(batch, one.slot) - 1)
    statement(db, FREE_SLOT).run(namespace, one.slot, id, one.token)
  }
  for (const one of wanted.filter((fresh) => !has(taken, fresh))) {
    batch.slots.set(one.slot, slotNow(batch, one.slot) + 1)
    statement(db, TAKE_SLOT).run(namespace, one.slot, id, one.token)
  }
}
