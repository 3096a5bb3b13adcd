import type { Instant, ScheduleState } from '../../model/schedule.ts'
import type { DueQuery } from '../store.ts'
import type { Statement } from './database.ts'
import type { Looks } from './looks.ts'
import { clockCte, FORMAT, MOMENT_JSON, SCHEDULE_JSON, type ScheduleRow, type StoreMoment, scheduleOf } from './rows.ts'

export interface LoadAnswer extends StoreMoment {
  readonly schedules: readonly ScheduleRow[]
}

export interface DueAnswer extends LoadAnswer {
  /** By job, of all that was found, and of what comes next. */
  readonly oldest: Readonly<Record<string, Instant>>
  readonly mineAt: Instant | null
  readonly othersAt: Instant | null
}

/** $1 namespace, $2 names. */
export function loadSql(schema: string): string {
  return `
with ${clockCte(schema)}
select ${MOMENT_JSON} || ',"schedules":[' || coalesce((
         select string_agg(${SCHEDULE_JSON}, ',')
           from (select distinct asked.id from json_array_elements_text($2::json) as asked (id)) asked
          cross join lateral (select * from ${schema}._clocks k where k.namespace = $1 and k.id = asked.id offset 0) k
          cross join lateral (select s.definition from ${schema}._schedules s where s.namespace = $1 and s.id = asked.id offset 0) s
       ), '') || ']}'
  from clock`
}

/** Behind what is answered, so many are looked through for the next of one's own and of the others. */
const FAR = 1_000
/** If none of them is one's own, none is expected to be due, but it is not known either. */
const AGAIN_MS = 20

/**
 * $1 namespace, $2 jobs with their buckets and where to begin, $3 patience, $4 limit.
 *
 * What is due is found by an index that changes with every claim: it alone does, on a table that has only one other, so that what
 * nobody touches is never read. The alternative, every instance with all schedules in its memory, costs a fleet of a million
 * schedules more than it saves.
 */
export function dueSql(schema: string): string {
  const mine = `substr(j.buckets, k.bucket + 1, 1) = '1'`
  // Looking for what can't be there would read everything that the job has.
  const hasMine = `position('1' in j.buckets) > 0`
  const hasOthers = `position('0' in j.buckets) > 0`
  const ofJob = `k.namespace = $1 and k.job = j.job and k.wake_at is not null and k.format <= ${FORMAT}`
  const young = 'k.wake_at >= j.since and k.wake_at > clock.now - $3::bigint'
  const notFound = 'w.id not in (select f.id from found f)'
  const some = (where: string): string =>
    `(select k.id, k.wake_at, ${mine} as mine from ${schema}._clocks k where ${ofJob} and ${where} order by k.wake_at limit ${FAR}) w`
  const next = (where: string, wanted: string): string =>
    `(select w.wake_at from ${some(where)} where ${wanted} order by w.wake_at limit 1)`
  const farther = (where: string, at: string): string =>
    `(select ${at} from ${some(where)} order by w.wake_at offset ${FAR - 1} limit 1)`
  return `
with ${clockCte(schema)},
job as materialized (select * from json_to_recordset($2::json) as j (job text, buckets text, since bigint)),
found as materialized (
  select c.*
    from clock
   cross join job j
   cross join lateral (
     select k.id, k.job, k.wake_at, ${mine} as mine
       from ${schema}._clocks k
      where ${ofJob} and k.wake_at >= j.since and k.wake_at <= clock.now and (${mine} or k.wake_at <= clock.now - $3::bigint)
      order by k.wake_at
      limit $4::bigint + 1
   ) c
),
picked as materialized (select f.id, f.wake_at from found f order by f.wake_at, f.id limit $4::bigint),
cut as materialized (select f.job, f.wake_at, f.mine from found f order by f.wake_at, f.id offset $4::bigint),
reached as materialized (
  select j.*, coalesce(f.n, 0) > $4::bigint as is_cut, f.wake_at, c.mine_known, c.others_known
    from job j
    left join (select f.job, count(*) as n, max(f.wake_at) as wake_at from found f group by f.job) f on f.job = j.job
    left join (select c.job, bool_or(c.mine) as mine_known, bool_or(not c.mine) as others_known from cut c group by c.job) c on c.job = j.job
),
later as materialized (
  select c.job, c.wake_at, c.mine from cut c
  union all
  select j.job, coalesce(${next('k.wake_at >= j.wake_at', `w.mine and ${notFound}`)}, ${farther('k.wake_at >= j.wake_at', `clock.now + ${AGAIN_MS}`)}), true
    from clock
   cross join reached j
   where j.is_cut and not j.mine_known and ${hasMine}
  union all
  select j.job, coalesce(${next('k.wake_at >= j.wake_at', `not w.mine and ${notFound}`)}, ${farther('k.wake_at >= j.wake_at', 'w.wake_at')}), false
    from clock
   cross join reached j
   where j.is_cut and not j.others_known and ${hasOthers} and j.wake_at <= clock.now - $3::bigint
  union all
  select j.job, c.wake_at, true
    from clock
   cross join reached j
   cross join lateral (
     select k.wake_at from ${schema}._clocks k where ${ofJob} and k.wake_at > clock.now and ${mine} order by k.wake_at limit 1
   ) c
   where not j.is_cut and ${hasMine}
  union all
  select j.job, coalesce(${next(young, 'not w.mine')}, ${farther(young, 'w.wake_at')}), false
    from clock
   cross join reached j
   where ${hasOthers}
)
select ${MOMENT_JSON}
       || ',"mineAt":' || coalesce((select min(l.wake_at)::text from later l where l.mine), 'null')
       || ',"othersAt":' || coalesce((select min(l.wake_at)::text from later l where not l.mine), 'null')
       || ',"oldest":' || coalesce((
         select json_object_agg(o.job, o.wake_at)::text
           from (
             select e.job, min(e.wake_at) as wake_at
               from (select f.job, f.wake_at from found f union all select l.job, l.wake_at from later l) e
              where e.wake_at is not null
              group by e.job
           ) o
       ), '{}')
       || ',"schedules":[' || coalesce((
         select string_agg(${SCHEDULE_JSON}, ',' order by picked.wake_at, picked.id)
           from picked
          cross join lateral (select * from ${schema}._clocks k where k.namespace = $1 and k.id = picked.id offset 0) k
          cross join lateral (select s.definition from ${schema}._schedules s where s.namespace = $1 and s.id = picked.id offset 0) s
       ), '') || ']}'
  from clock`
}

export function newerStatement(schema: string): Statement {
  return {
    name: 'newer',
    sql: `
select coalesce((
         select to_json(k.id)::text from ${schema}._clocks k where k.namespace = $1::text and k.format > 1 limit 1
       ), 'null') as answer`,
  }
}

export function dueValues(
  namespace: string,
  jobs: ReturnType<Looks['begin']>,
  { patienceMs, limit }: DueQuery,
): string[] {
  return [namespace, JSON.stringify(jobs), String(patienceMs), String(limit)]
}

/** What this version can read of it. `newer` is told of the rest. */
export function schedulesOf(rows: readonly ScheduleRow[], newer: (id: string) => void): ScheduleState[] {
  const found: ScheduleState[] = []
  for (const row of rows) {
    if (row.format > FORMAT) newer(row.state.id)
    else found.push(scheduleOf(row))
  }
  return found
}
