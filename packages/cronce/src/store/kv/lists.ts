import type { FireEnd, ListedRecord } from '../../model/record.ts'
import type { ScheduleState } from '../../model/schedule.ts'
import { isEnded, listLine, viewEnd } from '../../model/views.ts'
import { readCursor, writeCursor } from '../cursor.ts'
import { matchesSchedule } from '../matches.ts'
import type { EndPage, EndQuery, LatestQuery, Page, ScheduleQuery } from '../store.ts'
import type { Context } from './context.ts'
import { linesIn } from './facts.ts'
import { decodeName, encodeName, type Keys } from './keys.ts'
import { isEnd, readLine } from './lines.ts'
import { withNotes } from './list-records.ts'
import type { Schedules } from './schedules.ts'

const BITE = 100

export async function listSchedules(
  context: Context,
  schedules: Schedules,
  query: ScheduleQuery,
): Promise<Page<ScheduleState>> {
  const { keys, driver, time } = context
  const { job, prefix = '', limit } = query
  const index = indexOf(query)
  const after = query.after === null ? null : encodeName(readCursor(query.after, ['string'])[0])
  const { from: first, to } = keys.below(...index)
  // What begins with the prefix comes after it, and has no character above.
  let from = first + encodeName(prefix)
  if (after !== null && compareBytes(first + after, from) >= 0) from = `${first}${after}\0`
  const items: ScheduleState[] = []
  for (;;) {
    const { entries } = (await driver.read([{ from, to, limit: BITE, keysOnly: true }])).found[0]!
    const names = entries.map(({ key }) => nameIn(keys, key)).filter((name) => name.startsWith(prefix))
    for (const state of await schedules.load(names)) {
      if (!matchesSchedule(state, query) || (job !== undefined && state.definition.job !== job)) continue
      const last = items.at(-1)
      if (last !== undefined && items.length >= limit) return { now: time.now(), items, next: writeCursor([last.id]) }
      items.push(state)
    }
    // Names that begin with the prefix are next to each other.
    if (entries.length < BITE || names.length < entries.length) return { now: time.now(), items, next: null }
    from = `${entries.at(-1)!.key}\0`
  }
}

function nameIn(keys: Keys, key: string): string {
  return decodeName(keys.parts(key).at(-1)!)
}

/** By whatever few have in common: an app's code declares hundreds where clients may have made a million. */
function indexOf({ app, tenant, job }: ScheduleQuery): string[] {
  if (app !== undefined) return ['ja', encodeName(app)]
  if (tenant !== undefined) return ['jt', encodeName(tenant)]
  return job === undefined ? ['s'] : ['j', encodeName(job)]
}

function compareBytes(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other))
}

export async function listLatest({ keys, driver }: Context, { schedules, limit }: LatestQuery): Promise<FireEnd[]> {
  const found = [...new Set(schedules)].map(async (schedule) => {
    const { from, to } = keys.below('f', encodeName(schedule))
    const ends: FireEnd[] = []
    for (let before = to; ; ) {
      const answer = (await driver.read([{ from, to: before, limit: BITE, reverse: true }])).found[0]!
      const lines = linesIn(answer).filter(({ isFinal }) => isFinal)
      ends.push(
        ...lines
          .map((line) => listLine(line))
          .filter(isEnded)
          .map(viewEnd),
      )
      if (ends.length >= limit || answer.entries.length < BITE) return ends.slice(0, limit)
      before = answer.entries.at(-1)!.key
    }
  })
  return (await Promise.all(found)).flat()
}

/** The server's own history of writes is the log: positions are its revisions, so they follow the order of commits. */
export async function listEnds(context: Context, { after, limit }: EndQuery): Promise<EndPage> {
  const { keys, driver, time, identity } = context
  const [epoch, position] = after === null ? [identity.epoch, null] : readCursor(after, ['number', 'number'])
  const { found, revision } = await driver.read([{ get: keys.lineBell }])
  const next = writeCursor([identity.epoch, revision])
  if (position === null) return { now: time.now(), items: [], next, complete: true }
  const until = found[0]!.entries[0]?.revision ?? 0
  const { from } = keys.below('f')
  const range = { from: keys.lineBell, to: keys.below('f').to }
  const written = epoch === identity.epoch ? await driver.changes(range, position, until) : null
  const lines = new Map<string, string | null>()
  for (const { key, value } of written ?? []) {
    if (!key.startsWith(from)) continue
    // A line that was deleted, or written again because its fire opened again, is news only if its end is.
    if (value !== null && isEnd(value)) lines.set(key, value)
    else if (lines.has(key)) lines.set(key, value)
  }
  const kept = [...lines.values()].filter((value) => value !== null).map(readLine)
  const ended: ListedRecord[] = kept.filter(({ run, isFinal }) => run !== null || isFinal).map((line) => listLine(line))
  const isWhole = written !== null && kept.length === lines.size && ended.length <= limit
  const items = await withNotes(context, ended.slice(0, limit))
  return { now: time.now(), items, next, complete: isWhole }
}
