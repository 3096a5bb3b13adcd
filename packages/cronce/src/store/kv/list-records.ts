import type { HistoryRecord, ListedRecord } from '../../model/record.ts'
import type { ScheduleState } from '../../model/schedule.ts'
import { listLine, listOpenFire } from '../../model/views.ts'
import { compareBytes, comparePlaces, placeOf, type RecordPlace, readPlace, writePlace } from '../cursor.ts'
import { isInView, matchesRecord } from '../matches.ts'
import type { Page, RecordQuery } from '../store.ts'
import type { Context } from './context.ts'
import { type Found, type KeyRange, RevisionGone } from './driver.ts'
import { linesIn } from './facts.ts'
import {
  decodeName,
  decodeNumber,
  encodeName,
  encodeNumber,
  LIST_ALL,
  LIST_RANGES,
  listOfJob,
  listOfOutcome,
  listOfTenant,
  rangesOf,
} from './keys.ts'
import type { Schedules } from './schedules.ts'

// Fires and runs are views: of what is open in the states, and of the lines of the history. A page is of one moment.

const BITE = 100
/** A server without a history answers at one moment only as long as nothing is written. */
const MOST_TRIES = 50

type Records = AsyncGenerator<ListedRecord, void>

/** What a page is read with. */
interface Reading {
  readonly context: Context
  readonly schedules: Schedules
  readonly query: RecordQuery
  readonly after: RecordPlace | null
  readonly isLatest: boolean
  /** The moment. */
  readonly at: number
}

export async function listRecords(
  context: Context,
  schedules: Schedules,
  query: RecordQuery,
): Promise<Page<ListedRecord>> {
  const after = readPlace(query)
  for (let tries = 1; ; tries++) {
    try {
      const { revision: at } = await context.driver.read([])
      return await readPage({ context, schedules, query, after, isLatest: query.order !== 'earliest', at })
    } catch (error) {
      // The moment was compacted while the page was read.
      if (!(error instanceof RevisionGone) || tries === MOST_TRIES) throw error
    }
  }
}

async function readPage(reading: Reading): Promise<Page<ListedRecord>> {
  const { context, query } = reading
  const { view, limit } = query
  const items: ListedRecord[] = []
  let next: string | null = null
  for await (const record of merge(reading, await sourcesFor(reading))) {
    if (!matchesRecord(record, query) || !isBehind(reading, record)) continue
    const last = items.at(-1)
    if (last !== undefined && items.length >= limit) {
      next = writePlace(placeOf(last, view))
      break
    }
    items.push(record)
    // A token identifies a run of its schedule: no other is looked for.
    if (query.schedule !== undefined && query.token !== undefined) break
  }
  return { now: context.time.now(), items: view === 'fires' ? items : await withNotes(context, items), next }
}

function isBehind({ after, isLatest, query }: Reading, record: ListedRecord): boolean {
  if (after === null) return true
  const order = comparePlaces(placeOf(record, query.view), after, compareBytes)
  return isLatest ? order < 0 : order > 0
}

async function* merge({ query, isLatest }: Reading, sources: readonly Records[]): Records {
  const sign = isLatest ? -1 : 1
  const heads = await Promise.all(sources.map((source) => source.next()))
  for (;;) {
    let best = -1
    for (const [index, { value }] of heads.entries()) {
      const isFirst =
        value !== undefined &&
        (best === -1 ||
          sign * comparePlaces(placeOf(value, query.view), placeOf(heads[best]!.value!, query.view), compareBytes) < 0)
      if (isFirst) best = index
    }
    if (best === -1) return
    yield heads[best]!.value!
    heads[best] = await sources[best]!.next()
  }
}

