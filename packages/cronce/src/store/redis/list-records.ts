import type { FireEnd, FireRecord, ListedRecord } from '../../model/record.ts'
import type { Instant, ScheduleState } from '../../model/schedule.ts'
import { isEnded, listLine, listOpenFire, viewEnd, viewListedFire } from '../../model/views.ts'
import { placeOf, type RecordPlace, readPlace, writePlace } from '../cursor.ts'
import { isInView, matchesRecord } from '../matches.ts'
import type { LatestQuery, Page, RecordQuery } from '../store.ts'
import { decodeName, encodeName, fireName, memberOf, packToken, readFireName } from './keys.ts'
import type { AskScript } from './moment.ts'
import {
  BITE,
  boundsOf,
  compareIn,
  linesOf,
  type Placed,
  placed,
  readHistory,
  type Source,
  type Stretch,
  serverPlace,
} from './read-history.ts'
import type { Schedules } from './schedules.ts'
import { FIND_LINES, FIND_TOKEN, LIST_NOTES, LIST_OPEN } from './scripts.ts'

// Fires and runs are views: of the open fires in the lines of schedules, and of the lines of their histories. A list merges both.

export interface Reader {
  readonly ask: AskScript
  readonly schedules: Schedules
}

export async function listRecords({ ask, schedules }: Reader, query: RecordQuery): Promise<Page<ListedRecord>> {
  let now: Instant = 0
  // The time of a page is that of its last answer.
  const timed: AskScript = async (script, args) => {
    const answer = await ask(script, args)
    now = answer.now
    return answer
  }
  const { view, order, limit } = query
  const isLatest = order !== 'earliest'
  const cursor = readPlace(query)
  const after = cursor === null ? null : serverPlace(cursor)
  const records = recordsOf({ ask: timed, schedules }, { ...query, isLatest, after })
  const isWanted = ({ record, place }: Placed): boolean =>
    matchesRecord(record, query) && (after === null || compareIn(isLatest, after, place) < 0)
  // One more than the page holds: there is a next page.
  const found = await take(records, isWanted, limit + 1)
  const items = found.slice(0, limit)
  const last = items.at(-1)
  const next = found.length > limit && last !== undefined ? writePlace(placeOf(last, view)) : null
  return { items: view === 'fires' ? items : await withNotes(timed, items), next, now }
}

/**
 * Records of all sources in one order; of those at the same position, that of the last source: what was open a moment ago has
 * ended.
 */
async function* merge(sources: readonly Source[], isLatest: boolean): AsyncGenerator<Placed> {
  const heads = await Promise.all(sources.map((source) => source.next()))
  for (;;) {
    let best: Placed | undefined
    for (const { value } of heads) {
      if (value && (best === undefined || compareIn(isLatest, value.place, best.place) <= 0)) best = value
    }
    if (best === undefined) return
    yield best
    for (const [index, { value }] of heads.entries()) {
      if (value && compareIn(isLatest, value.place, best.place) === 0) heads[index] = await sources[index]!.next()
    }
  }
}

async function take(
  records: AsyncIterable<Placed>,
  isWanted: (record: Placed) => boolean,
  limit: number,
): Promise<ListedRecord[]> {
  const found: ListedRecord[] = []
  for await (const one of records) {
    if (isWanted(one)) found.push(one.record)
    if (found.length >= limit) break
  }
  return found
}

type Asked = Omit<RecordQuery, 'after'> & Stretch

/** The candidates, if there are few; otherwise open and ended records, in one order. */
async function* recordsOf(reader: Reader, query: Asked): AsyncGenerator<Placed> {
  const { view, schedule, outcome, isLatest } = query
  const few = schedule === undefined ? null : await findFew(reader, schedule, query)
  if (few !== null) {
    yield* sorted(few, view, isLatest)
    return
  }
  const hasOpen = outcome === undefined || outcome === 'open'
  let stretch: Asked = query
  for (;;) {
    const { open, last } = hasOpen ? await readOpen(reader, stretch) : NOTHING_OPEN
    // Ended records are read after open ones: a fire that ends meanwhile is in one of both.
    const ended = outcome === 'open' ? [] : readHistory(reader.ask, stretch)
    for await (const one of merge([sorted(open, view, isLatest), ...ended], isLatest)) {
      if (!isWithin(one.place, stretch, null)) continue
      if (!isWithin(one.place, stretch, last)) break
      yield one
    }
    if (last === null) return
    stretch = { ...stretch, after: last }
  }
}

/** Open records up to a position, all read at one moment. */
interface OpenBite {
  readonly open: readonly ListedRecord[]
  /** `null`: there is nothing open after them. */
  readonly last: RecordPlace | null
}

const NOTHING_OPEN: OpenBite = { open: [], last: null }

function isWithin(place: RecordPlace, { isLatest, after }: Stretch, last: RecordPlace | null): boolean {
  return (
    (after === null || compareIn(isLatest, after, place) < 0) &&
    (last === null || compareIn(isLatest, place, last) <= 0)
  )
}

