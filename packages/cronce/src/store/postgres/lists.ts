import type { FireKey } from '../../model/record.ts'
import { NOBODY } from '../../model/schedule.ts'
import { readActivityPlace, readCursor } from '../cursor.ts'
import type { ActivityQuery, RecordQuery, ScheduleQuery } from '../store.ts'
import type { Statement } from './database.ts'
import { FORMAT, reasonsOf, TROUBLE } from './rows.ts'

/** A statement built from a few fixed parts, with its values. There are many of them: preparing them does not pay. */
export interface Select extends Statement {
  readonly values: readonly string[]
}

/** Collects conditions with their values: filters that the caller does not use are left out, so that an index fits. */
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
    // Drivers convert a value to the type that the server reports: a text stays a text in all of them.
    return type === 'text' ? `$${this.values.length}::text` : `$${this.values.length}::text::${type}`
  }

  sql(): string {
    return this.#conditions.map((condition) => ` and ${condition}`).join('')
  }

  /** The statement, in which every value has a type, whether it is used or not. */
  select(sql: string): Select {
    const given = this.values.map((_, index) => `$${index + 1}::text`).join(', ')
    return { name: '', sql: `with given as (select ${given})${sql}`, values: this.values }
  }
}

export function selectSchedules(schema: string, namespace: string, query: ScheduleQuery): Select {
  const where = new Where(namespace)
  const { prefix } = query
  where.and('s.tenant = $', query.tenant)
  where.and('s.job = $', query.job)
  where.and('s.app = $', query.app)
  where.and('s.status = $', query.state)
  if (query.after !== null) where.and('s.name > $', readCursor(query.after, ['string'])[0])
  where.and('s.name >= $', prefix)
  // No text sorts after the last character.
  if (prefix !== undefined) where.and('s.name < $', `${prefix}\u{10ffff}`)
  const conditions = where.sql()
  return where.select(`
select json_build_object('now', m.now, 'epoch', m.epoch, 'moved', m.moved, 'states', ${schema}._states(array(
         select s.key
           from ${schema}._schedules s
           join ${schema}._clocks k on k.key = s.key and k.format <= ${FORMAT}
          where s.namespace = $1::text and s.status <> ''${conditions}
          order by s.name
          limit ${where.value(query.limit + 1, 'bigint')}
       )))::text as answer
  from ${schema}._moment() m`)
}

export function selectActivity(schema: string, namespace: string, query: ActivityQuery): Select {
  const where = new Where(namespace)
  const place = readActivityPlace(query)
  where.and("a.schedule = $ and a.schedule <> ''", query.schedule)
  where.and('a.at >= $', query.from, 'bigint')
  where.and('a.at < $', query.to, 'bigint')
  if (place !== null) where.andSql(`(a.at, a.id) < (${where.value(place.at, 'bigint')}, ${where.value(place.id)})`)
  const conditions = where.sql()
  return where.select(`
select json_build_object('now', m.now, 'epoch', m.epoch, 'moved', m.moved, 'lines', (
         select coalesce(json_agg(a.line::json), '[]')
           from (
             select a.line
               from ${schema}._activity a
              where a.namespace = $1::text${conditions}
              order by a.at desc, a.id desc
              limit ${where.value(query.limit + 1, 'bigint')}
           ) a
       ))::text as answer
  from ${schema}._moment() m`)
}

/** SQL: lines, open fires, and the states that these are open in. */
function pageSql(schema: string, lines: string | null, open: string | null): string {
  return `,
line as materialized (${lines ?? `select * from ${schema}._history where false`}),
opened as materialized (${open ?? 'select 0::bigint as key, 0::bigint as due_at, 0::bigint as token, null::text as nonce where false'})
select json_build_object(
         'now', m.now, 'epoch', m.epoch, 'moved', m.moved,
         'lines', (select coalesce(json_agg(${schema}._line(h)), '[]') from line h),
         'open', (
           select coalesce(json_agg(json_build_object(
                    'key', o.key, 'dueAt', o.due_at, 'nonce', o.nonce,
                    'notes', (select n.notes::json from ${schema}._notes n where n.key = o.key and n.token = o.token and o.token > 0)
                  )), '[]')
             from opened o
         ),
         'states', ${schema}._states(array(select distinct o.key from opened o)))::text as answer
  from ${schema}._moment() m`
}

/** SQL: the key of a name, or the number of a job, instance or namespace; null where there is none. */
function numberOf(schema: string, table: '_names' | '_jobs' | '_runners', value: string): string {
  const [number, name] = { _names: ['key', 'name'], _jobs: ['number', 'name'], _runners: ['number', 'instance'] }[table]
  return `(select named.${number} from ${schema}.${table} named where named.namespace = $1::text and named.${name} = ${value})`
}

