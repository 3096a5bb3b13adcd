import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import type { FireRecord, RunNotes, RunRecord } from '../../model/record.ts'
import type { Instant, ScheduleState } from '../../model/schedule.ts'
import { readCursor, writeCursor } from '../cursor.ts'
import { isEnd } from '../matches.ts'
import {
  ENDS_KEPT,
  type End,
  type EndPage,
  type EndQuery,
  type FireQuery,
  type Page,
  type RunQuery,
  type ScheduleQuery,
} from '../store.ts'
import { type Row, statement } from './driver.ts'
import { FORMAT, fireOf, notedRunOf, scheduleOf } from './rows.ts'

/** A statement made of a few fixed parts: which index it walks is chosen, never left to statistics that nobody gathers. */
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

/** `null` where nothing is asked for. */
function when(sql: string, value: SQLInputValue | undefined): Condition {
  return value === undefined ? null : [sql, value]
}

function rowsOf(db: DatabaseSync, { sql, values }: Select): Row[] {
  return statement(db, sql).all(...values)
}

/** The rows are one more than the page holds, if there are so many: then there is a next one. */
function page<Item>(
  now: Instant,
  rows: readonly Row[],
  limit: number,
  itemOf: (row: Row) => Item,
  placeOf: (item: Item) => readonly (string | number)[],
): Page<Item> {
  const items = rows.slice(0, limit).map(itemOf)
  const last = items.at(-1)
  return { now, items, next: rows.length > limit && last !== undefined ? writeCursor(placeOf(last)) : null }
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
      // Nothing sorts behind the last character there is.
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
  return page(now, rows, query.limit, scheduleOf, ({ id }) => [id])
}

/**
 * Fires due in the stretch, and ranges that begin before it and reach into it, which are few. In time, all of the former lie
 * behind all of the latter, so a page is made of one and then the other.
 */
export function selectFires(namespace: string, query: FireQuery): readonly Select[] {
  const { schedule, from, to, order = 'latest' } = query
  const latest = order === 'latest'
  const places = latest ? 'due_at desc, schedule desc, nonce desc' : 'due_at, schedule, nonce'
  const after = query.after === null ? null : readCursor(query.after, ['number', 'string', 'string'])
  const common: readonly Condition[] = [
    ['namespace = ?', namespace],
    when('schedule = ?', schedule),
    when('job = ?', query.job),
    when('tenant = ?', query.tenant),
    ofOutcome(query.outcome),
    // Said twice: the index of nonces is known by what it leaves out.
    hasNonce(query) ? ["nonce = ? and nonce <> ''", query.nonce!] : when('nonce = ?', query.nonce),
    when('due_at < ?', to),
    after === null ? null : [`(due_at, schedule, nonce) ${latest ? '<' : '>'} (?, ?, ?)`, ...after],
  ]
  const within = select(
    `select record from cronce_fires ${fireIndex(query)}`,
    [...common, when('due_at >= ?', from)],
    places,
    query.limit + 1,
  )
  if (from === undefined) return [within]
  const rangeIndex = schedule === undefined ? 'cronce_fires_range' : 'cronce_fires_schedule_range'
  const reaching = select(
    `select record from cronce_fires indexed by ${rangeIndex}`,
    [...common, ['until_at is not null and until_at >= ? and due_at < ?', from, from]],
    places,
    query.limit + 1,
  )
  return latest ? [within, reaching] : [reaching, within]
}

function hasNonce({ nonce }: FireQuery): boolean {
  return nonce !== undefined && nonce !== ''
}

/** Most of what there is succeeded: whatever else is asked for is found sooner among its like than among all of a job. */
function isRare(outcome: FireQuery['outcome']): boolean {
  return outcome !== undefined && outcome !== 'succeeded'
}

/** Neither open nor a success: these have an index for each schedule. */
function isTrouble(outcome: FireQuery['outcome']): boolean {
  return isRare(outcome) && outcome !== 'open'
}

/** Said twice, where an index is known by what it leaves out. */
function ofOutcome(outcome: FireQuery['outcome']): Condition {
  if (outcome === undefined || !isTrouble(outcome)) return when('outcome = ?', outcome)
  return ["outcome = ? and outcome <> 'open' and outcome <> 'succeeded'", outcome]
}

function fireIndex(query: FireQuery): string {
  const { schedule, job, tenant, outcome } = query
  if (hasNonce(query)) return 'indexed by cronce_fires_nonce'
  // Of all schedules there are few.
  if (outcome === 'open') return 'indexed by cronce_fires_outcome'
  if (schedule !== undefined && isTrouble(outcome)) return 'indexed by cronce_fires_trouble'
  // The primary key: all fires of the schedule by time.
  if (schedule !== undefined) return ''
  if (tenant !== undefined) return 'indexed by cronce_fires_tenant'
  if (job !== undefined && !isRare(outcome)) return 'indexed by cronce_fires_job'
  return outcome === undefined ? 'indexed by cronce_fires_time' : 'indexed by cronce_fires_outcome'
}

