import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import type { Outcome } from '../../model/outcome.ts'
import type { FireEnd, FireKey, FireRecord, HourCount, RunNotes, RunRecord } from '../../model/record.ts'
import { type Instant, isRunning, type ScheduleState } from '../../model/schedule.ts'
import { viewEnd, viewEndedFire, viewEndedRun, viewOpenFire, viewOpenRun } from '../../model/views.ts'
import { readCursor, writeCursor } from '../cursor.ts'
import {
  ENDS_KEPT,
  type End,
  type EndPage,
  type EndQuery,
  type FireQuery,
  type HourQuery,
  type LatestQuery,
  type Page,
  type RunQuery,
  type ScheduleQuery,
} from '../store.ts'
import { type Row, statement } from './driver.ts'
import { FORMAT, lineOf, scheduleOf, viewLine, withNotes } from './rows.ts'

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

/** The items are one more than the page holds, if there are so many: then there is a next one. */
function pageOf<Item>(
  now: Instant,
  found: readonly Item[],
  limit: number,
  placeOf: (item: Item) => readonly (string | number)[],
): Page<Item> {
  const items = found.slice(0, limit)
  const last = items.at(-1)
  return { now, items, next: found.length > limit && last !== undefined ? writeCursor(placeOf(last)) : null }
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
  return pageOf(now, rows.map(scheduleOf), query.limit, ({ id }) => [id])
}

/**
 * Ended fires due in the stretch, and ranges that begin before it and reach into it, which are few. In time, all of the former lie
 * behind all of the latter, so a page is made of one and then the other.
 */
export function selectFires(namespace: string, query: FireQuery): readonly Select[] {
  const { schedule, from, to, order = 'latest' } = query
  const latest = order === 'latest'
  const common: readonly Condition[] = [
    ['namespace = ? and is_final = 1', namespace],
    when('schedule = ?', schedule),
    when('job = ?', query.job),
    when('tenant = ?', query.tenant),
    ofOutcome(query.outcome),
    // Stated twice: SQLite uses the partial index of nonces only if its condition is repeated.
    hasNonce(query) ? ["nonce = ? and nonce <> ''", query.nonce!] : when('nonce = ?', query.nonce),
    when('due_at < ?', to),
    behind(query, latest),
  ]
  const within = select(
    `select line, is_final from cronce_history ${fireIndex(query)}`,
    [...common, when('due_at >= ?', from)],
    placesOf(latest),
    query.limit + 1,
  )
  if (from === undefined) return [within]
  const rangeIndex = schedule === undefined ? 'cronce_history_range' : 'cronce_history_schedule_range'
  const reaching = select(
    `select line, is_final from cronce_history indexed by ${rangeIndex}`,
    [...common, ['until_at is not null and until_at >= ? and due_at < ?', from, from]],
    placesOf(latest),
    query.limit + 1,
  )
  return latest ? [within, reaching] : [reaching, within]
}

/** Open fires of the stretch, each with the state that it is open in. */
export function selectOpenFires(namespace: string, query: FireQuery): Select {
  const latest = (query.order ?? 'latest') === 'latest'
  const { schedule, from, to } = query
  return select(
    `select due_at, nonce, schedule, state, definition
       from cronce_open ${schedule === undefined ? 'indexed by cronce_open_time' : ''}
       join cronce_schedules on cronce_schedules.namespace = cronce_open.namespace and id = schedule
       join cronce_definitions using (key)`,
    [
      ['cronce_open.namespace = ?', namespace],
      when('schedule = ?', schedule),
      when('cronce_open.job = ?', query.job),
      when('cronce_open.tenant = ?', query.tenant),
      when('nonce = ?', query.nonce),
      when('due_at >= ?', from),
      when('due_at < ?', to),
      behind(query, latest),
    ],
    placesOf(latest),
    query.limit + 1,
  )
}

function placesOf(latest: boolean): string {
  return latest ? 'due_at desc, schedule desc, nonce desc' : 'due_at, schedule, nonce'
}

function behind({ after }: FireQuery, latest: boolean): Condition {
  if (after === null) return null
  return [
    `(due_at, schedule, nonce) ${latest ? '<' : '>'} (?, ?, ?)`,
    ...readCursor(after, ['number', 'string', 'string']),
  ]
}

