-- name: listLatest
select json_build_object('now', m.now, 'epoch', m.epoch, 'moved', m.moved, 'lines', (
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
  from {schema}._moment() m

-- name: countFires
select json_build_object('now', m.now, 'epoch', m.epoch, 'moved', m.moved, 'hours', (
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
  from {schema}._moment() m
