import type { DatabaseSync } from 'node:sqlite'
import type { InstanceRecord, InstanceState } from '../../model/instance.ts'
import type { Instant, ScheduleState } from '../../model/schedule.ts'
import {
  type Beat,
  type BeatAnswer,
  type Chores,
  ENDED_LOOKED,
  ENDED_SHOWN,
  type HeldRun,
  type InstanceMark,
  type InstanceQuery,
} from '../store.ts'
import { addActivity } from './activity.ts'
import { versionOfApp } from './apps.ts'
import { type Row, statement } from './driver.ts'
import type { Host } from './host.ts'
import { epochOf } from './meta.ts'
import { isPrunable } from './prune.ts'
import { json } from './rows.ts'

const GET = 'select * from cronce_instances where namespace = ? and id = ?'
/** Ended instances are kept for a day, which may be thousands where processes live for seconds. */
export const LIVE = `
select *
  from cronce_instances indexed by cronce_instances_ended
 where namespace = ? and ended_at is null
 order by id`
/** Ended instances without runs, the newest first. An app's are searched among a bounded number. */
export const ENDED = `
select *
  from (
    select *
      from cronce_instances indexed by cronce_instances_ended
     where namespace = ? and ended_at is not null
     order by ended_at desc
     limit ${ENDED_LOOKED}
  ) newest
 where (? is null or json_extract(record, '$.app') = ?)
   and not exists (
     select 1
       from cronce_open indexed by cronce_open_held
      where namespace = ? and instance = newest.id and token is not null
   )
 limit ?`
const INSERT = `
insert into cronce_instances
  (namespace, id, state, drain, renewals, beat, started_at, renewed_at, boot, renewed_mono, lease_ms, ended_at, record)
values (?, ?, ?, 0, 1, ?, ?, ?, ?, ?, ?, ?, ?)`
const RENEW = `
update cronce_instances
   set renewals = renewals + 1, renewed_at = ?, boot = ?, renewed_mono = ?, lease_ms = ?
 where namespace = ? and id = ? and state in ('live', 'draining')`
const DESCRIBE =
  'update cronce_instances set state = ?, beat = ?, ended_at = ?, record = ? where namespace = ? and id = ?'
const BURY = "update cronce_instances set state = 'dead', ended_at = ? where namespace = ? and id = ?"
const DRAIN = 'update cronce_instances set drain = ? where namespace = ? and id = ?'
export const HELD = `
select schedule, token, state
  from cronce_open indexed by cronce_open_held
  join cronce_schedules on cronce_schedules.namespace = cronce_open.namespace and id = schedule
 where cronce_open.namespace = ? and instance = ? and token is not null`

/**
 * Ended instances that still have open runs. Steps from holder to holder through the index: there may be thousands of runs, and
 * of ended instances.
 */
export const ORPHANS = `
with recursive holders (id) as (
  select min(instance) from cronce_open indexed by cronce_open_held where namespace = ? and token is not null
  union all
  select (
    select min(instance)
      from cronce_open indexed by cronce_open_held
     where namespace = ? and token is not null and instance > holders.id
  )
    from holders
   where holders.id is not null
)
select holders.id
  from holders cross join cronce_instances on namespace = ? and cronce_instances.id = holders.id
 where ended_at is not null
 order by holders.id`

/** The instances of a namespace, by the clocks of the host, within one transaction. */
export interface Fleet {
  readonly db: DatabaseSync
  readonly namespace: string
  readonly host: Host
  readonly now: Instant
}

/** Renew the lease of an instance that has not ended. False: it has, or never existed. */
export function renew({ db, namespace, host, now }: Fleet, instance: string, leaseMs: number): boolean {
  return statement(db, RENEW).run(now, host.bootId, host.mono(), leaseMs, namespace, instance).changes > 0
}

export function beat(fleet: Fleet, given: Beat): BeatAnswer {
  const { db, namespace, now } = fleet
  const { id, app } = given.instance
  const before = statement(db, GET).get(namespace, id)
  const alive = renewOrJoin(fleet, given, before)
  const last = before === undefined || before.ended_at !== null ? null : Number(before.beat)
  const number = alive ? Math.max(given.sequence?.number ?? 0, last ?? 0) : last
  const instances = listLive(fleet)
  const held = alive ? statement(db, HELD).all(namespace, id).map(heldOf) : []
  return { alive, number, now, epoch: epochOf(db), lost: false, held, instances, chores: choresFor(fleet, app) }
}

