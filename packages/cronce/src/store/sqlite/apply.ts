import type { DatabaseSync } from 'node:sqlite'
import type { Change } from '../../model/change.ts'
import { ownEndsOf } from '../../model/own-ends.ts'
import type { FireKey, FireRecord, RunRecord } from '../../model/record.ts'
import type { Instant } from '../../model/schedule.ts'
import { type ChangeResult, ENDS_KEPT } from '../store.ts'
import { type Row, statement } from './driver.ts'
import { deleteFires } from './prune.ts'
import { fireKeyOf, fireOf, json } from './rows.ts'
import { headOf, writeSchedule } from './schedules.ts'

const FIRE = 'select record from cronce_fires where namespace = ? and schedule = ? and due_at = ? and nonce = ?'
const FIRE_BY_NONCE = `
select record
  from cronce_fires indexed by cronce_fires_nonce
 where namespace = ? and schedule = ? and nonce = ? and nonce <> ''`
const PUT_FIRE = `
insert into cronce_fires (namespace, schedule, due_at, nonce, job, outcome, ended_at, number, expires_at, until_at, tenant, record)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
on conflict (namespace, schedule, due_at, nonce) do update
   set job = excluded.job, tenant = excluded.tenant, outcome = excluded.outcome, ended_at = excluded.ended_at,
       number = excluded.number, expires_at = excluded.expires_at, until_at = excluded.until_at, record = excluded.record`
const PUT_RUN = `
insert into cronce_runs (namespace, schedule, token, due_at, nonce, job, instance, started_at, outcome, record)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
on conflict (namespace, schedule, token) do update
   set instance = excluded.instance, outcome = excluded.outcome, record = excluded.record`
const LOG_END = 'insert into cronce_ends (namespace, schedule, due_at, nonce, token) values (?, ?, ?, ?, ?)'
const TRIM_ENDS = 'delete from cronce_ends where number <= ?'
const SLOTS_OF_RUN = `
select json_extract(record, '$.slots') as value
  from cronce_runs
 where namespace = ? and schedule = ? and token = ? and outcome = 'open'`
const COUNT_SLOT = 'select count(*) as runs from cronce_run_slots where namespace = ? and slot = ?'
const HOLDS_SLOT = 'select 1 from cronce_run_slots where namespace = ? and slot = ? and schedule = ? and token = ?'
const TAKE_SLOT = 'insert or ignore into cronce_run_slots (namespace, slot, schedule, token) values (?, ?, ?, ?)'
const FREE_SLOT = 'delete from cronce_run_slots where namespace = ? and slot = ? and schedule = ? and token = ?'
/** Those of the oldest that are old enough. It holds the lock: whatever is behind a thousand that are not can wait. */
export const TRIM = `
select schedule, due_at, nonce
  from (
    select schedule, due_at, nonce, ended_at
      from cronce_fires indexed by cronce_fires_number
     where namespace = ? and schedule = ? and number is not null and number < ?
     order by number
     limit 1000
  ) oldest
 where ended_at < ? and due_at < ?
 limit 200`

/** The changes of one call, within one transaction. */
export interface Batch {
  readonly db: DatabaseSync
  readonly namespace: string
  readonly now: Instant
  readonly epoch: number
  /** Open runs by slot, counted once: a slot may be full of thousands. */
  readonly slots: Map<string, number>
}

/** All of the change, or nothing of it: whatever could be in the way is looked for before anything is written. */
export function applyChange(batch: Batch, change: Change): ChangeResult {
  const head = headOf(batch.db, batch.namespace, change.id)
  const obstacle = obstacleTo(batch, head, change)
  if (obstacle !== null) return obstacle
  const { db, namespace } = batch
  writeSchedule(db, namespace, head, change)
  for (const fire of change.updates) putFire(batch, fire)
  for (const fire of change.creates) putFire(batch, fire)
  for (const run of change.runs) putRun(batch, run)
  logEnds(batch, change)
  if (change.trim !== null) {
    const { belowNumber, endedBefore } = change.trim
    const old = statement(db, TRIM).all(namespace, change.id, belowNumber, endedBefore, endedBefore)
    deleteFires(db, namespace, old.map(fireKeyOf))
  }
  return { kind: 'applied' }
}

