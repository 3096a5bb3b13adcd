import { NONE, reasonCase } from '../rows.ts'

const NOW = 'extract(epoch from clock_timestamp()) * 1000'

/**
 * What people and their tools may read: a promise, unlike the tables behind it. Columns are only ever added, at the end.
 * They have the words of the API, times with a time zone, and one row for each thing whether it is open or has ended.
 *
 * `…_ms` beside the times are what indexes know: a question about a long history is quick if it asks for those. Conditions
 * that always hold are those of the indexes.
 */
export const views = (schema: string): string =>
  [schedulesView, firesView, runsView, stepsView, instancesView, appsView]
    .map((createView) => `\n${createView(schema)}`)
    .join('')

function schedulesView(schema: string): string {
  return `create view ${schema}.schedules as
select s.namespace, s.name as schedule, s.job, s.tenant, s.app, s.status as state, d.revision,
       ${time('k.next_at')} as next_at,
       ${text('d.definition', 'trigger,kind')} as trigger_kind,
       ${text('d.definition', 'trigger,expression')} as cron,
       ${text('d.definition', 'trigger,tz')} as tz,
       ${number('d.definition', 'trigger,everyMs')} as every_ms,
       (select count(*) from ${schema}._open o where o.key = k.key)::integer + (k.runner <> 0)::integer as open_fires,
       ${time('k.last_due')} as last_due_at,
       ${time('k.last_ok_due')} as last_succeeded_due_at,
       ${time('k.last_ok_at')} as last_succeeded_at,
       k.failed_in_row,
       k.tokens - k.extra as fired,
       ${time(number('k.more', 'pause,at'))} as paused_at,
       ${time(number('k.more', 'pause,until'))} as paused_until,
       ${text('k.more', 'pause,note')} as pause_note,
       ${text('k.more', 'pause,author')} as pause_author,
       ${time(number('k.more', 'retiredAt'))} as retired_at,
       ${time('d.created_at')} as created_at,
       ${time('d.updated_at')} as updated_at,
       ${time('k.wake_at')} as wake_at,
       ${readable('d.definition')} as definition
  from ${schema}._clocks k
  join ${schema}._schedules s on s.key = k.key
  join ${schema}._definitions d on d.id = k.definition;
`
}

function firesView(schema: string): string {
  return `create view ${schema}.fires as
select namespace, schedule, ${time('due_at')} as due_at, nonce, job, tenant, kind, state, reason, detail, round, attempt,
       ${time('planned_at')} as planned_at,
       ${time('ready_at')} as ready_at,
       ${time('ended_at')} as ended_at,
       ${time('until_at')} as until_at,
       instants,
       ${time('expires_at')} as expires_at,
       input,
       due_at as due_ms
  from (
    select o.namespace, o.schedule, o.due_at, o.nonce, o.job, o.tenant, o.kind, 'open' as state, null as reason, null as detail, o.round,
           o.attempt, o.planned_at, o.ready_at, null::bigint as ended_at, null::bigint as until_at, 1::bigint as instants,
           null::bigint as expires_at, o.input
      from (${openFires(schema)}) o
    union all
    select j.namespace, n.name, h.due_at, h.nonce, j.name, nullif(h.tenant, ''), coalesce(${text('h.more', 'kind')}, 'scheduled'),
           ${reasonCase('h.reason', (outcome) => outcome)}, ${reasonCase('h.reason', (_, reason) => reason)},
           ${text('h.more', 'detail')}, coalesce(${number('h.more', 'round')}, 1),
           coalesce(${number('h.more', 'attempt')}, (h.token > 0)::integer),
           coalesce(${number('h.more', 'plannedAt')}, case when h.token > 0 then h.started_at else h.due_at end),
           coalesce(${number('h.more', 'readyAt')}, h.due_at), h.ended_at, ${number('h.more', 'range,untilAt')},
           coalesce(${number('h.more', 'range,count')}, 1), h.expires_at, ${json('h.more', 'input')}
      from ${schema}._history h
      join ${schema}._names n on n.key = h.key
      join ${schema}._jobs j on j.number = h.job
     where h.is_final
  ) f;
`
}

function runsView(schema: string): string {
  return `create view ${schema}.runs as
select namespace, schedule, token::text as token, ${time('due_at')} as due_at, nonce, job, round, attempt, instance, state, reason, detail,
       ${time('started_at')} as started_at,
       ${time('ended_at')} as ended_at,
       greatest(started_at - ready_at, 0) as lateness_ms,
       case when ended_at is not null then greatest(ended_at - started_at, 0) end as duration_ms,
       error_name, error_code, error_message, error_stack, result,
       due_at as due_ms
  from (
    select o.namespace, o.schedule, o.token, o.due_at, o.nonce, o.job, o.round, o.attempt, coalesce(r.instance, '') as instance,
           case when o.cancel = '' then 'running' else 'cancelling' end as state, null as reason, null as detail, o.started_at,
           null::bigint as ended_at, o.ready_at, null as error_name, null as error_code, null as error_message, null as error_stack,
           null::json as result
      from (${openFires(schema)}) o
      left join ${schema}._runners r on r.number = o.runner
     where o.token > 0
    union all
    select j.namespace, n.name, h.token, h.due_at, h.nonce, j.name, coalesce(${number('h.more', 'round')}, 1),
           coalesce(${number('h.more', 'attempt')}, 1), coalesce(r.instance, ''), ${reasonCase('h.reason', (outcome) => outcome)},
           ${reasonCase('h.reason', (_, reason) => reason)}, ${text('h.more', 'detail')}, h.started_at, h.ended_at,
           coalesce(${number('h.more', 'readyAt')}, h.due_at), ${text('h.more', 'error,name')}, ${text('h.more', 'error,code')},
           ${text('h.more', 'error,message')}, ${text('h.more', 'error,stack')}, ${json('h.more', 'result')}
      from ${schema}._history h
      join ${schema}._names n on n.key = h.key
      join ${schema}._jobs j on j.number = h.job
      left join ${schema}._runners r on r.number = h.runner
     where h.token > 0
  ) r;
`
}

