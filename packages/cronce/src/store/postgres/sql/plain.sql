-- A column of a batch: a number for each schedule, or one for all of them.
create function {schema}._column(_values text, _count integer) returns bigint[] language plpgsql immutable strict
as $cronce$
begin
  if position(',' in _values) > 0 then return _values::bigint[]; end if;
  return array_fill((_values::bigint[])[1], array[_count]);
end
$cronce$;

-- What most fires need, on typed columns: many schedules at once, each with its key, the version it was decided on, and what changes.
-- A schedule that does not qualify is left out, and its change is judged by the general statement. Keys come in order, so that two
-- transactions do not wait for each other in a circle; none waits long.

create function {schema}._claim_1(
  _namespace text, _header text, _keys text, _versions text, _not_before text, _wake_at text, _next_at text, _planned_to text, _tokens text,
  _fired text, _due_at text, _token text, _started_at text
) returns text {hasty}
as $cronce$
declare
  _at record;
  _head record;
  _claimant record;
  _every bigint[] := _keys::bigint[];
  _count integer := cardinality(_every);
  _id bigint;
  _claimed bigint[];
  _kept bigint[];
begin
  select * into _at from {schema}._moment();
  select * into _head
    from json_to_record(_header::json) as h (
      instance text, lease_ms bigint, renew boolean, claim bigint, epoch bigint, channel text, payload text, finished bigint[]
    );
  select * into _claimant from {schema}._renew(_namespace, _head.instance, _head.lease_ms, _head.renew, _at.now);
  if _claimant.number <> 0 and _head.epoch = _at.epoch and not _at.moved then
    with moved as (
      update {schema}._clocks c
         set wake_at = u.wake_at, next_at = u.next_at, planned_to = u.planned_to, tokens = u.tokens, fired = u.fired,
             due_at = u.due_at, token = u.token, claim = _head.claim, started_at = u.started_at, version = c.version + 1,
             runner = _claimant.number
        from unnest(
               _every, {schema}._column(_versions, _count), {schema}._column(_not_before, _count), {schema}._column(_wake_at, _count),
               {schema}._column(_next_at, _count), {schema}._column(_planned_to, _count), {schema}._column(_tokens, _count),
               {schema}._column(_fired, _count), {schema}._column(_due_at, _count), {schema}._column(_token, _count), {schema}._column(_started_at, _count)
             ) as u (key, version, not_before, wake_at, next_at, planned_to, tokens, fired, due_at, token, started_at)
       where c.key = u.key and c.version = u.version and c.runner = 0 and c.more = '' and c.format = {format} and c.next_at > {none}
         and u.due_at > greatest(c.mark, c.due_at) and u.not_before <= _at.now
      returning c.key
    )
    insert into {schema}._claims (runner, claim, claimed_at, keys)
    select _claimant.number, _head.claim, _at.now, array_agg(m.key) from moved m having count(*) > 0
    returning id, keys into _id, _claimed;
    if _head.finished is not null then _kept := {schema}._finish_claims(_head.finished, null); end if;
    if _head.channel is not null and _id is not null then perform pg_notify(_head.channel, _head.payload); end if;
  end if;
  return json_build_object(
    'now', _at.now, 'epoch', _at.epoch, 'moved', _at.moved, 'live', _claimant.number <> 0, 'renewed', _claimant.renewed, 'id', _id,
    'keys', case when cardinality(_claimed) < _count then _claimed end, 'none', _id is null, 'kept', _kept);
end
$cronce$;

create function {schema}._settle_1(
  _namespace text, _header text, _keys text, _versions text, _not_before text, _numbers text, _failed_in_row text, _last_due text,
  _last_ok_due text, _last_ok_at text, _started_at text, _leads text, _ended_at text, _expires_at text, _reasons text, _tenants text, _more text
) returns text {hasty}
as $cronce$
declare
  _at record;
  _head record;
  _space integer;
  _every bigint[] := _keys::bigint[];
  _count integer := cardinality(_every);
  _runner integer;
  _settled bigint[];
  _kept bigint[];
begin
  select * into _at from {schema}._moment();
  select * into _head
    from json_to_record(_header::json) as h (instance text, epoch bigint, channel text, payload text, finished bigint[]);
  if _head.epoch = _at.epoch and not _at.moved then
    _space := {schema}._space(_namespace);
    select r.number into _runner from {schema}._runners r where r.namespace = _namespace and r.instance = _head.instance;
    with moved as (
      update {schema}._clocks c
         set version = c.version + 1, runner = 0, failed_in_row = u.failed_in_row, ended = u.number, last_due = u.last_due,
             last_ok_due = u.last_ok_due, last_ok_at = u.last_ok_at
        from unnest(
               _every, {schema}._column(_versions, _count), {schema}._column(_not_before, _count), {schema}._column(_numbers, _count),
               {schema}._column(_failed_in_row, _count), {schema}._column(_last_due, _count), {schema}._column(_last_ok_due, _count),
               {schema}._column(_last_ok_at, _count), {schema}._column(_started_at, _count), {schema}._column(_leads, _count), {schema}._column(_ended_at, _count),
               {schema}._column(_expires_at, _count), {schema}._column(_reasons, _count), _tenants::text[], _more::text[]
             ) as u (
               key, version, not_before, number, failed_in_row, last_due, last_ok_due, last_ok_at, started_at, lead, ended_at, expires_at,
               reason, tenant, more
             )
       where c.key = u.key and c.version = u.version and c.runner = _runner and c.more = '' and c.format = {format}
         and u.not_before <= _at.now
      returning c.key, c.due_at, c.token, c.job, u.number, u.started_at, u.lead, u.ended_at, u.expires_at, u.reason, u.tenant, u.more
    ),
    written as (
      insert into {schema}._history
        (key, due_at, number, token, started_at, ended_at, expires_at, space, job, runner, reason, lead, is_final, nonce, tenant, more)
      select m.key, m.due_at, m.number, m.token, m.started_at, m.ended_at, m.expires_at, _space, m.job, _runner, m.reason, m.lead, true, '',
             coalesce(m.tenant, ''), coalesce(m.more, '')
        from moved m
    ),
    counted as (
      insert into {schema}._counts as n (space, hour, outcome, backend, fires)
      select _space, m.due_at - ((m.due_at % 3600000) + 3600000) % 3600000, (m.reason - 1) / {each}, pg_backend_pid(), count(*)
        from moved m
       group by 2, 3
       order by 2, 3
      on conflict (space, hour, outcome, backend) do update set fires = n.fires + excluded.fires
    )
    select array_agg(m.key) into _settled from moved m;
    if _head.finished is not null then _kept := {schema}._finish_claims(_head.finished, _settled); end if;
    if _head.channel is not null and _settled is not null then perform pg_notify(_head.channel, _head.payload); end if;
  end if;
  return json_build_object(
    'now', _at.now, 'epoch', _at.epoch, 'moved', _at.moved,
    'keys', case when cardinality(_settled) < _count then _settled end, 'none', _settled is null, 'kept', _kept);
end
$cronce$;
