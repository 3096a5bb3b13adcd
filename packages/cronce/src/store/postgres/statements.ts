// Written by scripts/compile-statements.ts. Change the files it names, then run it again.

export const SQL = {
  tables: `create table {schema}._meta (
  only_row boolean primary key default true check (only_row),
  system_id text,
  database_id text,
  timeline bigint,
  epoch bigint not null default 1
);
insert into {schema}._meta default values;

create table {schema}._namespaces (
  number integer generated always as identity primary key,
  namespace text collate "C" not null unique,
  floor bigint not null default 0,
  erased_in xid8
);

create table {schema}._names (
  key bigint generated always as identity primary key,
  namespace text collate "C" not null,
  name text collate "C" not null,
  version bigint not null default 0,
  tokens bigint not null default 0,
  ended bigint not null default 0,
  mark bigint not null default {none},
  trimmed_before bigint not null default {none},
  gone_at bigint not null default {none},
  unique (namespace, name)
);
create index _names_gone on {schema}._names (namespace, gone_at) where gone_at > {none};

create table {schema}._jobs (
  number integer generated always as identity primary key,
  namespace text collate "C" not null,
  name text collate "C" not null,
  unique (namespace, name)
);

create table {schema}._runners (
  number integer generated always as identity primary key,
  namespace text collate "C" not null,
  instance text collate "C" not null,
  gone_at bigint not null default {none},
  unique (namespace, instance)
);
create index _runners_gone on {schema}._runners (namespace, gone_at) where gone_at > {none};

create table {schema}._definitions (
  id bigint generated always as identity primary key,
  revision bigint not null,
  created_at bigint not null,
  updated_at bigint not null,
  source text not null,
  definition text not null
);

create table {schema}._schedules (
  key bigint primary key,
  namespace text collate "C" not null,
  name text collate "C" not null,
  job text collate "C" not null,
  tenant text collate "C",
  app text collate "C",
  status text collate "C" not null,
  unique (namespace, name)
);
create index _schedules_job on {schema}._schedules (namespace, job, name) where status <> '';
create index _schedules_tenant on {schema}._schedules (namespace, tenant, name) where tenant is not null;
create index _schedules_app on {schema}._schedules (namespace, app, name) where app is not null;
create index _schedules_status on {schema}._schedules (namespace, status, name) where status <> 'active';

create table {schema}._clocks (
  key bigint not null,
  definition bigint not null,
  job integer not null,
  bucket smallint not null,
  format smallint not null,
  trimmed_before bigint not null,
  mark bigint not null,
  planned_to bigint not null,
  extra bigint not null,
  wake_at bigint not null,
  next_at bigint not null,
  tokens bigint not null,
  due_at bigint not null,
  token bigint not null,
  claim bigint not null,
  started_at bigint not null,
  failed_in_row integer not null,
  runner integer not null,
  version bigint not null,
  ended bigint not null,
  last_due bigint not null,
  last_ok_due bigint not null,
  last_ok_at bigint not null,
  name text collate "C" not null,
  zone text not null,
  more text not null,
  primary key (key)
) with (fillfactor = 33, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
create index _clocks_due on {schema}._clocks (job, wake_at) where wake_at > {none};
create index _clocks_newer on {schema}._clocks (key) where format > {format};

create table {schema}._open (
  key bigint not null,
  due_at bigint not null,
  token bigint not null,
  claim bigint not null,
  started_at bigint not null,
  runner integer not null,
  nonce text collate "C" not null,
  tenant text collate "C" not null,
  cancel text not null,
  primary key (key, due_at, nonce)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);

create table {schema}._holds (
  namespace text collate "C" not null,
  slot text collate "C" not null,
  key bigint not null,
  token bigint not null,
  primary key (namespace, slot, key, token)
);
create index _holds_key on {schema}._holds (key) where slot <> '';

create table {schema}._claims (
  id bigint generated always as identity primary key,
  runner integer not null,
  claim bigint not null,
  claimed_at bigint not null,
  keys bigint[] not null
);
create index _claims_runner on {schema}._claims (runner, id);

create table {schema}._history (
  key bigint not null,
  due_at bigint not null,
  number bigint not null,
  token bigint not null,
  started_at bigint not null,
  ended_at bigint not null,
  expires_at bigint not null,
  ended_in xid8 not null default pg_current_xact_id(),
  space integer not null,
  job integer not null,
  runner integer not null,
  reason smallint not null,
  lead smallint not null default 0,
  is_final boolean not null,
  nonce text collate "C" not null,
  tenant text collate "C" not null,
  more text not null,
  primary key (key, due_at, number)
);
create index _history_time on {schema}._history (job, due_at, key);
create index _history_expiry on {schema}._history (space, expires_at) where is_final;
create index _history_ended on {schema}._history (ended_in) where reason > 0;
create index _history_nonce on {schema}._history (nonce, key) where nonce <> '';
create index _history_trouble on {schema}._history (space, reason, due_at, key) where reason > {trouble};
create index _history_tenant on {schema}._history (space, tenant, due_at, key) where tenant <> '';
create index _history_range on {schema}._history (space, started_at) where token < 0 and is_final;

create table {schema}._counts (
  space integer not null,
  hour bigint not null,
  outcome smallint not null,
  backend integer not null,
  fires bigint not null,
  primary key (space, hour, outcome, backend)
) with (fillfactor = 50);

create table {schema}._notes (
  key bigint not null,
  token bigint not null,
  notes text not null,
  primary key (key, token)
);

create table {schema}._steps (
  key bigint not null,
  due_at bigint not null,
  nonce text collate "C" not null,
  step text collate "C" not null,
  state text collate "C" not null,
  token bigint not null,
  result text not null,
  begun_at bigint not null,
  ended_at bigint,
  primary key (key, due_at, nonce, step)
);

create table {schema}._instances (
  namespace text collate "C" not null,
  id text collate "C" not null,
  number integer not null unique,
  state text collate "C" not null,
  drain boolean not null,
  session boolean,
  renewals bigint not null,
  beat bigint not null,
  started_at bigint not null,
  renewed_at bigint not null,
  lease_ms bigint not null,
  ended_at bigint,
  record text not null,
  primary key (namespace, id)
) with (fillfactor = 50);
create index _instances_live on {schema}._instances (namespace, id) where ended_at is null;
create index _instances_ended on {schema}._instances (namespace, ended_at) where ended_at is not null;

create table {schema}._activity (
  namespace text collate "C" not null,
  at bigint not null,
  id text collate "C" not null,
  schedule text collate "C" not null,
  expires_at bigint not null,
  line text not null,
  primary key (namespace, at, id)
);
create index _activity_schedule on {schema}._activity (namespace, schedule, at, id) where schedule <> '';
create index _activity_expiry on {schema}._activity (namespace, expires_at);

create table {schema}._apps (
  namespace text collate "C" not null,
  name text collate "C" not null,
  version bigint not null,
  record text not null,
  primary key (namespace, name)
);`,
  records: `create function {schema}._moment() returns table (now bigint, epoch bigint, moved boolean) language sql stable
as $cronce$
select floor(extract(epoch from clock_timestamp()) * 1000)::bigint, m.epoch,
       case when m.timeline is null then false
            else m.timeline <> ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint
       end
  from {schema}._meta m
$cronce$;

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

create function {schema}._names_runner(_runner integer, _keys bigint[]) returns boolean language plpgsql stable
as $cronce$
begin
  return exists (
    select from unnest(_keys) as w (key)
     where exists (select from {schema}._clocks k where k.key = w.key and k.runner = _runner offset 0)
        or exists (select from {schema}._open o where o.key = w.key and o.runner = _runner offset 0));
end
$cronce$;

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
$cronce$;`,
  schedules: `create function {schema}._states(_keys bigint[]) returns json language plpgsql stable
as $cronce$
begin
  return (
    select {states}
      from (
        select k.*, row_number() over (order by w.place) as place
          from unnest(_keys) with ordinality as w (key, place)
         cross join lateral (select * from {schema}._clocks k where k.key = w.key offset 0) k
      ) k
  );
end
$cronce$;

create function {schema}._load_1(_namespace text, _names text) returns text {reads}
as $cronce$
declare
  _at record;
begin
  select * into _at from {schema}._moment();
  return json_build_object('now', _at.now, 'epoch', _at.epoch, 'moved', _at.moved, 'states', {schema}._states(array(
    select n.key
      from (select distinct w.name from json_array_elements_text(_names::json) as w (name)) w
     cross join lateral (select n.key from {schema}._names n where n.namespace = _namespace and n.name = w.name offset 0) n
  )));
end
$cronce$;

create function {schema}._due_1(_namespace text, _jobs text, _patience text, _ahead text, _limit text, _known text) returns text {reads}
as $cronce$
declare
  _at record;
  _most bigint := _limit::bigint;
  _stale bigint;
  _until bigint;
  _answer text;
begin
  select * into _at from {schema}._moment();
  _stale := _at.now - _patience::bigint;
  _until := _at.now + _ahead::bigint;
  with job as materialized (
    select j.job as name, n.number as job, j.buckets, position(B'1' in j.buckets) > 0 as has_mine,
           position(B'0' in j.buckets) > 0 as has_others, j.since
      from json_to_recordset(_jobs::json) as j (job text, buckets varbit, since bigint)
     cross join lateral (select n.number from {schema}._jobs n where n.namespace = _namespace and n.name = j.job offset 0) n
  ),
  found as materialized (
    select row_number() over (order by c.wake_at, c.name) as place, c.*
      from job j
     cross join lateral (
       select get_bit(j.buckets, k.bucket) = 1 as mine, k.*
         from {schema}._clocks k
        where k.job = j.job and k.wake_at > {none} and k.format <= {format} and k.wake_at >= j.since and k.wake_at <= _until
          and (get_bit(j.buckets, k.bucket) = 1 or k.wake_at <= _stale)
        order by k.wake_at
        limit _most + 1
     ) c
  ),
  reached as materialized (
    select j.*, coalesce(f.n, 0) > _most as is_cut, f.wake_at, f.mine_known, f.others_known
      from job j
      left join (
        select f.job, count(*) as n, max(f.wake_at) as wake_at, bool_or(f.mine and f.place > _most) as mine_known,
               bool_or(not f.mine and f.place > _most) as others_known
          from found f
         group by f.job
      ) f on f.job = j.job
  ),
  behind as (
    select j.job, j.mine_known, j.others_known, j.has_mine, j.has_others and j.wake_at <= _stale as has_others, w.*
      from reached j
     cross join lateral (
       select min(w.wake_at) filter (where w.mine and w.is_new) as mine_at,
              min(w.wake_at) filter (where not w.mine and w.is_new) as others_at, count(*) as n, max(w.wake_at) as last_at
         from (
           select k.wake_at, get_bit(j.buckets, k.bucket) = 1 as mine, k.key not in (select f.key from found f) as is_new
             from {schema}._clocks k
            where k.job = j.job and k.wake_at > {none} and k.format <= {format} and k.wake_at >= j.wake_at
            order by k.wake_at
            limit {far}
         ) w
     ) w
     where j.is_cut
       and (j.has_mine and not j.mine_known or j.has_others and not j.others_known and j.wake_at <= _stale)
  ),
  young as (
    select j.job, coalesce((
             select w.wake_at
               from (
                 select k.wake_at, get_bit(j.buckets, k.bucket) = 1 as mine
                   from {schema}._clocks k
                  where k.job = j.job and k.wake_at > {none} and k.format <= {format} and k.wake_at >= j.since and k.wake_at > _stale
                  order by k.wake_at
                  limit {far}
               ) w
              where not w.mine
              limit 1
           ), (
             select k.wake_at
               from {schema}._clocks k
              where k.job = j.job and k.wake_at > {none} and k.format <= {format} and k.wake_at >= j.since and k.wake_at > _stale
              order by k.wake_at
             offset {far} - 1
              limit 1
           )) as others_at
      from reached j
     where j.has_others
  ),
  later as materialized (
    select f.job, f.wake_at, f.mine from found f where f.place > _most
    union all
    select b.job, coalesce(b.mine_at, case when b.n >= {far} then _until + {again} end), true
      from behind b
     where b.has_mine and not b.mine_known
    union all
    select b.job, coalesce(b.others_at, case when b.n >= {far} then b.last_at end), false
      from behind b
     where b.has_others and not b.others_known
    union all
    select j.job, c.wake_at, true
      from reached j
     cross join lateral (
       select k.wake_at
         from {schema}._clocks k
        where k.job = j.job and k.wake_at > {none} and k.format <= {format} and k.wake_at > _until
          and get_bit(j.buckets, k.bucket) = 1
        order by k.wake_at
        limit 1
     ) c
     where not j.is_cut and j.has_mine
    union all
    select y.job, y.others_at, false from young y
  )
  select json_build_object(
           'now', _at.now, 'epoch', _at.epoch, 'moved', _at.moved,
           'mineAt', (select min(l.wake_at) from later l where l.mine),
           'othersAt', (select min(l.wake_at) from later l where not l.mine),
           'oldest', (
             select json_agg(json_build_array(j.name, o.wake_at))
               from job j
               join (
                 select e.job, min(e.wake_at) as wake_at
                   from (select f.job, f.wake_at from found f union all select l.job, l.wake_at from later l) e
                  where e.wake_at is not null
                  group by e.job
               ) o on o.job = j.job
           ),
           'states', (select {states} from found k where k.place <= _most),
           'definitions', (
             select {definitions}
               from found f
              cross join lateral (select * from {schema}._definitions d where d.id = f.definition offset 0) d
              where f.place <= _most and (f.definition > _known::bigint or (select count(*) from found) <= {few})
           ))
    into _answer;
  return _answer;
end
$cronce$;

create function {schema}._live(_namespace text, _name text, _token bigint)
returns table (key bigint, due_at bigint, nonce text) language sql stable
as $cronce$
select k.key, coalesce(o.due_at, k.due_at), coalesce(o.nonce, '')
  from {schema}._names n
 cross join lateral (select * from {schema}._clocks k where k.key = n.key offset 0) k
  left join lateral (
    select * from {schema}._open o where o.key = n.key and o.token = _token and k.more <> '' offset 0
  ) o on true
 cross join lateral (
   select i.state
     from {schema}._instances i
    where i.number = case when o.key is not null then o.runner when k.token = _token then k.runner end
   offset 0
 ) i
 where n.namespace = _namespace and n.name = _name and _token > 0 and i.state in ('live', 'draining')
$cronce$;

create function {schema}._lock_1(_namespace text, _name text, _token text) returns text {settings}
as $cronce$
declare
  _at record;
  _key bigint;
begin
  select n.key into _key from {schema}._names n where n.namespace = _namespace and n.name = _name;
  perform from {schema}._clocks k where k.key = _key for no key update;
  select * into _at from {schema}._moment();
  return json_build_object(
    'now', _at.now, 'epoch', _at.epoch, 'moved', _at.moved,
    'live', exists (select from {schema}._live(_namespace, _name, _token::bigint)),
    'states', {schema}._states(array[_key]));
end
$cronce$;`,
  states: `json_build_object(
  'key', array_agg(k.key), 'name', array_agg(k.name), 'version', array_agg(k.version), 'definition', array_agg(k.definition),
  'nextAt', array_agg(k.next_at), 'tokens', array_agg(k.tokens), 'lastDue', array_agg(k.last_due), 'lastOkAt', array_agg(k.last_ok_at),
  'wakeAt', case when not bool_and(k.wake_at = k.next_at) then array_agg(k.wake_at) end,
  'fired', case when not bool_and(k.extra = 0) then array_agg(k.tokens - k.extra) end,
  'ended', case when not bool_and(k.ended = k.tokens) then array_agg(k.ended) end,
  'lastOkDue', case when not bool_and(k.last_ok_due = k.last_due) then array_agg(k.last_ok_due) end,
  'failedInRow', case when max(k.failed_in_row) > 0 then array_agg(k.failed_in_row) end,
  'plannedTo', case when not bool_and(k.planned_to = {as_due} and k.due_at = k.last_due)
                    then array_agg(case when k.planned_to = {as_due} then k.due_at else k.planned_to end) end,
  'trimmedBefore', case when max(k.trimmed_before) > {none} then array_agg(k.trimmed_before) end,
  'zone', case when bool_or(k.zone <> '') then array_agg(k.zone) end,
  'format', json_agg(json_build_array(k.place, k.format)) filter (where k.format > {format}),
  'more', json_agg(json_build_array(k.place, k.more)) filter (where k.more <> ''),
  'open', json_agg(json_build_array(
    k.place, (select r.instance from {schema}._runners r where r.number = k.runner), k.due_at, k.token::text, k.claim, k.started_at
  )) filter (where k.runner > 0))`,
  look: `select exists (select from {schema}._live($1::text, $2::text, $3::text::bigint))::text as answer`,
  definitionColumns: `json_build_object(
  'id', array_agg(d.id), 'revision', array_agg(d.revision), 'createdAt', array_agg(d.created_at), 'updatedAt', array_agg(d.updated_at),
  'source', array_agg(d.source), 'definition', array_agg(d.definition))`,
  definitions: `select (
         select {definitions}
           from json_array_elements_text($1::text::json) as w (id)
          cross join lateral (select * from {schema}._definitions d where d.id = w.id::bigint offset 0) d
       )::text as answer`,
  newer: `select coalesce((
         select to_json(n.name)
           from {schema}._clocks k
           join {schema}._names n on n.key = k.key
          where k.format > {format} and n.namespace = $1::text
          limit 1
       ), 'null')::text as answer`,
  apply: `create function {schema}._add_activity(_namespace text, _lines json) returns void language sql
as $cronce$
insert into {schema}._activity (namespace, at, id, schedule, expires_at, line)
select _namespace, l.at, l.id, l.schedule, l.expires_at, l.line
  from json_to_recordset(_lines) as l (at bigint, id text, schedule text, expires_at bigint, line text)
$cronce$;

create function {schema}._lock_names(_namespace text, _changes json) returns void language plpgsql
as $cronce$
declare
  _lock bigint;
begin
  for _lock in
    select distinct hashtextextended(w.name, 0)
      from (
        select concat_ws(E'\\x1f', '{schema} name', _namespace, c.id) as name
          from json_to_recordset(_changes) as c (id text, version bigint)
         where c.version = 0
        union all
        select concat_ws(E'\\x1f', '{schema} slot', _namespace, s.slot)
          from json_to_recordset(_changes) as c (slots json)
         cross join lateral json_to_recordset(c.slots) as s (slot text)
         where c.slots is not null
        union all
        select concat_ws(E'\\x1f', '{schema} slot', _namespace, l.slot)
          from json_to_recordset(_changes) as c (limits json)
         cross join lateral json_to_recordset(c.limits) as l (slot text)
         where c.limits is not null
      ) w
     order by 1
  loop
    perform pg_advisory_xact_lock(_lock);
  end loop;
end
$cronce$;

create function {schema}._renew(_namespace text, _instance text, _lease bigint, _always boolean, _now bigint)
returns table (number integer, renewed boolean) language plpgsql
as $cronce$
declare
  _is_fresh boolean;
begin
  renewed := false;
  select i.renewed_at between _now - least(i.lease_ms, _lease) / 30 and _now into _is_fresh
    from {schema}._instances i
   where i.namespace = _namespace and i.id = _instance;
  if _is_fresh and not _always then
    select i.number into number
      from {schema}._instances i
     where i.namespace = _namespace and i.id = _instance and i.state in ('live', 'draining')
       for share;
  else
    update {schema}._instances i
       set renewals = i.renewals + 1, renewed_at = _now, lease_ms = _lease
     where i.namespace = _namespace and i.id = _instance and i.state in ('live', 'draining')
    returning i.number, true into number, renewed;
  end if;
  number := coalesce(number, 0);
  renewed := coalesce(renewed, false);
  return next;
end
$cronce$;

create function {schema}._apply_1(_namespace text, _header text, _changes text) returns text {settings}
as $cronce$
declare
  _at record;
  _head record;
  _claimant record;
  _result text;
  _results text[] := '{}';
  _place integer := 0;
  _runners integer[] := '{}';
  _claims bigint[] := '{}';
  _keys bigint[] := '{}';
  _places integer[] := '{}';
  _opened json;
  _change record;
  _name {schema}._names%rowtype;
  _clock {schema}._clocks%rowtype;
  _old record;
  _first record;
  _definition bigint;
  _mark bigint;
  _floor bigint;
  _due bigint[];
  _reasons smallint[];
  _tokens bigint[];
  _kept bigint[];
begin
  select * into _at from {schema}._moment();
  select * into _head
    from json_to_record(_header::json) as h (
      instance text, lease_ms bigint, renew boolean, channel text, payload text, app text, app_version bigint, finished bigint[], locks boolean, activity json
    );
  if _head.instance is not null then
    select * into _claimant from {schema}._renew(_namespace, _head.instance, _head.lease_ms, _head.renew, _at.now);
    if _claimant.number = 0 then
      return json_build_object('now', _at.now, 'epoch', _at.epoch, 'moved', _at.moved, 'live', false);
    end if;
  else
    select 0 as number, false as renewed into _claimant;
  end if;
  if _head.app is not null then
    perform from {schema}._apps a
      where a.namespace = _namespace and a.name = _head.app and a.version = _head.app_version
        for share;
    if not found then
      return json_build_object('now', _at.now, 'epoch', _at.epoch, 'moved', _at.moved, 'live', true, 'renewed', _claimant.renewed);
    end if;
  end if;
  if _head.activity is not null then perform {schema}._add_activity(_namespace, _head.activity); end if;
  if _head.locks then perform {schema}._lock_names(_namespace, _changes::json); end if;

  for _change in
    select *
      from json_to_recordset(_changes::json) as c (
        id text, version bigint, epoch bigint, not_before bigint, creates json, reopens json, history json, rewrites json, limits json,
        below bigint, before bigint, is_gone boolean, open json, slots json, tokens bigint, fired bigint, ended bigint, failed_in_row integer,
        wake_at bigint, next_at bigint, planned_to bigint, trimmed_before bigint, last_due bigint, last_ok_due bigint, last_ok_at bigint,
        zone text, more text, bucket smallint, job text, tenant text, app text, status text, revision bigint, created_at bigint,
        updated_at bigint, source text, definition text, activity json
      )
  loop
    _place := _place + 1;
    _result := 'conflict';
    <<one>>
    begin
      select * into _name from {schema}._names n where n.namespace = _namespace and n.name = _change.id;
      if _change.epoch <> _at.epoch or _at.moved then exit one; end if;
      if _change.version = 0 then
        if _name.key is not null then
          if exists (select from {schema}._clocks k where k.key = _name.key) then exit one; end if;
          select * into _name from {schema}._names n where n.key = _name.key for no key update skip locked;
          if _name.key is null or exists (select from {schema}._clocks k where k.key = _name.key) then exit one; end if;
        end if;
        _clock := null;
        _mark := coalesce(_name.mark, {none});
      else
        if _name.key is null then exit one; end if;
        select * into _clock
          from {schema}._clocks k
         where k.key = _name.key and k.version = _change.version and k.format <= {format}
           for no key update skip locked;
        if _clock.key is null then exit one; end if;
        _mark := greatest(_clock.mark, _clock.due_at);
      end if;
      if _change.not_before > _at.now then
        _result := 'early';
        exit one;
      end if;

      if _change.creates is not null then
        select 'exists ' || (f.place - 1) into _result
          from rows from (json_to_recordset(_change.creates) as (due_at bigint, nonce text)) with ordinality as f (due_at, nonce, place)
         where (f.nonce <> '' or f.due_at <= _mark)
           and (_clock.runner <> 0 and _clock.due_at = f.due_at and f.nonce = ''
                or exists (select from {schema}._open o where o.key = _name.key and o.due_at = f.due_at and o.nonce = f.nonce offset 0)
                or exists (select from {schema}._history h where h.key = _name.key and h.due_at = f.due_at and h.nonce = f.nonce offset 0)
                or f.nonce <> '' and exists (select from {schema}._open o where o.key = _name.key and o.nonce = f.nonce offset 0)
                or f.nonce <> '' and exists (
                  select from {schema}._history h where h.nonce = f.nonce and h.nonce <> '' and h.key = _name.key offset 0
                ))
         order by f.place
         limit 1;
        if _result is not null then exit one; end if;
      end if;
      if _change.limits is not null then
        select 'full ' || l.slot into _result
          from rows from (json_to_recordset(_change.limits) as (slot text, "limit" bigint)) with ordinality as l (slot, most, place)
         where l.most < (
                 select count(*)
                   from {schema}._holds h
                  where h.namespace = _namespace and h.slot = l.slot and h.key is distinct from _name.key
               ) + (select count(*) from json_to_recordset(_change.slots) as s (slot text) where s.slot = l.slot)
         order by l.place
         limit 1;
        if _result is not null then exit one; end if;
      end if;
      _result := 'applied';

      if _name.key is null then
        insert into {schema}._names as n (namespace, name) values (_namespace, _change.id)
        on conflict (namespace, name) do update set name = excluded.name
        returning n.* into _name;
      end if;
      if _change.creates is not null then
        select greatest(_mark, max(f.due_at)) into _mark
          from json_to_recordset(_change.creates) as f (due_at bigint, nonce text)
         where f.nonce = '';
      end if;
      if _change.open is not null then
        select greatest(_mark, max(f.due_at)) into _mark
          from json_to_recordset(_change.open) as f (due_at bigint, nonce text)
         where f.nonce = '';
      end if;
      if _change.history is not null then
        select greatest(_mark, max(l.due_at)) into _mark
          from json_to_recordset(_change.history) as l (due_at bigint, nonce text)
         where l.nonce = '';
      end if;

      _opened := _change.open;
      if _opened is not null then
        select _runners || array_agg(w.runner), _claims || array_agg(w.claim), _keys || array_agg(_name.key),
               _places || array_agg(_place - 1)
          into _runners, _claims, _keys, _places
          from (
            select {schema}._runner(_namespace, f.instance) as runner, f.claim, f.token::bigint as token
              from json_to_recordset(_opened) as f (instance text, claim bigint, token text)
             where f.instance <> ''
          ) w
         where not (coalesce(_clock.runner = w.runner and _clock.token = w.token, false)
                    or exists (select from {schema}._open o where o.key = _name.key and o.runner = w.runner and o.token = w.token offset 0));
      end if;

      if _clock.more <> '' or _change.more <> '' then
        delete from {schema}._open o
         where o.key = _name.key
           and (_opened is null or _change.more = '' or not exists (
             select from json_to_recordset(_opened) as f (
                      due_at bigint, nonce text, tenant text, token text, claim bigint, started_at bigint, instance text, cancel text
                    )
              where f.due_at = o.due_at and f.nonce = o.nonce and f.tenant = o.tenant and f.token::bigint = o.token
                and f.claim = o.claim and f.started_at = o.started_at and {schema}._runner(_namespace, f.instance) = o.runner
                and f.cancel = o.cancel
           ));
        delete from {schema}._holds h
         where h.key = _name.key and h.slot <> ''
           and (_change.slots is null or not exists (
             select from json_to_recordset(_change.slots) as s (slot text, token text)
              where s.slot = h.slot and s.token::bigint = h.token
           ));
        if _change.more <> '' and _opened is not null then
          insert into {schema}._open (key, due_at, token, claim, started_at, runner, nonce, tenant, cancel)
          select _name.key, f.due_at, f.token::bigint, f.claim, f.started_at, {schema}._runner(_namespace, f.instance), f.nonce, f.tenant, f.cancel
            from json_to_recordset(_opened) as f (
                   due_at bigint, nonce text, tenant text, token text, claim bigint, started_at bigint, instance text, cancel text
                 )
          on conflict (key, due_at, nonce) do nothing;
        end if;
        if _change.slots is not null then
          insert into {schema}._holds (namespace, slot, key, token)
          select _namespace, s.slot, _name.key, s.token::bigint
            from json_to_recordset(_change.slots) as s (slot text, token text)
          on conflict (namespace, slot, key, token) do nothing;
        end if;
      end if;

      if _change.is_gone then
        if _clock.key is not null then
          delete from {schema}._clocks k where k.key = _name.key;
          delete from {schema}._schedules s where s.key = _name.key;
          delete from {schema}._definitions d where d.id = _clock.definition;
          update {schema}._names n
             set version = _clock.version, tokens = _clock.tokens, mark = _mark, trimmed_before = _clock.trimmed_before, gone_at = _at.now,
                 ended = greatest(_clock.ended, (select max(l.number) from json_to_recordset(_change.history) as l (number bigint)))
           where n.key = _name.key;
        end if;
      else
        select null::bigint as id, null::bigint as revision, null::text as definition, false as same into _old;
        if _clock.key is not null then
          select d.id, d.revision, d.definition,
                 (d.revision, d.created_at, d.updated_at, d.source)
                 = (_change.revision, _change.created_at, _change.updated_at, _change.source) as same
            into _old
            from {schema}._definitions d
           where d.id = _clock.definition;
        end if;
        _definition := _old.id;
        if not coalesce(_old.same, false) then
          insert into {schema}._definitions (revision, created_at, updated_at, source, definition)
          values (_change.revision, _change.created_at, _change.updated_at, _change.source,
                  case when _old.revision = _change.revision then _old.definition else _change.definition end)
          returning id into _definition;
          delete from {schema}._definitions d where d.id = _old.id;
        end if;
        select 0::bigint as due_at, '0' as token, 0::bigint as claim, 0::bigint as started_at, '' as instance into _first;
        if _change.more = '' and _opened is not null then
          select f.due_at, f.token, f.claim, f.started_at, f.instance into _first
            from json_to_recordset(_opened) as f (due_at bigint, token text, claim bigint, started_at bigint, instance text);
        end if;
        if _clock.key is null then
          select greatest(_name.version, _name.tokens, (select s.floor from {schema}._namespaces s where s.namespace = _namespace)) into _floor;
          insert into {schema}._clocks
            (key, definition, job, bucket, format, trimmed_before, wake_at, next_at, planned_to, mark, tokens, extra, due_at, token, claim,
             started_at, version, runner, failed_in_row, ended, last_due, last_ok_due, last_ok_at, name, zone, more)
          values
            (_name.key, _definition, {schema}._job(_namespace, _change.job), _change.bucket, {format},
             greatest(_change.trimmed_before, _name.trimmed_before), _change.wake_at, _change.next_at, _change.planned_to, _mark,
             greatest(_change.tokens, _floor), greatest(_change.tokens, _floor) - _change.fired, _first.due_at, _first.token::bigint,
             _first.claim, _first.started_at, _floor + 1, {schema}._runner(_namespace, _first.instance), _change.failed_in_row,
             greatest(_change.ended, _name.ended), _change.last_due, _change.last_ok_due, _change.last_ok_at, _change.id, _change.zone, _change.more);
          insert into {schema}._schedules (key, namespace, name, job, tenant, app, status)
          values (_name.key, _namespace, _change.id, _change.job, _change.tenant, _change.app, _change.status);
          update {schema}._names n set gone_at = {none} where n.key = _name.key;
        else
          update {schema}._clocks k
             set definition = _definition, format = {format}, trimmed_before = _change.trimmed_before, wake_at = _change.wake_at,
                 job = case when _old.revision = _change.revision then k.job else {schema}._job(_namespace, _change.job) end,
                 next_at = _change.next_at, planned_to = _change.planned_to, mark = _mark, tokens = _change.tokens,
                 extra = _change.tokens - _change.fired, due_at = _first.due_at, token = _first.token::bigint, claim = _first.claim,
                 started_at = _first.started_at, version = _change.version + 1, runner = {schema}._runner(_namespace, _first.instance), failed_in_row = _change.failed_in_row,
                 ended = _change.ended, last_due = _change.last_due, last_ok_due = _change.last_ok_due, last_ok_at = _change.last_ok_at,
                 zone = _change.zone, more = _change.more
           where k.key = _name.key;
          update {schema}._schedules s
             set app = _change.app, status = _change.status,
                 job = case when _old.revision = _change.revision then s.job else _change.job end,
                 tenant = case when _old.revision = _change.revision then s.tenant else _change.tenant end
           where s.key = _name.key
             and (s.app is distinct from _change.app or s.status <> _change.status or _old.revision <> _change.revision);
        end if;
      end if;

      if _change.reopens is not null then
        with opened as (
          update {schema}._history h
             set is_final = false
            from json_to_recordset(_change.reopens) as f (due_at bigint, nonce text)
           where h.key = _name.key and h.due_at = f.due_at and h.nonce = f.nonce and h.is_final
          returning h.due_at, h.reason, h.token
        )
        select array_agg(o.due_at), array_agg(o.reason), array_agg(o.token) into _due, _reasons, _tokens from opened o;
        if _due is not null then perform {schema}._count({schema}._space(_namespace), _due, _reasons, _tokens, -1); end if;
      end if;
      if _change.rewrites is not null then
        with gone as (
          delete from {schema}._history h
           using json_to_recordset(_change.rewrites) as l (number bigint)
           where h.key = _name.key and h.number = l.number
          returning h.due_at, h.reason, h.token, h.is_final
        )
        select array_agg(g.due_at), array_agg(g.reason), array_agg(g.token) into _due, _reasons, _tokens from gone g where g.is_final;
        if _due is not null then perform {schema}._count({schema}._space(_namespace), _due, _reasons, _tokens, -1); end if;
        perform {schema}._append(_namespace, _name.key, _change.rewrites);
      end if;
      if _change.history is not null then perform {schema}._append(_namespace, _name.key, _change.history); end if;
      if _change.below is not null then perform {schema}._trim(_name.key, _change.below, _change.before); end if;
      if _change.activity is not null then perform {schema}._add_activity(_namespace, _change.activity); end if;
    end one;
    _results := _results || _result;
  end loop;

  if _head.channel is not null and 'applied' = any (_results) then perform pg_notify(_head.channel, _head.payload); end if;
  with made as (
    insert into {schema}._claims (runner, claim, claimed_at, keys)
    select w.runner, w.claim, _at.now, array_agg(w.key)
      from unnest(_runners, _claims, _keys) as w (runner, claim, key)
     group by w.runner, w.claim
    returning id, runner, keys
  )
  select json_agg(json_build_array(m.id, (
           select json_agg(w.place) from unnest(_keys, _places) as w (key, place) where w.key = any (m.keys)
         )))
    into _opened
    from made m
   where m.runner = _claimant.number;
  if _head.finished is not null then _kept := {schema}._finish_claims(_head.finished, null); end if;
  return json_build_object(
    'now', _at.now, 'epoch', _at.epoch, 'moved', _at.moved, 'live', true, 'renewed', _claimant.renewed, 'results', _results,
    'claims', _opened, 'kept', _kept);
end
$cronce$;`,
  warmUp: `select json_build_array(length(repeat(' ', 4194304)), {schema}._apply_1($1::text, $2::text, $3::text))::text as answer`,
  plain: `create function {schema}._column(_values text, _count integer) returns bigint[] language plpgsql immutable strict
as $cronce$
begin
  if position(',' in _values) > 0 then return _values::bigint[]; end if;
  return array_fill((_values::bigint[])[1], array[_count]);
end
$cronce$;


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
$cronce$;`,
  instances: `create function {schema}._renewals(_renewals bigint, _runner integer) returns bigint language sql stable
as $cronce$
select _renewals * 1048576
     + coalesce((select c.id from {schema}._claims c where c.runner = _runner order by c.id desc limit 1), 0) % 1048576
$cronce$;

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
$cronce$;`,
  drain: `with drained as (
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
select exists (select from drained)::text as answer`,
  listInstances: `select json_build_object('now', m.now, 'epoch', m.epoch, 'moved', m.moved, 'instances', (
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
  from {schema}._moment() m`,
  findInstances: `select json_build_object('now', m.now, 'epoch', m.epoch, 'moved', m.moved, 'instances', (
         select coalesce(json_agg({schema}._instance(i, m.now) order by i.id), '[]')
           from (select distinct w.id from json_array_elements_text($2::text::json) as w (id)) w
           join {schema}._instances i on i.namespace = $1::text and i.id = w.id
       ))::text as answer
  from {schema}._moment() m`,
  prune: `create function {schema}._is_prunable(_namespace text, _now bigint) returns boolean language sql stable
as $cronce$
select exists (
         select from {schema}._namespaces s
          cross join lateral (
            select true as is_due from {schema}._history h where h.space = s.number and h.is_final and h.expires_at <= _now limit 1
          ) h
          where s.namespace = _namespace)
    or exists (
         select from {schema}._instances i
          where i.namespace = _namespace and i.ended_at is not null and i.ended_at <= _now - 86400000 and not {schema}._holds_runs(i.number))
    or exists (
         select from {schema}._names n where n.namespace = _namespace and n.gone_at > {none} and n.gone_at <= _now - 86400000)
$cronce$;

create function {schema}._prune_1(_namespace text, _limit text) returns text {settings}
as $cronce$
declare
  _now bigint;
  _most bigint := _limit::bigint;
  _keys bigint[];
  _due bigint[];
  _nonces text[];
  _gone integer[];
  _names bigint[];
begin
  select m.now into _now from {schema}._moment() m;
  select array_agg(e.key), array_agg(e.due_at), array_agg(e.nonce) into _keys, _due, _nonces
    from (
      select h.key, h.due_at, h.nonce
        from {schema}._history h
       where h.space = (select s.number from {schema}._namespaces s where s.namespace = _namespace) and h.is_final and h.expires_at <= _now
       order by h.expires_at
       limit _most
         for update skip locked
    ) e;
  if _keys is not null then
    update {schema}._namespaces s
       set erased_in = e.ended_in
      from (
        select h.ended_in
          from unnest(_keys, _due) as f (key, due_at)
          join {schema}._history h on h.key = f.key and h.due_at = f.due_at
         order by h.ended_in desc
         limit 1
      ) e
     where s.namespace = _namespace and (s.erased_in is null or s.erased_in < e.ended_in);
    perform {schema}._delete_fires(_keys, _due, _nonces);
  end if;

  select array_agg(i.number) into _gone
    from (
      select i.number
        from {schema}._instances i
       where i.namespace = _namespace and i.ended_at is not null and i.ended_at <= _now - 86400000
         and not {schema}._holds_runs(i.number)
       limit _most
    ) i;
  if _gone is not null then
    delete from {schema}._claims c where c.runner = any (_gone);
    delete from {schema}._instances i where i.number = any (_gone);
    update {schema}._runners r set gone_at = _now where r.number = any (_gone);
  end if;
  delete from {schema}._runners r
   where r.namespace = _namespace and r.gone_at > {none} and r.gone_at < coalesce((
           select min(h.due_at)
             from {schema}._jobs j
            cross join lateral (select h.due_at from {schema}._history h where h.job = j.number order by h.due_at limit 1) h
            where j.namespace = _namespace
         ), _now) - 86400000;

  select array_agg(n.key) into _names
    from (
      select n.key
        from {schema}._names n
       where n.namespace = _namespace and n.gone_at > {none} and n.gone_at <= _now - 86400000
       order by n.gone_at
       limit _most
         for update skip locked
    ) n;
  if _names is not null then
    update {schema}._names n set gone_at = _now where n.key = any (_names);
    with gone as (
      delete from {schema}._names n
       where n.key = any (_names)
         and not exists (select from {schema}._clocks k where k.key = n.key offset 0)
         and not exists (select from {schema}._history h where h.key = n.key offset 0)
         and not exists (select from {schema}._steps s where s.key = n.key offset 0)
      returning greatest(n.version, n.tokens, n.ended) as floor
    )
    update {schema}._namespaces s
       set floor = greatest(s.floor, (select max(g.floor) from gone g))
     where s.namespace = _namespace;
  end if;

  delete from {schema}._activity a
   using (
     select e.at, e.id
       from {schema}._activity e
      where e.namespace = _namespace and e.expires_at <= _now
      order by e.expires_at
      limit _most
        for update skip locked
   ) e
   where a.namespace = _namespace and a.at = e.at and a.id = e.id;

  delete from {schema}._counts c using {schema}._namespaces s
   where s.namespace = _namespace and c.space = s.number and c.hour < _now - {counted};
  with gone as (
    delete from {schema}._counts c using {schema}._namespaces s
     where s.namespace = _namespace and c.space = s.number and c.hour < _now - 86400000 and c.backend <> 0
    returning c.space, c.hour, c.outcome, c.fires
  )
  insert into {schema}._counts as c (space, hour, outcome, backend, fires)
  select g.space, g.hour, g.outcome, 0, sum(g.fires) from gone g group by g.space, g.hour, g.outcome
  on conflict (space, hour, outcome, backend) do update set fires = c.fires + excluded.fires;
  return coalesce(cardinality(_keys), 0);
end
$cronce$;

create function {schema}._erase_1(_namespace text, _name text, _limit text) returns text {settings}
as $cronce$
declare
  _key bigint;
  _due bigint[];
  _nonces text[];
begin
  select n.key into _key from {schema}._names n where n.namespace = _namespace and n.name = _name for no key update;
  if exists (select from {schema}._clocks k where k.key = _key) then return '"exists"'; end if;
  delete from {schema}._activity a where a.namespace = _namespace and a.schedule = _name and a.schedule <> '';
  select array_agg(f.due_at), array_agg(f.nonce) into _due, _nonces
    from (
      select h.due_at, h.nonce
        from (select h.due_at, h.nonce from {schema}._history h where h.key = _key order by h.due_at, h.number limit _limit::bigint) h
      union
      select s.due_at, s.nonce
        from (select s.due_at, s.nonce from {schema}._steps s where s.key = _key order by s.due_at, s.nonce limit _limit::bigint) s
      limit _limit::bigint
    ) f;
  if _due is null then
    delete from {schema}._notes n where n.key = _key;
    return 0;
  end if;
  perform {schema}._delete_fires(array_fill(_key, array[cardinality(_due)]), _due, _nonces);
  update {schema}._namespaces s set erased_in = pg_current_xact_id() where s.namespace = _namespace;
  return cardinality(_due);
end
$cronce$;`,
  listLatest: `select json_build_object('now', m.now, 'epoch', m.epoch, 'moved', m.moved, 'lines', (
         select coalesce(json_agg({schema}._line(l.line) order by l.due_at desc, l.nonce desc), '[]')
           from (select distinct w.name from json_array_elements_text($2::text::json) as w (name)) w
           join {schema}._names n on n.namespace = $1::text and n.name = w.name
          cross join lateral (
            select h as line, h.due_at, h.nonce
              from {schema}._history h
             where h.key = n.key and h.is_final
             order by h.due_at desc, h.number desc
             limit $3::text::bigint
          ) l
       ))::text as answer
  from {schema}._moment() m`,
  countFires: `select json_build_object('now', m.now, 'epoch', m.epoch, 'moved', m.moved, 'hours', (
         select coalesce(json_agg(json_build_object('hour', c.hour, 'outcome', c.outcome, 'count', c.fires)), '[]')
           from (
             select c.hour, c.outcome, sum(c.fires) as fires
               from {schema}._counts c
              where c.space = (select s.number from {schema}._namespaces s where s.namespace = $1::text)
                and c.hour >= $2::text::bigint and c.hour < $3::text::bigint
              group by c.hour, c.outcome
             having sum(c.fires) <> 0
           ) c
       ))::text as answer
  from {schema}._moment() m`,
  beginStep: `with live as materialized (
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
       end::text as answer`,
  endStep: `with step as materialized (
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
       end::text as answer`,
  listSteps: `select coalesce(json_agg(json_build_object(
         'schedule', n.name, 'dueAt', p.due_at, 'nonce', p.nonce, 'step', p.step, 'state', p.state, 'token', p.token::text,
         'result', p.result::json, 'begunAt', p.begun_at, 'endedAt', p.ended_at) order by p.begun_at, p.step), '[]')::text as answer
  from {schema}._names n
  join {schema}._steps p on p.key = n.key
 where n.namespace = $1::text and n.name = $2::text and p.due_at = $3::text::bigint and p.nonce = $4::text`,
  annotate: `with note as materialized (
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
  from note t`,
  loadApp: `select json_build_object('now', m.now, 'app', (
         select a.record::json from {schema}._apps a where a.namespace = $1::text and a.name = $2::text
       ))::text as answer
  from {schema}._moment() m`,
  saveApp: `with saved as (
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
select exists (select from saved)::text as answer`,
} as const
