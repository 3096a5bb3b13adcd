const NOW = 'extract(epoch from clock_timestamp()) * 1000'

/**
 * What people and their tools may read: a promise, unlike the tables behind it. Columns are only ever added, at the end.
 * They have the words of the API, times with a time zone, and one row for each thing whether it is open or has ended.
 *
 * `…_ms` beside the times are what indexes know: a question about a long history is quick if it asks for those. Conditions
 * that always hold are those of the indexes.
 */
export const views = (schema: string): string => `
create view ${schema}.schedules as
select k.namespace, k.id as schedule, s.job, s.tenant, s.app, s.status as state, s.revision,
       ${time(number('state', 'nextAt'))} as next_at,
       ${text('definition', 'trigger,kind')} as trigger_kind,
       ${text('definition', 'trigger,expression')} as cron,
       ${text('definition', 'trigger,tz')} as tz,
       ${number('definition', 'trigger,everyMs')} as every_ms,
       json_array_length(${json('state', 'open')}) as open_fires,
       ${time(number('state', 'last,dueAt'))} as last_due_at,
       ${time(number('state', 'last,succeededDueAt'))} as last_succeeded_due_at,
       ${time(number('state', 'last,succeededAt'))} as last_succeeded_at,
       ${number('state', 'failedInRow')} as failed_in_row,
       ${number('state', 'fired')} as fired,
       ${time(number('state', 'pause,at'))} as paused_at,
       ${time(number('state', 'pause,until'))} as paused_until,
       ${text('state', 'pause,note')} as pause_note,
       ${text('state', 'pause,author')} as pause_author,
       ${time(number('state', 'retiredAt'))} as retired_at,
       ${time(number('state', 'createdAt'))} as created_at,
       ${time(number('state', 'updatedAt'))} as updated_at,
       ${time('k.wake_at')} as wake_at,
       ${readable('definition')} as definition
  from ${schema}._clocks k
  join ${schema}._schedules s on s.namespace = k.namespace and s.id = k.id;

create view ${schema}.fires as
select namespace, schedule, ${time('due_at')} as due_at, nonce, job, tenant,
       ${text('record', 'kind')} as kind, state,
       ${text('record', 'ending,reason')} as reason,
       ${text('record', 'ending,detail')} as detail,
       ${number('record', 'round')} as round,
       ${number('record', 'attempt')} as attempt,
       ${time(number('record', 'plannedAt'))} as planned_at,
       ${time(number('record', 'readyAt'))} as ready_at,
       ${time('ended_at')} as ended_at,
       ${time('until_at')} as until_at,
       coalesce(${number('record', 'range,count')}, 1) as instants,
       ${time('expires_at')} as expires_at,
       ${json('record', 'input')} as input,
       due_at as due_ms
  from (
    select namespace, schedule, due_at, nonce, job, tenant, 'open' as state, null::bigint as ended_at,
           null::bigint as expires_at, null::bigint as until_at, fire as record
      from ${schema}._open
     where fire is not null
    union all
    select namespace, schedule, due_at, nonce, job, tenant, outcome, ended_at, expires_at, until_at, record
      from ${schema}._fires
     where outcome <> ''
  ) f;

create view ${schema}.runs as
select namespace, schedule, token, ${time('due_at')} as due_at, nonce, job,
       ${number('record', 'round')} as round,
       ${number('record', 'attempt')} as attempt,
       instance,
       case when state <> 'running' or ${text('record', 'cancel')} is null then state else 'cancelling' end as state,
       ${text('record', 'ending,reason')} as reason,
       ${text('record', 'ending,detail')} as detail,
       ${time('started_at')} as started_at,
       ${time(number('record', 'endedAt'))} as ended_at,
       greatest(started_at - ${number('record', 'readyAt')}, 0) as lateness_ms,
       case when state <> 'running' then greatest(${number('record', 'endedAt')} - started_at, 0) end as duration_ms,
       ${text('record', 'error,name')} as error_name,
       ${text('record', 'error,code')} as error_code,
       ${text('record', 'error,message')} as error_message,
       ${text('record', 'error,stack')} as error_stack,
       ${json('record', 'result')} as result,
       due_at as due_ms, started_at as started_ms
  from (
    select namespace, schedule, token, due_at, nonce, job, instance, started_at, 'running' as state, run as record
      from ${schema}._open
     where instance is not null
    union all
    select namespace, schedule, token, due_at, nonce, job, instance, started_at, outcome, record
      from ${schema}._runs
     where outcome <> ''
  ) r;

create view ${schema}.steps as
select namespace, schedule, ${time('due_at')} as due_at, nonce, step, state, token,
       ${readable('result')} as result,
       ${time('begun_at')} as begun_at,
       ${time('ended_at')} as ended_at,
       due_at as due_ms
  from ${schema}._steps;

create view ${schema}.instances as
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

create view ${schema}.apps as
select namespace, name as app,
       ${text('record', 'active')} as active_deployment,
       ${text('record', 'activated')} as activated_deployment,
       ${json('record', 'deployments')} as deployments,
       ${json('record', 'refused')} as refused
  from ${schema}._apps;
`

/**
 * SQL for a text of ours as JSON that PostgreSQL can take apart. JavaScript's strings may contain what its texts can't: a zero
 * character, half a surrogate pair. JSON has them escaped; one in a whole history would make every question about it fail. An
 * even number of backslashes before means that the one seen here is not the beginning of an escape.
 */
function readable(column: string): string {
  return String.raw`(case when position('\u' in ${column}) = 0 then ${column}
    else regexp_replace(${column}, '(?<!\\)((?:\\\\)*)\\u(?:0000|[dD][89a-fA-F][0-9a-fA-F]{2})', '\1\\ufffd', 'g') end)::json`
}

function json(column: string, path: string): string {
  return `(${readable(column)} #> '{${path}}')`
}

/** JSON's null is SQL's. */
function text(column: string, path: string): string {
  return `(${readable(column)} #>> '{${path}}')`
}

/** JavaScript writes numbers beyond 1e21 as no integer can be read; ours are instants and counts. */
function number(column: string, path: string): string {
  return `${text(column, path)}::bigint`
}

function time(ms: string): string {
  return `to_timestamp((${ms})::float8 / 1000)`
}
