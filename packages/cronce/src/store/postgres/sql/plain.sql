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
-- transactions do not wait for each other in a circle; none waits long. The lists become arrays that are named after their columns,
-- and n is the place of a schedule in them: to unnest a dozen arrays would copy each of them into rows first.

create function {schema}._claim_1(
  _namespace text, _header text, _key_list text, _version_list text, _not_before_list text, _wake_at_list text, _next_at_list text,
  _planned_to_list text, _extra_list text, _due_at_list text, _token_list text, _started_at_list text
) returns text {hasty}
as $cronce$
declare
  _at record;
  _head record;
  _claimant record;
  _key bigint[] := _key_list::bigint[];
  _count integer := cardinality(_key);
  _version bigint[] := {schema}._column(_version_list, _count);
  _not_before bigint[] := {schema}._column(_not_before_list, _count);
  _wake_at bigint[] := {schema}._column(_wake_at_list, _count);
  _next_at bigint[] := {schema}._column(_next_at_list, _count);
  _planned_to bigint[] := {schema}._column(_planned_to_list, _count);
  _extra bigint[] := {schema}._column(_extra_list, _count);
  _due_at bigint[] := {schema}._column(_due_at_list, _count);
  _token bigint[] := {schema}._column(_token_list, _count);
  _started_at bigint[] := {schema}._column(_started_at_list, _count);
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
         set planned_to = _planned_to[n], extra = _extra[n], wake_at = _wake_at[n], next_at = _next_at[n], tokens = c.tokens + 1,
             due_at = _due_at[n], token = _token[n], claim = _head.claim, started_at = _started_at[n], runner = _claimant.number,
             version = c.version + 1
        from generate_series(1, _count) as n
       where c.key = _key[n] and c.version = _version[n] and c.runner = 0 and c.more = '' and c.format = {format} and c.next_at > {none}
         and _due_at[n] > greatest(c.mark, c.due_at) and _not_before[n] <= _at.now
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
  _namespace text, _header text, _key_list text, _version_list text, _not_before_list text, _failed_in_row_list text, _last_due_list text,
  _last_ok_due_list text, _last_ok_at_list text, _started_at_list text, _lead_list text, _ended_at_list text,
  _expires_at_list text, _reason_list text, _tenant_list text, _more_list text
) returns text {hasty}
as $cronce$
declare
  _at record;
  _head record;
  _space integer;
  _key bigint[] := _key_list::bigint[];
  _count integer := cardinality(_key);
  _version bigint[] := {schema}._column(_version_list, _count);
  _not_before bigint[] := {schema}._column(_not_before_list, _count);
  _failed_in_row bigint[] := {schema}._column(_failed_in_row_list, _count);
  _last_due bigint[] := {schema}._column(_last_due_list, _count);
  _last_ok_due bigint[] := {schema}._column(_last_ok_due_list, _count);
  _last_ok_at bigint[] := {schema}._column(_last_ok_at_list, _count);
  _started_at bigint[] := {schema}._column(_started_at_list, _count);
  _lead bigint[] := {schema}._column(_lead_list, _count);
  _ended_at bigint[] := {schema}._column(_ended_at_list, _count);
  _expires_at bigint[] := {schema}._column(_expires_at_list, _count);
  _reason bigint[] := {schema}._column(_reason_list, _count);
  _tenant text[] := _tenant_list::text[];
  _more text[] := _more_list::text[];
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
         set failed_in_row = _failed_in_row[n], runner = 0, version = c.version + 1, ended = c.ended + 1, last_due = _last_due[n],
             last_ok_due = _last_ok_due[n], last_ok_at = _last_ok_at[n]
        from generate_series(1, _count) as n
       where c.key = _key[n] and c.version = _version[n] and c.runner = _runner and c.more = '' and c.format = {format}
         and _not_before[n] <= _at.now
      returning n, c.key, c.due_at, c.ended, c.token, c.job
    ),
    written as (
      insert into {schema}._history
        (key, due_at, number, token, started_at, ended_at, expires_at, space, job, runner, reason, lead, is_final, nonce, tenant, more)
      select m.key, m.due_at, m.ended, m.token, _started_at[m.n], _ended_at[m.n], _expires_at[m.n], _space, m.job, _runner,
             _reason[m.n], _lead[m.n], true, '', coalesce(_tenant[m.n], ''), coalesce(_more[m.n], '')
        from moved m
    ),
    counted as (
      insert into {schema}._counts as n (space, hour, outcome, backend, fires)
      select _space, m.due_at - ((m.due_at % 3600000) + 3600000) % 3600000, (_reason[m.n] - 1) / {each}, pg_backend_pid(), count(*)
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
