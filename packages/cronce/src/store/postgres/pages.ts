import { OUTCOMES } from '../../model/outcome.ts'
import type { FireRecord, HourCount, RunNotes, RunRecord } from '../../model/record.ts'
import { type Instant, isRunning, type ScheduleState } from '../../model/schedule.ts'
import { viewEndedFire, viewEndedRun, viewOpenFire, viewOpenRun } from '../../model/views.ts'
import { writeCursor } from '../cursor.ts'
import type { End, Page } from '../store.ts'
import { type LineRow, lineOf, type StoreMoment } from './rows.ts'
import type { StatesAnswer } from './schedules.ts'

/** An open fire, by its place in the state of its schedule. */
interface OpenRow {
  readonly key: number
  readonly dueAt: Instant
  readonly nonce: string
  readonly token: string
  readonly startedAt: Instant
  readonly notes: RunNotes | null
}

/** Lines and open fires, each in order, one more than the page holds; and the states that these are open in. */
export interface PageAnswer extends StatesAnswer {
  readonly lines: readonly LineRow[]
  readonly open: readonly OpenRow[]
}

export interface EndsAnswer extends StoreMoment {
  readonly snapshot: string
  readonly erased: boolean
  readonly lines: readonly LineRow[]
}

/** An item of a list, and where it stands there. */
interface Placed<Item> {
  readonly item: Item
  readonly at: Instant
  readonly key: number
  readonly last: string
}

type Compare = (one: string, other: string) => number

const UNTOLD: RunNotes = { progress: null, log: [], logCut: false }

export function firePage(
  answer: PageAnswer,
  states: readonly ScheduleState[],
  limit: number,
  isLatest: boolean,
): Page<FireRecord> {
  const placed = (row: LineRow | OpenRow, item: FireRecord): Placed<FireRecord> => {
    return { item, at: row.dueAt, key: row.key, last: row.nonce }
  }
  const ended = answer.lines.map((row) => placed(row, viewEndedFire(lineOf(row))))
  const open = openIn(answer, states).map(({ row, state, fire }) => placed(row, viewOpenFire(state, fire)))
  return pageOf(answer.now, [...ended, ...open], limit, isLatest ? -1 : 1, compareBytes)
}

export function runPage(
  answer: PageAnswer,
  states: readonly ScheduleState[],
  limit: number,
): Page<RunRecord & RunNotes> {
  const placed = (row: LineRow | OpenRow, run: RunRecord): Placed<RunRecord & RunNotes> => {
    return { item: { ...run, ...(row.notes ?? UNTOLD) }, at: row.startedAt, key: row.key, last: row.token }
  }
  const ended = answer.lines.map((row) => placed(row, viewEndedRun(lineOf(row))!))
  const open = openIn(answer, states).flatMap(({ row, state, fire }) =>
    isRunning(fire) ? [placed(row, viewOpenRun(state, fire))] : [],
  )
  return pageOf(answer.now, [...ended, ...open], limit, -1, compareNumbers)
}

/** A fire by itself: open, or as its last line says. `null`: it is gone. */
export function fireOf(answer: PageAnswer, states: readonly ScheduleState[]): FireRecord | null {
  const [open] = openIn(answer, states)
  if (open !== undefined) return viewOpenFire(open.state, open.fire)
  const [line] = answer.lines
  return line === undefined ? null : viewEndedFire(lineOf(line))
}

export interface LatestAnswer extends StoreMoment {
  readonly lines: readonly LineRow[]
}

export interface CountAnswer extends StoreMoment {
  /** `outcome`: its place among `OUTCOMES`. */
  readonly hours: readonly { readonly hour: Instant; readonly outcome: number; readonly count: number }[]
}

/** In the order of hours, and of the names of outcomes. */
export function hoursOf({ hours }: CountAnswer): HourCount[] {
  return hours
    .map(({ hour, outcome, count }) => ({ hour, outcome: OUTCOMES[outcome]!, count }))
    .sort((one, other) => one.hour - other.hour || compareBytes(one.outcome, other.outcome))
}

/** None if the fire is open again. */
export function endsOf(row: LineRow): End[] {
  const line = lineOf(row)
  const run = viewEndedRun(line)
  if (run !== null) return [{ kind: 'run', run: { ...run, ...(row.notes ?? UNTOLD) } }]
  return line.isFinal ? [{ kind: 'fire', fire: viewEndedFire(line) }] : []
}

function openIn({ open, states: { key: keys } }: PageAnswer, states: readonly ScheduleState[]) {
  const byKey = new Map(states.map((state, index) => [keys![index]!, state]))
  return open.flatMap((row) => {
    const state = byKey.get(row.key)
    const fire = state?.open.find(({ dueAt, nonce }) => dueAt === row.dueAt && nonce === row.nonce)
    return state === undefined || fire === undefined ? [] : [{ row, state, fire }]
  })
}

function pageOf<Item>(
  now: Instant,
  found: readonly Placed<Item>[],
  limit: number,
  sign: 1 | -1,
  compare: Compare,
): Page<Item> {
  const sorted = found.toSorted(
    (one, other) => sign * (one.at - other.at || one.key - other.key || compare(one.last, other.last)),
  )
  const items = sorted.slice(0, limit)
  const last = items.at(-1)
  const isCut = sorted.length > limit && last !== undefined
  return { now, items: items.map(({ item }) => item), next: isCut ? writeCursor([last.at, last.key, last.last]) : null }
}

/** In the order of the database. */
function compareBytes(one: string, other: string): number {
  return one === other ? 0 : Buffer.compare(Buffer.from(one), Buffer.from(other))
}

/** Decimal numbers: the longer one is the larger one. */
function compareNumbers(one: string, other: string): number {
  return one.length - other.length || compareBytes(one, other)
}
