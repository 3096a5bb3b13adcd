import type { FireRecord, RunNotes, RunRecord } from '../../model/record.ts'
import type { Instant, ScheduleState } from '../../model/schedule.ts'
import { readCursor, writeCursor } from '../cursor.ts'
import { isEnd, matchesFire, matchesRun, matchesSchedule } from '../matches.ts'
import type { End, EndPage, EndQuery, FireQuery, Page, RunQuery, ScheduleQuery } from '../store.ts'
import { decodeName, encodeName, fireName, readFireName } from './keys.ts'
import type { Asker } from './moment.ts'
import { readFire, readRun } from './records.ts'
import { FEW_RUNS, FIRE_BY_NONCE, LIST_ENDS, LIST_FIRES, LIST_RUNS } from './scripts/lists.ts'
import { LIST_SCHEDULES } from './scripts/schedules.ts'

const UNTOLD: RunNotes = { progress: null, log: [], logCut: false }

/** So many records in one script: nobody else is served meanwhile. Those that do not match count as well. */
const BITE = 200

/** Behind which the next bite begins, as the script wants it. */
type Place = readonly [score: string, member: string]

const BEGINNING: Place = ['', '']

/** What a script looked through: some of it may have no record. */
function readLooked(line: string): { readonly count: number; readonly last: Place } {
  const [count, score, ...member] = line.split('\t') as [string, string, ...string[]]
  return { count: Number(count), last: [score, member.join('\n')] }
}

/** What a script looked through, and whether that was the end. */
interface Bite<Item> {
  readonly now: Instant
  readonly items: readonly Item[]
  readonly isLast: boolean
}

/** Bite by bite until the page is full, with one more than it holds: then there is a next one. */
async function page<Item>(
  limit: number,
  bite: (count: number) => Promise<Bite<Item>>,
  matches: (item: Item) => boolean,
  placeOf: (item: Item) => readonly (string | number)[],
): Promise<Page<Item>> {
  const items: Item[] = []
  for (let count = Math.min(BITE, limit + 1); ; count = BITE) {
    const found = await bite(count)
    for (const item of found.items) if (matches(item)) items.push(item)
    if (items.length > limit) {
      const kept = items.slice(0, limit)
      return { now: found.now, items: kept, next: kept.length === 0 ? null : writeCursor(placeOf(kept.at(-1)!)) }
    }
    if (found.isLast) return { now: found.now, items, next: null }
  }
}

/** `read` takes the lines from the first schedule on, and leaves out what a newer version wrote. */
export async function listSchedules(
  asker: Asker,
  query: ScheduleQuery,
  read: (lines: readonly string[], first: number) => ScheduleState[],
): Promise<Page<ScheduleState>> {
  const { job, prefix = '' } = query
  const index = indexOf(query)
  const from = encodeName(prefix)
  const to = prefix === '' ? '+' : `(${from}\u{10ffff}`
  let last = query.after === null ? null : encodeName(String(readCursor(query.after, ['string'])[0]))
  const bite = async (count: number): Promise<Bite<ScheduleState>> => {
    const isBehind = last !== null && Buffer.compare(Buffer.from(last), Buffer.from(from)) >= 0
    const first = isBehind ? `(${last}` : from === '' ? '-' : `[${from}`
    const { now, lines } = await asker.ask(LIST_SCHEDULES, [...index, first, to, String(count)])
    const [end = ''] = lines
    if (end !== '') last = end
    return { now, items: read(lines, 1), isLast: end === '' }
  }
  return page(
    query.limit,
    bite,
    (state) => matchesSchedule(state, query) && hasJob(state, job),
    ({ id }) => [id],
  )
}

/** By whatever few have in common: an app's code declares hundreds where clients may have made a million. */
function indexOf({ app, tenant, job }: ScheduleQuery): [kind: string, name: string] {
  if (app !== undefined) return ['app', `+${encodeName(app)}`]
  if (tenant !== undefined) return ['tenant', `+${encodeName(tenant)}`]
  return job === undefined ? ['', ''] : ['job', encodeName(job)]
}

function hasJob({ definition }: ScheduleState, job: string | undefined): boolean {
  return job === undefined || definition.job === job
}

export async function listFires(asker: Asker, query: FireQuery): Promise<Page<FireRecord>> {
  const { schedule, nonce = '' } = query
  const placeOf = ({ dueAt, schedule, nonce }: FireRecord) => [dueAt, schedule, nonce]
  const matches = (fire: FireRecord) => matchesFire(fire, query)
  if (schedule !== undefined && nonce !== '') {
    const { now, lines } = await asker.ask(FIRE_BY_NONCE, [encodeName(schedule), encodeName(nonce)])
    return { now, items: query.after === null ? lines.flatMap(fireOf).filter(matches) : [], next: null }
  }
  const stretches = stretchesOf(query)
  let place = query.after === null ? BEGINNING : firePlace(query.after, schedule)
  const bite = async (count: number): Promise<Bite<FireRecord>> => {
    const { index, from, to } = stretches[0]!
    const of = schedule === undefined ? '' : encodeName(schedule)
    const args = [index, of, query.order ?? 'latest', from, to, ...place, String(count)]
    const { now, lines } = await asker.ask(LIST_FIRES, args)
    const looked = readLooked(lines[0]!)
    if (looked.count > 0) place = looked.last
    if (looked.count < count) stretches.shift()
    return { now, items: lines.slice(1).flatMap(fireOf), isLast: stretches.length === 0 }
  }
  return page(query.limit, bite, matches, placeOf)
}

