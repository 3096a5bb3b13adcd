import type { HistoryRecord, ListedRecord } from '../../model/record.ts'
import type { Instant } from '../../model/schedule.ts'
import { listLine } from '../../model/views.ts'
import { compareBytes, comparePlaces, placeOf, type RecordPlace } from '../cursor.ts'
import { isInView } from '../matches.ts'
import type { RecordQuery } from '../store.ts'
import { readLine } from './history-line.ts'
import { encodeName, memberOf, scheduleOf } from './keys.ts'
import type { AskScript } from './moment.ts'
import { LIST_LINES, LIST_LOG, LIST_REGULAR } from './scripts.ts'

// Lines of the history in the order of their due times, read bite by bite.

/** How many records one script looks at: the server serves no other client meanwhile. */
export const BITE = 200

/** A record, and its position with the names as the server sorts them. */
export interface Placed {
  readonly record: ListedRecord
  readonly place: RecordPlace
}

export type Source = AsyncIterator<Placed, void>

export interface Stretch extends Pick<RecordQuery, 'view' | 'schedule' | 'from' | 'to'> {
  readonly isLatest: boolean
  /** The position at which to begin. */
  readonly after: RecordPlace | null
}

export function placed(record: ListedRecord, view: RecordQuery['view']): Placed {
  return { record, place: serverPlace(placeOf(record, view)) }
}

export function serverPlace({ schedule, nonce, ...place }: RecordPlace): RecordPlace {
  return { ...place, schedule: memberOf(schedule), nonce: encodeName(nonce) }
}

/** Negative: the first position comes first in a list of this direction. */
export function compareIn(isLatest: boolean, one: RecordPlace, other: RecordPlace): number {
  return (isLatest ? -1 : 1) * comparePlaces(one, other, compareBytes)
}

/** Sources that together have all lines of the stretch, and maybe others. Ranges that begin before `from` may reach into it. */
export function readHistory(ask: AskScript, stretch: Stretch): Source[] {
  const { view, schedule, from, to } = stretch
  const regular = schedule === undefined ? readLog(ask, stretch) : readList(ask, schedule, stretch)
  const bites = [regular, readIndexed(ask, 'fires', stretch)]
  if (from !== undefined && view === 'fires') {
    bites.push(readIndexed(ask, 'ranges', { ...stretch, from: undefined, to: Math.min(from, to ?? from) }))
  }
  return bites.map((one) => inOrder(one, stretch))
}

interface Bite {
  readonly lines: readonly HistoryRecord[]
  /** Whether all unread lines come after this position. */
  readonly isSettled: (place: RecordPlace) => boolean
}

/** Holds each line back until no unread line can precede it. */
async function* inOrder(bites: AsyncIterable<Bite>, { view, isLatest }: Stretch): AsyncGenerator<Placed, void> {
  let waiting: Placed[] = []
  for await (const { lines, isSettled } of bites) {
    for (const line of lines) if (isInView(line, view)) waiting.push(placed(listLine(line), view))
    waiting.sort((one, other) => compareIn(isLatest, one.place, other.place))
    const held = waiting.findIndex(({ place }) => !isSettled(place))
    const ready = held < 0 ? waiting.length : held
    yield* waiting.slice(0, ready)
    waiting = waiting.slice(ready)
  }
  yield* waiting
}

/** Lines in an index, which sorts the runs of one fire by the text of their number. */
async function* readIndexed(ask: AskScript, index: 'fires' | 'ranges', stretch: Stretch): AsyncGenerator<Bite> {
  const { schedule, isLatest } = stretch
  const member = schedule === undefined ? '' : memberOf(schedule)
  let begin = boundsOf(stretch)
  for (;;) {
    const { lines } = await ask(LIST_LINES, [index, member, ...begin, String(BITE)])
    const [looked, score, entry] = lines as [string, string, string]
    const [of, nonce] = member === '' ? entry.split('\n') : [member, entry.split('\n')[0]]
    const last = { dueAt: Number(score), schedule: of ?? '', nonce: nonce ?? '', token: '' }
    yield { lines: linesOf(lines, 3), isSettled: (place) => compareIn(isLatest, { ...place, token: '' }, last) < 0 }
    if (Number(looked) < BITE) return
    begin = [...begin.slice(0, 3), score, entry]
  }
}

