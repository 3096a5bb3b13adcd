import type { Outcome } from '../../model/outcome.ts'
import type { FireEnd, FireKey, FireRecord, HourCount, RunNotes, RunRecord, StepRecord } from '../../model/record.ts'
import { type Instant, isRunning, type ScheduleState } from '../../model/schedule.ts'
import { viewEnd, viewEndedFire, viewEndedRun, viewOpenFire, viewOpenRun } from '../../model/views.ts'
import { readCursor, writeCursor } from '../cursor.ts'
import { matchesFire, matchesRun, matchesSchedule } from '../matches.ts'
import type {
  End,
  EndPage,
  EndQuery,
  FireQuery,
  HourQuery,
  LatestQuery,
  Page,
  RunQuery,
  ScheduleQuery,
} from '../store.ts'
import { runKeyText } from './data.ts'
import {
  type FireEntry,
  finalLine,
  findFire,
  type RecordIndex,
  type RunEntry,
  type RunKey,
  type Shelf,
} from './record-index.ts'
import { ascend, compareText, descend } from './sorted.ts'
import type { Space } from './space.ts'

/** The fire is open again: it has not ended. */
const REOPENED = 'reopened'

const UNTOLD: RunNotes = { progress: null, log: [], logCut: false }

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
  return page(now, found(), query.limit, ({ id }) => [id])
}

export function listFires(space: Space, now: Instant, query: FireQuery): Page<FireRecord> {
  const after = query.after === null ? null : fireCursor(query.after)
  const found = function* (): Generator<FireRecord> {
    for (const entry of fireEntries(space.records, query, after)) {
      // Lines that are not final, and steps, may be all that is left of a fire.
      if (entry.listed === 'not') continue
      const fire = viewFire(space, entry)
      if (matchesFire(fire, query)) yield fire
    }
  }
  return page(now, found(), query.limit, ({ dueAt, schedule, nonce }) => [dueAt, schedule, nonce])
}

/** As it is listed, or as its last line says if it neither ended nor is open. It must be open or have a line. */
export function viewFire({ data }: Space, entry: FireEntry): FireRecord {
  const { schedule, dueAt, nonce, isOpen, lines } = entry
  if (!isOpen) return viewEndedFire(finalLine(entry) ?? lines.at(-1)!)
  const state = data.schedules.get(schedule)!
  return viewOpenFire(state, state.open.find((fire) => fire.dueAt === dueAt && fire.nonce === nonce)!)
}

function viewRun({ data }: Space, { schedule, token, line }: RunEntry): RunRecord {
  if (line !== null) return viewEndedRun(line)!
  const state = data.schedules.get(schedule)!
  return viewOpenRun(state, state.open.filter(isRunning).find(({ run }) => run.token === token)!)
}

function withNotes({ data }: Space, run: RunRecord): RunRecord & RunNotes {
  return { ...run, ...(data.notes.get(runKeyText(run.schedule, run.token)) ?? UNTOLD) }
}

function fireCursor(text: string): FireKey {
  const [dueAt, schedule, nonce] = readCursor(text, ['number', 'string', 'string'])
  return { dueAt, schedule, nonce }
}

/** All that can match, in order, from behind `after` on. */
function* fireEntries(index: RecordIndex, query: FireQuery, after: FireKey | null): Generator<FireEntry> {
  const { schedule, outcome, nonce = '', from = -Infinity, to = Infinity, order = 'latest' } = query
  const shelf = schedule === undefined ? index : index.schedules.get(schedule)
  if (shelf === undefined) return
  const { compare } = shelf.fires
  const sign = order === 'latest' ? -1 : 1
  const few = fewFires(index, schedule, nonce, outcome)
  if (few !== undefined) {
    const isBehind = (key: FireKey) => after === null || sign * compare(key, after) > 0
    yield* few.filter(isBehind).sort((one, other) => sign * compare(one, other))
    return
  }
  yield* order === 'latest' ? latestFires(shelf, from, to, after) : earliestFires(shelf, from, to, after)
}

function fewFires(
  index: RecordIndex,
  schedule: string | undefined,
  nonce: string,
  outcome: FireQuery['outcome'],
): FireEntry[] | undefined {
  if (schedule !== undefined && nonce !== '') {
    const entry = index.schedules.get(schedule)?.nonces.get(nonce)
    return entry === undefined ? [] : [entry]
  }
  return schedule === undefined && outcome === 'open' ? [...index.openFires] : undefined
}