function firePlace(cursor: string, schedule: string | undefined): Place {
  const [dueAt, of, nonce] = readCursor(cursor, ['number', 'string', 'string'])
  const name = fireName({ dueAt: Number(dueAt), nonce: String(nonce) })
  return [String(dueAt), schedule === undefined ? `${encodeName(String(of))}\n${name}` : name]
}

interface Stretch {
  readonly index: 'fires' | 'ranges' | 'open'
  /** Included and excluded. */
  readonly from: string
  readonly to: string
}

/** Ranges that begin before `from` may reach into it: they are looked at besides. */
function stretchesOf({ schedule, outcome, from, to, order = 'latest' }: FireQuery): Stretch[] {
  const index = schedule === undefined && outcome === 'open' ? 'open' : 'fires'
  const upTo = to === undefined ? '+inf' : String(to)
  const within: Stretch = { index, from: from === undefined ? '-inf' : String(from), to: upTo }
  if (from === undefined) return [within]
  const before: Stretch = { index: 'ranges', from: '-inf', to: String(Math.min(from, to ?? from)) }
  return order === 'latest' ? [within, before] : [before, within]
}

/** Nothing if a newer version wrote it. */
function fireOf(line: string): FireRecord[] {
  const [schedule, name, record] = line.split('\t') as [string, string, string]
  const fire = readFire({ schedule: decodeName(schedule), ...readFireName(name) }, record)
  return fire === null ? [] : [fire]
}

type Run = RunRecord & RunNotes

export async function listRuns(asker: Asker, query: RunQuery): Promise<Page<Run>> {
  const { schedule, from, to, limit } = query
  const matches = (run: Run) => matchesRun(run, query)
  const placeOf = ({ startedAt, schedule, token }: Run) => [startedAt, schedule, token]
  const after = query.after === null ? null : readCursor(query.after, ['number', 'string', 'string'])
  const few = fewArgs(query)
  if (few !== null) {
    const { now, lines } = await asker.ask(FEW_RUNS, few)
    const behind = lines
      .flatMap(runOf)
      .filter((run) => matches(run) && (after === null || compare(placeOf(run), after) < 0))
    const items = behind.sort((one, other) => compare(placeOf(other), placeOf(one)))
    const last = items[limit - 1]
    return { now, items: items.slice(0, limit), next: items.length > limit ? writeCursor(placeOf(last!)) : null }
  }
  const bounds = [from === undefined ? '-inf' : String(from), to === undefined ? '+inf' : String(to)]
  const of = schedule === undefined ? '' : encodeName(schedule)
  let place = after === null ? BEGINNING : runPlace(after, schedule)
  const bite = async (count: number): Promise<Bite<Run>> => {
    const { now, lines } = await asker.ask(LIST_RUNS, [of, ...bounds, ...place, String(count)])
    const looked = readLooked(lines[0]!)
    if (looked.count > 0) place = looked.last
    return { now, items: lines.slice(1).flatMap(runOf), isLast: looked.count < count }
  }
  return page(limit, bite, matches, placeOf)
}

function runPlace([startedAt, of, token]: readonly (string | number)[], schedule: string | undefined): Place {
  return [String(startedAt), schedule === undefined ? `${encodeName(String(of))}\n${token}` : String(token)]
}

function compare(one: readonly (string | number)[], other: readonly (string | number)[]): number {
  for (const [index, value] of one.entries()) if (value !== other[index]) return value < other[index]! ? -1 : 1
  return 0
}

function fewArgs({ schedule, token, fire, instance, outcome }: RunQuery): string[] | null {
  if (schedule !== undefined && token !== undefined) return ['token', encodeName(schedule), token]
  if (fire !== undefined) return ['fire', encodeName(fire.schedule), fireName(fire)]
  if (outcome !== 'open') return null
  if (instance !== undefined) return ['held', encodeName(instance)]
  return schedule === undefined ? ['held'] : null
}

function runOf(line: string): Run[] {
  const [schedule, token, record, notes] = line.split('\t') as [string, string, string, string]
  const run = readRun(decodeName(schedule), token, record)
  return run === null ? [] : [{ ...run, ...(notes === '' ? UNTOLD : (JSON.parse(notes) as RunNotes)) }]
}

/** Bite by bite, until the log is at its end or the page is full. */
export async function listEnds(asker: Asker, { after, limit }: EndQuery): Promise<EndPage> {
  const [epochThen, from] = after === null ? [null, null] : readCursor(after, ['number', 'number'])
  const items: End[] = []
  let isWhole = true
  for (let place = from; ; ) {
    const { now, epoch, lines } = await asker.ask(LIST_ENDS, [place === null ? '' : String(place), String(BITE)])
    const [last, isKept, ...found] = lines as [string, string, ...string[]]
    const isKnown = isKept === '1' && (epochThen ?? epoch) === epoch
    const ends = isKnown ? found.map(endOf) : []
    const ended = ends.filter(isEnd)
    const room = limit - items.length
    items.push(...ended.slice(0, room))
    isWhole &&= isKnown && !ends.includes(null) && ended.length <= room
    if (place !== null) place += found.length
    const isOver = !isKnown || found.length < BITE
    if (!isOver && items.length < limit) continue
    const complete = isWhole && (place ?? Number(last)) === Number(last)
    return { now, items, next: writeCursor([epoch, Number(last)]), complete }
  }
}

/** `null` if the record has been deleted, or was written by a newer version. */
function endOf(line: string): End | null {
  if (line[0] === 'r') {
    const [run] = runOf(line.slice(1))
    return run === undefined ? null : { kind: 'run', run }
  }
  const [fire] = line[0] === 'f' ? fireOf(line.slice(1)) : []
  return fire === undefined ? null : { kind: 'fire', fire }
}
