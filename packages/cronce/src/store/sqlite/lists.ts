import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import type { Outcome } from '../../model/outcome.ts'
import type { FireEnd, HourCount, ListedRecord } from '../../model/record.ts'
import type { Instant, ScheduleState } from '../../model/schedule.ts'
import { listLine, listOpenFire, viewEnd } from '../../model/views.ts'
import { compareBytes, comparePlaces, placeOf, readCursor, readPlace, writeCursor, writePlace } from '../cursor.ts'
import {
  ENDS_KEPT,
  type EndPage,
  type EndQuery,
  type HourQuery,
  type LatestQuery,
  type Page,
  type RecordQuery,
  type ScheduleQuery,
} from '../store.ts'
import { type Row, statement } from './driver.ts'
import { FORMAT, lineOf, notesOf, scheduleOf } from './rows.ts'

/** A statement built from a few fixed parts: it names its index, since SQLite has no statistics unless they are gathered. */
export interface Select {
  readonly sql: string
  readonly values: readonly SQLInputValue[]
}

type Condition = readonly [sql: string, ...values: SQLInputValue[]] | null

function select(head: string, conditions: readonly Condition[], order: string, limit: number): Select {
  const given = conditions.filter((condition) => condition !== null)
  const where = given.map(([sql]) => sql).join(' and ')
  return {
    sql: `${head} where ${where} order by ${order} limit ?`,
    values: [...given.flatMap(([, ...values]) => values), limit],
  }
}

/** `null`: no filter. */
function when(sql: string, value: SQLInputValue | undefined): Condition {
  return value === undefined ? null : [sql, value]
}

function rowsOf(db: DatabaseSync, { sql, values }: Select): Row[] {
  return statement(db, sql).all(...values)
}

/** One item more than the page holds, if there is one: then there is a next page. */
function pageOf<Item>(
  now: Instant,
  found: readonly Item[],
  limit: number,
  cursorOf: (item: Item) => string,
): Page<Item> {
  const items = found.slice(0, limit)
  const last = items.at(-1)
  return { now, items, next: found.length > limit && last !== undefined ? cursorOf(last) : null }
}

export function selectSchedules(namespace: string, query: ScheduleQuery): Select {
  const { job, tenant, app, state, prefix } = query
  const after = query.after === null ? undefined : readCursor(query.after, ['string'])[0]
  const index =
    (tenant !== undefined && 'indexed by cronce_schedules_tenant') ||
    (job !== undefined && 'indexed by cronce_schedules_job') ||
    (app !== undefined && 'indexed by cronce_schedules_app') ||
    (state !== undefined && 'indexed by cronce_schedules_status') ||
    'indexed by sqlite_autoindex_cronce_schedules_1'
  return select(
    `select id, state, definition from cronce_schedules ${index} join cronce_definitions using (key)`,
    [
      ['namespace = ?', namespace],
      when('tenant = ?', tenant),
      when('job = ?', job),
      when('app = ?', app),
      when('status = ?', state),
      when('id > ?', after),
      // No text sorts after the last character.
      prefix === undefined ? null : ['id >= ? and id < ?', prefix, `${prefix}\u{10ffff}`],
      ['format <= ?', FORMAT],
    ],
    'id',
    query.limit + 1,
  )
}

export function listSchedules(
  db: DatabaseSync,
  namespace: string,
  query: ScheduleQuery,
  now: Instant,
): Page<ScheduleState> {
  const rows = rowsOf(db, selectSchedules(namespace, query))
  return pageOf(now, rows.map(scheduleOf), query.limit, ({ id }) => writeCursor([id]))
}

const NOTES = `(
  select notes from cronce_run_notes n where n.namespace = r.namespace and n.schedule = r.schedule and n.token = r.token
) as notes`

/**
 * Lines of fires due in the stretch, and the few ranges that begin before it and reach into it. All of the former are later than
 * all of the latter, so a page consists of one and then the other.
 */
