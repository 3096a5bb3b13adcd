import type { Outcome } from '../../model/outcome.ts'
import type { FireKey } from '../../model/record.ts'
import { NOBODY } from '../../model/schedule.ts'
import { readCursor } from '../cursor.ts'
import type { FireQuery, RunQuery, ScheduleQuery } from '../store.ts'
import type { Statement } from './database.ts'
import { FORMAT, reasonsOf, TROUBLE } from './rows.ts'

/** A statement made of a few fixed parts, with its values. There are many of them: they are not worth preparing. */
export interface Select extends Statement {
  readonly values: readonly string[]
}

/** Collects conditions with their values: what the caller does not ask for is left out, so that an index fits. */
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
  // Nothing sorts behind the last character there is.
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

/** SQL: lines, open fires or runs, and the states that these are open in. */
function pageSql(schema: string, lines: string | null, open: string | null): string {
  return `,
line as materialized (${lines ?? `select * from ${schema}._history where false`}),
opened as materialized (${open ?? 'select 0::bigint as key, 0::bigint as due_at, 0::bigint as token, 0::bigint as started_at, null::text as nonce where false'})
select json_build_object(
         'now', m.now, 'epoch', m.epoch, 'moved', m.moved,
         'lines', (select coalesce(json_agg(${schema}._line(h)), '[]') from line h),
         'open', (
           select coalesce(json_agg(json_build_object(
                    'key', o.key, 'dueAt', o.due_at, 'nonce', o.nonce, 'token', o.token::text, 'startedAt', o.started_at,
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
 * Lines are read from each place in the order of an index, so many as a page can hold: however long the history, little is read.
 * Fires of one schedule that are due at one time, which the index does not order, come together.
 */
function linesFrom(schema: string, { from, on }: Places, conditions: string, order: string, limit: string): string {
  return `
  select h.*
    from ${from}
   cross join lateral (
     select h.* from ${schema}._history h where ${on}${conditions} order by ${order} fetch first (${limit}) rows with ties
   ) h`
}

function troublePlaces(schema: string, outcome: Outcome, kind: 'is_final' | 'token > 0'): Places {
  const reasons = reasonsOf(outcome).join(', ')
  return {
    from: `unnest(array[${reasons}]::smallint[]) as p (reason)`,
    on: `h.${kind} and h.space = ${spaceOf(schema)} and h.reason = p.reason and h.reason > ${TROUBLE}`,
  }
}

function jobPlaces(schema: string, job: string | null, kind: 'is_final' | 'token > 0'): Places {
  const named = job === null ? '' : ` and j.name = ${job}`
  return {
    from: `(select j.number from ${schema}._jobs j where j.namespace = $1::text${named}) p`,
    on: `h.${kind} and h.job = p.number`,
  }
}

function ofOutcome(where: Where, outcome: FireQuery['outcome']): void {
  if (outcome === undefined || outcome === 'open') return
  where.andSql(`h.reason = any (array[${reasonsOf(outcome).join(', ')}]::smallint[])`)
}

function firePlaces(schema: string, where: Where, query: FireQuery): Places {
  const { schedule, nonce, tenant, outcome, job } = query
  if (nonce !== undefined && nonce !== '') {
    // Said again, since the index of nonces is known by what it leaves out.
    where.and('h.nonce = $', nonce)
    where.andSql("h.nonce <> ''")
    if (schedule === undefined) return { from: '(values (1)) p', on: `h.is_final and h.space = ${spaceOf(schema)}` }
    return { from: '(values (1)) p', on: `h.is_final and h.key = ${numberOf(schema, '_names', where.value(schedule))}` }
  }
  if (schedule !== undefined) {
    const key = numberOf(schema, '_names', where.value(schedule))
    return { from: `(select ${key} as key) p`, on: 'h.is_final and h.key = p.key' }
  }
  if (tenant !== undefined && tenant !== '') {
    const is = `h.tenant = ${where.value(tenant)} and h.tenant <> ''`
    return { from: '(values (1)) p', on: `h.is_final and h.space = ${spaceOf(schema)} and ${is}` }
  }
  if (outcome !== undefined && outcome !== 'open' && outcome !== 'succeeded') {
    return troublePlaces(schema, outcome, 'is_final')
  }
  return jobPlaces(schema, job === undefined ? null : where.value(job), 'is_final')
}

/**
 * What is open and what has ended. A range that begins before the stretch may reach into it: such ranges are few, and are looked for
 * besides.
 */
export function selectFires(schema: string, namespace: string, query: FireQuery): Select {
  const where = new Where(namespace)
  const { from, outcome, order = 'latest' } = query
  const [direction, sign] = order === 'latest' ? [' desc', '<'] : ['', '>']
  const limit = where.value(query.limit + 1, 'bigint')
  const places = firePlaces(schema, where, query)
  if (query.job !== undefined) where.andSql(`h.job = ${numberOf(schema, '_jobs', where.value(query.job))}`)
  where.and('h.tenant = $', query.tenant)
  if (query.nonce === '') where.andSql("h.nonce = ''")
  ofOutcome(where, outcome)
  where.and('h.due_at < $', query.to, 'bigint')
  let behind: string | null = null
  if (query.after !== null) {
    const [dueAt, key, nonce] = readCursor(query.after, ['number', 'number', 'string'])
    behind = `(${where.value(dueAt, 'bigint')}, ${where.value(key, 'bigint')}, ${where.value(nonce)})`
    where.andSql(`(h.due_at, h.key, h.nonce) ${sign} ${behind}`)
  }
  const sorted = (row: string): string =>
    ['due_at', 'key', 'nonce'].map((name) => `${row}.${name}${direction}`).join(', ')
  const indexed = `h.due_at${direction}, h.key${direction}`
  const start = from === undefined ? null : where.value(from, 'bigint')
  const parts: string[] = []
  const conditions = where.sql()
  if (outcome !== 'open') {
    const within = start === null ? '' : ` and h.due_at >= ${start}`
    parts.push(linesFrom(schema, places, conditions + within, indexed, limit))
  }
  if (outcome !== 'open' && start !== null) {
    const key =
      query.schedule === undefined ? '' : ` and h.key = ${numberOf(schema, '_names', where.value(query.schedule))}`
    const on = `h.token < 0 and h.is_final and h.space = ${spaceOf(schema)}${key}`
    const reaching = ` and h.started_at >= ${start} and h.due_at < ${start}`
    parts.push(linesFrom(schema, { from: '(values (1)) p', on }, conditions + reaching, indexed, limit))
  }
  const lines =
    parts.length === 0 ? null : `select * from (${parts.join(' union all ')}) h order by ${sorted('h')} limit ${limit}`
  const isOpenWanted = outcome === undefined || outcome === 'open'
  const opened = isOpenWanted ? openSql(schema, where, query.schedule, openConditions(schema, where, query)) : null
  const rest = `${start === null ? '' : ` and o.due_at >= ${start}`}${behind === null ? '' : ` and (o.due_at, o.key, o.nonce) ${sign} ${behind}`}`
  const open = opened === null ? null : `${opened}${rest} order by ${sorted('o')} limit ${limit}`
  return where.select(pageSql(schema, lines, open))
}

function openConditions(schema: string, where: Where, { job, tenant, nonce, to }: FireQuery): string {
  const conditions: string[] = []
  if (job !== undefined) conditions.push(`o.job = ${numberOf(schema, '_jobs', where.value(job))}`)
  if (tenant !== undefined) conditions.push(`o.tenant = ${where.value(tenant)}`)
  if (nonce !== undefined) conditions.push(`o.nonce = ${where.value(nonce)}`)
  if (to !== undefined) conditions.push(`o.due_at < ${where.value(to, 'bigint')}`)
  return conditions.map((condition) => ` and ${condition}`).join('')
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
  select o.key, o.due_at, o.token, o.started_at, o.nonce
    from (
      select k.key, k.due_at, k.token, k.started_at, '' as nonce, k.job, k.runner,
             coalesce((select s.tenant from ${schema}._schedules s where s.key = k.key), '') as tenant
        from ${held}
       where k.runner <> 0${key === null ? '' : ` and k.key = ${key}`}
      union all
      select o.key, o.due_at, o.token, o.started_at, o.nonce, (select k.job from ${schema}._clocks k where k.key = o.key), o.runner, o.tenant
        from ${schema}._open o
       where ${key === null ? 'true' : `o.key = ${key}`}
    ) o
    join ${schema}._names n on n.key = o.key
   where n.namespace = $1::text${conditions}`
}

