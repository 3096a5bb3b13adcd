import { type ActivityRecord, scheduleOfActivity } from '../../model/activity.ts'
import { activityPage, readActivityPlace } from '../cursor.ts'
import type { ActivityQuery, Page } from '../store.ts'
import type { Context } from './context.ts'
import type { Entry, Group, KeyRange, Put } from './driver.ts'
import { encodeName, encodeNumber, type Keys } from './keys.ts'

const BITE = 100

/** What a line of the operator log is written as: in the log, in that of its schedule, and by when it may be deleted. */
export function activityPuts(keys: Keys, line: ActivityRecord | undefined): Put[] {
  if (line === undefined) return []
  const value = JSON.stringify(line)
  return activityKeys(keys, line).map((key) => ({ key, value }))
}

function activityKeys(keys: Keys, line: ActivityRecord): string[] {
  const place = [encodeNumber(line.at), encodeName(line.id)]
  const schedule = scheduleOfActivity(line)
  return [
    keys.key('y', ...place),
    keys.key('yx', encodeNumber(line.expiresAt), ...place),
    ...(schedule === null ? [] : [keys.key('ys', encodeName(schedule), ...place)]),
  ]
}

export async function listActivity(
  { keys, driver, time }: Context,
  query: ActivityQuery,
): Promise<Page<ActivityRecord>> {
  const { schedule, from, to, limit } = query
  const log = schedule === undefined ? ['y'] : ['ys', encodeName(schedule)]
  const whole = keys.below(...log)
  const place = readActivityPlace(query)
  const ends = [
    to === undefined ? whole.to : keys.key(...log, encodeNumber(to)),
    place === null ? whole.to : keys.key(...log, encodeNumber(place.at), encodeName(place.id)),
  ]
  const range = { from: from === undefined ? whole.from : keys.key(...log, encodeNumber(from)), to: ends.sort()[0]! }
  const entries = range.from < range.to ? await read(driver, range, limit + 1) : []
  return activityPage(time.now(), entries.map(readActivity), query)
}

async function read(driver: Context['driver'], range: KeyRange, limit: number): Promise<readonly Entry[]> {
  return (await driver.read([{ ...range, limit, reverse: true }])).found[0]!.entries
}

function readActivity({ value }: Entry): ActivityRecord {
  return JSON.parse(value)
}

/** Those whose time is up, up to `limit`. */
export function pruneActivity(context: Context, limit: number): Promise<void> {
  const { keys, time } = context
  return deleteActivity(context, { from: keys.key('yx', ''), to: keys.key('yx', encodeNumber(time.now() + 1)) }, limit)
}

/** Those about a schedule that does not exist. */
export function pruneActivityOf(context: Context, schedule: string): Promise<void> {
  return deleteActivity(context, context.keys.below('ys', encodeName(schedule)), Number.POSITIVE_INFINITY)
}

async function deleteActivity({ keys, driver, identity }: Context, range: KeyRange, limit: number): Promise<void> {
  for (let left = limit; left > 0; ) {
    const { entries } = (await driver.read([{ ...range, limit: Math.min(BITE, left) }])).found[0]!
    if (entries.length === 0) return
    const groups = entries.map((entry): Group => {
      return { guards: [], puts: [], deletes: activityKeys(keys, readActivity(entry)) }
    })
    const { isHeld, written } = await driver.commit({ guards: [identity.guard], puts: [], groups })
    if (!isHeld || written.length === 0) return
    left -= written.length
  }
}