export function selectLines(namespace: string, query: RecordQuery): readonly Select[] {
  const { schedule, from, view } = query
  const head = `select line, is_final, ${view === 'fires' ? 'null as notes' : NOTES} from cronce_history r`
  const common: readonly Condition[] = [
    [view === 'fires' ? 'r.is_final = 1' : 'r.token is not null'],
    ...wanted(namespace, query),
    ofOutcome(query.outcome),
  ]
  const within = select(
    `${head} indexed by ${lineIndex(query)}`,
    [...common, when('r.due_at >= ?', from)],
    placesOf(query),
    query.limit + 1,
  )
  if (from === undefined || view === 'runs') return [within]
  const reaching = select(
    `${head} indexed by ${schedule === undefined ? 'cronce_history_range' : 'cronce_history_schedule_range'}`,
    [...common, ['r.until_at is not null and r.until_at >= ? and r.due_at < ?', from, from]],
    placesOf(query),
    query.limit + 1,
  )
  return isLatest(query) ? [within, reaching] : [reaching, within]
}

/** Open fires of the stretch, each with its state. There are at most as many runs as the fleet has slots. */
export function selectOpen(namespace: string, query: RecordQuery): Select {
  const { schedule, instance, view } = query
  const index = instance === undefined ? 'cronce_open_time' : 'cronce_open_held'
  return select(
    `select r.due_at, r.nonce, r.schedule, state, definition, ${view === 'fires' ? 'null as notes' : NOTES}
       from cronce_open r ${schedule === undefined ? `indexed by ${index}` : ''}
       join cronce_schedules on cronce_schedules.namespace = r.namespace and id = r.schedule
       join cronce_definitions using (key)`,
    [
      view === 'fires' && instance === undefined ? null : ['r.token is not null'],
      ...wanted(namespace, query),
      when('r.due_at >= ?', query.from),
    ],
    placesOf(query),
    query.limit + 1,
  )
}

/** Conditions that lines and open fires share. */
function wanted(namespace: string, query: RecordQuery): readonly Condition[] {
  const after = readPlace(query)
  const columns = query.view === 'fires' ? FIRE_PLACE : RUN_PLACE
  const values = after === null ? [] : [after.dueAt, after.schedule, after.nonce, after.token].slice(0, columns.length)
  const places = values.map((_, index) => (index === 3 ? 'cast(? as integer)' : '?'))
  return [
    ['r.namespace = ?', namespace],
    when('r.schedule = ?', query.schedule),
    when('r.job = ?', query.job),
    when('r.tenant = ?', query.tenant),
    // Stated twice: SQLite uses the partial index of nonces only if its condition is repeated.
    hasNonce(query) ? ["r.nonce = ? and r.nonce <> ''", query.nonce!] : when('r.nonce = ?', query.nonce),
    when('r.instance = ?', query.instance),
    when('r.token = ?', query.token),
    when('r.due_at < ?', query.to),
    after === null
      ? null
      : [`(${columns.join(', ')}) ${isLatest(query) ? '<' : '>'} (${places.join(', ')})`, ...values],
  ]
}

const FIRE_PLACE = ['r.due_at', 'r.schedule', 'r.nonce']
const RUN_PLACE = [...FIRE_PLACE, 'cast(r.token as integer)']

function placesOf(query: RecordQuery): string {
  const columns = query.view === 'fires' ? FIRE_PLACE : RUN_PLACE
  return columns.map((column) => `${column}${isLatest(query) ? ' desc' : ''}`).join(', ')
}

function isLatest({ order = 'latest' }: RecordQuery): boolean {
  return order === 'latest'
}

function hasNonce({ nonce }: RecordQuery): boolean {
  return nonce !== undefined && nonce !== ''
}

/** Most fires succeed: other outcomes have their own indexes, whose condition must be repeated. */
function ofOutcome(outcome: RecordQuery['outcome']): Condition {
  if (outcome === undefined || outcome === 'succeeded') return when('r.outcome = ?', outcome)
  return ["r.outcome = ? and r.outcome <> 'succeeded'", outcome]
}

function isTrouble(outcome: RecordQuery['outcome']): boolean {
  return outcome !== undefined && outcome !== 'succeeded'
}

function lineIndex(query: RecordQuery): string {
  const { schedule, token, job, tenant, outcome } = query
  if (hasNonce(query)) return 'cronce_history_nonce'
  if (schedule !== undefined && token !== undefined) return 'cronce_history_token'
  if (schedule !== undefined) return `cronce_history_${isTrouble(outcome) ? 'trouble' : 'fire'}`
  if (tenant !== undefined) return 'cronce_history_tenant'
  if (isTrouble(outcome)) return 'cronce_history_outcome'
  return `cronce_history_${job === undefined ? 'time' : 'job'}`
}

