import type { ActivityRecord } from '../../model/activity.ts'
import { OUTCOMES } from '../../model/outcome.ts'
import type { FireRecord, HourCount, ListedRecord, RunNotes } from '../../model/record.ts'
import type { Instant, ScheduleState } from '../../model/schedule.ts'
import { listLine, listOpenFire, viewEndedFire, viewOpenFire } from '../../model/views.ts'
import { compareBytes, comparePlaces, placeOf, writeCursor } from '../cursor.ts'
import type { Page, RecordQuery } from '../store.ts'
import { type LineRow, lineOf, type StoreMoment } from './rows.ts'
import type { StatesAnswer } from './schedules.ts'

/** An open fire, by its position in the state of its schedule. */
interface OpenRow {
  readonly key: number
  readonly dueAt: Instant
  readonly nonce: string
  readonly notes: RunNotes | null
}

/** Lines and open fires, each in order, one more than the page holds; and the states of the open fires. */
export interface PageAnswer extends StatesAnswer {
  readonly lines: readonly LineRow[]
  readonly open: readonly OpenRow[]
}

export interface EndsAnswer extends StoreMoment {
  readonly snapshot: string
  readonly erased: boolean
  readonly lines: readonly LineRow[]
}

export function recordPage(
  answer: PageAnswer,
  states: readonly ScheduleState[],
  { view, order, limit }: RecordQuery,
): Page<ListedRecord> {
  const placed = (record: ListedRecord, key: number) => ({ record, key, ...placeOf(record, view) })
  // Notes belong to runs.
  const notesOf = ({ notes }: LineRow | OpenRow): RunNotes | null => (view === 'runs' ? notes : null)
  const ended = answer.lines.map((row) => placed(listLine(lineOf(row), notesOf(row)), row.key))
  const open = openIn(answer, states).map(({ row, state, fire }) =>
    placed(listOpenFire(state, fire, notesOf(row)), row.key),
  )
  const sign = order === 'earliest' ? 1 : -1
  // Schedules are in the order of their keys.
  const sorted = [...ended, ...open].sort(
    (one, other) => sign * (one.dueAt - other.dueAt || one.key - other.key || comparePlaces(one, other, compareBytes)),
  )
  const page = sorted.slice(0, limit)
  const last = page.at(-1)
  const isCut = sorted.length > limit && last !== undefined
  const next = isCut ? writeCursor([last.dueAt, last.key, last.nonce, last.token]) : null
  return { now: answer.now, items: page.map(({ record }) => record), next }
}

function lineRecordOf(row: LineRow): ListedRecord {
  return listLine(lineOf(row), row.notes)
}

/** One fire: open, or as its last line says. `null`: it is gone. */
export function fireOf(answer: PageAnswer, states: readonly ScheduleState[]): FireRecord | null {
  const [open] = openIn(answer, states)
  if (open !== undefined) return viewOpenFire(open.state, open.fire)
  const [line] = answer.lines
  return line === undefined ? null : viewEndedFire(lineOf(line))
}

export interface ActivityAnswer extends StoreMoment {
  readonly lines: readonly ActivityRecord[]
}

export interface LatestAnswer extends StoreMoment {
  readonly lines: readonly LineRow[]
}

export interface CountAnswer extends StoreMoment {
  /** `outcome`: its index in `OUTCOMES`. */
  readonly hours: readonly { readonly hour: Instant; readonly outcome: number; readonly count: number }[]
}

/** Sorted by hour, and by the names of outcomes. */
export function hoursOf({ hours }: CountAnswer): HourCount[] {
  return hours
    .map(({ hour, outcome, count }) => ({ hour, outcome: OUTCOMES[outcome]!, count }))
    .sort((one, other) => one.hour - other.hour || compareBytes(one.outcome, other.outcome))
}

/** A fire that is open again has not ended. */
export function endsOf(rows: readonly LineRow[]): ListedRecord[] {
  return rows.filter((row) => row.isFinal || lineOf(row).run !== null).map(lineRecordOf)
}

function openIn({ open, states: { key: keys } }: PageAnswer, states: readonly ScheduleState[]) {
  const byKey = new Map(states.map((state, index) => [keys![index]!, state]))
  return open.flatMap((row) => {
    const state = byKey.get(row.key)
    const fire = state?.open.find(({ dueAt, nonce }) => dueAt === row.dueAt && nonce === row.nonce)
    return state === undefined || fire === undefined ? [] : [{ row, state, fire }]
  })
}
