import { ending } from '../../model/outcome.ts'
import type { FireEnd, FireKey, FireRecord, HistoryRecord, HourCount, RunNotes, RunRecord } from '../../model/record.ts'
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
import { readLine, reasonOf } from './history-line.ts'
import { decodeName, encodeName, fireName, memberOf, packToken, readFireName, scheduleOf } from './keys.ts'
import type { AskScript } from './moment.ts'
import type { Schedules } from './schedules.ts'
import {
  COUNT_FIRES,
  FIND_LINES,
  FIND_TOKEN,
  LIST_ENDS,
  LIST_HELD,
  LIST_HOLDERS,
  LIST_LINES,
  LIST_LOG,
  LIST_NAMES,
  LIST_NOTES,
  LIST_REGULAR,
  LIST_WAITING,
} from './scripts.ts'

// Fires and runs are views: of what is open in the lines of schedules, and of the lines of their histories. Each list merges both.

/** What lists read from. `now` is the time of the last answer. */
export interface Reader {
  readonly ask: AskScript
  readonly schedules: Schedules
}

const UNTOLD: RunNotes = { progress: null, log: [], logCut: false }

/** How many records one script looks at: the server serves no other client meanwhile. */
const BITE = 200

/** An item, and where it stands: a time, and a text that is compared byte by byte, as the server does. */
interface Placed<Item> {
  readonly item: Item
  readonly at: Instant
  readonly name: Buffer
}

type Source<Item> = AsyncIterator<Placed<Item>, void>
type Order = 'latest' | 'earliest'

function comparePlaces(one: Placed<unknown>, other: Placed<unknown>): number {
  return one.at - other.at || Buffer.compare(one.name, other.name)
}

/** Items of all sources in one order; of those at the same place, that of the last source: what was open a moment ago has ended. */
async function* merge<Item>(sources: readonly Source<Item>[], order: Order): AsyncGenerator<Placed<Item>> {
  const sign = order === 'latest' ? -1 : 1
  const heads = await Promise.all(sources.map((source) => source.next()))
  for (;;) {
    let best: Placed<Item> | undefined
    for (const { value } of heads) {
      if (value && (best === undefined || sign * comparePlaces(value, best) <= 0)) best = value
    }
    if (best === undefined) return
    yield best
    for (const [index, { value }] of heads.entries()) {
      if (value && comparePlaces(value, best) === 0) heads[index] = await sources[index]!.next()
    }
  }
}

/** A page of what matches, with one more looked for than it holds: then there is a next one. */
async function page<Item>(
  items: AsyncIterable<Placed<Item>>,
  limit: number,
  matches: (item: Item) => boolean,
  cursorOf: (item: Item) => readonly (string | number)[],
): Promise<{ readonly items: Item[]; readonly next: string | null }> {
  const found: Item[] = []
  for await (const { item } of items) {
    if (!matches(item)) continue
    if (found.length === limit) {
      return { items: found, next: limit === 0 ? null : writeCursor(cursorOf(found.at(-1)!)) }
    }
    found.push(item)
  }
  return { items: found, next: null }
}

/** Of a few that are all there, those behind the place. */
async function* few<Item>(
  items: readonly Placed<Item>[],
  order: Order,
  after: Placed<null> | null,
): Source<Item> & AsyncGenerator<Placed<Item>> {
  const sign = order === 'latest' ? -1 : 1
  const behind = items.filter((item) => after === null || sign * comparePlaces(item, after) > 0)
  yield* behind.sort((one, other) => sign * comparePlaces(one, other))
}

/** Notes the time of every answer: a page has the last one. */
class Clock {
  now: Instant = 0
  readonly ask: AskScript

  constructor(ask: AskScript) {
    this.ask = async (script, args) => {
      const answer = await ask(script, args)
      this.now = answer.now
      return answer
    }
  }
}

