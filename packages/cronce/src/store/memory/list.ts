import type { ActivityRecord } from '../../model/activity.ts'
import type { Outcome } from '../../model/outcome.ts'
import type { FireEnd, FireKey, FireRecord, HourCount, ListedRecord, StepRecord } from '../../model/record.ts'
import type { Instant, ScheduleState } from '../../model/schedule.ts'
import { listLine, listOpenFire, viewEnd, viewEndedFire, viewOpenFire } from '../../model/views.ts'
import {
  activityPage,
  compareActivity,
  comparePlaces,
  placeOf,
  readActivityPlace,
  readCursor,
  readPlace,
  writeCursor,
  writePlace,
} from '../cursor.ts'
import { matchesActivity, matchesRecord, matchesSchedule } from '../matches.ts'
import type {
  ActivityQuery,
  EndPage,
  EndQuery,
  HourQuery,
  LatestQuery,
  Page,
  RecordQuery,
  ScheduleQuery,
} from '../store.ts'
import { runKeyText } from './data.ts'
import { type FireEntry, finalLine, findFire, type RecordIndex, type Shelf } from './record-index.ts'
import { ascend, compareText, descend } from './sorted.ts'
import type { Space } from './space.ts'

/** The fire is open again, so it has not ended. */
const REOPENED = 'reopened'

export function listSchedules(space: Space, now: Instant, query: ScheduleQuery): Page<ScheduleState> {
  const { job, prefix = '' } = query
  const names = job === undefined ? space.wakes.names : space.wakes.jobs.get(job)?.names
  const after = query.after === null ? null : readCursor(query.after, ['string'])[0]
  const isFirst = after === null || after < prefix
  const found = function* (): Generator<ScheduleState> {
    for (const name of names === undefined ? [] : ascend(names, isFirst ? prefix : after, isFirst)) {
      if (!name.startsWith(prefix)) return
      const state = space.data.schedules.get(name)!
      if (matchesSchedule(state, query)) yield state
    }
  }
  return page(now, found(), query.limit, ({ id }) => writeCursor([id]))
}

export function listActivity({ data }: Space, now: Instant, query: ActivityQuery): Page<ActivityRecord> {
  const place = readActivityPlace(query)
  const found = [...data.activity.values()]
    .filter((line) => matchesActivity(line, query) && (place === null || compareActivity(line, place) > 0))
    .sort(compareActivity)
  return activityPage(now, found, query)
}

export function listRecords(space: Space, now: Instant, query: RecordQuery): Page<ListedRecord> {
  const { view } = query
  const after = readPlace(query)
  const sign = query.order === 'earliest' ? 1 : -1
  const isBehind = (record: ListedRecord): boolean =>
    after === null || sign * comparePlaces(placeOf(record, view), after, compareText) > 0
  const found = function* (): Generator<ListedRecord> {
    for (const entry of fireEntries(space.records, query, after)) {
      for (const record of recordsOf(space, entry, view, sign)) {
        if (!matchesRecord(record, query) || !isBehind(record)) continue
        yield record
        // A token identifies one run of its schedule: nothing else is searched.
        if (query.schedule !== undefined && query.token !== undefined) return
      }
    }
  }
  return page(now, found(), query.limit, (record) => writePlace(placeOf(record, view)))
}

/** What a view shows about one fire, in order. */
function recordsOf({ data }: Space, entry: FireEntry, view: RecordQuery['view'], sign: 1 | -1): ListedRecord[] {
  const { schedule, open, lines } = entry
  const state = data.schedules.get(schedule)
  if (view === 'fires') {
    const final = finalLine(entry)
    if (open !== null) return [listOpenFire(state!, open)]
    return final === undefined ? [] : [listLine(final)]
  }
  const notesOf = ({ token }: { readonly token: string }) => data.notes.get(runKeyText(schedule, token))
  const runs = lines.flatMap((line) => (line.run === null ? [] : [listLine(line, notesOf(line.run))]))
  if (open?.run) runs.push(listOpenFire(state!, open, notesOf(open.run)))
  return runs.sort((one, other) => sign * comparePlaces(placeOf(one, view), placeOf(other, view), compareText))
}

/** The listed form; if the fire neither ended nor is open, as its last line says. It must be open or have a line. */
export function viewFire({ data }: Space, entry: FireEntry): FireRecord {
  const { schedule, open, lines } = entry
  if (open === null) return viewEndedFire(finalLine(entry) ?? lines.at(-1)!)
  return viewOpenFire(data.schedules.get(schedule)!, open)
}

