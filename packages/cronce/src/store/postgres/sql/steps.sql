-- Commands on steps return their result; `null` if a concurrent transaction did the same and its write was not visible yet. The caller asks
-- again.

-- name: beginStep
with live as materialized (
  select l.key, m.now
    from {schema}._moment() m
   cross join {schema}._live($1::text, $2::text, $6::text::bigint) l
   where l.due_at = $3::text::bigint and l.nonce = $4::text
),
begun as (
  insert into {schema}._steps as p (key, due_at, nonce, step, state, token, result, begun_at, ended_at)
  select live.key, $3::text::bigint, $4::text, $5::text, 'begun', $6::text::bigint, 'null', live.now, null from live
  on conflict (key, due_at, nonce, step) do update
     set state = 'begun', token = excluded.token, result = 'null', begun_at = excluded.begun_at, ended_at = null
   -- A run that was overtaken after `live` was read takes no step from its successor.
   where (p.state = 'failed' and p.token <= excluded.token) or (p.state = 'begun' and p.token < excluded.token and $7::text::boolean)
  returning true
)
select case when not exists (select from live) then json_build_object('kind', 'stale')
            when exists (select from begun) then json_build_object('kind', 'applied')
            else coalesce((
              select case when p.state = 'done' then json_build_object('kind', 'done', 'result', p.result::json)
                          when p.token = $6::text::bigint then json_build_object('kind', 'duplicate')
                          else json_build_object('kind', 'unknown', 'token', p.token::text)
                     end
                from {schema}._steps p, live
               where p.key = live.key and p.due_at = $3::text::bigint and p.nonce = $4::text and p.step = $5::text
            ), 'null')
       end::text as answer

-- name: endStep
-- For any run if $8 is 'resolve': then an operator decides how it ended.
with step as materialized (
  select p.key, p.due_at, p.nonce, p.step, p.state, p.token, p.result, m.now
    from {schema}._moment() m
   cross join {schema}._names n
    join {schema}._steps p on p.key = n.key
   where n.namespace = $1::text and n.name = $2::text and p.due_at = $3::text::bigint and p.nonce = $4::text and p.step = $5::text
),
ended as (
  update {schema}._steps p
     set state = $7::text, result = $9::text, ended_at = step.now
    from step
   where p.key = step.key and p.due_at = step.due_at and p.nonce = step.nonce and p.step = step.step and p.state = 'begun'
     and ($8::text = 'resolve' or p.token = $6::text::bigint)
  returning true
)
select case when exists (select from ended) then json_build_object('kind', 'applied')
            else coalesce((
              select case when $8::text <> 'resolve' and step.token <> $6::text::bigint then json_build_object('kind', 'stale')
                          when $8::text = 'resolve' and step.state = 'done' then json_build_object('kind', 'done', 'result', step.result::json)
                          when step.state = 'begun' then 'null'
                          else json_build_object('kind', 'duplicate')
                     end
                from step
            ), json_build_object('kind', 'not-found'))
       end::text as answer

-- name: listSteps
select coalesce(json_agg(json_build_object(
         'schedule', n.name, 'dueAt', p.due_at, 'nonce', p.nonce, 'step', p.step, 'state', p.state, 'token', p.token::text,
         'result', p.result::json, 'begunAt', p.begun_at, 'endedAt', p.ended_at) order by p.begun_at, p.step), '[]')::text as answer
  from {schema}._names n
  join {schema}._steps p on p.key = n.key
 where n.namespace = $1::text and n.name = $2::text and p.due_at = $3::text::bigint and p.nonce = $4::text

-- name: annotate
with note as materialized (
  select t.place, t.schedule, t.token, t.notes, l.key
    from rows from (json_to_recordset($2::text::json) as (schedule text, token text, notes text))
         with ordinality as t (schedule, token, notes, place)
    left join lateral {schema}._live($1::text, t.schedule, t.token::bigint) l on true
),
kept as (
  insert into {schema}._notes (key, token, notes)
  select distinct on (t.key, t.token) t.key, t.token::bigint, t.notes
    from note t
   where t.key is not null
   order by t.key, t.token, t.place desc
  on conflict (key, token) do update set notes = excluded.notes
)
select coalesce(json_agg(json_build_object('schedule', t.schedule, 'token', t.token) order by t.place)
                filter (where t.key is null), '[]')::text as answer
  from note t

-- name: loadApp
select json_build_object('now', m.now, 'app', (
         select a.record::json from {schema}._apps a where a.namespace = $1::text and a.name = $2::text
       ))::text as answer
  from {schema}._moment() m

-- name: saveApp
with saved as (
  insert into {schema}._apps as a (namespace, name, version, record)
  select $1::text, $2::text, $3::text::bigint, $4::text
   where $3::text::bigint = 1 or exists (select from {schema}._apps where namespace = $1::text and name = $2::text)
  on conflict (namespace, name) do update
     set version = excluded.version, record = excluded.record
   where a.version = excluded.version - 1
  returning true
),
logged as (
  insert into {schema}._activity (namespace, at, id, schedule, expires_at, line)
  select $1::text, l.at, l.id, l.schedule, l.expires_at, l.line
    from saved, json_to_recordset($5::text::json) as l (at bigint, id text, schedule text, expires_at bigint, line text)
)
select exists (select from saved)::text as answer