/** A parked run has no instance. */
function runnerOf(schema: string, where: Where, instance: string): string {
  return instance === NOBODY ? '0' : numberOf(schema, '_runners', where.value(instance))
}

function spaceOf(schema: string): string {
  return `(select named.number from ${schema}._namespaces named where named.namespace = $1::text)`
}

/** SQL: rows in which the places to look are found, and what holds for a line `h` of the place `p`. */
interface Places {
  readonly from: string
  readonly on: string
}

/**
 * Reads at most one page of lines from each place, in the order of an index: the cost does not depend on the length of the
 * history. Fires of one schedule that are due at the same time, which the index does not order, come together.
 */
function linesFrom(schema: string, { from, on }: Places, conditions: string, order: string, limit: string): string {
  return `
  select h.*
    from ${from}
   cross join lateral (
     select h.* from ${schema}._history h where ${on}${conditions} order by ${order} fetch first (${limit}) rows with ties
   ) h`
}

function linePlaces(schema: string, where: Where, query: RecordQuery): Places {
  const { schedule, nonce, tenant, outcome, job } = query
  const only = '(values (1)) p'
  const space = `h.space = ${spaceOf(schema)}`
  if (nonce !== undefined && nonce !== '') {
    // The index of nonces leaves out the empty one, so the statement must do so, too.
    const on = schedule === undefined ? space : `h.key = ${numberOf(schema, '_names', where.value(schedule))}`
    return { from: only, on: `${on} and h.nonce <> ''` }
  }
  if (schedule !== undefined) {
    return { from: `(select ${numberOf(schema, '_names', where.value(schedule))} as key) p`, on: 'h.key = p.key' }
  }
  if (tenant !== undefined && tenant !== '') return { from: only, on: `${space} and h.tenant <> ''` }
  if (outcome !== undefined && outcome !== 'open' && outcome !== 'succeeded') {
    const from = `unnest(array[${reasonsOf(outcome).join(', ')}]::smallint[]) as p (reason)`
    return { from, on: `${space} and h.reason = p.reason and h.reason > ${TROUBLE}` }
  }
  const named = job === undefined ? '' : ` and j.name = ${where.value(job)}`
  const from = `(select j.number from ${schema}._jobs j where j.namespace = $1::text${named}) p`
  return { from, on: 'h.job = p.number' }
}

/** Conditions that lines and open fires share, on a row `x`. */
function wanted(schema: string, where: Where, query: RecordQuery, order: Order): string[] {
  const conditions: string[] = []
  const and = (condition: (value: string) => string, value: string | number | undefined, type?: string): void => {
    if (value !== undefined) conditions.push(condition(where.value(value, type)))
  }
  and((value) => `x.job = ${numberOf(schema, '_jobs', value)}`, query.job)
  and((value) => `x.tenant = ${value}`, query.tenant)
  and((value) => `x.nonce = ${value}`, query.nonce)
  and((value) => `x.token = ${value}`, query.token, 'bigint')
  and((value) => `x.due_at < ${value}`, query.to, 'bigint')
  if (query.instance !== undefined) {
    conditions.push(`x.token > 0 and x.runner = ${runnerOf(schema, where, query.instance)}`)
  }
  if (query.after !== null) {
    const [dueAt, key, nonce, token] = readCursor(query.after, ['number', 'number', 'string', 'string'])
    const place = [where.value(dueAt, 'bigint'), where.value(key, 'bigint'), where.value(nonce)]
    if (query.view === 'runs') place.push(where.value(token, 'bigint'))
    conditions.push(`(${order.columns.join(', ')}) ${order.isLatest ? '<' : '>'} (${place.join(', ')})`)
  }
  return conditions
}

/** The position of a row `x` in the list. */
interface Order {
  readonly columns: readonly string[]
  readonly isLatest: boolean
}

function orderOf({ view, order = 'latest' }: RecordQuery): Order {
  const columns = ['x.due_at', 'x.key', 'x.nonce']
  return { columns: view === 'fires' ? columns : [...columns, 'x.token'], isLatest: order === 'latest' }
}

/**
 * Open and ended fires. A range that begins before the stretch may reach into it: such ranges are few, and are searched
 * separately.
 */
