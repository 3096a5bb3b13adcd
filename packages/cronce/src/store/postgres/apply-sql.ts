import { unpacked } from './packed.ts'
import { clockCte, FORMAT } from './rows.ts'
import { daySql } from './slots.ts'

/** The columns of what a batch brings, in order. */
export const CHANGE_COLUMNS = {
  n: 'int',
  id: 'text',
  version: 'bigint',
  epoch: 'bigint',
  not_before: 'bigint',
  state: 'text',
  tokens: 'bigint',
  wake_at: 'bigint',
  bucket: 'smallint',
  job: 'text',
  tenant: 'text',
  app: 'text',
  status: 'text',
  revision: 'bigint',
  definition: 'text',
} as const
export const FIRE_COLUMNS = {
  n: 'int',
  place: 'int',
  fresh: 'boolean',
  schedule: 'text',
  due_at: 'bigint',
  nonce: 'text',
  job: 'text',
  tenant: 'text',
  outcome: 'text',
  ended_at: 'bigint',
  number: 'bigint',
  expires_at: 'bigint',
  until_at: 'bigint',
  own: 'boolean',
  record: 'text',
} as const
export const RUN_COLUMNS = {
  n: 'int',
  schedule: 'text',
  token: 'text',
  due_at: 'bigint',
  nonce: 'text',
  job: 'text',
  instance: 'text',
  started_at: 'bigint',
  outcome: 'text',
  record: 'text',
} as const
/** `fire_is` and `run_is`: `open`, `ended`, or the `same` as before. */
export const OPEN_COLUMNS = {
  n: 'int',
  place: 'int',
  fresh: 'boolean',
  schedule: 'text',
  due_at: 'bigint',
  nonce: 'text',
  job: 'text',
  tenant: 'text',
  round: 'int',
  fire_is: 'text',
  fire: 'text',
  run_is: 'text',
  run: 'text',
  token: 'text',
  instance: 'text',
  started_at: 'bigint',
  slots: 'text',
  ended_tokens: 'text',
} as const

/** Parts of the statement that most batches can do without. */
export interface ApplyParts {
  /** Runs that count against limits. */
  readonly slots: boolean
  readonly trims: boolean
}

/** How the statement says what became of a change: short, since there are many. What it does not mention is a conflict. */
export const CODE = { applied: 0, early: 1, exists: 2, full: 3, conflict: 4 } as const

/**
 * SQL: what belongs to this row's change is to be written. A bit by number, because a join would have to guess how many there are,
 * and guess one.
 */
function isWritten(row: string): string {
  return `get_bit((select bits from written), ${row}.n) = 1`
}

/** What is created is inserted plainly, so that the key of the table has the last word on whether it was there. */
const FIRE_ROW =
  'namespace, schedule, due_at, nonce, job, tenant, outcome, ended_at, number, expires_at, until_at, record'
/** SQL: the transaction, for a fire whose end is not that of a run (`ownEndsOf`). */
const ENDED_IN = 'case when f.own then pg_current_xact_id() end'
const OPEN_ROW = 'namespace, schedule, due_at, nonce, job, tenant, fire, run, token, instance, started_at, slots'

function fireRow(row: string): string {
  return FIRE_ROW.replace('namespace', '$1').replaceAll(/, (\w+)/g, `, ${row}.$1`)
}

function openRow(row: string): string {
  return OPEN_ROW.replace('namespace', '$1').replaceAll(/, (\w+)/g, `, ${row}.$1`)
}

