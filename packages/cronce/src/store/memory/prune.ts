import { type ActivityRecord, scheduleOfActivity } from '../../model/activity.ts'
import type { Change } from '../../model/change.ts'
import { COUNTS_KEPT_MS } from '../../model/hours.ts'
import type { FireKey } from '../../model/record.ts'
import type { Instant } from '../../model/schedule.ts'
import { StoreError } from '../store-error.ts'
import { finalLine } from './record-index.ts'
import { ascend } from './sorted.ts'
import { deleteFire, type Space, setActivity, setCount, setInstance } from './space.ts'

const TRIM_LIMIT = 200
/**
 * A record that ended later than its number suggests (the clock was set back), or that was skipped ahead: look past it, but not
 * forever.
 */
const TRIM_LOOKS = 5 * TRIM_LIMIT
const DAY_MS = 86_400_000

export function trim(space: Space, schedule: string, { belowNumber, endedBefore }: NonNullable<Change['trim']>): void {
  const numbers = space.records.schedules.get(schedule)?.numbers
  if (numbers === undefined) return
  const found: FireKey[] = []
  let looks = 0
  for (const entry of ascend(numbers)) {
    if (entry.number >= belowNumber || found.length === TRIM_LIMIT || ++looks > TRIM_LOOKS) break
    const { endedAt } = finalLine(entry)!
    if (Math.max(endedAt, entry.dueAt) < endedBefore) found.push(entry)
  }
  for (const fire of found) deleteFire(space, fire)
}

export function prune(space: Space, now: Instant, limit: number): number {
  const fires = expired(space, now, limit)
  for (const fire of fires) deleteFire(space, fire)
  for (const id of forgettable(space, now)) setInstance(space, id, undefined)
  for (const key of outdated(space, now)) setCount(space, key, 0)
  deleteActivity(space, limit, ({ expiresAt }) => expiresAt <= now)
  return fires.length
}

export function isPrunable(space: Space, now: Instant): boolean {
  return expired(space, now, 1).length > 0 || forgettable(space, now).length > 0
}

function expired({ records }: Space, now: Instant, limit: number): FireKey[] {
  const found: FireKey[] = []
  for (const entry of ascend(records.expiring)) {
    if (entry.expiresAt > now || found.length >= limit) break
    found.push(entry)
  }
  return found
}

/** Rare: the whole log is looked at whenever fires are deleted. */
function deleteActivity(space: Space, limit: number, isOver: (line: ActivityRecord) => boolean): void {
  const found = [...space.data.activity.values()].filter(isOver)
  for (const { id } of found.slice(0, limit)) setActivity(space, id, undefined)
}

/** Of instances that ended a day ago, one with open runs is kept: those runs are recovered through it. */
function forgettable({ data, records }: Space, now: Instant): string[] {
  const found: string[] = []
  for (const [id, { goneAt }] of data.instances) {
    if (goneAt !== null && goneAt <= now - DAY_MS && !records.held.has(id)) found.push(id)
  }
  return found
}

/** Hours that are no longer counted. They are few, so they are deleted along with other records. */
function outdated({ data }: Space, now: Instant): string[] {
  return [...data.counts.keys()].filter((key) => Number.parseInt(key, 10) < now - COUNTS_KEPT_MS)
}

/** Of a schedule that does not exist. */
export function pruneSchedule(space: Space, schedule: string, limit: number): number {
  if (space.data.schedules.has(schedule)) {
    throw new StoreError('SCHEDULE_EXISTS', `The records of "${schedule}" are in use: the schedule exists.`, {
      hint: 'Remove the schedule first.',
    })
  }
  deleteActivity(space, Infinity, (line) => scheduleOfActivity(line) === schedule)
  const shelf = space.records.schedules.get(schedule)
  const found: FireKey[] = []
  for (const entry of shelf === undefined ? [] : ascend(shelf.fires)) {
    if (found.length >= limit) break
    found.push(entry)
  }
  for (const fire of found) deleteFire(space, fire)
  return found.length
}
