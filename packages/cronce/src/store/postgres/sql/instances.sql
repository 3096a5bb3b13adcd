-- An observer compares `renewals`. A claim that only shared the row of its instance counts as well, through its own row. The latest row
-- outlasts its runs until the next renewal, so that no value repeats.
create function {schema}._renewals(_renewals bigint, _runner integer) returns bigint language sql stable
as $cronce$
select _renewals * 1048576
     + coalesce((select c.id from {schema}._claims c where c.runner = _runner order by c.id desc limit 1), 0) % 1048576
$cronce$;

-- Whether the lease has run out. One that ends later than a lease from now is of a clock that was set back.
create function {schema}._is_expired(_renewed_at bigint, _lease bigint, _now bigint) returns boolean language sql immutable
as $cronce$
select _now >= _renewed_at + _lease or _renewed_at > _now + _lease
$cronce$;

create function {schema}._instance(i {schema}._instances, _now bigint) returns json language sql stable
as $cronce$
select json_build_object(
         'id', i.id, 'state', i.state, 'drain', i.drain, 'renewals', {schema}._renewals(i.renewals, i.number), 'startedAt', i.started_at,
         'endedAt', i.ended_at, 'renewedAt', i.renewed_at, 'expired', {schema}._is_expired(i.renewed_at, i.lease_ms, _now),
         'record', i.record::json)
$cronce$;

-- Numbers of instances that have claims on record, from number to number through the index: the claims may be thousands.
create function {schema}._claimants() returns setof integer language sql stable
as $cronce$
with recursive holder as (
  (select c.runner from {schema}._claims c order by c.runner limit 1)
  union all
  select (select c.runner from {schema}._claims c where c.runner > holder.runner order by c.runner limit 1)
    from holder
   where holder.runner is not null
)
select holder.runner from holder where holder.runner is not null
$cronce$;

create function {schema}._holds_runs(_runner integer) returns boolean language sql stable
as $cronce$
select exists (select from {schema}._claims c where c.runner = _runner and {schema}._names_runner(_runner, c.keys) offset 0)
$cronce$;

-- Instances that are over and still hold open runs.
create function {schema}._orphans(_namespace text) returns setof {schema}._instances language sql stable
as $cronce$
select i.*
  from {schema}._claimants() as holder (runner)
 cross join lateral (select * from {schema}._instances i where i.number = holder.runner offset 0) i
 where i.namespace = _namespace and i.ended_at is not null and {schema}._holds_runs(holder.runner)
$cronce$;

create function {schema}._held(_runner integer) returns json language sql stable
as $cronce$
select coalesce(json_agg(json_build_object(
         'schedule', h.name, 'token', h.token::text, 'claim', h.claim, 'cancel', case when h.cancel <> '' then h.cancel::json end)), '[]')
  from (select distinct w.key from {schema}._claims c cross join lateral unnest(c.keys) as w (key) where c.runner = _runner) w
 cross join lateral (
   select k.name, k.token, k.claim, '' as cancel from {schema}._clocks k where k.key = w.key and k.runner = _runner
   union all
   select n.name, o.token, o.claim, o.cancel
     from {schema}._open o
    cross join lateral (select n.name from {schema}._names n where n.key = o.key offset 0) n
    where o.key = w.key and o.runner = _runner
 ) h
$cronce$;

create function {schema}._beat_1(_namespace text, _beat text) returns text {settings}
as $cronce$
declare
  _at record;
  _b record;
  _own {schema}._instances%rowtype;
  _number bigint;
