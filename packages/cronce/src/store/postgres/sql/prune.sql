create function {schema}._is_prunable(_namespace text, _now bigint) returns boolean language sql stable
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

-- Prunes ended fires that have expired, except those that other transactions are about to delete; instances that ended a day ago and hold
-- no run; and names of removed schedules without references.
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
    -- A reader of ended fires that has not read the latest of them learns from this that its list is incomplete.
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
  -- Lines refer to their instance by number. An instance is pruned a day after its last run at the earliest, so no line names one that was
  -- pruned before the oldest fire on record was due. A second day allows for a clock that was set.
  delete from {schema}._runners r
   where r.namespace = _namespace and r.gone_at > {none} and r.gone_at < coalesce((
           select min(h.due_at)
             from {schema}._jobs j
            cross join lateral (select h.due_at from {schema}._history h where h.job = j.number order by h.due_at limit 1) h
            where j.namespace = _namespace
         ), _now) - 86400000;

  -- A name with records is looked at again after a day.
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
  -- For hours long past, one row is enough.
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

-- Deletes all records of a schedule that does not exist, up to _limit fires at a time. Returns how many there were.
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
$cronce$;