export function selectRecords(schema: string, namespace: string, query: RecordQuery): Select {
  const where = new Where(namespace)
  const { view, schedule, outcome } = query
  const order = orderOf(query)
  const direction = order.isLatest ? ' desc' : ''
  const limit = where.value(query.limit + 1, 'bigint')
  const from = query.from === undefined ? null : where.value(query.from, 'bigint')
  const both = wanted(schema, where, query, order)
  const asked = (row: string, more: readonly string[]): string =>
    [...both, ...more].map((condition) => ` and ${condition.replaceAll('x.', `${row}.`)}`).join('')
  const sorted = (row: string): string =>
    `order by ${order.columns.map((column) => `${column.replace('x.', `${row}.`)}${direction}`).join(', ')} limit ${limit}`
  const within = from === null ? [] : [`x.due_at >= ${from}`]
  const isOpenWanted = outcome === undefined || outcome === 'open'
  const indexed = `h.due_at${direction}, h.key${direction}`
  const endedLines = (): string => {
    const ended = endedConditions(query)
    const places = linePlaces(schema, where, query)
    const parts = [linesFrom(schema, places, asked('h', [...ended, ...within]), indexed, limit)]
    if (from !== null && view === 'fires') {
      const reaching = [...ended, `x.started_at >= ${from}`, `x.due_at < ${from}`]
      parts.push(linesFrom(schema, rangePlaces(schema, where, schedule), asked('h', reaching), indexed, limit))
    }
    return `select * from (${parts.join(' union all ')}) h ${sorted('h')}`
  }
  const lines = outcome === 'open' ? null : endedLines()
  const running = view === 'fires' ? [] : ['x.token > 0']
  const open = isOpenWanted ? openSql(schema, where, schedule, asked('o', [...running, ...within])) : null
  return where.select(pageSql(schema, lines, open === null ? null : `${open} ${sorted('o')}`))
}

/** Conditions on a line `x` of this view and outcome. */
function endedConditions({ view, outcome }: RecordQuery): string[] {
  const conditions = [view === 'fires' ? 'x.is_final' : 'x.token > 0']
  if (outcome !== undefined && outcome !== 'open') {
    conditions.push(`x.reason = any (array[${reasonsOf(outcome).join(', ')}]::smallint[])`)
  }
  return conditions
}

function rangePlaces(schema: string, where: Where, schedule: string | undefined): Places {
  const key = schedule === undefined ? '' : ` and h.key = ${numberOf(schema, '_names', where.value(schedule))}`
  return { from: '(values (1)) p', on: `h.token < 0 and h.space = ${spaceOf(schema)}${key}` }
}

/** SQL: open fires `o`. Those of plain schedules are in the clocks that claims lead to. */
function openSql(schema: string, where: Where, schedule: string | undefined, conditions: string): string {
  const key = schedule === undefined ? null : numberOf(schema, '_names', where.value(schedule))
  const held =
    key === null
      ? `(select distinct w.key, c.runner from ${schema}._claims c cross join lateral unnest(c.keys) as w (key)) w
         cross join lateral (select * from ${schema}._clocks k where k.key = w.key and k.runner = w.runner offset 0) k`
      : `${schema}._clocks k`
  return `
  select o.key, o.due_at, o.token, o.nonce
    from (
      select k.key, k.due_at, k.token, '' as nonce, k.job, k.runner,
             coalesce((select s.tenant from ${schema}._schedules s where s.key = k.key), '') as tenant
        from ${held}
       where k.runner <> 0${key === null ? '' : ` and k.key = ${key}`}
      union all
      select o.key, o.due_at, o.token, o.nonce, (select k.job from ${schema}._clocks k where k.key = o.key), o.runner, o.tenant
        from ${schema}._open o
       where ${key === null ? 'true' : `o.key = ${key}`}
    ) o
    join ${schema}._names n on n.key = o.key
   where n.namespace = $1::text${conditions}`
}

/** A fire that is open or has any line: its last line, the final one first. */
export function selectFire(schema: string, namespace: string, { schedule, dueAt, nonce }: FireKey): Select {
  const where = new Where(namespace)
  const key = numberOf(schema, '_names', where.value(schedule))
  const due = where.value(dueAt, 'bigint')
  const name = where.value(nonce)
  const is = (row: string): string =>
    nonce === '' ? `${row}.due_at = ${due} and ${row}.nonce = ${name}` : `${row}.nonce = ${name} and ${row}.nonce <> ''`
  const lines = `select * from ${schema}._history h where h.key = ${key} and ${is('h')} order by h.is_final desc, h.number desc limit 1`
  const open = openSql(schema, where, schedule, ` and ${is('o')}`)
  return where.select(pageSql(schema, lines, open))
}
