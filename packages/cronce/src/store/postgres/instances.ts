import type { InstanceRecord, InstanceState } from '../../model/instance.ts'
import type { RunRecord } from '../../model/record.ts'
import type { Instant } from '../../model/schedule.ts'
import { type Beat, type BeatAnswer, ENDED_LOOKED, type HeldRun } from '../store.ts'
import type { Statement } from './database.ts'
import { clockCte, MOMENT_JSON, quoted, type StoreMoment } from './rows.ts'
import { idleSlotSql } from './slots.ts'

export interface InstanceStatements {
  /** $1 namespace, $2 how many that are over and hold nothing. */
  readonly list: Statement
  /** $3 the app. */
  readonly listApp: Statement
  /** $1 namespace, $2 ids. */
  readonly find: Statement
  readonly bury: Statement
  readonly drain: Statement
}

/** As a statement answers it. `record`: what the instance says of itself. */
interface InstanceRow {
  readonly id: string
  readonly state: InstanceState
  readonly drain: boolean
  readonly renewals: number
  readonly startedAt: Instant
  readonly renewedAt: Instant
  readonly expired: boolean
  readonly record: Omit<Beat['instance'], 'id' | 'state'>
}

export interface InstancesAnswer extends StoreMoment {
  readonly instances: readonly InstanceRow[]
}

export interface BeatRow extends InstancesAnswer {
  readonly alive: boolean
  readonly number: number | null
  readonly held: readonly RunRecord[]
  readonly chores: BeatAnswer['chores']
}

/** SQL: whether the lease has run out. One from the future is of a clock that was set back: no lease ends later than one from now. */
const EXPIRED = '(clock.now >= i.renewed_at + i.lease_ms or i.renewed_at > clock.now + i.lease_ms)'
const INSTANCE_JSON = `'{"id":' || ${quoted('i.id')} || ',"state":"' || i.state || '","drain":' || i.drain || ',"renewals":' || i.renewals
  || ',"startedAt":' || i.started_at || ',"renewedAt":' || i.renewed_at || ',"expired":' || ${EXPIRED} || ',"record":' || i.record || '}'`

/**
 * $1 namespace, $2 the beat. The row that is written is not the one that the same statement reads: it is put in its place.
 * Who holds open runs is found from holder to holder through the index: the runs may be thousands, and so may be those
 * that are over.
 */
export function beatSql(schema: string): string {
  return `
with recursive ${clockCte(schema)},
b as materialized (
  select *
    from json_to_record($2::json) as b (
      id text, state text, app text, record text, joins boolean, session boolean, lease_ms bigint, number bigint, after bigint,
      channel text, payload text
    )
),
renewed as (
  update ${schema}._instances i
     set renewals = i.renewals + 1, beat = greatest(b.number, i.beat), renewed_at = clock.now, lease_ms = b.lease_ms, state = b.state, session = b.session,
         ended_at = case when b.state = 'left' then clock.now end, record = b.record
    from b, clock
   where i.namespace = $1 and i.id = (select b.id from b) and i.state in ('live', 'draining')
     and (b.joins or b.number is null or i.beat >= b.after and i.beat < b.number)
  returning i.*
),
joined as (
  insert into ${schema}._instances
    (namespace, id, state, drain, session, renewals, beat, started_at, renewed_at, lease_ms, ended_at, record)
  select $1, b.id, b.state, false, b.session, 1, coalesce(b.number, 0), clock.now, clock.now, b.lease_ms,
         case when b.state = 'left' then clock.now end, b.record
    from b, clock
   where b.joins and not exists (select from renewed)
  on conflict (namespace, id) do nothing
  returning *
),
own as materialized (select * from renewed union all select * from joined),
fleet as materialized (
  select * from own where ended_at is null
  union all
  select i.* from ${schema}._instances i, b where i.namespace = $1 and i.ended_at is null and i.id <> b.id
),
${holderCte(schema)},
told as (select pg_notify(b.channel, b.payload) from b where b.channel is not null and exists (select from own))
select ${MOMENT_JSON} || ',"told":' || (select count(*) from told) || ',"alive":' || exists (select from own)
       || ',"number":' || coalesce((select own.beat::text from own), (
         select i.beat::text from ${schema}._instances i, b where i.namespace = $1 and i.id = b.id and i.ended_at is null
       ), 'null')
       || ',"instances":[' || coalesce((select string_agg(${INSTANCE_JSON}, ',' order by i.id) from fleet i), '') || ']'
       || ',"held":[' || coalesce((
         select string_agg(o.run, ',')
           from own
          cross join lateral (
            select o.run from ${schema}._open o where o.namespace = $1 and o.instance = own.id and o.instance is not null offset 0
          ) o
       ), '') || ']'
       || ',"chores":{"appVersion":' || coalesce((
         select a.version from ${schema}._apps a, b where a.namespace = $1 and a.name = b.app
       ), 0)
       || ',"orphans":[' || coalesce((
         select string_agg(${quoted('i.id')}, ',' order by i.id)
           from holder
          cross join lateral (
            select i.id, i.ended_at from ${schema}._instances i where i.namespace = $1 and i.id = holder.instance offset 0
          ) i
          where i.ended_at is not null
       ), '') || ']'
       || ',"prunable":' || ${prunableSql(schema)} || '}}'
  from clock`
}