/** All candidates, in order, starting at `after`. */
function* fireEntries(index: RecordIndex, query: RecordQuery, after: FireKey | null): Generator<FireEntry> {
  const { schedule, from = -Infinity, to = Infinity, order } = query
  const shelf = schedule === undefined ? index : index.schedules.get(schedule)
  if (shelf === undefined) return
  const few = fewFires(index, query)
  if (few !== undefined) {
    const sign = order === 'earliest' ? 1 : -1
    yield* few.sort((one, other) => sign * shelf.fires.compare(one, other))
    return
  }
  yield* order === 'earliest' ? earliestFires(shelf, from, to, after) : latestFires(shelf, from, to, after)
}

function fewFires(index: RecordIndex, { schedule, nonce, outcome, instance }: RecordQuery): FireEntry[] | undefined {
  if (schedule !== undefined && nonce !== undefined && nonce !== '') {
    const entry = index.schedules.get(schedule)?.nonces.get(nonce)
    return entry === undefined ? [] : [entry]
  }
  if (schedule !== undefined || outcome !== 'open') return undefined
  return [...(instance === undefined ? index.openFires : (index.held.get(instance) ?? []))]
}

/** Ranges that begin before `from` may reach into it: they are searched as well. */
function* latestFires(
  { fires, ranges }: Shelf,
  from: Instant,
  to: Instant,
  after: FireKey | null,
): Generator<FireEntry> {
  const end = firstAt(to)
  const isBehind = after !== null && fires.compare(after, end) < 0
  const before = isBehind ? after : end
  for (const key of descend(fires, before, isBehind)) {
    if (key.dueAt < from) break
    yield key
  }
  yield* descend(ranges, before.dueAt < from ? before : firstAt(from), isBehind)
}

function* earliestFires(
  { fires, ranges }: Shelf,
  from: Instant,
  to: Instant,
  after: FireKey | null,
): Generator<FireEntry> {
  const start = firstAt(from)
  for (const key of ascend(ranges, after, true)) {
    if (key.dueAt >= from) break
    yield key
  }
  const isBehind = after !== null && fires.compare(after, start) >= 0
  for (const key of ascend(fires, isBehind ? after : start, true)) {
    if (key.dueAt >= to) return
    yield key
  }
}

/** Before every fire of this instant. */
function firstAt(dueAt: Instant): FireKey {
  return { dueAt, schedule: '', nonce: '' }
}

export function listLatest({ records }: Space, { schedules, limit }: LatestQuery): FireEnd[] {
  return [...new Set(schedules)].flatMap((schedule) => {
    const found: FireEnd[] = []
    const fires = records.schedules.get(schedule)?.fires
    for (const entry of fires === undefined ? [] : descend(fires)) {
      const line = finalLine(entry)
      if (found.length === limit) break
      if (line !== undefined) found.push(viewEnd(line))
    }
    return found
  })
}

export function countFires({ data }: Space, { from, to }: HourQuery): HourCount[] {
  const hours = [...data.counts].map(([key, count]) => {
    const [hour, outcome] = key.split(' ')
    return { hour: Number(hour), outcome: outcome as Outcome, count }
  })
  return hours
    .filter(({ hour }) => hour >= from && hour < to)
    .sort((one, other) => one.hour - other.hour || compareText(one.outcome, other.outcome))
}

export function listEnds(space: Space, now: Instant, { after, limit }: EndQuery): EndPage {
  const { generation, dropped, keys } = space.ends
  const next = writeCursor([space.epoch, generation, dropped + keys.length])
  if (after === null) return { now, items: [], next, complete: true }
  const [epoch, of, place] = readCursor(after, ['number', 'number', 'number'])
  const isKnown = epoch === space.epoch && of === generation && place >= dropped
  const since = isKnown ? keys.slice(place - dropped) : []
  const found = since.slice(0, limit).map((end) => readEnd(space, end))
  const isWhole = since.length <= limit && !found.includes(null)
  return { now, items: found.filter((end) => end !== null && end !== REOPENED), next, complete: isKnown && isWhole }
}

/** `null`: the line has been deleted. */
function readEnd({ data }: Space, key: string): ListedRecord | typeof REOPENED | null {
  const line = data.history.get(key)
  if (line === undefined) return null
  if (line.run === null) return line.isFinal ? listLine(line) : REOPENED
  return listLine(line, data.notes.get(runKeyText(line.schedule, line.run.token)))
}

/** In the order in which they started. */
export function listSteps(space: Space, fire: FireKey): StepRecord[] {
  return [...(findFire(space.records, fire)?.steps ?? [])]
    .map((key) => space.data.steps.get(key)!)
    .sort((one, other) => one.begunAt - other.begunAt || compareText(one.step, other.step))
}

function page<Item>(now: Instant, found: Iterable<Item>, limit: number, cursorOf: (item: Item) => string): Page<Item> {
  const items: Item[] = []
  for (const item of found) {
    const last = items.at(-1)
    // One more than the page holds: there is a next page.
    if (last !== undefined && items.length >= limit) return { now, items, next: cursorOf(last) }
    items.push(item)
  }
  return { now, items, next: null }
}