function choresFor(fleet: Fleet, app: string): Chores {
  const { db, namespace, now } = fleet
  return {
    appVersion: versionOfApp(db, namespace, app),
    orphans: orphansOf(fleet),
    prunable: isPrunable(db, namespace, now),
  }
}

function renewOrJoin(fleet: Fleet, { instance, join, leaseMs, sequence }: Beat, before: Row | undefined): boolean {
  const { db, namespace, host, now } = fleet
  const { id, state, ...described } = instance
  const endedAt = state === 'left' ? now : null
  const record = JSON.stringify(described)
  const last = Number(before?.beat ?? 0)
  if (before !== undefined && !join && !follows(sequence, last)) return false
  const number = Math.max(sequence?.number ?? 0, last)
  if (renew(fleet, id, leaseMs)) {
    statement(db, DESCRIBE).run(state, number, endedAt, record, namespace, id)
    return true
  }
  if (!join || before !== undefined) return false
  statement(db, INSERT).run(namespace, id, state, number, now, now, host.bootId, host.mono(), leaseMs, endedAt, record)
  return true
}

/** A cloned machine repeats the numbers of its original. */
function follows(sequence: Beat['sequence'], last: number): boolean {
  return sequence === undefined || (sequence.after <= last && last < sequence.number)
}

function heldOf(row: Row): HeldRun {
  const { open } = json<Pick<ScheduleState, 'open'>>(row.state)
  const { token, claim, cancel } = open.find(({ run }) => run?.token === row.token)!.run!
  return { schedule: String(row.schedule), token, claim, cancel }
}

export function mark(fleet: Fleet, mark: InstanceMark): boolean {
  const { db, namespace, now } = fleet
  const row = statement(db, GET).get(namespace, mark.instance)
  if (row === undefined) return false
  const { state, renewals, expired } = instanceOf(row, fleet.host)
  if (!isLive(state)) return mark.kind === 'dead' && state === 'dead'
  if (mark.kind === 'drain') {
    statement(db, DRAIN).run(mark.drain ? 1 : 0, namespace, mark.instance)
    addActivity(db, namespace, mark.activity)
  } else if (renewals !== mark.renewals || !(mark.hint || expired)) return false
  else statement(db, BURY).run(now, namespace, mark.instance)
  return true
}

export function listLive({ db, namespace, host }: Fleet): InstanceRecord[] {
  return statement(db, LIVE)
    .all(namespace)
    .map((row) => instanceOf(row, host))
}

export function listInstances(fleet: Fleet, query: InstanceQuery = {}): InstanceRecord[] {
  const { db, namespace, host } = fleet
  const { ids, app = null, ended = ENDED_SHOWN } = query
  const find = (id: string): Row[] => statement(db, GET).all(namespace, id)
  const known = ids === undefined ? listLive(fleet) : []
  const others =
    ids === undefined
      ? [...orphansOf(fleet).flatMap(find), ...statement(db, ENDED).all(namespace, app, app, namespace, ended)]
      : [...new Set(ids)].flatMap(find)
  return [...known, ...others.map((row) => instanceOf(row, host))]
    .filter((instance) => app === null || instance.app === app)
    .sort((one, other) => (one.id < other.id ? -1 : 1))
}

function orphansOf({ db, namespace }: Fleet): string[] {
  return statement(db, ORPHANS)
    .all(namespace, namespace, namespace)
    .map(({ id }) => String(id))
}

/** Whether the store knows it, and it has neither been declared dead nor left. */
export function isPresent(db: DatabaseSync, namespace: string, instance: string): boolean {
  const row = statement(db, GET).get(namespace, instance)
  return row !== undefined && isLive(String(row.state) as InstanceState)
}

function isLive(state: InstanceState): boolean {
  return state === 'live' || state === 'draining'
}

function instanceOf(row: Row, host: Host): InstanceRecord {
  return {
    ...json<Omit<Beat['instance'], 'id' | 'state'>>(row.record),
    id: String(row.id),
    state: String(row.state) as InstanceState,
    startedAt: Number(row.started_at),
    endedAt: row.ended_at === null ? null : Number(row.ended_at),
    renewals: Number(row.renewals),
    renewedAt: Number(row.renewed_at),
    expired: isExpired(row, host),
    drain: row.drain === 1,
  }
}

/**
 * Since the last start of the machine all its processes share one clock that never steps. Renewals from before that start,
 * or from its future, are of processes that are gone; so no lease ever ends later than one TTL from now.
 */
function isExpired(row: Row, host: Host): boolean {
  const mono = host.mono()
  const renewed = Number(row.renewed_mono)
  return row.boot !== host.bootId || renewed > mono || renewed + Number(row.lease_ms) <= mono
}