export function listFires(db: DatabaseSync, namespace: string, query: FireQuery, now: Instant): Page<FireRecord> {
  const rows: Row[] = []
  for (const part of selectFires(namespace, query)) {
    if (rows.length <= query.limit) rows.push(...rowsOf(db, part))
  }
  return page(now, rows, query.limit, fireOf, ({ dueAt, schedule, nonce }) => [dueAt, schedule, nonce])
}

export function selectRuns(namespace: string, query: RunQuery): Select {
  const { fire, token, job, instance, outcome, from, to } = query
  const after = query.after === null ? null : readCursor(query.after, ['number', 'string', 'string'])
  return select(
    `select record, notes
       from cronce_runs ${runIndex(query)}
       left join cronce_run_notes using (namespace, schedule, token)`,
    [
      ['cronce_runs.namespace = ?', namespace],
      when('cronce_runs.schedule = ?', query.schedule),
      fire === undefined
        ? null
        : ['cronce_runs.schedule = ? and due_at = ? and nonce = ?', fire.schedule, fire.dueAt, fire.nonce],
      when('cronce_runs.token = ?', token),
      when('job = ?', job),
      when('instance = ?', instance),
      ofOutcome(outcome),
      when('started_at >= ?', from),
      when('started_at < ?', to),
      after === null ? null : ['(started_at, cronce_runs.schedule, cronce_runs.token) < (?, ?, ?)', ...after],
    ],
    'started_at desc, cronce_runs.schedule desc, cronce_runs.token desc',
    query.limit + 1,
  )
}

function runIndex({ schedule, fire, token, job, instance, outcome }: RunQuery): string {
  if (fire !== undefined) return 'indexed by cronce_runs_fire'
  // The primary key.
  if (schedule !== undefined && token !== undefined) return ''
  if (outcome === 'open') return 'indexed by cronce_runs_outcome'
  if (schedule !== undefined && isTrouble(outcome)) return 'indexed by cronce_runs_trouble'
  if (schedule !== undefined) return 'indexed by cronce_runs_schedule'
  if (instance !== undefined && !isRare(outcome)) return 'indexed by cronce_runs_instance'
  if (job !== undefined && !isRare(outcome)) return 'indexed by cronce_runs_job'
  return outcome === undefined ? 'indexed by cronce_runs_time' : 'indexed by cronce_runs_outcome'
}

export function listRuns(
  db: DatabaseSync,
  namespace: string,
  query: RunQuery,
  now: Instant,
): Page<RunRecord & RunNotes> {
  const rows = rowsOf(db, selectRuns(namespace, query))
  return page(now, rows, query.limit, notedRunOf, ({ startedAt, schedule, token }) => [startedAt, schedule, token])
}

const LAST_END = 'select max(number) as number from cronce_ends'
/** The log is short: it is read by number, and ends of other namespaces are passed over. */
export const ENDS = `
select e.token, coalesce(r.record, f.record) as record, n.notes
  from cronce_ends e
  left join cronce_runs r on e.token <> '' and r.namespace = e.namespace and r.schedule = e.schedule and r.token = e.token
  left join cronce_run_notes n on e.token <> '' and n.namespace = e.namespace and n.schedule = e.schedule and n.token = e.token
  left join cronce_fires f
    on e.token = '' and f.namespace = e.namespace and f.schedule = e.schedule and f.due_at = e.due_at and f.nonce = e.nonce
 where e.number > ? and e.namespace = ?
 order by e.number
 limit ?`

export function listEnds(
  db: DatabaseSync,
  namespace: string,
  { after, limit }: EndQuery,
  { now, epoch }: { readonly now: Instant; readonly epoch: number },
): EndPage {
  const last = Number(statement(db, LAST_END).get()?.number ?? 0)
  const next = writeCursor([epoch, last])
  if (after === null) return { now, items: [], next, complete: true }
  const [of, place] = readCursor(after, ['number', 'number'])
  const isKnown = of === epoch && place <= last && place >= last - ENDS_KEPT
  const rows = isKnown ? statement(db, ENDS).all(place, namespace, limit + 1) : []
  const found = rows.slice(0, limit).map(endOf)
  const isWhole = rows.length <= limit && !found.includes(null)
  return { now, items: found.filter(isEnd), next, complete: isKnown && isWhole }
}

/** `null` if the record has been deleted. */
function endOf(row: Row): End | null {
  if (row.record === null) return null
  return row.token === '' ? { kind: 'fire', fire: fireOf(row) } : { kind: 'run', run: notedRunOf(row) }
}