function hasNonce({ nonce }: FireQuery): boolean {
  return nonce !== undefined && nonce !== ''
}

/** Most fires succeed: any other outcome has indexes of its own, whose condition must be repeated. */
function ofOutcome(outcome: FireQuery['outcome']): Condition {
  if (outcome === undefined || outcome === 'succeeded') return when('outcome = ?', outcome)
  return ["outcome = ? and outcome <> 'succeeded'", outcome]
}

function isTrouble(outcome: FireQuery['outcome']): boolean {
  return outcome !== undefined && outcome !== 'succeeded'
}

function fireIndex(query: FireQuery): string {
  const { schedule, job, tenant, outcome } = query
  if (hasNonce(query) && schedule !== undefined) return 'indexed by cronce_history_nonce'
  if (schedule !== undefined) return `indexed by cronce_history_${isTrouble(outcome) ? 'trouble' : 'fire'}`
  if (hasNonce(query)) return 'indexed by cronce_history_nonce'
  if (tenant !== undefined) return 'indexed by cronce_history_tenant'
  if (isTrouble(outcome)) return 'indexed by cronce_history_outcome'
  return `indexed by cronce_history_${job === undefined ? 'time' : 'job'}`
}

export function listFires(db: DatabaseSync, namespace: string, query: FireQuery, now: Instant): Page<FireRecord> {
  const { outcome, limit, order = 'latest' } = query
  const ended: Row[] = []
  for (const part of outcome === 'open' ? [] : selectFires(namespace, query)) {
    if (ended.length <= limit) ended.push(...rowsOf(db, part))
  }
  const isOpenWanted = outcome === undefined || outcome === 'open'
  const open = isOpenWanted ? rowsOf(db, selectOpenFires(namespace, query)) : []
  const sign = order === 'latest' ? -1 : 1
  const fires = [...ended.map(viewLine), ...openFiresOf(open)].sort((one, other) => sign * compareFires(one, other))
  return pageOf(now, fires, limit, ({ dueAt, schedule, nonce }) => [dueAt, schedule, nonce])
}

/** In the order of SQLite: by the bytes of UTF-8. */
function compareFires(one: FireKey, other: FireKey): number {
  return one.dueAt - other.dueAt || compareText(one.schedule, other.schedule) || compareText(one.nonce, other.nonce)
}

function compareText(one: string, other: string): number {
  return one === other ? 0 : Buffer.compare(Buffer.from(one), Buffer.from(other))
}