/** Open records from the start of the stretch on: all of a schedule, or those of one bite. */
async function readOpen(reader: Reader, stretch: Asked): Promise<OpenBite> {
  const { view, schedule, instance } = stretch
  const isListed = ({ run }: ListedRecord): boolean => view === 'fires' || run !== null
  if (schedule !== undefined) {
    return { open: (await loadIn(reader, schedule)).flatMap(openIn).filter(isListed), last: null }
  }
  const bite = view === 'fires' ? BITE : 0
  const of = instance === undefined ? '' : `+${encodeName(instance)}`
  const { lines } = await reader.ask(LIST_OPEN, [...boundsOf(stretch), String(bite), of])
  const [looked, score, entry] = lines as [string, string, string]
  const [member, nonce] = entry.split('\n') as [string, string]
  const isFull = bite > 0 && Number(looked) === bite
  const last = isFull ? { dueAt: Number(score), schedule: member, nonce, token: '' } : null
  const open = (await reader.schedules.read(lines, 3)).flatMap(openIn).filter(isListed)
  return { open: open.filter((record) => isWithin(placed(record, view).place, stretch, last)), last }
}

async function* sorted(
  records: readonly ListedRecord[],
  view: RecordQuery['view'],
  isLatest: boolean,
): AsyncGenerator<Placed, void> {
  const all = records.map((record) => placed(record, view))
  yield* all.sort((one, other) => compareIn(isLatest, one.place, other.place))
}

function openIn(state: ScheduleState): ListedRecord[] {
  return state.open.map((fire) => listOpenFire(state, fire))
}

async function loadIn({ ask, schedules }: Reader, id: string): Promise<ScheduleState[]> {
  return (await schedules.load([id], ask)).schedules
}

/** Records of a run, or of a fire, that the query identifies, read at one moment. `null`: it identifies none. */
async function findFew(reader: Reader, schedule: string, query: Asked): Promise<ListedRecord[] | null> {
  const { view, token, nonce, from, to } = query
  const isInstant = from !== undefined && to === from + 1
  // A range may cover the instant, if fires are listed.
  if (nonce === undefined || (nonce === '' && !(isInstant && view === 'runs'))) {
    return token === undefined ? null : findRun(reader, schedule, token)
  }
  const { open, ended } =
    nonce === ''
      ? await findFire(reader, schedule, 'fire', fireName({ dueAt: from!, nonce }))
      : await findFire(reader, schedule, 'nonce', encodeName(nonce))
  const isOpenIn = ({ run }: ListedRecord): boolean => view === 'fires' || run !== null
  return [...open.filter(isOpenIn), ...ended.filter((line) => isInView(line, view)).map((line) => listLine(line))]
}

/** An open fire and its lines; by due time and nonce, or by nonce only. */
async function findFire({ ask, schedules }: Reader, schedule: string, how: 'fire' | 'nonce', what: string) {
  const member = memberOf(schedule)
  const { lines } = await ask(FIND_LINES, [member, how, what])
  const [state] = lines[0] === '' ? [] : await schedules.read([member, lines[0]!, ''])
  const name = how === 'fire' ? readFireName(what) : { nonce: decodeName(what), dueAt: null }
  const isIt = ({ dueAt, nonce }: ListedRecord): boolean =>
    nonce === name.nonce && (name.dueAt === null || dueAt === name.dueAt)
  return { open: state === undefined ? [] : openIn(state).filter(isIt), ended: linesOf(lines, 1) }
}

/** As listed, or as its last line says. `null`: it is gone by now. */
export async function viewFire(reader: Reader, schedule: string, name: string): Promise<FireRecord | null> {
  const { open, ended } = await findFire(reader, schedule, 'fire', name)
  const last = ended
    .sort((one, other) => Number(one.isFinal) - Number(other.isFinal) || one.number - other.number)
    .at(-1)
  const found = open[0] ?? (last && listLine(last))
  return found === undefined ? null : viewListedFire(found)
}

/** The run with this token: open when the first look began, or in a line that existed by then. */
async function findRun({ ask, schedules }: Reader, schedule: string, token: string): Promise<ListedRecord[]> {
  const member = memberOf(schedule)
  for (let before = '', isFirst = true; ; isFirst = false) {
    const { lines } = await ask(FIND_TOKEN, [member, packToken(token), before])
    const states = isFirst && lines[0] !== '' ? await schedules.read([member, lines[0]!, '']) : []
    const open = states.flatMap(openIn).filter(({ run }) => run?.token === token)
    const ended = linesOf(lines, 2).map((line) => listLine(line))
    before = lines[1]!
    if (open.length > 0 || ended.length > 0 || before === '') return [...open, ...ended]
  }
}

export async function withNotes(ask: AskScript, records: readonly ListedRecord[]): Promise<ListedRecord[]> {
  const runs = records.flatMap(({ schedule, run }) =>
    run === null ? [] : [encodeName(schedule), packToken(run.token)],
  )
  const { lines } = runs.length === 0 ? { lines: [] } : await ask(LIST_NOTES, runs)
  const texts = lines.values()
  return records.map((record) => {
    const text = record.run === null ? '' : texts.next().value
    return text === undefined || text === '' ? record : { ...record, notes: JSON.parse(text) }
  })
}

export async function listLatest(ask: AskScript, { schedules, limit }: LatestQuery): Promise<FireEnd[]> {
  const found = [...new Set(schedules)].map(async (schedule) => {
    const stretch = { view: 'fires', schedule, isLatest: true, after: null as RecordPlace | null } as const
    const records = await take(merge(readHistory(ask, stretch), true), () => true, limit)
    return records.filter(isEnded).map(viewEnd)
  })
  return (await Promise.all(found)).flat()
}