function stepsView(schema: string): string {
  return `create view ${schema}.steps as
select n.namespace, n.name as schedule, ${time('p.due_at')} as due_at, p.nonce, p.step, p.state, p.token::text as token,
       ${readable('p.result')} as result,
       ${time('p.begun_at')} as begun_at,
       ${time('p.ended_at')} as ended_at,
       p.due_at as due_ms
  from ${schema}._steps p
  join ${schema}._names n on n.key = p.key;
`
}

function instancesView(schema: string): string {
  return `create view ${schema}.instances as
select namespace, id as instance,
       ${text('record', 'app')} as app,
       ${text('record', 'deployment')} as deployment,
       ${text('record', 'host')} as host,
       ${number('record', 'pid')} as pid,
       ${text('record', 'version')} as version,
       state, drain, session,
       ended_at is null and (${NOW} >= renewed_at + lease_ms or renewed_at > ${NOW} + lease_ms) as expired,
       ${number('record', 'running')} as running,
       ${number('record', 'concurrency')} as concurrency,
       (${text('record', 'clockOffsetMs')})::float8 as clock_offset_ms,
       ${json('record', 'jobs')} as jobs,
       ${text('record', 'zoneData')} as zone_data,
       ${time('started_at')} as started_at,
       ${time('renewed_at')} as renewed_at,
       ${time('renewed_at + lease_ms')} as lease_until,
       ${time('ended_at')} as ended_at
  from ${schema}._instances;
`
}

function appsView(schema: string): string {
  return `create view ${schema}.apps as
select namespace, name as app,
       ${text('record', 'active')} as active_deployment,
       ${text('record', 'activated')} as activated_deployment,
       ${json('record', 'deployments')} as deployments,
       ${json('record', 'refused')} as refused
  from ${schema}._apps;
`
}

/** SQL: open fires. Those of plain schedules are in the clocks that claims lead to, the others in \`more\` as well. */
function openFires(schema: string): string {
  return `
      select s.namespace, s.name as schedule, k.due_at, '' as nonce, s.job, s.tenant, 'scheduled' as kind, 1::bigint as round,
             1::bigint as attempt, k.started_at as planned_at, k.due_at as ready_at, null::json as input, k.token, k.started_at, k.runner,
             '' as cancel
        from (select distinct w.key, c.runner from ${schema}._claims c cross join lateral unnest(c.keys) as w (key)) w
        join ${schema}._clocks k on k.key = w.key and k.runner = w.runner
        join ${schema}._schedules s on s.key = k.key
      union all
      select s.namespace, s.name, o.due_at, o.nonce, s.job, nullif(o.tenant, ''), f.fire ->> 'kind', (f.fire ->> 'round')::bigint,
             (f.fire ->> 'attempt')::bigint, (f.fire ->> 'plannedAt')::bigint, (f.fire ->> 'readyAt')::bigint, f.fire #> '{own,input}',
             o.token, o.started_at, o.runner, o.cancel
        from ${schema}._open o
        join ${schema}._clocks k on k.key = o.key
        join ${schema}._schedules s on s.key = o.key
       cross join lateral json_array_elements(${json('k.more', 'open')}) as f (fire)
       where (f.fire ->> 'dueAt')::bigint = o.due_at and f.fire ->> 'nonce' = o.nonce`
}

/**
 * SQL for a text of ours as JSON that PostgreSQL can parse. JavaScript strings may contain what its texts can't: a zero
 * character, half a surrogate pair. JSON escapes them; one in a whole history would make every query about it fail. An even
 * number of backslashes before it means that it is not the start of an escape.
 */
function readable(column: string): string {
  return String.raw`(case when position('\u' in ${column}) = 0 then nullif(${column}, '')
    else regexp_replace(${column}, '(?<!\\)((?:\\\\)*)\\u(?:0000|[dD][89a-fA-F][0-9a-fA-F]{2})', '\1\\ufffd', 'g') end)::json`
}

function json(column: string, path: string): string {
  return `(${readable(column)} #> '{${path}}')`
}

/** JSON null becomes SQL null. */
function text(column: string, path: string): string {
  return `(${readable(column)} #>> '{${path}}')`
}

/** JavaScript writes numbers beyond 1e21 in a form that is not an integer; ours are instants and counts. */
function number(column: string, path: string): string {
  return `${text(column, path)}::bigint`
}

function time(ms: string): string {
  return `to_timestamp(nullif(${ms}, ${NONE})::float8 / 1000)`
}
