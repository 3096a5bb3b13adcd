-- The moment of a statement. `moved`: the server is on another timeline than the one that the epoch is about, because a standby
-- was promoted. Reading functions are stable: their snapshot is older than `now`, so nothing that they read is newer than `now`.
create function {schema}._moment() returns table (now bigint, epoch bigint, moved boolean) language sql stable
as $cronce$
select floor(extract(epoch from clock_timestamp()) * 1000)::bigint, m.epoch,
       case when m.timeline is null then false
            else m.timeline <> ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint
       end
  from {schema}._meta m
$cronce$;

-- Numbers that stand for names. They are made when first needed.
create function {schema}._space(_namespace text) returns integer language plpgsql
as $cronce$
declare
  _number integer;
begin
  select n.number into _number from {schema}._namespaces n where n.namespace = _namespace;
  if _number is null then
    insert into {schema}._namespaces (namespace) values (_namespace)
    on conflict (namespace) do update set namespace = excluded.namespace
    returning number into _number;
  end if;
  return _number;
end
$cronce$;

create function {schema}._job(_namespace text, _name text) returns integer language plpgsql
as $cronce$
declare
  _number integer;
begin
  select j.number into _number from {schema}._jobs j where j.namespace = _namespace and j.name = _name;
  if _number is null then
    insert into {schema}._jobs (namespace, name) values (_namespace, _name)
    on conflict (namespace, name) do update set name = excluded.name
    returning number into _number;
  end if;
  return _number;
end
$cronce$;

-- A parked run has no instance: 0.
create function {schema}._runner(_namespace text, _instance text) returns integer language plpgsql
as $cronce$
declare
  _number integer;
begin
  if _instance is null or _instance = '' then return 0; end if;
  select r.number into _number from {schema}._runners r where r.namespace = _namespace and r.instance = _instance;
  if _number is null then
    insert into {schema}._runners (namespace, instance) values (_namespace, _instance)
    on conflict (namespace, instance) do update set instance = excluded.instance
    returning number into _number;
  end if;
  return _number;
end
$cronce$;

-- Count lines that became final, or (`_sign` -1) that are final no more.
create function {schema}._count(_space integer, _due bigint[], _reasons smallint[], _tokens bigint[], _sign integer) returns void language sql
as $cronce$
insert into {schema}._counts as c (space, hour, outcome, backend, fires)
select _space, l.due_at - ((l.due_at % 3600000) + 3600000) % 3600000, (l.reason - 1) / {each}, pg_backend_pid(),
       _sign * sum(greatest(case when l.token > 0 then 1 else -l.token end, 1))
  from unnest(_due, _reasons, _tokens) as l (due_at, reason, token)
 group by 2, 3
 order by 2, 3
on conflict (space, hour, outcome, backend) do update set fires = c.fires + excluded.fires
$cronce$;

-- Append lines to the history of a schedule.
create function {schema}._append(_namespace text, _key bigint, _lines json) returns void language plpgsql
as $cronce$
declare
  _space integer := {schema}._space(_namespace);
  _due bigint[];
  _reasons smallint[];
  _tokens bigint[];
begin
  with written as (
    insert into {schema}._history
      (key, due_at, number, token, started_at, ended_at, expires_at, space, job, runner, reason, lead, is_final, nonce, tenant, more)
    select _key, l.due_at, l.number, l.token::bigint, l.started_at, l.ended_at, l.expires_at, _space, {schema}._job(_namespace, l.job),
           {schema}._runner(_namespace, l.instance), l.reason, l.lead, l.is_final, l.nonce, l.tenant, l.more
      from json_to_recordset(_lines) as l (
        due_at bigint, number bigint, token text, started_at bigint, ended_at bigint, expires_at bigint, job text, instance text,
        reason smallint, lead smallint, is_final boolean, nonce text, tenant text, more text
      )
    returning due_at, reason, token, is_final
  )
  select array_agg(w.due_at), array_agg(w.reason), array_agg(w.token) into _due, _reasons, _tokens from written w where w.is_final;
  if _due is not null then perform {schema}._count(_space, _due, _reasons, _tokens, 1); end if;
end
$cronce$;

-- Delete fires whole: their lines, their steps, and the notes of their runs.
create function {schema}._delete_fires(_keys bigint[], _due bigint[], _nonces text[]) returns void language plpgsql
as $cronce$
begin
  delete from {schema}._steps s
   using unnest(_keys, _due, _nonces) as d (key, due_at, nonce)
   where s.key = d.key and s.due_at = d.due_at and s.nonce = d.nonce;
  with gone as (
    delete from {schema}._history h
     using unnest(_keys, _due, _nonces) as d (key, due_at, nonce)
     where h.key = d.key and h.due_at = d.due_at and h.nonce = d.nonce
    returning h.key, h.token
  )
  delete from {schema}._notes n using gone where n.key = gone.key and n.token = gone.token;
end
$cronce$;

-- Up to 200 fires whose last line is numbered below `_below`, and that were due and ended before `_before`. Numbers follow the times
-- more or less: what may go is among the earliest, or can wait.
create function {schema}._trim(_key bigint, _below bigint, _before bigint) returns void language plpgsql
as $cronce$
declare
  _due bigint[];
  _nonces text[];
