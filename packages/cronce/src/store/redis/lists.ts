import type { FireKey, FireRecord, HistoryRecord, RunNotes, RunRecord } from '../../model/record.ts'
import { type Instant, isRunning, type ScheduleState } from '../../model/schedule.ts'
import { viewEndedFire, viewEndedRun, viewOpenFire, viewOpenRun } from '../../model/views.ts'
import { readCursor, writeCursor } from '../cursor.ts'
import { matchesFire, matchesRun, matchesSchedule } from '../matches.ts'
import type { End, EndPage, EndQuery, FireQuery, Page, RunQuery, ScheduleQuery } from '../store.ts'
import { readLine } from './history-line.ts'
import { decodeName, encodeName, fireName, memberOf, packToken, readFireName, scheduleOf } from './keys.ts'
import type { AskScript } from './moment.ts'
import type { Schedules } from './schedules.ts'
import {
  FIND_LINES,
  LIST_ENDS,
  LIST_HELD,
  LIST_HOLDERS,
  LIST_LINES,
  LIST_NAMES,
  LIST_NOTES,
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

interface Stretch {
  readonly index: 'fires' | 'ranges' | 'runs'
  /** `undefined`: all of them. */
  readonly schedule: string | undefined
  readonly order: Order
  readonly from: Instant | undefined
  readonly to: Instant | undefined
  /** The place behind which to begin. */
  readonly after: Placed<null> | null
}

/** Lines of a stretch of an index, bite by bite. */
async function* readStretch(
  ask: AskScript,
  { index, schedule, order, from, to, after }: Stretch,
): AsyncGenerator<HistoryRecord> {
  const member = schedule === undefined ? '' : memberOf(schedule)
  const bounds = [from === undefined ? '-inf' : String(from), to === undefined ? '+inf' : String(to)]
  let place = after === null ? ['', ''] : [String(after.at), entryBehind(after, schedule, order)]
  for (;;) {
    const { lines } = await ask(LIST_LINES, [index, member, order, ...bounds, ...place, String(BITE)])
    const [looked, score, entry] = lines as [string, string, string]
    for (const record of linesOf(lines, 3)) yield record
    if (Number(looked) < BITE) return
    place = [score, entry]
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
    if (outcome !== 'open') sources.push(endedFires(clock.ask, query, after))
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

/** Ranges that begin before `from` may reach into it: they are looked at besides. */
async function* endedFires(
  ask: AskScript,
  query: FireQuery,
  after: Placed<null> | null,
): AsyncGenerator<Placed<FireRecord>, void> {
  const { schedule, from, to, order = 'latest' } = query
  const within: Stretch = { index: 'fires', schedule, order, from, to, after }
  const before: Stretch = { ...within, index: 'ranges', from: undefined, to: Math.min(from ?? 0, to ?? from ?? 0) }
  const stretches = from === undefined ? [within] : order === 'latest' ? [within, before] : [before, within]
  for (const stretch of stretches) {
    for await (const line of readStretch(ask, stretch)) if (line.isFinal) yield placeOfFire(viewEndedFire(line))
  }
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
    return [few(await findRuns(reader, schedule, 'token', packToken(token)), 'latest', after)]
  }
  if (fire !== undefined) return [few(await findRuns(reader, fire.schedule, 'fire', fireName(fire)), 'latest', after)]
  const sources: Source<RunRecord>[] = []
  if (outcome === undefined || outcome === 'open') {
    const held = schedule === undefined ? await listHeld(reader, instance) : await loadIn(reader, schedule)
    sources.push(few(held.flatMap(openRuns), 'latest', after))
  }
  if (outcome !== 'open') sources.push(endedRuns(reader.ask, query, after))
  return sources
}

function openRuns(state: ScheduleState): Placed<RunRecord>[] {
  return state.open.filter(isRunning).map((fire) => placeOfRun(viewOpenRun(state, fire)))
}

async function* endedRuns(
  ask: AskScript,
  query: RunQuery,
  after: Placed<null> | null,
): AsyncGenerator<Placed<RunRecord>, void> {
  const { schedule, from, to } = query
  for await (const line of readStretch(ask, { index: 'runs', schedule, order: 'latest', from, to, after })) {
    const run = viewEndedRun(line)
    if (run !== null) yield placeOfRun(run)
  }
}

/** Runs with this token, or of this fire: open ones and lines, of one moment. */
async function findRuns(
  { ask, schedules }: Reader,
  schedule: string,
  how: 'token' | 'fire',
  what: string,
): Promise<Placed<RunRecord>[]> {
  const member = memberOf(schedule)
  const { lines } = await ask(FIND_LINES, [member, how, what])
  const states = lines[0] === '' ? [] : await schedules.read([member, lines[0]!, ''])
  const ended = linesOf(lines, 1)
    .map(viewEndedRun)
    .filter((run) => run !== null)
  return [...states.flatMap(openRuns), ...ended.map(placeOfRun)]
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

/** Bite by bite, until the log is at its end or the page is full. */
export async function listEnds(ask: AskScript, { after, limit }: EndQuery): Promise<EndPage> {
  const [epochThen, from] = after === null ? [null, null] : readCursor(after, ['number', 'number'])
  const items: End[] = []
  let isWhole = true
  for (let place = from; ; ) {
    const { now, epoch, lines } = await ask(LIST_ENDS, [place === null ? '' : String(place), String(BITE)])
    const [last, isKept, looked] = lines as [string, string, string]
    const isKnown = isKept === '1' && (epochThen ?? epoch) === epoch
    const found = isKnown ? linesOf(lines, 3) : []
    const ends = await endsOf(ask, found)
    const room = limit - items.length
    items.push(...ends.slice(0, room))
    isWhole &&= isKnown && found.length === Number(looked) && ends.length <= room
    if (place !== null) place += Number(looked)
    const isOver = !isKnown || Number(looked) < BITE
    if (!isOver && items.length < limit) continue
    const complete = isWhole && (place ?? Number(last)) === Number(last)
    return { now, items, next: writeCursor([epoch, Number(last)]), complete }
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