/** SQL: who holds open runs. */
function holderCte(schema: string): string {
  return `holder as (
  (select o.instance from ${schema}._open o where o.namespace = $1 and o.instance is not null order by o.instance limit 1)
  union all
  select (
    select o.instance from ${schema}._open o
     where o.namespace = $1 and o.instance > holder.instance and o.instance is not null order by o.instance limit 1
  )
    from holder
   where holder.instance is not null
)`
}

const DAY_MS = 86_400_000

/** SQL: an instance whose runs nobody has ended yet must stay: it is how they are found. */
export function goneSql(schema: string): string {
  return `i.namespace = $1::text and i.ended_at is not null and i.ended_at <= clock.now - ${DAY_MS}
     and not exists (select from ${schema}._open o where o.namespace = $1::text and o.instance = i.id and o.instance is not null)`
}

function prunableSql(schema: string): string {
  return `(exists (select from ${schema}._fires e where e.namespace = $1::text and e.expires_at <= clock.now)
     or exists (select from ${schema}._instances i where ${goneSql(schema)})
     or exists (select from ${schema}._slots s where ${idleSlotSql()}))`
}

export function instanceStatements(schema: string): InstanceStatements {
  return {
    list: { name: 'instances', sql: listSql(schema, '') },
    listApp: { name: 'instances_app', sql: listSql(schema, " and i.record::json ->> 'app' = $3::text") },
    find: {
      name: 'instances_find',
      sql: `
with ${clockCte(schema)},
known as materialized (
  select i.*
    from (select distinct w.id from json_array_elements_text($2::text::json) as w (id)) w
    join ${schema}._instances i on i.namespace = $1::text and i.id = w.id
)
${answerSql}`,
    },
    // Whoever has lost its session says so with its next beat: then the hint was about the session, not the process.
    bury: {
      name: 'bury',
      sql: `
with ${clockCte(schema)},
buried as (
  update ${schema}._instances i
     set state = 'dead', ended_at = coalesce(i.ended_at, clock.now)
    from clock
   where i.namespace = $1::text and i.id = $2::text
     and (i.state = 'dead' or i.state in ('live', 'draining') and i.renewals = $3::text::bigint
          and ($4::text::boolean and i.session is not false or ${EXPIRED}))
  returning i.id
)
select exists (select from buried)::text as answer`,
    },
    drain: {
      name: 'drain',
      sql: `
with drained as (
  update ${schema}._instances i
     set drain = $3::text::boolean
   where i.namespace = $1::text and i.id = $2::text and i.state in ('live', 'draining')
  returning i.id
)
select exists (select from drained)::text || coalesce((select pg_notify($4::text, $5::text)::text), '') as answer`,
    },
  }
}

const answerSql = `select ${MOMENT_JSON} || ',"instances":[' || coalesce((
         select string_agg(${INSTANCE_JSON}, ',' order by i.id) from known i
       ), '') || ']}' as answer
  from clock`

/** Those that are over may be a hundred thousand: they are read from the newest on, and none is sorted. */
function listSql(schema: string, ofApp: string): string {
  return `
with recursive ${clockCte(schema)},
${holderCte(schema)},
known as materialized (
  select i.* from ${schema}._instances i where i.namespace = $1::text and i.ended_at is null${ofApp}
  union all
  select i.*
    from holder
   cross join lateral (
     select i.* from ${schema}._instances i where i.namespace = $1::text and i.id = holder.instance offset 0
   ) i
   where i.ended_at is not null${ofApp}
  union all
  (
    select i.*
      from (
        select i.*
          from ${schema}._instances i
         where i.namespace = $1::text and i.ended_at is not null
         order by i.ended_at desc
         limit ${ENDED_LOOKED}
      ) i
     where not exists (
             select from ${schema}._open o where o.namespace = $1::text and o.instance = i.id and o.instance is not null offset 0
           )${ofApp}
     limit $2::text::bigint
  )
)
${answerSql}`
}

/** `session`: whether it has the session that tells the others that it lives; `null`: it does without. */
export function beatValue(
  { instance, join, leaseMs, sequence }: Beat,
  session: boolean | null,
  notification: { readonly channel: string; readonly payload: string } | null,
): string {
  const { id, state, ...described } = instance
  const { app } = described
  return JSON.stringify({
    ...{ id, state, app, joins: join, session, lease_ms: leaseMs },
    ...sequence,
    ...(notification !== null && { channel: notification.channel, payload: notification.payload }),
    record: JSON.stringify(described),
  })
}

export function instanceOf({ record, ...row }: InstanceRow): InstanceRecord {
  return { ...record, ...row }
}

export function heldOf({ schedule, token, request, cancel }: RunRecord): HeldRun {
  return { schedule, token, request, cancel }
}