begin
  select array_agg(t.due_at), array_agg(t.nonce) into _due, _nonces
    from (
      select early.due_at, early.nonce
        from (
          select h.due_at, h.nonce, h.number, h.ended_at
            from {schema}._history h
           where h.key = _key and h.is_final
           order by h.due_at, h.number
           limit 1000
        ) early
       where early.number < _below and early.ended_at < _before and early.due_at < _before
       order by early.number
       limit 200
    ) pick
   cross join lateral (
     select h.due_at, h.nonce
       from {schema}._history h
      where h.key = _key and h.due_at = pick.due_at and h.nonce = pick.nonce and h.is_final
        for update skip locked
   ) t;
  if _due is not null then perform {schema}._delete_fires(array_fill(_key, array[cardinality(_due)]), _due, _nonces); end if;
end
$cronce$;

-- Whether this instance holds an open run of one of these keys.
create function {schema}._names_runner(_runner integer, _keys bigint[]) returns boolean language plpgsql stable
as $cronce$
begin
  return exists (
    select from unnest(_keys) as w (key)
     where exists (select from {schema}._clocks k where k.key = w.key and k.runner = _runner offset 0)
        or exists (select from {schema}._open o where o.key = w.key and o.runner = _runner offset 0));
end
$cronce$;

-- Deletes claims that are over: no schedule names their instance for any of their keys. Answers those that are not, and the latest claim
-- of its instance, which is a sign of life: it goes with a later claim or a heartbeat. Of that one only the keys are dropped, if they are
-- many, since to look them all up once more would cost more. `_settled`: keys whose runs this transaction has ended, which most often are
-- just those of one claim. Here and above in plpgsql, which plans a statement once per connection.
create function {schema}._finish_claims(_ids bigint[], _settled bigint[]) returns bigint[] language plpgsql
as $cronce$
declare
  _kept bigint[];
begin
  with done as (
    select c.id, cardinality(c.keys) as n,
           exists (select from {schema}._claims later where later.runner = c.runner and later.id > c.id) as has_later
      from {schema}._claims c
     where c.id = any (_ids) and (c.keys = _settled or not {schema}._names_runner(c.runner, c.keys))
  ),
  gone as (
    delete from {schema}._claims c using done d where c.id = d.id and d.has_later
    returning c.id
  ),
  emptied as (
    update {schema}._claims c set keys = '{}' from done d where c.id = d.id and not d.has_later and d.n > {few}
  )
  select coalesce(array_agg(c.id), '{}') into _kept
    from {schema}._claims c
   where c.id = any (_ids) and not exists (select from gone g where g.id = c.id);
  return _kept;
end
$cronce$;

-- A line as lists answer it, with the notes of its run.
create function {schema}._line(h {schema}._history) returns json language sql stable
as $cronce$
select json_build_object(
         'key', h.key, 'schedule', (select n.name from {schema}._names n where n.key = h.key), 'dueAt', h.due_at, 'number', h.number,
         'token', h.token::text, 'startedAt', h.started_at, 'lead', h.lead, 'endedAt', h.ended_at, 'expiresAt', h.expires_at,
         'job', (select j.name from {schema}._jobs j where j.number = h.job),
         'instance', coalesce((select r.instance from {schema}._runners r where r.number = h.runner), ''),
         'reason', h.reason, 'isFinal', h.is_final, 'nonce', h.nonce, 'tenant', h.tenant, 'more', h.more,
         'notes', (select o.notes::json from {schema}._notes o where o.key = h.key and o.token = h.token))
$cronce$;

-- Lines that the snapshot of an earlier answer did not see: those of transactions that were under way then, and of all later ones.
-- The snapshot of this statement is where the next one goes on. Without one: no lines, only that. A transaction of the future is one
-- of another server, from which the rows were copied.
create function {schema}._ends_1(_namespace text, _snapshot text, _limit text) returns text {settings}
as $cronce$
declare
  _then pg_snapshot := nullif(_snapshot, '')::pg_snapshot;
  _space integer;
  _answer text;
begin
  select s.number into _space from {schema}._namespaces s where s.namespace = _namespace;
  select json_build_object(
           'now', m.now, 'epoch', m.epoch, 'moved', m.moved, 'snapshot', pg_current_snapshot()::text,
           'erased', exists (
             select from {schema}._namespaces s
              where s.namespace = _namespace and s.erased_in < pg_snapshot_xmax(pg_current_snapshot())
                and not pg_visible_in_snapshot(s.erased_in, _then)),
           'lines', (
             select coalesce(json_agg({schema}._line(e.line)), '[]')
               from (
                 select h as line
                   from pg_snapshot_xip(_then) as x (id)
                   join {schema}._history h on h.ended_in = x.id
                  where h.reason > 0 and h.space = _space
                 union all
                 (
                   select h
                     from {schema}._history h
                    where h.reason > 0 and h.ended_in >= pg_snapshot_xmax(_then)
                      and h.ended_in < pg_snapshot_xmax(pg_current_snapshot()) and h.space = _space
                    order by h.ended_in
                    limit _limit::bigint
                 )
                 limit _limit::bigint
               ) e
           ))
    into _answer
    from {schema}._moment() m;
  return _answer;
end
$cronce$;