function openFiresOf(rows: readonly Row[]): FireRecord[] {
  const states = new Map<string, ScheduleState>()
  return rows.map((row) => {
    const state = stateIn(states, row)
    return viewOpenFire(state, state.open.find(({ dueAt, nonce }) => dueAt === row.due_at && nonce === row.nonce)!)
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

/** Of one schedule: as many statements as a screen has schedules. */
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

export function selectRuns(namespace: string, query: RunQuery): Select {
  const { fire, token, job, instance, outcome } = query
  return select(
    `select line, is_final, notes
       from cronce_history ${runIndex(query)}
       left join cronce_run_notes using (namespace, schedule, token)`,
    [
      ['cronce_history.namespace = ? and cronce_history.token is not null', namespace],
      when('cronce_history.schedule = ?', query.schedule),
      fire === undefined
        ? null
        : ['cronce_history.schedule = ? and due_at = ? and nonce = ?', fire.schedule, fire.dueAt, fire.nonce],
      when('cronce_history.token = ?', token),
      when('job = ?', job),
      when('instance = ?', instance),
      ofOutcome(outcome),
      ...startedIn(query, 'cronce_history'),
    ],
    'started_at desc, cronce_history.schedule desc, cronce_history.token desc',
    query.limit + 1,
  )
}

function startedIn({ from, to, after }: RunQuery, table: string): readonly Condition[] {
  return [
    when('started_at >= ?', from),
    when('started_at < ?', to),
    after === null
      ? null
      : [
          `(started_at, ${table}.schedule, ${table}.token) < (?, ?, ?)`,
          ...readCursor(after, ['number', 'string', 'string']),
        ],
  ]
}

/** Open runs, each with the state that it is open in. There are as many as the fleet has room for. */
export function selectOpenRuns(namespace: string, query: RunQuery): Select {
  const { schedule, fire, instance } = query
  const index =
    schedule === undefined && fire === undefined && instance !== undefined ? 'indexed by cronce_open_held' : ''
  return select(
    `select cronce_open.schedule, cronce_open.token, started_at, state, definition, notes
       from cronce_open ${index}
       join cronce_schedules on cronce_schedules.namespace = cronce_open.namespace and id = cronce_open.schedule
       join cronce_definitions using (key)
       left join cronce_run_notes
         on cronce_run_notes.namespace = cronce_open.namespace
        and cronce_run_notes.schedule = cronce_open.schedule and cronce_run_notes.token = cronce_open.token`,
    [
      ['cronce_open.namespace = ? and cronce_open.token is not null', namespace],
      when('cronce_open.schedule = ?', schedule),
      fire === undefined
        ? null
        : ['cronce_open.schedule = ? and due_at = ? and nonce = ?', fire.schedule, fire.dueAt, fire.nonce],
      when('cronce_open.token = ?', query.token),
      when('cronce_open.job = ?', query.job),
      when('instance = ?', instance),
      ...startedIn(query, 'cronce_open'),
    ],
    'started_at desc, cronce_open.schedule desc, cronce_open.token desc',
    query.limit + 1,
  )
}

function runIndex({ schedule, fire, token, outcome }: RunQuery): string {
  if (fire !== undefined) return 'indexed by cronce_history_fire'
  if (schedule !== undefined && token !== undefined) return 'indexed by cronce_history_token'
  if (schedule !== undefined) return `indexed by cronce_history_${isTrouble(outcome) ? 'failed_runs' : 'runs'}`
  return `indexed by cronce_history_${isTrouble(outcome) ? 'failed' : 'started'}`
}

export function listRuns(
  db: DatabaseSync,
  namespace: string,
  query: RunQuery,
  now: Instant,
): Page<RunRecord & RunNotes> {
  const { outcome, limit } = query
  const ended = outcome === 'open' ? [] : rowsOf(db, selectRuns(namespace, query))
  const isOpenWanted = outcome === undefined || outcome === 'open'
  const open = isOpenWanted ? rowsOf(db, selectOpenRuns(namespace, query)) : []
  const runs = [...ended.map(endedRunOf), ...openRunsOf(open)].sort((one, other) => -compareRuns(one, other))
  return pageOf(now, runs, limit, ({ startedAt, schedule, token }) => [startedAt, schedule, token])
}

function compareRuns(one: RunRecord, other: RunRecord): number {
  return (
    one.startedAt - other.startedAt || compareText(one.schedule, other.schedule) || compareText(one.token, other.token)
  )
}

function endedRunOf(row: Row): RunRecord & RunNotes {
  return withNotes(viewEndedRun(lineOf(row))!, row.notes)
}

function openRunsOf(rows: readonly Row[]): (RunRecord & RunNotes)[] {
  const states = new Map<string, ScheduleState>()
  return rows.map((row) => {
    const state = stateIn(states, row)
    const fire = state.open.filter(isRunning).find(({ run }) => run.token === row.token)!
    return withNotes(viewOpenRun(state, fire), row.notes)
  })
}

/** The highest position that was ever given: lines that have been deleted since count as well. */
const LAST_END = "select seq as position from sqlite_sequence where name = 'cronce_history'"
const COUNT_ENDS = 'select count(*) as lines from cronce_history where position > ?'
/** Lines of other namespaces are passed over. */
export const ENDS = `
select line, is_final, notes
  from cronce_history not indexed left join cronce_run_notes using (namespace, schedule, token)
 where position > ? and cronce_history.namespace = ?
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
  return { now, items: rows.slice(0, limit).flatMap(endsOf), next, complete: isKnown && isWhole }
}

/** None if the fire is open again. */
function endsOf(row: Row): End[] {
  const line = lineOf(row)
  const run = viewEndedRun(line)
  if (run !== null) return [{ kind: 'run', run: withNotes(run, row.notes) }]
  return line.isFinal ? [{ kind: 'fire', fire: viewEndedFire(line) }] : []
}
