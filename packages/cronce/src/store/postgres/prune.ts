import { deleteFiresCtes } from './apply-sql.ts'
import type { Statement } from './database.ts'
import { goneSql } from './instances.ts'
import { clockCte } from './rows.ts'
import { idleSlotSql } from './slots.ts'

/** $1 namespace, $2 limit. Bites small enough to be over soon. What others are about to delete is theirs. */
export function pruneSql(schema: string): string {
  return `
with ${clockCte(schema)},
expired as materialized (
  select e.schedule, e.due_at, e.nonce
    from clock
   cross join lateral (
     select e.schedule, e.due_at, e.nonce
       from ${schema}._fires e
      where e.namespace = $1 and e.expires_at <= clock.now
      order by e.expires_at
      limit $2::bigint
        for update skip locked
   ) e
),
${deleteFiresCtes(schema, 'expired')},
gone as (
  delete from ${schema}._instances x
   using (select i.id from ${schema}._instances i, clock where ${goneSql(schema)} limit $2::bigint) d
   where x.namespace = $1 and x.id = d.id
),
unheld as (
  delete from ${schema}._slots x
   where x.ctid = any (array(
           select d.row_id
             from clock
            cross join lateral (
              select s.ctid as row_id
                from ${schema}._slots s
               where ${idleSlotSql()}
               order by s.changed_day
               limit $2::bigint
                 for update skip locked
            ) d
         ))
)
select (select count(*) from expired)::text
  from clock`
}

const ERASED = ['_fires', '_open', '_runs', '_steps'] as const

/** SQL: as many of a schedule as are erased at once, and no more are read. By the key, whatever the planner thinks of the table. */
function firstOf(schema: string, table: (typeof ERASED)[number]): string {
  return `(
        select o.schedule, o.due_at, o.nonce
          from ${schema}.${table} o
         where o.namespace = $1::text and o.schedule = $2::text
         order by o.due_at, o.nonce
         limit $3::text::bigint
      )`
}

/**
 * $1 namespace, $2 schedule, $3 limit. The answer: of how many fires there were records; or that the schedule exists. `marked` is for
 * readers of ends that have not seen all of them yet.
 */
export function eraseStatement(schema: string): Statement {
  return {
    name: 'erase',
    sql: `
with present as materialized (
  select exists (select from ${schema}._clocks k where k.namespace = $1::text and k.id = $2::text) as is
),
doomed as materialized (
  select distinct x.schedule, x.due_at, x.nonce
    from (
      ${ERASED.map((table) => firstOf(schema, table)).join(' union all ')}
    ) x, present
   where not present.is
   limit $3::text::bigint
),
${deleteFiresCtes(schema, 'doomed')},
marked as (
  insert into ${schema}._namespaces as n (namespace, floor, erased_in)
  select $1::text, 0, pg_current_xact_id() where exists (select from doomed)
  on conflict (namespace) do update set erased_in = excluded.erased_in
),
opened as (
  delete from ${schema}._open o using doomed d
   where o.namespace = $1::text and o.schedule = d.schedule and o.due_at = d.due_at and o.nonce = d.nonce
  returning o.slots
),
freed as (
  update ${schema}._slots s
     set used = s.used - d.runs
    from (
      select slot.name, count(*) as runs
        from opened cross join lateral json_array_elements_text(opened.slots::json) as slot (name)
       group by slot.name
    ) d
   where s.namespace = $1::text and s.slot = d.name
),
notes as (
  delete from ${schema}._run_notes o
   using present
   where not present.is and not exists (select from doomed) and o.namespace = $1::text and o.schedule = $2::text
)
select case when present.is then '"exists"' else (select count(*) from doomed)::text end as answer from present`,
  }
}