export function listRecords(db: DatabaseSync, namespace: string, query: RecordQuery, now: Instant): Page<ListedRecord> {
  const { outcome, limit, view } = query
  const ended: Row[] = []
  for (const part of outcome === 'open' ? [] : selectLines(namespace, query)) {
    if (ended.length <= limit) ended.push(...rowsOf(db, part))
  }
  const isOpenWanted = outcome === undefined || outcome === 'open'
  const open = isOpenWanted ? rowsOf(db, selectOpen(namespace, query)) : []
  const sign = isLatest(query) ? -1 : 1
  const records = [...ended.map(lineRecordOf), ...openRecordsOf(open)].sort(
    (one, other) => sign * comparePlaces(placeOf(one, view), placeOf(other, view), compareBytes),
  )
  return pageOf(now, records, limit, (record) => writePlace(placeOf(record, view)))
}

function lineRecordOf(row: Row): ListedRecord {
  return listLine(lineOf(row), notesOf(row.notes))
}

function openRecordsOf(rows: readonly Row[]): ListedRecord[] {
  const states = new Map<string, ScheduleState>()
  return rows.map((row) => {
    const state = stateIn(states, row)
    const fire = state.open.find(({ dueAt, nonce }) => dueAt === row.due_at && nonce === row.nonce)!
    return listOpenFire(state, fire, notesOf(row.notes))
  })
}

/** A schedule with a thousand open fires is read once. */
function stateIn(states: Map<string, ScheduleState>, row: Row): ScheduleState {
  const id = String(row.schedule)
  let state = states.get(id)
  if (state === undefined) {
    state = scheduleOf(row)
    states.set(id, state)
  }
  return state
}

/** For one schedule: as many statements as a screen has schedules. */
export const LATEST = `
select line, is_final
  from cronce_history indexed by cronce_history_fire
 where namespace = ? and schedule = ? and is_final = 1
 order by due_at desc, nonce desc
 limit ?`

export function listLatest(db: DatabaseSync, namespace: string, { schedules, limit }: LatestQuery): FireEnd[] {
  return [...new Set(schedules)].flatMap((schedule) =>
    statement(db, LATEST)
      .all(namespace, schedule, limit)
      .map((row) => viewEnd(lineOf(row))),
  )
}

export const COUNTS = `
select hour, outcome, fires
  from cronce_counts
 where namespace = ? and hour >= ? and hour < ? and fires <> 0
 order by hour, outcome`

export function countFires(db: DatabaseSync, namespace: string, { from, to }: HourQuery): HourCount[] {
  const rows = statement(db, COUNTS).all(namespace, from, to)
  return rows.map(({ hour, outcome, fires }) => ({
    ...{ hour: Number(hour), outcome: String(outcome) as Outcome, count: Number(fires) },
  }))
}

/** The highest position ever used: deleted lines count as well. */
const LAST_END = "select seq as position from sqlite_sequence where name = 'cronce_history'"
const COUNT_ENDS = 'select count(*) as lines from cronce_history where position > ?'
/** Lines of other namespaces are skipped. */
export const ENDS = `
select line, is_final, r.token, ${NOTES}
  from cronce_history r not indexed
 where position > ? and r.namespace = ?
 order by position
 limit ?`

export function listEnds(
  db: DatabaseSync,
  namespace: string,
  { after, limit }: EndQuery,
  { now, epoch }: { readonly now: Instant; readonly epoch: number },
): EndPage {
  const last = Number(statement(db, LAST_END).get()?.position ?? 0)
  const next = writeCursor([epoch, last])
  if (after === null) return { now, items: [], next, complete: true }
  const [of, place] = readCursor(after, ['number', 'number'])
  const isKnown = of === epoch && place <= last && place >= last - ENDS_KEPT
  const rows = isKnown ? statement(db, ENDS).all(place, namespace, limit + 1) : []
  // A position without a line: it has been deleted, or rewritten further on.
  const isWhole = rows.length <= limit && Number(statement(db, COUNT_ENDS).get(place)?.lines) === last - place
  // A fire that is open again has not ended.
  const items = rows.slice(0, limit).filter(({ is_final, token }) => is_final === 1 || token !== null)
  return { now, items: items.map(lineRecordOf), next, complete: isKnown && isWhole }
}