begin
  select * into _b
    from json_to_record(_beat::json) as b (
      id text, state text, app text, record text, joins boolean, session boolean, lease_ms bigint, number bigint, after bigint,
      channel text, payload text
    );
  -- The row of an instance that leaves is locked before the clock is read: no claim of it is newer than its end.
  if _b.state = 'left' then
    perform from {schema}._instances i where i.namespace = _namespace and i.id = _b.id for no key update;
  end if;
  select * into _at from {schema}._moment();
  update {schema}._instances i
     set renewals = i.renewals + 1, beat = greatest(_b.number, i.beat), renewed_at = _at.now, lease_ms = _b.lease_ms, state = _b.state,
         session = _b.session, ended_at = case when _b.state = 'left' then _at.now end, record = _b.record
   where i.namespace = _namespace and i.id = _b.id and i.state in ('live', 'draining')
     and (_b.joins or _b.number is null or i.beat >= _b.after and i.beat < _b.number)
  returning * into _own;
  if _own.id is null and _b.joins then
    insert into {schema}._instances
      (namespace, id, number, state, drain, session, renewals, beat, started_at, renewed_at, lease_ms, ended_at, record)
    values
      (_namespace, _b.id, {schema}._runner(_namespace, _b.id), _b.state, false, _b.session, 1, coalesce(_b.number, 0), _at.now, _at.now,
       _b.lease_ms, case when _b.state = 'left' then _at.now end, _b.record)
    on conflict do nothing
    returning * into _own;
  end if;
  if _own.id is null then
    select i.beat into _number from {schema}._instances i where i.namespace = _namespace and i.id = _b.id and i.ended_at is null;
  else
    _number := _own.beat;
    delete from {schema}._claims c where c.runner = _own.number and not {schema}._names_runner(c.runner, c.keys);
    if _b.channel is not null then perform pg_notify(_b.channel, _b.payload); end if;
  end if;
  return json_build_object(
    'now', _at.now, 'epoch', _at.epoch, 'moved', _at.moved, 'alive', _own.id is not null, 'number', _number,
    'held', case when _own.id is null then '[]' else {schema}._held(_own.number) end,
    'instances', (
      select coalesce(json_agg({schema}._instance(i, _at.now) order by i.id), '[]')
        from {schema}._instances i
       where i.namespace = _namespace and i.ended_at is null
    ),
    'chores', json_build_object(
      'appVersion', coalesce((select a.version from {schema}._apps a where a.namespace = _namespace and a.name = _b.app), 0),
      'orphans', (select coalesce(json_agg(o.id order by o.id), '[]') from {schema}._orphans(_namespace) o),
      'prunable', {schema}._is_prunable(_namespace, _at.now)));
end
$cronce$;

-- The row is locked first: a claim that shares it has ended then, and the second statement sees its writes. An instance that lost its
-- session reports it with its next heartbeat: then the hint was about the session, not about the process.
create function {schema}._bury_1(_namespace text, _instance text, _renewals text, _hint text) returns text {settings}
as $cronce$
declare
  _now bigint;
  _is_dead boolean;
begin
  perform from {schema}._instances i where i.namespace = _namespace and i.id = _instance for update;
  select m.now into _now from {schema}._moment() m;
  update {schema}._instances i
     set state = 'dead', ended_at = _now
   where i.namespace = _namespace and i.id = _instance and i.state in ('live', 'draining')
     and {schema}._renewals(i.renewals, i.number) = _renewals::bigint
     and (_hint::boolean and i.session is not false or {schema}._is_expired(i.renewed_at, i.lease_ms, _now));
  select i.state = 'dead' into _is_dead from {schema}._instances i where i.namespace = _namespace and i.id = _instance;
  return coalesce(_is_dead, false);
end
$cronce$;

-- name: drain
with drained as (
  update {schema}._instances i
     set drain = $3::text::boolean
   where i.namespace = $1::text and i.id = $2::text and i.state in ('live', 'draining')
  returning pg_notify($4::text, $5::text)
),
logged as (
  insert into {schema}._activity (namespace, at, id, schedule, expires_at, line)
  select $1::text, l.at, l.id, l.schedule, l.expires_at, l.line
    from drained, json_to_recordset($6::text::json) as l (at bigint, id text, schedule text, expires_at bigint, line text)
)
select exists (select from drained)::text as answer

-- name: listInstances
-- There may be a hundred thousand ended instances: they are read from the newest on, without sorting.
select json_build_object('now', m.now, 'epoch', m.epoch, 'moved', m.moved, 'instances', (
         select coalesce(json_agg({schema}._instance(i, m.now) order by i.id), '[]')
           from (
             select i.* from {schema}._instances i where i.namespace = $1::text and i.ended_at is null
             union all
             select i.* from {schema}._orphans($1::text) i
             union all
             (
               select i.*
                 from (
                   select i.*
                     from {schema}._instances i
                    where i.namespace = $1::text and i.ended_at is not null
                    order by i.ended_at desc
                    limit {ended}
                 ) i
                where not {schema}._holds_runs(i.number) and ($3::text = '' or i.record::json ->> 'app' = $3::text)
                limit $2::text::bigint
             )
           ) i
          where $3::text = '' or i.record::json ->> 'app' = $3::text
       ))::text as answer
  from {schema}._moment() m

-- name: findInstances
select json_build_object('now', m.now, 'epoch', m.epoch, 'moved', m.moved, 'instances', (
         select coalesce(json_agg({schema}._instance(i, m.now) order by i.id), '[]')
           from (select distinct w.id from json_array_elements_text($2::text::json) as w (id)) w
           join {schema}._instances i on i.namespace = $1::text and i.id = w.id
       ))::text as answer
  from {schema}._moment() m
