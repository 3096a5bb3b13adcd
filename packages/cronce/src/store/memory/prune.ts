import type { Change } from '../../model/change.ts'
import type { FireKey } from '../../model/record.ts'
import type { Instant } from '../../model/schedule.ts'
import { notApplied } from './not-applied.ts'
import { ascend } from './sorted.ts'
import { deleteFire, type Space, setInstance } from './space.ts'

const TRIM_LIMIT = 200
/** Ended later than its number says (the clock was set back): look past it, but not for ever. */
const TRIM_LOOKS = 5 * TRIM_LIMIT
const DAY_MS = 86_400_000

export function trim(space: Space, schedule: string, { belowNumber, endedBefore }: NonNullable<Change['trim']>): void {
  const numbers = space.records.schedules.get(schedule)?.numbers
  if (numbers === undefined) return
  const found: FireKey[] = []
  let looks = 0
  for (const entry of ascend(numbers)) {
    if (entry.number >= belowNumber || found.length === TRIM_LIMIT || ++looks > TRIM_LOOKS) break
    const { endedAt } = space.data.fires.get(entry.key)!
    if (endedAt !== null && endedAt < endedBefore) found.push(entry)
  }
  for (const fire of found) deleteFire(space, fire)
}

export function prune(space: Space, now: Instant, limit: number): number {
  const found: FireKey[] = []
  for (const entry of ascend(space.records.expiring)) {
    if (entry.expiresAt > now || found.length >= limit) break
    // A record that says when it may go but not how it ended is somebody's mistake, and no reason to lose an open fire.
    if (!space.records.openFires.has(entry)) found.push(entry)
  }
  for (const fire of found) deleteFire(space, fire)
  for (const [id, { goneAt }] of [...space.data.instances]) {
    // One that still has runs is what those runs are recovered by.
    const isDone = goneAt !== null && goneAt <= now - DAY_MS && !space.records.openRuns.has(id)
    if (isDone) setInstance(space, id, undefined)
  }
  return found.length
}

export function erase(space: Space, schedule: string, limit: number): boolean {
  if (space.data.schedules.has(schedule)) {
    throw notApplied('SCHEDULE_EXISTS', `The records of "${schedule}" are in use: the schedule exists.`, {
      hint: 'Remove the schedule first.',
    })
  }
  const shelf = space.records.schedules.get(schedule)
  if (shelf === undefined) return true
  const found: FireKey[] = []
  for (const entry of ascend(shelf.fires)) {
    if (found.length >= limit) break
    found.push(entry)
  }
  for (const fire of found) deleteFire(space, fire)
  return !space.records.schedules.has(schedule)
}
