create function {schema}._states(_keys bigint[]) returns json language plpgsql stable
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

-- What is due is found by an index that changes with every claim. Behind what is answered, {far} are looked through for the next
-- schedule in own and in other buckets. If none of those is in an own bucket, the caller looks again {again} ms later. It looks `_ahead`
-- before `mineAt`, since that is how far own schedules are answered ahead of their time. Definitions that are newer than those the caller
-- knows come along, and all of an answer with few schedules: asking for them would take a second statement.
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
  -- The whole row, because most rows are returned. The place comes first: PostgreSQL has to walk past every column before the wanted one.
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
  -- Where the limit cut a job's schedules off, the next ones lie behind the last one found.
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
  -- Most often one of the first few is another instance's: no more than those are read.
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
     -- Looking for what cannot be there would read everything that the job has.
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

-- The open run of this token, if its instance is known and not over. A parked run has none.
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

-- Locks the schedule until the end of this transaction. The second statement sees what was committed during the wait for the lock.
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
$cronce$;

-- Schedules as they are answered, from rows `k` in the order of `place`: one array for each column, since most are read hundreds at a
-- time. A column in which all of them have what most have is left out, and what few have is answered for those alone.
-- name: states
json_build_object(
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
  )) filter (where k.runner > 0))

-- name: look
select exists (select from {schema}._live($1::text, $2::text, $3::text::bigint))::text as answer

-- name: definitionColumns
json_build_object(
  'id', array_agg(d.id), 'revision', array_agg(d.revision), 'createdAt', array_agg(d.created_at), 'updatedAt', array_agg(d.updated_at),
  'source', array_agg(d.source), 'definition', array_agg(d.definition))

-- name: definitions
select (
         select {definitions}
           from json_array_elements_text($1::text::json) as w (id)
          cross join lateral (select * from {schema}._definitions d where d.id = w.id::bigint offset 0) d
       )::text as answer

-- name: newer
select coalesce((
         select to_json(n.name)
           from {schema}._clocks k
           join {schema}._names n on n.key = k.key
          where k.format > {format} and n.namespace = $1::text
          limit 1
       ), 'null')::text as answer
