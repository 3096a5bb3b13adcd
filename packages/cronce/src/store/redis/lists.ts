import { ending } from '../../model/outcome.ts'
import type { HourCount, ListedRecord } from '../../model/record.ts'
import type { Instant, ScheduleState } from '../../model/schedule.ts'
import { listLine } from '../../model/views.ts'
import { readCursor, writeCursor } from '../cursor.ts'
import { matchesSchedule } from '../matches.ts'
import type { EndPage, EndQuery, HourQuery, Page, ScheduleQuery } from '../store.ts'
import { reasonOf } from './history-line.ts'
import { decodeName, encodeName } from './keys.ts'
import { type Reader, withNotes } from './list-records.ts'
import type { AskScript } from './moment.ts'
import { BITE, linesOf } from './read-history.ts'
import { COUNT_FIRES, LIST_ENDS, LIST_NAMES } from './scripts.ts'

export async function listSchedules({ ask, schedules }: Reader, query: ScheduleQuery): Promise<Page<ScheduleState>> {
  const { job, prefix = '', limit } = query
  const index = indexOf(query)
  const from = encodeName(prefix)
  const to = boundAbove(from)
  let last = query.after === null ? null : encodeName(String(readCursor(query.after, ['string'])[0]))
  const items: ScheduleState[] = []
  for (let count = Math.min(BITE, limit + 1); ; count = BITE) {
    const { lines: names } = await ask(LIST_NAMES, [...index, firstName(from, last), to, String(count)])
    last = names.at(-1) ?? last
    const { now, schedules: found } = await schedules.load(names.map(decodeName))
    for (const state of found) {
      if (matchesSchedule(state, query) && (job === undefined || state.definition.job === job)) items.push(state)
    }
    if (items.length > limit) {
      const kept = items.slice(0, limit)
      return { now, items: kept, next: kept.length === 0 ? null : writeCursor([kept.at(-1)!.id]) }
    }
    if (names.length < count) return { now, items, next: null }
  }
}

/** Where the next script begins: after the last name that was read, otherwise at the prefix. */
function firstName(prefix: string, last: string | null): string {
  if (last !== null && Buffer.compare(Buffer.from(last), Buffer.from(prefix)) >= 0) return `(${last}`
  return prefix === '' ? '-' : `[${prefix}`
}

const LAST_CHARACTER = 0x10ffff
/** The characters between these two are surrogates, which have no UTF-8 bytes. */
const [BEFORE_SURROGATES, AFTER_SURROGATES] = [0xd7ff, 0xe000]

/** The first text after all that begin with this one, in the order of UTF-8 bytes. '+': there is none. */
function boundAbove(prefix: string): string {
  const characters = Array.from(prefix, (character) => character.codePointAt(0)!)
  while (characters.at(-1) === LAST_CHARACTER) characters.pop()
  const last = characters.pop()
  if (last === undefined) return '+'
  return `(${String.fromCodePoint(...characters, last === BEFORE_SURROGATES ? AFTER_SURROGATES : last + 1)}`
}

/** By the filter that matches the fewest: an app's code declares hundreds where clients may have created a million. */
function indexOf({ app, tenant, job }: ScheduleQuery): [kind: string, name: string] {
  if (app !== undefined) return ['app', `+${encodeName(app)}`]
  if (tenant !== undefined) return ['tenant', `+${encodeName(tenant)}`]
  return job === undefined ? ['', ''] : ['job', encodeName(job)]
}

const HOUR_MS = 3_600_000
const DAY_HOURS = 24

export async function countFires(
  ask: AskScript,
  { from, to }: HourQuery,
): Promise<{ readonly now: Instant; readonly hours: HourCount[] }> {
  const days = [from, to].map((time) => String(Math.floor(time / (DAY_HOURS * HOUR_MS))))
  const { now, lines } = await ask(COUNT_FIRES, days)
  const counts = new Map<string, HourCount>()
  for (let at = 0; at < lines.length; at += 2) {
    for (const [, hourOfDay, reason, fires] of lines[at + 1]!.matchAll(/(\d+) (\w+) (-?\d+)/g)) {
      const hour = (Number(lines[at]) * DAY_HOURS + Number(hourOfDay)) * HOUR_MS
      const { outcome } = ending(reasonOf(reason!))
      const key = `${hour} ${outcome}`
      const count = (counts.get(key)?.count ?? 0) + Number(fires)
      if (hour >= from && hour < to) counts.set(key, { hour, outcome, count })
    }
  }
  const hours = [...counts.values()].filter(({ count }) => count !== 0)
  return { now, hours: hours.sort((one, other) => one.hour - other.hour || (one.outcome < other.outcome ? -1 : 1)) }
}

/** Entries of the log that one script looks at. */
const ENTRIES = 50

/** Bite by bite, until the end of the log or of the page. */
export async function listEnds(ask: AskScript, { after, limit }: EndQuery): Promise<EndPage> {
  const [epochThen, from] = after === null ? [null, ''] : readCursor(after, ['number', 'string'])
  const items: ListedRecord[] = []
  let isWhole = true
  for (let place = from; ; ) {
    const { now, epoch, lines } = await ask(LIST_ENDS, [place, String(ENTRIES)])
    const [last, isKept, next, named] = lines as [string, string, string, string]
    const isKnown = isKept === '1' && (epochThen ?? epoch) === epoch
    const found = isKnown ? linesOf(lines, 4) : []
    // A fire that is open again has not ended.
    const ended = found.filter(({ isFinal, run }) => isFinal || run !== null)
    const ends = await withNotes(
      ask,
      ended.map((line) => listLine(line)),
    )
    const room = limit - items.length
    items.push(...ends.slice(0, room))
    isWhole &&= isKnown && found.length === Number(named) && ends.length <= room
    if (isKnown && next !== '' && items.length < limit) {
      place = next
      continue
    }
    return { now, items, next: writeCursor([epoch, last]), complete: isWhole && next === '' }
  }
}