async function sourcesFor(reading: Reading): Promise<Records[]> {
  const { query } = reading
  const { schedule, nonce, outcome, view, from } = query
  if (schedule !== undefined && nonce !== undefined && nonce !== '') {
    const dueAt = await dueOf(reading, schedule, nonce)
    if (dueAt === null) return []
    return plainSources({ ...reading, query: { ...query, from: dueAt, to: dueAt + 1 } })
  }
  const sources = plainSources(reading)
  if (view === 'runs' || from === undefined || outcome === 'open') return sources
  // Ranges that begin before `from` may reach into it.
  const list = schedule === undefined ? LIST_RANGES : rangesOf(schedule)
  return [...sources, endedIn({ ...reading, query: { ...query, from: undefined, to: from } }, list)]
}

async function dueOf({ context, at }: Reading, schedule: string, nonce: string): Promise<number | null> {
  const { keys, driver } = context
  const entry = (await driver.read([{ get: keys.nonce(schedule, nonce) }], at)).found[0]!.entries[0]
  return entry === undefined ? null : Number(entry.value)
}

function plainSources(reading: Reading): Records[] {
  const { schedule, job, tenant, outcome } = reading.query
  const open = outcome === undefined || outcome === 'open' ? [openRecords(reading)] : []
  if (outcome === 'open') return open
  if (schedule !== undefined) return [...open, endedOf(reading, schedule)]
  if (tenant !== undefined) return [...open, endedIn(reading, listOfTenant(tenant))]
  if (job !== undefined) return [...open, endedOf(reading, job), endedIn(reading, listOfJob(job))]
  const isRare = outcome !== undefined && outcome !== 'succeeded'
  return [...open, endedIn(reading, isRare ? listOfOutcome(outcome) : LIST_ALL)]
}

/** The keys of a list within the times that are asked for, from the place on where the page before ended. */
function boundsOf({ context, query, after, isLatest }: Reading, list: readonly string[], hasNames: boolean): KeyRange {
  const { keys } = context
  const { from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY } = query
  const range = { from: keys.key(...list, encodeNumber(from)), to: keys.key(...list, encodeNumber(to)) }
  if (after === null) return range
  const names = hasNames ? [encodeName(after.schedule), encodeName(after.nonce)] : [encodeName(after.nonce)]
  // The fire itself is read again: a page of runs may end within it.
  const fire = keys.key(...list, encodeNumber(after.dueAt), ...names)
  if (isLatest) return { from: range.from, to: compareBytes(fire, range.to) < 0 ? `${fire}\x01` : range.to }
  return { from: compareBytes(fire, range.from) > 0 ? fire : range.from, to: range.to }
}

/** What a list names, bite by bite. */
async function* bites({ context, isLatest, at }: Reading, range: KeyRange, keysOnly: boolean): AsyncGenerator<Found> {
  let { from, to } = range
  while (compareBytes(from, to) < 0) {
    const read = { from, to, limit: BITE, reverse: isLatest, keysOnly }
    const found = (await context.driver.read([read], at)).found[0]!
    yield found
    if (found.entries.length < BITE) return
    const last = found.entries.at(-1)!.key
    if (isLatest) to = last
    else from = `${last}\0`
  }
}

/** Ended records of one schedule. */
async function* endedOf(reading: Reading, schedule: string): Records {
  const { after } = reading
  const isOwn = after?.schedule === schedule
  // The place within another schedule says nothing about the nonces of this one.
  const range = boundsOf(
    isOwn ? reading : { ...reading, after: after && widened(reading, after) },
    ['f', encodeName(schedule)],
    false,
  )
  yield* viewed(reading, async function* () {
    for await (const found of bites(reading, range, false)) yield* linesIn(found)
  })
}

/** At the same due time, before or behind every nonce. */
function widened({ isLatest }: Reading, after: RecordPlace): RecordPlace {
  return { ...after, dueAt: isLatest ? after.dueAt + 1 : after.dueAt, nonce: '' }
}