function runPlaces(schema: string, where: Where, query: RunQuery): Places {
  const { schedule, fire, outcome, job } = query
  const name = fire?.schedule ?? schedule
  if (name !== undefined) {
    const key = numberOf(schema, '_names', where.value(name))
    return { from: `(select ${key} as key) p`, on: 'h.token > 0 and h.key = p.key' }
  }
  if (outcome !== undefined && outcome !== 'open' && outcome !== 'succeeded') {
    return troublePlaces(schema, outcome, 'token > 0')
  }
  return jobPlaces(schema, job === undefined ? null : where.value(job), 'token > 0')
}

export function selectRuns(schema: string, namespace: string, query: RunQuery): Select {
  const where = new Where(namespace)
  const { fire, outcome, schedule, token } = query
  const limit = where.value(query.limit + 1, 'bigint')
  const places = runPlaces(schema, where, query)
  const both: string[] = []
  if (fire !== undefined && schedule !== undefined && fire.schedule !== schedule) both.push('false')
  if (fire !== undefined)
    both.push(`x.due_at = ${where.value(fire.dueAt, 'bigint')}`, `x.nonce = ${where.value(fire.nonce)}`)
  if (token !== undefined) both.push(`x.token = ${where.value(token, 'bigint')}`)
  if (query.job !== undefined) both.push(`x.job = ${numberOf(schema, '_jobs', where.value(query.job))}`)
  if (query.instance !== undefined) both.push(`x.runner = ${runnerOf(schema, where, query.instance)}`)
  if (query.from !== undefined) both.push(`x.started_at >= ${where.value(query.from, 'bigint')}`)
  if (query.to !== undefined) both.push(`x.started_at < ${where.value(query.to, 'bigint')}`)
  if (query.after !== null) {
    const [startedAt, key, last] = readCursor(query.after, ['number', 'number', 'string'])
    const behind = [where.value(startedAt, 'bigint'), where.value(key, 'bigint'), where.value(last, 'bigint')]
    both.push(`(x.started_at, x.key, x.token) < (${behind.join(', ')})`)
  }
  const conditions = (row: string): string => both.map((one) => ` and ${one.replaceAll('x.', `${row}.`)}`).join('')
  const sorted = (row: string): string => ['started_at', 'key', 'token'].map((one) => `${row}.${one} desc`).join(', ')
  ofOutcome(where, outcome)
  const lines =
    outcome === 'open'
      ? null
      : `select * from (${linesFrom(schema, places, where.sql() + conditions('h'), 'h.started_at desc, h.key desc', limit)}) h order by ${sorted('h')} limit ${limit}`
  const open =
    outcome === undefined || outcome === 'open'
      ? `${openSql(schema, where, fire?.schedule ?? schedule, ' and o.token > 0')}${conditions('o')} order by ${sorted('o')} limit ${limit}`
      : null
  return where.select(pageSql(schema, lines, open))
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
