import type { FireRecord, RunNotes, RunRecord } from '../../model/record.ts'
import { readCursor } from '../cursor.ts'
import type { FireQuery, RunQuery, ScheduleQuery } from '../store.ts'
import type { Statement } from './database.ts'
import { clockCte, FORMAT, MOMENT_JSON, SCHEDULE_JSON } from './rows.ts'

/** A statement made of a few fixed parts, with its values. There are many of them: they are not worth preparing. */
export interface Select extends Statement {
  readonly values: readonly string[]
}

/** Collects conditions with their values: what nobody asks for is left out, so that an index fits. */
class Where {
  readonly values: string[] = []
  readonly #conditions: string[] = []

  constructor(namespace: string) {
    this.values.push(namespace)
  }

  /** `$` in the condition stands for the value, as SQL that is cast to `type`. */
  and(condition: string, value: string | number | undefined, type = 'text'): void {
    if (value !== undefined) this.#conditions.push(condition.replace('$', this.value(value, type)))
  }

  andSql(condition: string): void {
    this.#conditions.push(condition)
  }

  value(value: string | number, type = 'text'): string {
    this.values.push(String(value))
    // Drivers write a value as the type that the server says it has: a text is a text to all of them.
    return type === 'text' ? `$${this.values.length}::text` : `$${this.values.length}::text::${type}`
  }

  sql(): string {
    return this.#conditions.map((condition) => ` and ${condition}`).join('')
  }
}

/** SQL: rows of `record` in order, as the answer of a page. */
function page(schema: string, rows: string, item: string): string {
  return `
with ${clockCte(schema)},
page as materialized (${rows})
select ${MOMENT_JSON} || ',"items":[' || coalesce((select string_agg(${item}, ',' order by place) from page), '') || ']}' as answer
  from clock`
}

export function selectSchedules(schema: string, namespace: string, query: ScheduleQuery): Select {
  const where = new Where(namespace)
  const { prefix } = query
  where.and('s.tenant = $', query.tenant)
  where.and('s.job = $', query.job)
  where.and('s.app = $', query.app)
  where.and('s.status = $', query.state)
  if (query.after !== null) where.and('s.id > $', readCursor(query.after, ['string'])[0])
  where.and('s.id >= $', prefix)
  // Nothing sorts behind the last character there is.
  if (prefix !== undefined) where.and('s.id < $', `${prefix}\u{10ffff}`)
  const rows = `
  select row_number() over (order by s.id) as place, ${SCHEDULE_JSON} as record
    from ${schema}._schedules s
    join ${schema}._clocks k on k.namespace = s.namespace and k.id = s.id and k.format <= ${FORMAT}
   where s.namespace = $1::text and s.status <> ''${where.sql()}
   order by s.id
   limit ${where.value(query.limit + 1, 'bigint')}`
  return { name: '', sql: page(schema, rows, 'record'), values: where.values }
}

/**
 * What is open and what has ended, each by its own index, then in one order. A range that begins before the stretch may reach
 * into it.
 */
export function selectFires(schema: string, namespace: string, query: FireQuery): Select {
  const where = new Where(namespace)
  const { from, outcome, order = 'latest' } = query
  const isLatest = order === 'latest'
  where.and('o.schedule = $', query.schedule)
  where.and('o.job = $', query.job)
  where.and('o.tenant = $', query.tenant)
  where.and('o.nonce = $', query.nonce)
  where.and('o.due_at < $', query.to, 'bigint')
  if (query.after !== null) {
    const [dueAt, schedule, nonce] = readCursor(query.after, ['number', 'string', 'string'])
    const last = [where.value(dueAt!, 'bigint'), where.value(schedule!), where.value(nonce!)]
    where.andSql(`(o.due_at, o.schedule, o.nonce) ${isLatest ? '<' : '>'} (${last.join(', ')})`)
  }
  const common = where.sql()
  const limit = where.value(query.limit + 1, 'bigint')
  const start = from === undefined ? null : where.value(from, 'bigint')
  const places = isLatest ? 'due_at desc, schedule desc, nonce desc' : 'due_at, schedule, nonce'
  // Said again, since the index of nonces is known by what it leaves out.
  const nonces = query.nonce === undefined || query.nonce === '' ? '' : " and o.nonce <> ''"
  const part = (table: string, record: string, more: string): string =>
    `(select o.due_at, o.schedule, o.nonce, o.${record} as record
        from ${schema}.${table} o
       where o.namespace = $1::text${common}${nonces}${more}
       order by ${places}
       limit ${limit})`
  const parts: string[] = []
  const within = start === null ? '' : ` and o.due_at >= ${start}`
  if (outcome === undefined || outcome === 'open') parts.push(part('_open', 'fire', ` and o.fire is not null${within}`))
  if (outcome !== 'open') {
    const ended = ` and o.outcome <> ''${outcomeSql(where, outcome)}`
    parts.push(part('_fires', 'record', `${ended}${within}`))
    if (start !== null)
      parts.push(part('_fires', 'record', `${ended} and o.until_at >= ${start} and o.due_at < ${start}`))
  }
  const rows = `
  select row_number() over (order by ${places}) as place, record
    from (${parts.join(' union all ')}) o
   order by ${places}
   limit ${limit}`
  return { name: '', sql: page(schema, rows, 'record'), values: where.values }
}

