import { type ActivityRecord, scheduleOfActivity } from '../../model/activity.ts'
import type { Change } from '../../model/change.ts'
import type { HistoryRecord } from '../../model/record.ts'
import type { ChangeResult } from '../store.ts'
import { partlyApplied } from '../store-error.ts'
import { isUnchanged, type Settings, settingsOf, writeSettings } from './definitions.ts'
import { writeLine } from './history-line.ts'
import { decodeName, encodeName, fireName, memberOf, whole } from './keys.ts'
import { writeState } from './state-line.ts'

/** Changes of different schedules, and the index of each. A change that builds on another one comes in a later batch. */
export interface Batch {
  readonly changes: Change[]
  readonly places: number[]
}

/** How many go into one script: the server serves no other client meanwhile. */
const MOST = 500

export function batchesOf(changes: readonly Change[]): Batch[] {
  const batches: Batch[] = []
  let batch: Batch = { changes: [], places: [] }
  let ids = new Set<string>()
  for (const [place, change] of changes.entries()) {
    // In order, whatever they are about: they may need the same slot of a limit.
    if (place === 0 || ids.has(change.id) || batch.changes.length === MOST) {
      batch = { changes: [], places: [] }
      batches.push(batch)
      ids = new Set()
    }
    ids.add(change.id)
    batch.changes.push(change)
    batch.places.push(place)
  }
  return batches
}

/** Settings as last read, and the version that wrote them. */
export type KnownSettings = Settings & { readonly edition: number }

/**
 * A change as the script takes it: member, version, epoch, notBefore, edition of the settings it builds on, 's' or 'x' (removed), tokens,
 * ended, state, wakeAt, job, settings ('' if they stay), the two of `trim`; then lists, each after its length: creates, reopens, rewrites,
 * history, limits, activity. Answers the settings that are written.
 */
export function pushChange(args: string[], change: Change, known: KnownSettings | undefined): Settings | null {
  const { id, version, epoch, notBefore, state, trim } = change
  const base = version === 0 ? undefined : known
  args.push(
    memberOf(id),
    whole(version),
    whole(epoch),
    optional(notBefore),
    base === undefined ? '' : whole(base.edition),
  )
  let settings: Settings | null = null
  if (state === null) args.push('x', '0', '0', '', '-', '', '')
  else {
    settings = base !== undefined && isUnchanged(base, state) ? null : settingsOf(base, state)
    const { job } = (settings ?? base!).definition
    args.push('s', whole(state.tokens), whole(state.ended), writeState(state))
    args.push(state.wakeAt === null ? '-' : whole(state.wakeAt), encodeName(job))
    args.push(settings === null ? '' : writeSettings(settings))
  }
  args.push(optional(trim?.belowNumber), optional(trim?.endedBefore))
  pushList(args, change.creates, (fire) => [fireName(fire)])
  pushList(args, change.reopens, (fire) => [fireName(fire)])
  pushList(args, change.rewrites, lineArgs)
  pushList(args, change.history.length > 1 ? change.history.toSorted(byNumber) : change.history, lineArgs)
  pushList(args, change.limits, ({ slot, limit }) => [encodeName(slot), whole(limit)])
  pushList(args, change.activity === undefined ? [] : [change.activity], activityArgs)
  return settings
}

/** A line of the operator log as scripts take it. */
export function activityArgs(line: ActivityRecord): string[] {
  const { id, at, expiresAt } = line
  return [id, whole(at), encodeName(scheduleOfActivity(line) ?? ''), whole(expiresAt), JSON.stringify(line)]
}

function optional(value: number | null | undefined): string {
  return value === null || value === undefined ? '' : whole(value)
}

function pushList<Item>(args: string[], items: readonly Item[], argsOf: (item: Item) => string[]): void {
  args.push(String(items.length))
  for (const item of items) args.push(...argsOf(item))
}

function byNumber(one: HistoryRecord, other: HistoryRecord): number {
  return one.number - other.number
}

function lineArgs(record: HistoryRecord): string[] {
  const { line, body } = writeLine(record)
  return [whole(record.number), line, body]
}

export const APPLIED: ChangeResult = { kind: 'applied' }
export const CONFLICT: ChangeResult = { kind: 'conflict' }
const EARLY: ChangeResult = { kind: 'early' }
export const NOT_LIVE: ChangeResult = { kind: 'not-live' }

/**
 * What a script returns about a change. `again`: the store has other settings. `exists`: the fire of this name is open or on
 * record.
 */
export type Verdict =
  /** With the head of the line that the schedule has now. */
  { readonly result: ChangeResult; readonly head?: string } | { readonly again: true } | { readonly exists: string }

export function verdictsOf(lines: readonly string[], changes: readonly Change[]): Verdict[] {
  if (lines[0] === 'n') return changes.map(() => ({ result: NOT_LIVE }))
  if (lines[0] === 'h') return changes.map(() => ({ result: CONFLICT }))
  return changes.map((_, index) => verdictOf(lines[index]!))
}

function verdictOf(line: string): Verdict {
  const rest = line.slice(1)
  switch (line[0]) {
    case 'a':
      return { result: APPLIED, head: rest }
    case 'c':
      return { result: CONFLICT }
    case 'e':
      return { result: EARLY }
    case 'd':
      return { again: true }
    case 'f':
      return { result: { kind: 'full', slot: decodeName(rest) } }
    default:
      return { exists: rest }
  }
}

/** Runs `work`. If it fails and `isLater` says that an earlier script has written, the error says so. */
export async function afterEarlierWrites<Value>(isLater: boolean, work: () => Promise<Value>): Promise<Value> {
  try {
    return await work()
  } catch (error) {
    throw isLater ? partlyApplied(error) : error
  }
}