/** Ended records of a list: see `listsOf`. */
async function* endedIn(reading: Reading, list: readonly string[]): Records {
  const { context, at } = reading
  const { keys, driver } = context
  const range = boundsOf(reading, list, true)
  yield* viewed(reading, async function* () {
    for await (const { entries } of bites(reading, range, true)) {
      if (entries.length === 0) return
      const reads = entries.map(({ key }) => {
        const [dueAt, schedule, nonce, number] = keys.parts(key).slice(-4)
        return { get: keys.key('f', schedule!, dueAt!, nonce!, number!) }
      })
      yield* (await driver.read(reads, at)).found.flatMap(linesIn)
    }
  })
}

/** Lines as records of the view. Those of one fire follow each other; its runs are in the order of their tokens. */
async function* viewed({ query: { view }, isLatest }: Reading, read: () => AsyncGenerator<HistoryRecord>): Records {
  const sign = isLatest ? -1 : 1
  const inOrder = (lines: readonly HistoryRecord[]): ListedRecord[] =>
    lines
      .filter((line) => isInView(line, view))
      .map((line) => listLine(line))
      .sort((one, other) => sign * comparePlaces(placeOf(one, view), placeOf(other, view), compareBytes))
  let lines: HistoryRecord[] = []
  for await (const line of read()) {
    const [first] = lines
    const isSame = first?.dueAt === line.dueAt && first.nonce === line.nonce && first.schedule === line.schedule
    if (!isSame) {
      yield* inOrder(lines)
      lines = []
    }
    lines.push(line)
  }
  yield* inOrder(lines)
}

async function* openRecords(reading: Reading): Records {
  const { context, schedules, query, at, isLatest } = reading
  const { keys, driver } = context
  const { schedule, instance, view } = query
  const sign = isLatest ? -1 : 1
  const inOrder = (records: readonly ListedRecord[]): ListedRecord[] =>
    records
      .filter(({ run }) => view === 'fires' || run !== null)
      .sort((one, other) => sign * comparePlaces(placeOf(one, view), placeOf(other, view), compareBytes))
  if (schedule !== undefined) {
    yield* inOrder((await schedules.load([schedule], at)).flatMap(openIn))
    return
  }
  if (instance !== undefined) {
    const { entries } = (await driver.read([{ ...keys.below('r', encodeName(instance)), keysOnly: true }], at))
      .found[0]!
    const ids = entries.map(({ key }) => decodeName(keys.parts(key)[2]!))
    yield* inOrder((await schedules.load(ids, at)).flatMap(openIn))
    return
  }
  for await (const { entries } of bites(reading, boundsOf(reading, ['o'], true), true)) {
    const places = entries.map(({ key }) => {
      const [, dueAt, id, nonce] = keys.parts(key)
      return { dueAt: decodeNumber(dueAt!), id: decodeName(id!), nonce: decodeName(nonce!) }
    })
    const states = await schedules.load(
      places.map(({ id }) => id),
      at,
    )
    const open = new Map(states.map((state) => [state.id, state]))
    const records = places.flatMap((place) => openAt(open.get(place.id), place))
    yield* inOrder(records)
  }
}

function openAt(state: ScheduleState | undefined, { dueAt, nonce }: { dueAt: number; nonce: string }): ListedRecord[] {
  const fire = state?.open.find((one) => one.dueAt === dueAt && one.nonce === nonce)
  return state === undefined || fire === undefined ? [] : [listOpenFire(state, fire)]
}

function openIn(state: ScheduleState): ListedRecord[] {
  return state.open.map((fire) => listOpenFire(state, fire))
}

/** With what their runs reported. */
export async function withNotes({ keys, driver }: Context, records: readonly ListedRecord[]): Promise<ListedRecord[]> {
  const runs = records.flatMap(({ schedule, run }) => (run === null ? [] : [keys.notes(schedule, run.token)]))
  if (runs.length === 0) return [...records]
  const found = (await driver.read(runs.map((get) => ({ get })))).found.values()
  return records.map((record) => {
    const entry = record.run === null ? undefined : found.next().value?.entries[0]
    return entry === undefined ? record : { ...record, notes: JSON.parse(entry.value) }
  })
}