/** Ranges that begin before `from` may reach into it: they are looked at besides. */
function* latestFires(
  { fires, ranges }: Shelf,
  from: Instant,
  to: Instant,
  after: FireKey | null,
): Generator<FireEntry> {
  const end = firstAt(to)
  const before = after !== null && fires.compare(after, end) < 0 ? after : end
  for (const key of descend(fires, before)) {
    if (key.dueAt < from) break
    yield key
  }
  yield* descend(ranges, before.dueAt < from ? before : firstAt(from))
}

function* earliestFires(
  { fires, ranges }: Shelf,
  from: Instant,
  to: Instant,
  after: FireKey | null,
): Generator<FireEntry> {
  const start = firstAt(from)
  for (const key of ascend(ranges, after)) {
    if (key.dueAt >= from) break
    yield key
  }
  const isBehind = after !== null && fires.compare(after, start) >= 0
  for (const key of ascend(fires, isBehind ? after : start, !isBehind)) {
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

export function listRuns(space: Space, now: Instant, query: RunQuery): Page<RunRecord & RunNotes> {
  const after = query.after === null ? null : runCursor(query.after)
  const found = function* (): Generator<RunRecord & RunNotes> {
    for (const entry of runEntries(space, query, after)) {
      const run = viewRun(space, entry)
      if (matchesRun(run, query)) yield withNotes(space, run)
    }
  }
  return page(now, found(), query.limit, ({ startedAt, schedule, token }) => [startedAt, schedule, token])
}

function runCursor(text: string): RunKey {
  const [startedAt, schedule, token] = readCursor(text, ['number', 'string', 'string'])
  return { startedAt, schedule, token }
}

/** All that can match, the latest first: the few where few can, else in the order of the shelf. */
function* runEntries(space: Space, query: RunQuery, after: RunKey | null): Generator<RunEntry> {
  const index = space.records
  const { compare } = index.runs
  const few = fewRuns(space, query)
  if (few !== undefined) {
    const behind = few.filter((entry) => after === null || compare(entry, after) < 0)
    yield* behind.sort((one, other) => compare(other, one))
    return
  }
  const { schedule, from = -Infinity, to = Infinity } = query
  const runs = schedule === undefined ? index.runs : index.schedules.get(schedule)?.runs
  if (runs === undefined) return
  const end: RunKey = { startedAt: to, schedule: '', token: '' }
  for (const entry of descend(runs, after !== null && compare(after, end) < 0 ? after : end)) {
    if (entry.startedAt < from) return
    yield entry
  }
}

function fewRuns(
  { records: index }: Space,
  { schedule, token, fire, instance, outcome }: RunQuery,
): readonly RunEntry[] | undefined {
  if (schedule !== undefined && token !== undefined) {
    const run = index.schedules.get(schedule)?.tokens.get(token)
    return run === undefined ? [] : [run]
  }
  if (fire !== undefined) {
    return findFire(index, fire)?.runs ?? []
  }
  if (outcome !== 'open') return undefined
  if (instance !== undefined) return [...(index.openRuns.get(instance) ?? [])]
  return schedule === undefined ? [...index.openRuns.values()].flatMap((runs) => [...runs]) : undefined
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
function readEnd(space: Space, key: string): End | typeof REOPENED | null {
  const line = space.data.history.get(key)
  if (line === undefined) return null
  const run = viewEndedRun(line)
  if (run !== null) return { kind: 'run', run: withNotes(space, run) }
  return line.isFinal ? { kind: 'fire', fire: viewEndedFire(line) } : REOPENED
}

/** In the order in which they were begun. */
export function listSteps(space: Space, fire: FireKey): StepRecord[] {
  return [...(findFire(space.records, fire)?.steps ?? [])]
    .map((key) => space.data.steps.get(key)!)
    .sort((one, other) => one.begunAt - other.begunAt || compareText(one.step, other.step))
}

function page<Item>(
  now: Instant,
  found: Iterable<Item>,
  limit: number,
  cursorOf: (item: Item) => readonly (string | number)[],
): Page<Item> {
  const items: Item[] = []
  for (const item of found) {
    const last = items.at(-1)
    // One more than the page holds: there is a next one.
    if (last !== undefined && items.length >= limit) return { now, items, next: writeCursor(cursorOf(last)) }
    items.push(item)
  }
  return { now, items, next: null }
}