export async function listSchedules({ ask, schedules }: Reader, query: ScheduleQuery): Promise<Page<ScheduleState>> {
  const { job, prefix = '', limit } = query
  const index = indexOf(query)
  const from = encodeName(prefix)
  const to = prefix === '' ? '+' : `(${from}\u{10ffff}`
  let last = query.after === null ? null : encodeName(String(readCursor(query.after, ['string'])[0]))
  const items: ScheduleState[] = []
  for (let count = Math.min(BITE, limit + 1); ; count = BITE) {
    const isBehind = last !== null && Buffer.compare(Buffer.from(last), Buffer.from(from)) >= 0
    const first = isBehind ? `(${last}` : from === '' ? '-' : `[${from}`
    const { lines: names } = await ask(LIST_NAMES, [...index, first, to, String(count)])
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

/** By whatever few have in common: an app's code declares hundreds where clients may have made a million. */
function indexOf({ app, tenant, job }: ScheduleQuery): [kind: string, name: string] {
  if (app !== undefined) return ['app', `+${encodeName(app)}`]
  if (tenant !== undefined) return ['tenant', `+${encodeName(tenant)}`]
  return job === undefined ? ['', ''] : ['job', encodeName(job)]
}

interface Stretch<Item> {
  readonly index: 'fires' | 'ranges' | 'runs'
  /** `undefined`: all of them. */
  readonly schedule: string | undefined
  readonly order: Order
  readonly from: Instant | undefined
  readonly to: Instant | undefined
  /** The place behind which to begin. */
  readonly after: Placed<null> | null
  /** `null`: the line is none that is listed. */
  readonly placeOf: (line: HistoryRecord) => Placed<Item> | null
}

/** Indexed lines of a stretch, bite by bite. */
async function* readIndexed<Item>(ask: AskScript, stretch: Stretch<Item>): AsyncGenerator<Placed<Item>, void> {
  const { index, schedule, order, from, to, after, placeOf } = stretch
  const member = schedule === undefined ? '' : memberOf(schedule)
  const bounds = [from === undefined ? '-inf' : String(from), to === undefined ? '+inf' : String(to)]
  let place = after === null ? ['', ''] : [String(after.at), entryBehind(after, schedule, order)]
  for (;;) {
    const { lines } = await ask(LIST_LINES, [index, member, order, ...bounds, ...place, String(BITE)])
    const [looked, score, entry] = lines as [string, string, string]
    for (const line of linesOf(lines, 3)) {
      const item = placeOf(line)
      if (item !== null) yield item
    }
    if (Number(looked) < BITE) return
    place = [score, entry]
  }
}

/** A regular line was written so long after it was due, started or ended, at most: see `lua/keys.lua`. */
const REGULAR_MS = 10_000

interface Bite {
  readonly lines: readonly HistoryRecord[]
  /** All lines that were not read yet are at this time or before it, or at it or later, as the order is. `null`: there are no more. */
  readonly bound: Instant | null
}

/** Regular lines, which are stored in the order in which they were written: each is held back until no unread one can precede it. */
async function* readRegular<Item>(ask: AskScript, stretch: Stretch<Item>): AsyncGenerator<Placed<Item>, void> {
  const { schedule, order, from, to, after, placeOf } = stretch
  const sign = order === 'latest' ? -1 : 1
  const isWanted = (item: Placed<Item>): boolean =>
    (from === undefined || item.at >= from) &&
    (to === undefined || item.at < to) &&
    (after === null || sign * comparePlaces(item, after) > 0)
  let waiting: Placed<Item>[] = []
  for await (const { lines, bound } of schedule === undefined
    ? readLog(ask, stretch)
    : readList(ask, schedule, stretch)) {
    for (const line of lines) {
      const item = placeOf(line)
      if (item !== null && isWanted(item)) waiting.push(item)
    }
    waiting.sort((one, other) => sign * comparePlaces(one, other))
    const isReady = ({ at }: Placed<Item>): boolean => bound === null || sign * at < sign * bound
    const firstHeld = waiting.findIndex((item) => !isReady(item))
    yield* firstHeld < 0 ? waiting : waiting.slice(0, firstHeld)
    waiting = firstHeld < 0 ? [] : waiting.slice(firstHeld)
    if (bound !== null && (order === 'latest' ? from !== undefined && bound < from : to !== undefined && bound >= to))
      return
  }
}

/** Where to begin: the latest time that is wanted, or the earliest. */
function firstTime({ order, from, to, after }: Stretch<unknown>): Instant | null {
  const times = [order === 'latest' ? to : from, after?.at].filter((time) => time !== undefined)
  if (times.length === 0) return null
  return order === 'latest' ? Math.min(...times) : Math.max(...times)
}

/** Of all schedules. The time of an entry is when its lines were written. */
async function* readLog(ask: AskScript, stretch: Stretch<unknown>): AsyncGenerator<Bite> {
  const { order } = stretch
  const isLatest = order === 'latest'
  const time = firstTime(stretch)
  const [first, edge] = isLatest ? ['+', `-${MOST}`] : ['-', '-0']
  let from = time === null || time < 0 ? first : `${isLatest ? time + REGULAR_MS : time}${edge}`
  if (isLatest && time !== null && time < 0) return
  for (;;) {
    const { lines } = await ask(LIST_LOG, [order, from, String(BITE)])
    const id = lines[0]!
    const [ms = '', sequence = ''] = id.split('-')
    const bound = id === '' ? null : isLatest ? Number(ms) : Number(ms) - REGULAR_MS
    yield { lines: linesOf(lines, 1), bound }
    if (id === '') return
    from = isLatest ? idBefore(Number(ms), Number(sequence)) : `${ms}-${Number(sequence) + 1}`
  }
}

/** The highest sequence number of an id. */
const MOST = '18446744073709551615'

function idBefore(ms: number, sequence: number): string {
  return sequence > 0 ? `${ms}-${sequence - 1}` : `${ms - 1}-${MOST}`
}

/** Of one schedule. */
async function* readList(ask: AskScript, schedule: string, stretch: Stretch<unknown>): AsyncGenerator<Bite> {
  const { order } = stretch
  const time = firstTime(stretch)
  let number = ''
  let bound: Instant = order === 'latest' ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY
  for (;;) {
    const args = [memberOf(schedule), order, time === null ? '' : String(time), number, String(BITE)]
    const { lines } = await ask(LIST_REGULAR, args)
    number = lines[0]!
    const found = linesOf(lines, 1)
    const last = found.at(-1)
    if (last !== undefined) bound = order === 'latest' ? last.endedAt + REGULAR_MS : last.endedAt - REGULAR_MS
    yield { lines: found, bound: number === '' ? null : bound }
    if (number === '') return
  }
}

/** Entries end with a number: this stands before or behind all that differ in nothing else. Within a schedule they lack its name. */
function entryBehind({ name }: Placed<null>, schedule: string | undefined, order: Order): string {
  const text = name.toString()
  const own = schedule === undefined ? text : text.slice(text.indexOf('\n') + 1)
  return order === 'latest' ? `${own}\n` : `${own}\n:`
}

/** From member, number, line and body of each. */
function linesOf(lines: readonly string[], first: number): HistoryRecord[] {
  const found: HistoryRecord[] = []
  for (let at = first; at < lines.length; at += 4) {
    const packed = { line: lines[at + 2]!, body: lines[at + 3]! }
    found.push(readLine(scheduleOf(lines[at]!), Number(lines[at + 1]), packed))
  }
  return found
}

/** All schedules that hold runs, of one instance or of all. As many as the fleet has runs in hand. */
async function listHeld({ ask, schedules }: Reader, instance: string | undefined): Promise<ScheduleState[]> {
  const instances = instance === undefined ? (await ask(LIST_HOLDERS, [])).lines : [encodeName(instance)]
  const found = new Map<string, ScheduleState>()
  for (const one of instances) {
    let cursor = '0'
    do {
      const { lines } = await ask(LIST_HELD, [one, cursor])
      cursor = lines[0]!
      for (const state of await schedules.read(lines, 1)) found.set(state.id, state)
    } while (cursor !== '0')
  }
  return [...found.values()]
}

function placeOfFire(fire: FireRecord): Placed<FireRecord> {
  return { item: fire, at: fire.dueAt, name: nameOfFire(fire) }
}

function nameOfFire({ schedule, nonce }: FireKey): Buffer {
  return Buffer.from(`${memberOf(schedule)}\n${encodeName(nonce)}`)
}

export async function listFires({ ask: given, schedules }: Reader, query: FireQuery): Promise<Page<FireRecord>> {
  const clock = new Clock(given)
  const reader = { ask: clock.ask, schedules }
  const { schedule, outcome, nonce = '', order = 'latest', limit } = query
  const after = query.after === null ? null : afterFire(query.after)
  const matches = (fire: FireRecord): boolean => matchesFire(fire, query)
  const cursorOf = (fire: FireRecord): [number, string, string] => [fire.dueAt, fire.schedule, fire.nonce]
  const sources: Source<FireRecord>[] = []
  if (schedule !== undefined && nonce !== '') {
    const found = await findFires(reader, schedule, 'nonce', encodeName(nonce))
    sources.push(few(found.filter((fire) => fire.nonce === nonce).map(placeOfFire), order, after))
  } else {
    if (outcome === undefined || outcome === 'open') sources.push(...(await openSources(reader, query, after)))
    if (outcome !== 'open') sources.push(...endedFires(clock.ask, query, after))
  }
  return { ...(await page(merge(sources, order), limit, matches, cursorOf)), now: clock.now }
}

function afterFire(cursor: string): Placed<null> {
  const [dueAt, schedule, nonce] = readCursor(cursor, ['number', 'string', 'string'])
  return { item: null, at: dueAt, name: nameOfFire({ schedule, dueAt, nonce }) }
}

/** Those that are open in one schedule; or those of all that run, and those of all that wait. */
async function openSources(
  reader: Reader,
  query: FireQuery,
  after: Placed<null> | null,
): Promise<Source<FireRecord>[]> {
  const { schedule, order = 'latest' } = query
  const held = schedule === undefined ? await listHeld(reader, undefined) : await loadIn(reader, schedule)
  const isWanted = (fire: { readonly run: unknown }): boolean => schedule !== undefined || fire.run !== null
  const open = held.flatMap((state) =>
    state.open.filter(isWanted).map((fire) => placeOfFire(viewOpenFire(state, fire))),
  )
  const sources: Source<FireRecord>[] = [few(open, order, after)]
  if (schedule === undefined) sources.push(waitingFires(reader, query, after))
  return sources
}

async function loadIn({ ask, schedules }: Reader, id: string): Promise<ScheduleState[]> {
  return (await schedules.load([id], ask)).schedules
}

async function* waitingFires(
  { ask, schedules }: Reader,
  query: FireQuery,
  after: Placed<null> | null,
): AsyncGenerator<Placed<FireRecord>, void> {
  const { order = 'latest', from, to } = query
  const bounds = [from === undefined ? '-inf' : String(from), to === undefined ? '+inf' : String(to)]
  let place = after === null ? ['', ''] : [String(after.at), entryBehind(after, undefined, order)]
  for (;;) {
    const { lines } = await ask(LIST_WAITING, [order, ...bounds, ...place, String(BITE)])
    const [looked, score, entry] = lines as [string, string, string]
    const keys = lines.slice(3).filter((_, index) => index % 2 === 0)
    const triples = keys.flatMap((key, index) => [key.slice(0, key.indexOf('\n')), lines[4 + 2 * index]!, ''])
    const states = new Map((await schedules.read(triples)).map((state) => [state.id, state]))
    for (const key of keys) {
      const [member, nonce, dueAt] = key.split('\n') as [string, string, string]
      const state = states.get(scheduleOf(member))
      const fire = state?.open.find((one) => one.dueAt === Number(dueAt) && one.nonce === decodeName(nonce))
      if (state !== undefined && fire !== undefined) yield placeOfFire(viewOpenFire(state, fire))
    }
    if (Number(looked) < BITE) return
    place = [score, entry]
  }
}

/** Regular ones, and indexed ones. Ranges that begin before `from` may reach into it: they are looked at besides. */
function endedFires(
  ask: AskScript,
  query: Omit<FireQuery, 'limit' | 'after'>,
  after: Placed<null> | null,
): Source<FireRecord>[] {
  const { schedule, from, to, order = 'latest' } = query
  const placeOf = (line: HistoryRecord) => (line.isFinal ? placeOfFire(viewEndedFire(line)) : null)
  const within: Stretch<FireRecord> = { index: 'fires', schedule, order, from, to, after, placeOf }
  const sources = [readRegular(ask, within), readIndexed(ask, within)]
  if (from === undefined) return sources
  return [...sources, readIndexed(ask, { ...within, index: 'ranges', from: undefined, to: Math.min(from, to ?? from) })]
}

export async function listLatest(ask: AskScript, { schedules, limit }: LatestQuery): Promise<FireEnd[]> {
  const placeOf = (line: HistoryRecord) => (line.isFinal ? { ...placeOfFire(viewEndedFire(line)), item: line } : null)
  const found = [...new Set(schedules)].map(async (schedule) => {
    const stretch = {
      index: 'fires',
      schedule,
      order: 'latest',
      from: undefined,
      to: undefined,
      after: null,
      placeOf,
    } as const
    const sources = [readRegular(ask, stretch), readIndexed(ask, stretch)]
    const { items } = await page(
      merge(sources, 'latest'),
      limit,
      () => true,
      () => [],
    )
    return items.map(viewEnd)
  })
  return (await Promise.all(found)).flat()
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

/** What is known of one fire of a schedule: the open one, or that of its final line, or of its last. */
async function findFires(
  { ask, schedules }: Reader,
  schedule: string,
  how: 'fire' | 'nonce',
  what: string,
): Promise<FireRecord[]> {
  const member = memberOf(schedule)
  const { lines } = await ask(FIND_LINES, [member, how, what])
  const [state] = lines[0] === '' ? [] : await schedules.read([member, lines[0]!, ''])
  const key = how === 'fire' ? readFireName(what) : { nonce: decodeName(what), dueAt: null }
  const isIt = (fire: { readonly dueAt: number; readonly nonce: string }): boolean =>
    fire.nonce === key.nonce && (key.dueAt === null || fire.dueAt === key.dueAt)
  const open = state?.open.filter(isIt).map((fire) => viewOpenFire(state, fire)) ?? []
  if (open.length > 0) return open
  const ended = linesOf(lines, 1).sort(
    (one, other) => Number(one.isFinal) - Number(other.isFinal) || one.number - other.number,
  )
  return ended.slice(-1).map(viewEndedFire)
}

/** As it is listed, or as its last line says. `null`: it is gone by now. */
export async function findFire(reader: Reader, schedule: string, name: string): Promise<FireRecord | null> {
  return (await findFires(reader, schedule, 'fire', name))[0] ?? null
}

type Run = RunRecord & RunNotes

function placeOfRun(run: RunRecord): Placed<RunRecord> {
  return { item: run, at: run.startedAt, name: nameOfRun(run) }
}

function nameOfRun({ schedule, token }: Pick<RunRecord, 'schedule' | 'token'>): Buffer {
  return Buffer.from(`${memberOf(schedule)}\n${packToken(token)}`)
}

export async function listRuns({ ask: given, schedules }: Reader, query: RunQuery): Promise<Page<Run>> {
  const clock = new Clock(given)
  const reader = { ask: clock.ask, schedules }
  const matches = (run: RunRecord): boolean => matchesRun(run, query)
  const after = query.after === null ? null : afterRun(query.after)
  const { items, next } = await page(
    merge(await runSources(reader, query, after), 'latest'),
    query.limit,
    matches,
    (run) => [run.startedAt, run.schedule, run.token],
  )
  return { items: await withNotes(clock.ask, items), next, now: clock.now }
}

function afterRun(cursor: string): Placed<null> {
  const [startedAt, schedule, token] = readCursor(cursor, ['number', 'string', 'string'])
  return { item: null, at: startedAt, name: nameOfRun({ schedule, token }) }
}

/** The few that can match, where few can; else all open ones and all lines. */
async function runSources(reader: Reader, query: RunQuery, after: Placed<null> | null): Promise<Source<RunRecord>[]> {
  const { schedule, token, fire, instance, outcome } = query
  if (schedule !== undefined && token !== undefined) {
    return [few(await findRun(reader, schedule, token), 'latest', after)]
  }
  if (fire !== undefined) return [few(await findRunsOfFire(reader, fire), 'latest', after)]
  const sources: Source<RunRecord>[] = []
  if (outcome === undefined || outcome === 'open') {
    const held = schedule === undefined ? await listHeld(reader, instance) : await loadIn(reader, schedule)
    sources.push(few(held.flatMap(openRuns), 'latest', after))
  }
  if (outcome !== 'open') sources.push(...endedRuns(reader.ask, query, after))
  return sources
}

function openRuns(state: ScheduleState): Placed<RunRecord>[] {
  return state.open.filter(isRunning).map((fire) => placeOfRun(viewOpenRun(state, fire)))
}

function endedRuns(ask: AskScript, query: RunQuery, after: Placed<null> | null): Source<RunRecord>[] {
  const { schedule, from, to } = query
  const placeOf = (line: HistoryRecord): Placed<RunRecord> | null => {
    const run = viewEndedRun(line)
    return run === null ? null : placeOfRun(run)
  }
  const stretch: Stretch<RunRecord> = { index: 'runs', schedule, order: 'latest', from, to, after, placeOf }
  return [readRegular(ask, stretch), readIndexed(ask, stretch)]
}

/** Runs of this fire, open or ended, of one moment. */
async function findRunsOfFire({ ask, schedules }: Reader, fire: FireKey): Promise<Placed<RunRecord>[]> {
  const member = memberOf(fire.schedule)
  const { lines } = await ask(FIND_LINES, [member, 'fire', fireName(fire)])
  const states = lines[0] === '' ? [] : await schedules.read([member, lines[0]!, ''])
  const ended = linesOf(lines, 1)
    .map(viewEndedRun)
    .filter((run) => run !== null)
  return [...states.flatMap(openRuns), ...ended.map(placeOfRun)]
}

/** The run with this token: open when the first look began, or in a line that was there by then. */
async function findRun({ ask, schedules }: Reader, schedule: string, token: string): Promise<Placed<RunRecord>[]> {
  const member = memberOf(schedule)
  for (let before = '', isFirst = true; ; isFirst = false) {
    const { lines } = await ask(FIND_TOKEN, [member, packToken(token), before])
    const states = isFirst && lines[0] !== '' ? await schedules.read([member, lines[0]!, '']) : []
    const open = states.flatMap(openRuns).filter(({ item }) => item.token === token)
    const ended = linesOf(lines, 2)
      .map(viewEndedRun)
      .filter((run) => run !== null)
      .map(placeOfRun)
    before = lines[1]!
    if (open.length > 0 || ended.length > 0 || before === '') return [...open, ...ended]
  }
}

async function withNotes(ask: AskScript, runs: readonly RunRecord[]): Promise<Run[]> {
  if (runs.length === 0) return []
  const { lines } = await ask(
    LIST_NOTES,
    runs.flatMap(({ schedule, token }) => [encodeName(schedule), packToken(token)]),
  )
  return runs.map((run, index) => ({
    ...run,
    ...(lines[index] === '' ? UNTOLD : (JSON.parse(lines[index]!) as RunNotes)),
  }))
}

/** Entries of the log that one script looks at. */
const ENTRIES = 50

/** Bite by bite, until the log is at its end or the page is full. */
export async function listEnds(ask: AskScript, { after, limit }: EndQuery): Promise<EndPage> {
  const [epochThen, from] = after === null ? [null, ''] : readCursor(after, ['number', 'string'])
  const items: End[] = []
  let isWhole = true
  for (let place = from; ; ) {
    const { now, epoch, lines } = await ask(LIST_ENDS, [place, String(ENTRIES)])
    const [last, isKept, next, named] = lines as [string, string, string, string]
    const isKnown = isKept === '1' && (epochThen ?? epoch) === epoch
    const found = isKnown ? linesOf(lines, 4) : []
    const ends = await endsOf(ask, found)
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

/** A fire that is open again has not ended. */
async function endsOf(ask: AskScript, lines: readonly HistoryRecord[]): Promise<End[]> {
  const runs = await withNotes(
    ask,
    lines.map(viewEndedRun).filter((run) => run !== null),
  )
  let next = 0
  return lines.flatMap((line): End[] => {
    if (line.run !== null) return [{ kind: 'run', run: runs[next++]! }]
    return line.isFinal ? [{ kind: 'fire', fire: viewEndedFire(line) }] : []
  })
}
