-- Adds lines to the operator log.
create function {schema}._add_activity(_namespace text, _lines json) returns void language sql
as $cronce$
insert into {schema}._activity (namespace, at, id, schedule, expires_at, line)
select _namespace, l.at, l.id, l.schedule, l.expires_at, l.line
  from json_to_recordset(_lines) as l (at bigint, id text, schedule text, expires_at bigint, line text)
$cronce$;

-- Locks names that are created and slots that are taken, in the same order in every transaction to prevent deadlocks.
create function {schema}._lock_names(_namespace text, _changes json) returns void language plpgsql
as $cronce$
declare
  _lock bigint;
begin
  for _lock in
    select distinct hashtextextended(w.name, 0)
      from (
        select concat_ws(E'\x1f', '{schema} name', _namespace, c.id) as name
          from json_to_recordset(_changes) as c (id text, version bigint)
         where c.version = 0
        union all
        select concat_ws(E'\x1f', '{schema} slot', _namespace, s.slot)
          from json_to_recordset(_changes) as c (slots json)
         cross join lateral json_to_recordset(c.slots) as s (slot text)
         where c.slots is not null
        union all
        select concat_ws(E'\x1f', '{schema} slot', _namespace, l.slot)
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

-- Renews the lease of a claimant, or blocks declaring it dead until this transaction has ended. Most claims only share the row, so that
-- parts of one claim do not wait for each other; never both, which would deadlock two of them. `_always`: renew even if it was renewed
-- recently. Returns the instance's number, 0 if it is not live.
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

-- The general path for changes: sequential, each checked as a whole before any of it is written. It waits only for the locks of _lock_names
-- and of the instance: a clock that another transaction has locked is about to change, which is a conflict. Every recorded change has moved
-- the version of its clock, which is locked here.
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
          -- A removal, or a prune of the name, may have been at work when the name was read. Locked, the name is as they left it.
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

      -- What lies beyond the mark was never created or recorded.
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
        -- A transaction that sees only the past may not see the name: then it fails here.
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

      -- Claims of runs that begin with this change, before the open runs are overwritten.
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
        -- A plain schedule has its open run in the clock.
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
$cronce$;

-- Plans the general statement, which applies nothing. A look at a thousand schedules takes a few megabytes of memory. The allocator of most
-- Linux systems (glibc) returns them after each statement, and the next one gets them again page by page, which is a fifth of its time.
-- Once a larger piece was freed, the process keeps as much.
-- name: warmUp
select json_build_array(length(repeat(' ', 4194304)), {schema}._apply_1($1::text, $2::text, $3::text))::text as answer