function obstacleTo(batch: Batch, head: Row | undefined, change: Change): ChangeResult | null {
  if (change.epoch !== batch.epoch || Number(head?.version ?? 0) !== change.version) return { kind: 'conflict' }
  if (change.notBefore !== null && batch.now < change.notBefore) return { kind: 'early' }
  const fire = findExisting(batch, change)
  if (fire !== null) return { kind: 'exists', fire }
  const full = change.limits.find(({ slot, limit }) => slotAfter(batch, slot, change) > limit)
  return full === undefined ? null : { kind: 'full', slot: full.slot }
}

/** A fire on record, or earlier in the same change, that is one of `creates`. */
function findExisting({ db, namespace }: Batch, { creates }: Change): FireRecord | null {
  for (const [index, fire] of creates.entries()) {
    const earlier = creates.slice(0, index).find((other) => isSame(other, fire))
    if (earlier !== undefined) return earlier
    const { schedule, dueAt, nonce } = fire
    const row =
      nonce === ''
        ? statement(db, FIRE).get(namespace, schedule, dueAt, nonce)
        : statement(db, FIRE_BY_NONCE).get(namespace, schedule, nonce)
    if (row !== undefined) return fireOf(row)
  }
  return null
}

function isSame(one: FireKey, other: FireKey): boolean {
  return one.nonce === other.nonce && one.schedule === other.schedule && (one.nonce !== '' || one.dueAt === other.dueAt)
}

/** How many open runs the slot would have. */
function slotAfter(batch: Batch, slot: string, { runs }: Change): number {
  const { db, namespace } = batch
  let count = slotNow(batch, slot)
  for (const { schedule, token, slots, ending } of runs) {
    const holds = statement(db, HOLDS_SLOT).get(namespace, slot, schedule, token) !== undefined
    const wants = ending === null && slots.includes(slot)
    if (wants && !holds) count++
    if (!wants && holds) count--
  }
  return count
}

function slotNow({ db, namespace, slots }: Batch, slot: string): number {
  let count = slots.get(slot)
  if (count === undefined) {
    count = Number(statement(db, COUNT_SLOT).get(namespace, slot)?.runs)
    slots.set(slot, count)
  }
  return count
}

function putFire({ db, namespace }: Batch, fire: FireRecord): void {
  statement(db, PUT_FIRE).run(
    namespace,
    fire.schedule,
    fire.dueAt,
    fire.nonce,
    fire.job,
    fire.ending?.outcome ?? 'open',
    fire.endedAt,
    fire.number,
    fire.expiresAt,
    fire.range?.untilAt ?? null,
    fire.tenant,
    JSON.stringify(fire),
  )
}

function putRun(batch: Batch, run: RunRecord): void {
  const { db, namespace } = batch
  const { schedule, token } = run
  const taken = slotsOf(batch, run)
  statement(db, PUT_RUN).run(
    namespace,
    schedule,
    token,
    run.dueAt,
    run.nonce,
    run.job,
    run.instance,
    run.startedAt,
    run.ending?.outcome ?? 'open',
    JSON.stringify(run),
  )
  const wanted = run.ending === null ? run.slots : []
  for (const slot of taken) {
    if (wanted.includes(slot)) continue
    const before = slotNow(batch, slot)
    batch.slots.set(slot, before - Number(statement(db, FREE_SLOT).run(namespace, slot, schedule, token).changes))
  }
  for (const slot of wanted) {
    const before = slotNow(batch, slot)
    batch.slots.set(slot, before + Number(statement(db, TAKE_SLOT).run(namespace, slot, schedule, token).changes))
  }
}

function logEnds({ db, namespace }: Batch, change: Change): void {
  let last = 0
  const log = ({ schedule, dueAt, nonce }: FireKey, token: string): void => {
    last = Number(statement(db, LOG_END).run(namespace, schedule, dueAt, nonce, token).lastInsertRowid)
  }
  for (const run of change.runs) if (run.ending !== null) log(run, run.token)
  for (const fire of ownEndsOf(change)) log(fire, '')
  if (last > ENDS_KEPT) statement(db, TRIM_ENDS).run(last - ENDS_KEPT)
}

/** What a run has taken so far: not what the record says that ends it. */
function slotsOf({ db, namespace }: Batch, { schedule, token }: RunRecord): readonly string[] {
  const row = statement(db, SLOTS_OF_RUN).get(namespace, schedule, token)
  return row === undefined ? [] : json<readonly string[]>(row.value)
}
