import type { FireKey } from '../../model/record.ts'
import type { Annotation, StepCommand } from '../store.ts'
import type { Statement } from './database.ts'
import { clockCte, quoted } from './rows.ts'

export interface StepStatements {
  readonly begin: Statement
  readonly end: Statement
  readonly resolve: Statement
  readonly list: Statement
  readonly annotate: Statement
}

const KEY = 'p.namespace = $1::text and p.schedule = $2::text and p.due_at = $3::text::bigint and p.nonce = $4::text'
const STEP = `${KEY} and p.step = $5::text`

/** SQL: the instance of the open run `o` is known, and not over. A parked run has none. */
export function livesSql(schema: string): string {
  return `exists (
     select from ${schema}._instances i
      where i.namespace = $1::text and i.id = o.instance and i.state not in ('left', 'dead')
   )`
}

/**
 * Commands answer what came of them; `null` where another one did the same at this very moment: then what it did was not to be
 * seen yet, and is when asked again.
 */
export function stepStatements(schema: string): StepStatements {
  return {
    begin: {
      name: 'step_begin',
      sql: `
with ${clockCte(schema)},
live as materialized (
  select o.token
    from ${schema}._open o
   where o.namespace = $1::text and o.schedule = $2::text and o.due_at = $3::text::bigint and o.nonce = $4::text
     and o.token = $6::text and ${livesSql(schema)}
     for share of o
),
begun as (
  insert into ${schema}._steps as p (namespace, schedule, due_at, nonce, step, state, token, result, begun_at, ended_at)
  select $1::text, $2::text, $3::text::bigint, $4::text, $5::text, 'begun', live.token, 'null', clock.now, null from live, clock
  on conflict (namespace, schedule, due_at, nonce, step) do update
     set state = 'begun', token = excluded.token, result = 'null', begun_at = excluded.begun_at, ended_at = null
   where p.state = 'failed' or (p.state = 'begun' and p.token <> excluded.token and $7::text::boolean)
  returning true
)
select case when not exists (select from live) then '{"kind":"stale"}'
            when exists (select from begun) then '{"kind":"applied"}'
            else coalesce((
              select case when p.state = 'done' then '{"kind":"done","result":' || p.result || '}'
                          when p.token = $6::text then '{"kind":"duplicate"}'
                          else '{"kind":"unknown","token":' || ${quoted('p.token')} || '}'
                     end
                from ${schema}._steps p
               where ${STEP}
            ), 'null')
       end as answer`,
    },
    end: {
      name: 'step_end',
      sql: `
with ${clockCte(schema)},
ended as (
  update ${schema}._steps p
     set state = $7::text, result = $8::text, ended_at = clock.now
    from clock
   where ${STEP} and p.token = $6::text and p.state = 'begun'
  returning true
)
select case when exists (select from ended) then '{"kind":"applied"}'
            else coalesce((
              select case when p.token <> $6::text then '{"kind":"stale"}' else '{"kind":"duplicate"}' end
                from ${schema}._steps p
               where ${STEP}
            ), '{"kind":"not-found"}')
       end as answer`,
    },
    resolve: {
      name: 'step_resolve',
      sql: `
with ${clockCte(schema)},
ended as (
  update ${schema}._steps p
     set state = $6::text, result = $7::text, ended_at = clock.now
    from clock
   where ${STEP} and p.state = 'begun'
  returning true
)
select case when exists (select from ended) then '{"kind":"applied"}'
            else coalesce((
              select case p.state when 'done' then '{"kind":"done","result":' || p.result || '}'
                                  when 'failed' then '{"kind":"duplicate"}'
                                  else 'null'
                     end
                from ${schema}._steps p
               where ${STEP}
            ), '{"kind":"not-found"}')
       end as answer`,
    },
    list: {
      name: 'steps',
      sql: `
select '[' || coalesce(string_agg(
         '{"schedule":' || ${quoted('p.schedule')} || ',"dueAt":' || p.due_at || ',"nonce":' || ${quoted('p.nonce')}
         || ',"step":' || ${quoted('p.step')} || ',"state":"' || p.state || '","token":' || ${quoted('p.token')}
         || ',"result":' || p.result || ',"begunAt":' || p.begun_at || ',"endedAt":' || coalesce(p.ended_at::text, 'null') || '}',
         ',' order by p.begun_at, p.step), '') || ']' as answer
  from ${schema}._steps p
 where ${KEY}`,
    },
    annotate: {
      name: 'annotate',
      sql: `
with note as materialized (
  select * from json_to_recordset($2::text::json) as t (n int, schedule text, token text, notes text)
),
live as materialized (
  select t.n
    from note t
    join ${schema}._open o on o.namespace = $1::text and o.schedule = t.schedule and o.token = t.token
   where ${livesSql(schema)}
),
kept as (
  insert into ${schema}._run_notes (namespace, schedule, token, notes)
  select distinct on (t.schedule, t.token) $1::text, t.schedule, t.token, t.notes
    from note t join live on live.n = t.n
   order by t.schedule, t.token, t.n desc
  on conflict (namespace, schedule, token) do update set notes = excluded.notes
)
select '[' || coalesce(string_agg(${quoted('t.token')}, ',' order by t.n), '') || ']' as answer
  from note t
 where not exists (select from live where live.n = t.n)`,
    },
  }
}

/** Which statement, and its values after the namespace. */
export function stepCall(
  statements: StepStatements,
  command: StepCommand,
): { readonly statement: Statement; readonly values: string[] } {
  const { schedule, dueAt, nonce } = command.fire
  const step = [schedule, String(dueAt), nonce, command.step]
  if (command.kind === 'begin') {
    return { statement: statements.begin, values: [...step, command.token, String(command.rerun)] }
  }
  const ending = [command.failed ? 'failed' : 'done', JSON.stringify(command.result)]
  return command.kind === 'end'
    ? { statement: statements.end, values: [...step, command.token, ...ending] }
    : { statement: statements.resolve, values: [...step, ...ending] }
}

export function fireValues({ schedule, dueAt, nonce }: FireKey): string[] {
  return [schedule, String(dueAt), nonce]
}

export function notesValue(notes: readonly Annotation[]): string {
  return JSON.stringify(
    notes.map(({ schedule, token, ...told }, n) => ({ n, schedule, token, notes: JSON.stringify(told) })),
  )
}