/**
 * All changes of a batch, each on a schedule of its own, in one statement: who may be written is found out first, and everything
 * else follows from that.
 *
 * $1 namespace, $2 header, $3 changes, $4 fires that have ended, $5 runs that have, $6 what is open or was, $7 limits, $8 trims.
 *
 * No row is waited for but the instance's own and those of slots, in this order, so nobody waits in a circle: a schedule that
 * somebody else has locked is about to change, which is a conflict. A row that was changed after the snapshot of this statement is
 * looked at as it is now when it is locked, and its version no longer fits. Whoever decided on a version has seen all of it, and
 * so does the snapshot: a fire that is on record by then is found. For a schedule that does not exist there is no row to lock, and
 * the keys of the tables are what stops the second of two.
 *
 * It is planned once, perhaps while all tables are empty, so nothing is left to estimates: tables are looked into from the rows of
 * the batch (`lateral`, which can't be turned round), rows are changed by their key (`on conflict`) or their place (`ctid`).
 */
export function applySql(schema: string, { slots, trims }: ApplyParts): string {
  return `
with ${clockCte(schema)},
header as materialized (
  select * from json_to_record($2::json) as h (instance text, lease_ms bigint, channel text, payload text, app text, app_version bigint)
),
c as materialized (select * from ${unpacked('$3', CHANGE_COLUMNS)} as c),
f as materialized (select * from ${unpacked('$4', FIRE_COLUMNS)} as f),
r as materialized (select * from ${unpacked('$5', RUN_COLUMNS)} as r),
w as materialized (select * from ${unpacked('$6', OPEN_COLUMNS)} as w),
no_bits as materialized (select repeat('0', greatest(count(*), 1)::int)::varbit as bits from c),
renewed as (
  update ${schema}._instances i
     set renewals = i.renewals + 1, renewed_at = clock.now, lease_ms = header.lease_ms
    from clock, header
   where i.namespace = $1 and i.id = (select h.instance from header h) and i.state in ('live', 'draining')
  returning true
),
app_kept as materialized (
  select true
    from ${schema}._apps a
   where a.namespace = $1 and a.name = (select h.app from header h) and a.version = (select h.app_version from header h)
     for share
),
may as materialized (
  select clock.now, clock.epoch, clock.moved, header.instance is null or exists (select from renewed) as live,
         header.app is null or exists (select from app_kept) as kept
    from clock, header
),
existing as materialized (
  select coalesce(jsonb_object_agg(x.n::text, e.record order by x.place desc), '{}') as fires
    from (
      select f.n, f.place, f.schedule, f.due_at, f.nonce from f where f.fresh
      union all
      select w.n, w.place, w.schedule, w.due_at, w.nonce from w where w.fresh
    ) x
   cross join lateral (
     select o.fire as record from ${schema}._open o
      where x.nonce = '' and o.namespace = $1 and o.schedule = x.schedule and o.due_at = x.due_at and o.nonce = ''
      union all
     select o.record from ${schema}._fires o
      where x.nonce = '' and o.namespace = $1 and o.schedule = x.schedule and o.due_at = x.due_at and o.nonce = ''
      union all
     select o.fire from ${schema}._open o
      where x.nonce <> '' and o.namespace = $1 and o.schedule = x.schedule and o.nonce = x.nonce and o.nonce <> ''
      union all
     select o.record from ${schema}._fires o
      where x.nonce <> '' and o.namespace = $1 and o.schedule = x.schedule and o.nonce = x.nonce and o.nonce <> ''
   ) e
   where e.record is not null
),
found as materialized (
  select c.*, k.row_id, k.was_job, k.redefined, k.reclassified
    from may
   cross join c
   cross join lateral (
     select k.ctid as row_id, k.job as was_job, k.revision <> c.revision as redefined,
            k.app is distinct from c.app or k.status <> c.status as reclassified
       from ${schema}._clocks k
      where k.namespace = $1 and k.id = c.id and k.version = c.version and k.format <= ${FORMAT}
        for no key update skip locked
   ) k
   where c.version > 0 and c.epoch = may.epoch and may.live and may.kept and not may.moved
),
free as materialized (
  select c.*, null::tid as row_id, null as was_job, false as redefined, false as reclassified
    from may
   cross join c
    left join lateral (select true as is from ${schema}._clocks k where k.namespace = $1 and k.id = c.id offset 0) taken on true
   where c.version = 0 and c.epoch = may.epoch and may.live and may.kept and not may.moved and taken.is is null
),
judged as materialized (
  select x.*,
         case when x.not_before > may.now then ${CODE.early}
              when (select fires from existing) ? x.n::text then ${CODE.exists}
              else ${CODE.applied}
         end as code
    from (select * from found union all select * from free) x
   cross join may
),
${slots ? slotsCtes(schema) : "full_slots as materialized (select '{}'::jsonb as slots),"}
accepted as materialized (
  select coalesce(bit_or(set_bit((select bits from no_bits), j.n, 1)), (select bits from no_bits)) as bits
    from judged j
   where j.code = ${CODE.applied} and not (select slots from full_slots) ? j.n::text${slots ? ' and not exists (select from unmade)' : ''}
),
created as (
  insert into ${schema}._clocks
    (namespace, id, format, version, tokens, job, bucket, wake_at, revision, app, status, state)
  select $1, j.id, ${FORMAT}, floor.floor + 1, greatest(j.tokens, floor.floor), j.job, j.bucket, j.wake_at, j.revision, j.app,
         j.status, j.state
    from judged j
   cross join (
     select greatest(
              coalesce((select n.floor from ${schema}._namespaces n where n.namespace = $1), 0),
              case current_setting('transaction_isolation') when 'read committed' then 0 else may.now end
            ) as floor
       from may
   ) floor
   where j.version = 0 and j.state is not null and get_bit((select bits from accepted), j.n) = 1
   order by j.id
  on conflict (namespace, id) do nothing
  returning id
),
lost as materialized (
  select coalesce(bit_or(set_bit((select bits from no_bits), j.n, 1)), (select bits from no_bits)) as bits
    from judged j
   where j.version = 0 and j.id not in (select created.id from created)
),
written as materialized (select a.bits & ~ l.bits as bits from accepted a, lost l),
defined as (
  insert into ${schema}._schedules (namespace, id, format, revision, job, tenant, app, status, definition)
  select $1, j.id, ${FORMAT}, j.revision, j.job, j.tenant, j.app, j.status, j.definition
    from judged j
   where j.version = 0 and j.state is not null and ${isWritten('j')}
),
moved as (
  insert into ${schema}._clocks
    (namespace, id, format, version, tokens, job, bucket, wake_at, revision, app, status, state)
  select $1, j.id, ${FORMAT}, j.version + 1, j.tokens, case when j.redefined then j.job else j.was_job end, j.bucket, j.wake_at, j.revision, j.app,
         j.status, j.state
    from judged j
   where j.version > 0 and j.state is not null and ${isWritten('j')}
  on conflict (namespace, id) do update
     set format = excluded.format, version = excluded.version, tokens = excluded.tokens, job = excluded.job,
         wake_at = excluded.wake_at, revision = excluded.revision, app = excluded.app, status = excluded.status, state = excluded.state
),
redefined as (
  insert into ${schema}._schedules as s (namespace, id, format, revision, job, tenant, app, status, definition)
  select $1, j.id, ${FORMAT}, j.revision, j.job, j.tenant, j.app, j.status, case when j.redefined then j.definition else '' end
    from judged j
   where j.version > 0 and j.state is not null and (j.redefined or j.reclassified) and ${isWritten('j')}
  on conflict (namespace, id) do update
     set app = excluded.app, status = excluded.status, revision = excluded.revision,
         job = case when excluded.definition = '' then s.job else excluded.job end,
         tenant = case when excluded.definition = '' then s.tenant else excluded.tenant end,
         definition = case when excluded.definition = '' then s.definition else excluded.definition end
),
removed as (
  delete from ${schema}._clocks k
   where k.ctid = any (array(
           select j.row_id from judged j where j.version > 0 and j.state is null and ${isWritten('j')}
         ))
  returning k.id, k.version, k.tokens
),
undefined as (
  delete from ${schema}._schedules s
   where s.ctid = any (array(
           select x.row_id
             from removed d
            cross join lateral (select o.ctid as row_id from ${schema}._schedules o where o.namespace = $1 and o.id = d.id offset 0) x
         ))
),
raised as (
  insert into ${schema}._namespaces as n (namespace, floor)
  select $1, max(greatest(x.version, x.tokens)) from removed x having count(*) > 0
  on conflict (namespace) do update set floor = greatest(n.floor, excluded.floor)
),
open_now as materialized (
  select w.n, w.schedule, w.due_at, w.nonce, o.row_id, o.token as held_by, o.slots as held,
         case w.fire_is when 'same' then coalesce(o.job, w.job) else w.job end as job,
         case w.fire_is when 'same' then o.tenant else w.tenant end as tenant,
         case w.fire_is when 'open' then w.fire when 'same' then o.fire end as fire,
         case when w.run_is = 'open' then w.run when w.run_is = 'same' or not o.token = any (string_to_array(w.ended_tokens, ' ')) then o.run end as run,
         case when w.run_is = 'open' then w.token when w.run_is = 'same' or not o.token = any (string_to_array(w.ended_tokens, ' ')) then o.token end as token,
         case when w.run_is = 'open' then w.instance when w.run_is = 'same' or not o.token = any (string_to_array(w.ended_tokens, ' ')) then o.instance end as instance,
         case when w.run_is = 'open' then w.started_at when w.run_is = 'same' or not o.token = any (string_to_array(w.ended_tokens, ' ')) then o.started_at end as started_at,
         case when w.run_is = 'open' and o.token = w.token then o.slots when w.run_is = 'open' then w.slots when w.run_is = 'same' or not o.token = any (string_to_array(w.ended_tokens, ' ')) then o.slots end as slots
    from w
    left join lateral (
      select o.ctid as row_id, o.job, o.tenant, o.fire, o.run, o.token, o.instance, o.started_at, o.slots
        from ${schema}._open o
       where ${ofFire('w')}
      offset 0
    ) o on true
   where not w.fresh and ${isWritten('w')}
),
opened_first as (
  insert into ${schema}._open (${OPEN_ROW})
  select ${openRow('w')}
    from w
   where w.fresh and ${isWritten('w')}
),
opened as (
  insert into ${schema}._open (${OPEN_ROW})
  select ${openRow('x')}
    from open_now x
   where x.fire is not null or x.run is not null
  on conflict (namespace, schedule, due_at, nonce) do update
     set job = excluded.job, tenant = excluded.tenant, fire = excluded.fire, run = excluded.run, token = excluded.token, instance = excluded.instance,
         started_at = excluded.started_at, slots = excluded.slots
),
closed as (
  delete from ${schema}._open o
   where o.ctid = any (array(select x.row_id from open_now x where x.fire is null and x.run is null))
),
fires_reopened as (
  delete from ${schema}._fires o
   where o.ctid = any (array(
           select x.row_id
             from w
            cross join lateral (select o.ctid as row_id from ${schema}._fires o where ${ofFire('w')} offset 0) x
            where w.fire_is = 'open' and not w.fresh and w.round > 1 and ${isWritten('w')}
         ))
),
fires_ended_first as (
  insert into ${schema}._fires (${FIRE_ROW}, ended_in) select ${fireRow('f')}, ${ENDED_IN} from f where f.fresh and ${isWritten('f')}
),
fires_ended as (
  insert into ${schema}._fires (${FIRE_ROW}, ended_in) select ${fireRow('f')}, ${ENDED_IN} from f where not f.fresh and ${isWritten('f')}
  on conflict (namespace, schedule, due_at, nonce) do update
     set job = excluded.job, tenant = excluded.tenant, outcome = excluded.outcome, ended_at = excluded.ended_at,
         number = excluded.number, expires_at = excluded.expires_at, until_at = excluded.until_at, record = excluded.record,
         ended_in = excluded.ended_in
),
runs_ended as (
  insert into ${schema}._runs (namespace, schedule, token, due_at, nonce, job, instance, started_at, outcome, record)
  select $1, r.schedule, r.token, r.due_at, r.nonce, r.job, r.instance, r.started_at, r.outcome, r.record
    from r
   where ${isWritten('r')}
  on conflict (namespace, schedule, due_at, nonce, token) do update set outcome = excluded.outcome, record = excluded.record
),
${slots ? usedCte(schema) : freedCte(schema)}
${trims ? trimCtes(schema) : ''}
told as (
  select pg_notify(h.channel, h.payload)
    from header h
   where h.channel is not null and position(B'1' in (select bits from written)) > 0
)
select '{"now":' || may.now || ',"epoch":' || may.epoch || ',"moved":' || may.moved || ',"live":' || may.live
       || ',"told":' || (select count(*) from told)
       ${slots ? `|| ',"unmade":' || coalesce((select json_agg(u.slot)::text from unmade u), '[]')` : ''}
       || ',"results":[' || coalesce((
         select string_agg(
                  case when (select slots from full_slots) ? j.n::text
                       then '{"n":' || j.n || ',"slot":' || ((select slots from full_slots) -> j.n::text)::text || '}'
                       when j.code = ${CODE.exists}
                       then '{"n":' || j.n || ',"fire":' || ((select fires from existing) ->> j.n::text) || '}'
                       when j.code = ${CODE.applied} and not ${isWritten('j')} then '[' || j.n || ',${CODE.conflict}]'
                       else '[' || j.n || ',' || j.code || ']'
                  end, ',')
           from judged j
       ), '') || ']}'
  from may`
}