export function selectRuns(schema: string, namespace: string, query: RunQuery): Select {
  const where = new Where(namespace)
  const { fire, outcome } = query
  where.and('o.schedule = $', query.schedule)
  where.and('o.schedule = $', fire?.schedule)
  where.and('o.due_at = $', fire?.dueAt, 'bigint')
  where.and('o.nonce = $', fire?.nonce)
  where.and('o.token = $', query.token)
  where.and('o.job = $', query.job)
  where.and('o.instance = $', query.instance)
  where.and('o.started_at >= $', query.from, 'bigint')
  where.and('o.started_at < $', query.to, 'bigint')
  if (query.after !== null) {
    const [startedAt, schedule, token] = readCursor(query.after, ['number', 'string', 'string'])
    const last = [where.value(startedAt!, 'bigint'), where.value(schedule!), where.value(token!)]
    where.andSql(`(o.started_at, o.schedule, o.token) < (${last.join(', ')})`)
  }
  const common = where.sql()
  const limit = where.value(query.limit + 1, 'bigint')
  const places = 'started_at desc, schedule desc, token desc'
  const part = (table: string, record: string, more: string): string =>
    `(select o.started_at, o.schedule, o.token, o.${record} as record
        from ${schema}.${table} o
       where o.namespace = $1::text${common}${more}
       order by ${places}
       limit ${limit})`
  const parts: string[] = []
  if (outcome === undefined || outcome === 'open') parts.push(part('_open', 'run', ' and o.instance is not null'))
  if (outcome !== 'open') {
    // Said for the indexes of tokens and instances, which are known by what they leave out.
    parts.push(part('_runs', 'record', ` and o.outcome <> ''${outcomeSql(where, outcome)}`))
  }
  const rows = `
  select row_number() over (order by ${places.replaceAll(/(\w+) desc/g, 'o.$1 desc')}) as place, o.record, n.notes
    from (${parts.join(' union all ')}) o
    left join ${schema}._run_notes n on n.namespace = $1::text and n.schedule = o.schedule and n.token = o.token
   order by place
   limit ${limit}`
  const item = `'{"run":' || record || ',"notes":' || coalesce(notes, 'null') || '}'`
  return { name: '', sql: page(schema, rows, item), values: where.values }
}

/** What did not succeed is said again, since its index is known by what it leaves out. */
function outcomeSql(where: Where, outcome: string | undefined): string {
  if (outcome === undefined) return ''
  const is = ` and o.outcome = ${where.value(outcome)}`
  return outcome === 'succeeded' ? is : `${is} and o.outcome <> 'succeeded'`
}

/** As `selectEnds` answers one. */
export type EndRow =
  | { readonly kind: 'fire'; readonly fire: FireRecord }
  | { readonly kind: 'run'; readonly run: RunRecord; readonly notes: RunNotes | null }

/** Sees nothing as unseen: where a reader of ends begins. */
const NONE = 'select null::text as schedule, null::text as token, null::text as record where false'

/**
 * Ends that the snapshot of an earlier answer did not see: those of transactions that were under way then, and of all later ones.
 * The snapshot of this statement is where the next one goes on. `snapshot: null`: no ends, only that. A transaction of the future is
 * one of another server, from which the rows were copied.
 */
export function selectEnds(schema: string, namespace: string, snapshot: string | null, limit: number): Select {
  const where = new Where(namespace)
  const found = snapshot === null ? NONE : unseenEnds(schema, where, snapshot, limit)
  const erased = snapshot === null ? 'false' : unseenErasure(schema, where, snapshot)
  const sql = `
with ${clockCte(schema)},
found as materialized (${found}),
ends as (
  select f.token, f.record, n.notes
    from found f
    left join ${schema}._run_notes n on n.namespace = $1::text and n.schedule = f.schedule and n.token = f.token
)
select ${MOMENT_JSON} || ',"snapshot":"' || pg_current_snapshot()::text || '","erased":' || ${erased} || ',"items":[' || coalesce((
         select string_agg(case when token = '' then '{"kind":"fire","fire":' || record || '}'
                                else '{"kind":"run","run":' || record || ',"notes":' || coalesce(notes, 'null') || '}' end, ',')
           from ends), '') || ']}' as answer
  from clock`
  return { name: '', sql, values: where.values }
}

/** Whether records were erased that the snapshot may not have seen. */
function unseenErasure(schema: string, where: Where, snapshot: string): string {
  const then = `${where.value(snapshot)}::pg_snapshot`
  return `exists (
         select from ${schema}._namespaces n
          where n.namespace = $1::text and n.erased_in < pg_snapshot_xmax(pg_current_snapshot())
            and not pg_visible_in_snapshot(n.erased_in, ${then}))`
}

function unseenEnds(schema: string, where: Where, snapshot: string, limit: number): string {
  const then = `${where.value(snapshot)}::pg_snapshot`
  const most = where.value(limit + 1, 'bigint')
  const isUnseen = [
    `= any (array(select pg_snapshot_xip(${then})))`,
    // In order, so that it is read from the end of the index, however many there may be.
    `>= pg_snapshot_xmax(${then}) order by o.ended_in`,
  ]
  const parts = [
    ['_runs', 'o.token'],
    ['_fires', "''"],
  ].flatMap(([table, token]) =>
    isUnseen.map(
      (condition) => `
  (select o.schedule, ${token} as token, o.record
     from ${schema}.${table} o
    where o.namespace = $1::text and o.ended_in is not null
      and o.ended_in < pg_snapshot_xmax(pg_current_snapshot()) and o.ended_in ${condition}
    limit ${most})`,
    ),
  )
  return `${parts.join(' union all ')} limit ${most}`
}