/**
 * Order, earliest and latest time of a stretch of a sorted set, and the entry at which it begins. Entries end with a number or a
 * time: this one comes before or after all that differ only in that.
 */
export function boundsOf({ schedule, isLatest, from, to, after }: Stretch): string[] {
  const bounds = [isLatest ? 'latest' : 'earliest', from === undefined ? '-inf' : String(from)]
  bounds.push(to === undefined ? '+inf' : String(to))
  if (after === null) return [...bounds, '', '']
  const name = schedule === undefined ? `${after.schedule}\n${after.nonce}` : after.nonce
  return [...bounds, String(after.dueAt), isLatest ? `${name}\n:` : `${name}\n`]
}

/** The longest time between the due time or the end of a fire and the write of its regular line: see `lua/keys.lua`. */
const REGULAR_MS = 10_000

/** Where to begin: the latest wanted time, or the earliest. */
function firstTime({ isLatest, from, to, after }: Stretch): Instant | null {
  const times = [isLatest ? to : from, after?.dueAt].filter((time) => time !== undefined)
  if (times.length === 0) return null
  return isLatest ? Math.min(...times) : Math.max(...times)
}

/** Unread regular lines are due at this time or before it (or later), so this bite is complete beyond it. */
function biteUntil(lines: readonly HistoryRecord[], bound: Instant, isLatest: boolean): Bite {
  return { lines, isSettled: ({ dueAt }) => (isLatest ? dueAt > bound : dueAt < bound) }
}

function isBeyond({ isLatest, from, to }: Stretch, bound: Instant): boolean {
  return isLatest ? from !== undefined && bound < from : to !== undefined && bound >= to
}

/** The highest sequence number of an id of the log. */
const MOST = '18446744073709551615'

/** Regular lines of all schedules. The time of an entry of the log is when its lines were written. */
async function* readLog(ask: AskScript, stretch: Stretch): AsyncGenerator<Bite> {
  const { isLatest } = stretch
  const order = isLatest ? 'latest' : 'earliest'
  const time = firstTime(stretch)
  if (isLatest && time !== null && time < 0) return
  let from = firstEntry(time, isLatest)
  for (;;) {
    const { lines } = await ask(LIST_LOG, [order, from, String(BITE)])
    const [ms, sequence] = lines[0]!.split('-').map(Number) as [number, number]
    const bound = isLatest ? ms : ms - REGULAR_MS
    yield biteUntil(linesOf(lines, 1), bound, isLatest)
    if (lines[0] === '' || isBeyond(stretch, bound)) return
    from = entryBehind(ms, sequence, isLatest)
  }
}

/** The id of the log at which to begin. */
function firstEntry(time: Instant | null, isLatest: boolean): string {
  if (time === null || time < 0) return isLatest ? '+' : '-'
  return isLatest ? `${time + REGULAR_MS}-${MOST}` : `${time}-0`
}

/** The id of the log that follows this one. */
function entryBehind(ms: number, sequence: number, isLatest: boolean): string {
  if (!isLatest) return `${ms}-${sequence + 1}`
  return sequence > 0 ? `${ms}-${sequence - 1}` : `${ms - 1}-${MOST}`
}

/** Regular lines of one schedule. */
async function* readList(ask: AskScript, schedule: string, stretch: Stretch): AsyncGenerator<Bite> {
  const { isLatest } = stretch
  const time = firstTime(stretch)
  let number = ''
  let bound = isLatest ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY
  for (;;) {
    const order = isLatest ? 'latest' : 'earliest'
    const args = [memberOf(schedule), order, time === null ? '' : String(time), number, String(BITE)]
    const { lines } = await ask(LIST_REGULAR, args)
    number = lines[0]!
    const found = linesOf(lines, 1)
    const last = found.at(-1)
    if (last !== undefined) bound = isLatest ? last.endedAt + REGULAR_MS : last.endedAt - REGULAR_MS
    yield biteUntil(found, bound, isLatest)
    if (number === '' || isBeyond(stretch, bound)) return
  }
}

/** Built from member, number, line and body of each. */
export function linesOf(lines: readonly string[], first: number): HistoryRecord[] {
  const found: HistoryRecord[] = []
  for (let at = first; at < lines.length; at += 4) {
    const packed = { line: lines[at + 2]!, body: lines[at + 3]! }
    found.push(readLine(scheduleOf(lines[at]!), Number(lines[at + 1]), packed))
  }
  return found
}