/**
 * What each change does to each slot, and whom that leaves without room: those before it in the batch come first. Whoever can't have
 * room in any case takes none from the others. Where a slot has no row there is nothing to lock, and nothing of the batch is
 * written: two who count from nothing would both find room.
 */
function slotsCtes(schema: string): string {
  return `
delta as materialized (
  select x.n, x.slot, sum(x.change) as change
    from (
      select w.n, s.slot, 1 as change
        from w
       cross join lateral json_array_elements_text(w.slots::json) as s (slot)
        left join lateral (select true as is from ${schema}._open o where ${ofFire('w')} and o.token = w.token offset 0) held on true
       where w.run_is = 'open' and held.is is null
      union all
      select r.n, s.slot, -1
        from r
       cross join lateral (select o.slots from ${schema}._open o where ${ofFire('r')} and o.token = r.token offset 0) held
       cross join lateral json_array_elements_text(held.slots::json) as s (slot)
    ) x
   group by x.n, x.slot
),
slot as materialized (
  select s.slot, s.used
    from ${schema}._slots s
   where s.namespace = $1 and s.slot = any (array(select distinct delta.slot from delta))
   order by s.slot
     for update
),
sound as materialized (
  select coalesce(bit_or(set_bit((select bits from no_bits), j.n, 1)), (select bits from no_bits)) as bits
    from judged j
   where j.code = ${CODE.applied}
),
unmade as materialized (
  select distinct d.slot
    from delta d
   where d.change > 0 and get_bit((select bits from sound), d.n) = 1 and d.slot not in (select slot.slot from slot)
),
room as materialized (
  select d.n, d.slot, d.change, slot.used, l.place, l.most,
         l.most < slot.used + d.change
           + coalesce(sum(least(d.change, 0)) over (partition by d.slot order by d.n rows between unbounded preceding and 1 preceding), 0)
         as hopeless
    from delta d
    join slot on slot.slot = d.slot
    left join json_to_recordset($7::json) as l (n int, place int, slot text, most bigint) on l.n = d.n and l.slot = d.slot
   where get_bit((select bits from sound), d.n) = 1
),
hopeless as materialized (
  select coalesce(bit_or(set_bit((select bits from no_bits), x.n, 1)), (select bits from no_bits)) as bits
    from room x
   where x.hopeless
),
sums as materialized (
  select x.n, x.slot, x.place, x.most, x.hopeless,
         x.used + sum(case when get_bit((select bits from hopeless), x.n) = 1 then 0 else x.change end)
                    over (partition by x.slot order by x.n) as used
    from room x
),
full_slots as materialized (
  select coalesce(jsonb_object_agg(sums.n::text, sums.slot order by sums.place desc), '{}') as slots
    from sums
   where sums.hopeless or (get_bit((select bits from hopeless), sums.n) = 0 and sums.used > sums.most)
),`
}

/** No record of the batch has a slot. What was taken is freed all the same: the record that ends a run need not say it again. */
function freedCte(schema: string): string {
  return `
slots_freed as (
  update ${schema}._slots s
     set used = s.used - x.runs, changed_day = (select ${daySql('may.now')} from may)
    from (
      select held.slot, count(*) as runs
        from open_now o
       cross join lateral json_array_elements_text(o.held::json) as held (slot)
       where o.held <> '[]' and o.token is distinct from o.held_by
       group by held.slot
    ) x
   where s.namespace = $1 and s.slot = x.slot
),`
}

function usedCte(schema: string): string {
  return `
slots_used as (
  insert into ${schema}._slots as s (namespace, slot, used, changed_day)
  select $1, d.slot, sum(d.change), (select ${daySql('may.now')} from may)
    from delta d
   where ${isWritten('d')}
   group by d.slot
  having sum(d.change) <> 0
  on conflict (namespace, slot) do update set used = s.used + excluded.used, changed_day = excluded.changed_day
),`
}

/** Numbers follow the times more or less: those that may go are among the earliest, or can wait. */
function trimCtes(schema: string): string {
  return `
trimmed as materialized (
  select t.id as schedule, o.due_at, o.nonce
    from json_to_recordset($8::json) as t (n int, id text, below bigint, before bigint)
   cross join lateral (
     select early.due_at, early.nonce
       from (
         select e.due_at, e.nonce, e.number, e.ended_at
           from ${schema}._fires e
          where e.namespace = $1 and e.schedule = t.id
          order by e.due_at, e.nonce
          limit 500
       ) early
      where early.number < t.below and early.ended_at < t.before and early.due_at < t.before
        and not exists (select from w where w.n = t.n and w.due_at = early.due_at and w.nonce = early.nonce)
      order by early.number
      limit 200
   ) pick
   cross join lateral (
     select e.due_at, e.nonce
       from ${schema}._fires e
      where e.namespace = $1 and e.schedule = t.id and e.due_at = pick.due_at and e.nonce = pick.nonce
        for update skip locked
   ) o
   where ${isWritten('t')}
),
${deleteFiresCtes(schema, 'trimmed')},`
}

/** SQL: the fire of the row `o` is that of the row `of`. */
function ofFire(of: string): string {
  return `o.namespace = $1 and o.schedule = ${of}.schedule and o.due_at = ${of}.due_at and o.nonce = ${of}.nonce`
}

/** All that hangs on the ended fires in `doomed`, and the fires. */
export function deleteFiresCtes(schema: string, doomed: string): string {
  const deletion = (table: string, key: string, from = doomed): string => `
  delete from ${schema}.${table} o
   where o.ctid = any (array(
           select x.row_id
             from ${from} d
            cross join lateral (select o.ctid as row_id from ${schema}.${table} o where ${key} offset 0) x
         ))`
  return `
${doomed}_fires as (${deletion('_fires', ofFire('d'))}),
${doomed}_steps as (${deletion('_steps', ofFire('d'))}),
${doomed}_runs as (${deletion('_runs', ofFire('d'))}
  returning o.schedule, o.token),
${doomed}_notes as (${deletion(
    '_run_notes',
    'o.namespace = $1 and o.schedule = d.schedule and o.token = d.token',
    `${doomed}_runs`,
  )})`
}
