import type { FireKey, HistoryRecord } from '../../model/record.ts'
import type { Instant, OpenFire, OpenRun, ScheduleState } from '../../model/schedule.ts'
import { fireKeyText } from './data.ts'
import { ascend, compareText, find, insert, isEmpty, remove, type Sorted, sorted } from './sorted.ts'

/** Indexes of fires, one per order in which they are searched: derived from the history and from the open fires. */
export interface RecordIndex extends Shelf {
  readonly openFires: Set<FireEntry>
  /** Fires with an open run, by its instance. */
  readonly held: Map<string, Set<FireEntry>>
  /** Open runs by the limit that they count against. */
  readonly slots: Map<string, number>
  /** Ended fires, by when they expire. */
  readonly expiring: Sorted<Expiring, FireEntry>
  readonly schedules: Map<string, ScheduleShelf>
}

/** Fires by due time: of all schedules, or of one. */
export interface Shelf {
  readonly fires: Sorted<FireKey, FireEntry>
  /** The fires that cover a range. */
  readonly ranges: Sorted<FireKey, FireEntry>
}

/** `fires` also contains those of which only a step is left. */
interface ScheduleShelf extends Shelf {
  /** Ended fires in the order in which they ended. */
  readonly numbers: Sorted<Numbered, FireEntry>
  /** Fires that have a nonce. */
  readonly nonces: Map<string, FireEntry>
}

export interface FireEntry extends FireKey {
  /** `fireKeyText` */
  readonly key: string
  /** Its lines of the history, by number. */
  readonly lines: HistoryRecord[]
  /** The open fire as in the state of its schedule; `null`: it is not open. */
  open: OpenFire | null
  /** `stepKeyText` of each step. Most fires have none, so the set is created on demand. */
  steps: Set<string> | null
  /** Whether it is among the fires of all schedules, and among the ranges. */
  isListed: boolean
  isRange: boolean
  number: number
  expiresAt: Instant
}

type Expiring = Pick<FireEntry, 'expiresAt' | 'key'>
type Numbered = Pick<FireEntry, 'number' | 'key'>

export function recordIndex(): RecordIndex {
  return {
    ...shelf(),
    openFires: new Set(),
    held: new Map(),
    slots: new Map(),
    expiring: sorted((one, other) => one.expiresAt - other.expiresAt || compareText(one.key, other.key)),
    schedules: new Map(),
  }
}

function shelf(): Shelf {
  return { fires: sorted(compareFires), ranges: sorted(compareFires) }
}

/** Of one schedule. */
function compareOwnFires(one: FireKey, other: FireKey): number {
  return one.dueAt - other.dueAt || compareText(one.nonce, other.nonce)
}

function compareFires(one: FireKey, other: FireKey): number {
  return one.dueAt - other.dueAt || compareText(one.schedule, other.schedule) || compareText(one.nonce, other.nonce)
}

function compareNumbers(one: Numbered, other: Numbered): number {
  return one.number - other.number || compareText(one.key, other.key)
}

export function findFire(index: RecordIndex, fire: FireKey): FireEntry | undefined {
  const own = index.schedules.get(fire.schedule)
  return own === undefined ? undefined : find(own.fires, fire)
}

/** The highest number on record of a schedule of this name. 0: there is no line. */
export function lastNumber({ schedules }: RecordIndex, schedule: string): number {
  let last = 0
  const own = schedules.get(schedule)
  if (own !== undefined) for (const { lines } of ascend(own.fires)) last = Math.max(last, lines.at(-1)?.number ?? 0)
  return last
}

/** Whether a fire is open or has a line: then it must not be created again. */
export function isOnRecord({ open, lines }: FireEntry): boolean {
  return open !== null || lines.length > 0
}

/** The line that its fire ended with; `undefined`: it is open, or only a step or an earlier run is left of it. */
export function finalLine({ open, lines }: FireEntry): HistoryRecord | undefined {
  return open !== null ? undefined : lines.findLast(({ isFinal }) => isFinal)
}

/** A line of the history replaces another one with its number. */
export function indexLine(index: RecordIndex, old: HistoryRecord | undefined, line: HistoryRecord | undefined): void {
  if (old !== undefined) {
    const own = scheduleShelf(index, old.schedule)
    const entry = find(own.fires, old)!
    entry.lines.splice(entry.lines.indexOf(old), 1)
    refresh(index, own, entry)
  }
  if (line === undefined) return
  const own = scheduleShelf(index, line.schedule)
  const entry = fireEntry(own, line)
  const place = entry.lines.findLastIndex(({ number }) => number < line.number)
  entry.lines.splice(place + 1, 0, line)
  refresh(index, own, entry)
}

/** The open fires of a schedule change with its state. */
export function indexOpen(
  index: RecordIndex,
  schedule: string,
  old: ScheduleState | undefined,
  state: ScheduleState | undefined,
): void {
  if (old?.open === state?.open) return
  // Most fires of a long list are the same objects before and after.
  const [before, after] = [new Set(old?.open), new Set(state?.open)]
  for (const fire of before) {
    if (after.has(fire)) continue
    const own = scheduleShelf(index, schedule)
    const entry = find(own.fires, { ...fire, schedule })!
    setOpen(index, entry, null)
    // A fire that stays open would only be removed and added again.
    const goesOn = state?.open.some(({ dueAt, nonce }) => dueAt === fire.dueAt && nonce === fire.nonce)
    if (goesOn !== true) refresh(index, own, entry)
  }
  for (const fire of after) {
    if (before.has(fire)) continue
    const own = scheduleShelf(index, schedule)
    const entry = fireEntry(own, { ...fire, schedule })
    setOpen(index, entry, fire)
    refresh(index, own, entry)
  }
}

function setOpen(index: RecordIndex, entry: FireEntry, fire: OpenFire | null): void {
  if (entry.open?.run) countOpen(index, entry, entry.open.run, -1)
  entry.open = fire
  if (fire?.run) countOpen(index, entry, fire.run, 1)
}

function countOpen(index: RecordIndex, entry: FireEntry, { instance, slots = [] }: OpenRun, by: 1 | -1): void {
  for (const slot of slots) {
    const count = (index.slots.get(slot) ?? 0) + by
    if (count === 0) index.slots.delete(slot)
    else index.slots.set(slot, count)
  }
  const held = index.held.get(instance) ?? new Set()
  if (by > 0) held.add(entry)
  else held.delete(entry)
  if (held.size === 0) index.held.delete(instance)
  else index.held.set(instance, held)
}

/** Update the indexes of a fire from its lines and its open state, or drop it if nothing refers to it any more. */
function refresh(index: RecordIndex, own: ScheduleShelf, entry: FireEntry): void {
  const final = finalLine(entry)
  const isListed = isOnRecord(entry)
  if (entry.isListed !== isListed) put(isListed, entry, index.fires)
  entry.isListed = isListed
  const isRange = final !== undefined && final.range !== null
  if (entry.isRange !== isRange) put(isRange, entry, index.ranges, own.ranges)
  entry.isRange = isRange
  if (entry.open !== null) index.openFires.add(entry)
  else index.openFires.delete(entry)
  if (entry.nonce !== '' && isOnRecord(entry)) own.nonces.set(entry.nonce, entry)
  else if (own.nonces.get(entry.nonce) === entry) own.nonces.delete(entry.nonce)
  setNumber(own, entry, final?.number ?? Infinity)
  setExpiry(index, entry, final?.expiresAt ?? Infinity)
  if (isListed || entry.steps !== null) return
  remove(own.fires, entry)
  if (isEmpty(own.fires)) index.schedules.delete(entry.schedule)
}

function setNumber({ numbers }: ScheduleShelf, entry: FireEntry, number: number): void {
  if (entry.number === number) return
  if (entry.number !== Infinity) remove(numbers, entry)
  entry.number = number
  if (number !== Infinity) insert(numbers, entry)
}

function setExpiry({ expiring }: RecordIndex, entry: FireEntry, expiresAt: Instant): void {
  if (entry.expiresAt === expiresAt) return
  if (entry.expiresAt !== Infinity) remove(expiring, entry)
  entry.expiresAt = expiresAt
  if (expiresAt !== Infinity) insert(expiring, entry)
}

function put(isIn: boolean, entry: FireEntry, ...lists: readonly Sorted<FireKey, FireEntry>[]): void {
  for (const list of lists) {
    if (isIn) insert(list, entry)
    else remove(list, entry)
  }
}

export function indexStep(index: RecordIndex, fire: FireKey, key: string, exists: boolean): void {
  const own = scheduleShelf(index, fire.schedule)
  const entry = fireEntry(own, fire)
  entry.steps ??= new Set()
  if (exists) entry.steps.add(key)
  else entry.steps.delete(key)
  if (entry.steps.size === 0) entry.steps = null
  refresh(index, own, entry)
}

function fireEntry(own: ScheduleShelf, fire: FireKey): FireEntry {
  const known = find(own.fires, fire)
  if (known !== undefined) return known
  const { schedule, dueAt, nonce } = fire
  const entry: FireEntry = {
    ...{ schedule, dueAt, nonce, key: fireKeyText(fire), lines: [], open: null, steps: null },
    ...{ isListed: false, isRange: false, number: Infinity, expiresAt: Infinity },
  }
  insert(own.fires, entry)
  return entry
}

function scheduleShelf(index: RecordIndex, schedule: string): ScheduleShelf {
  let own = index.schedules.get(schedule)
  if (own === undefined) {
    own = { ...shelf(), fires: sorted(compareOwnFires), numbers: sorted(compareNumbers), nonces: new Map() }
    index.schedules.set(schedule, own)
  }
  return own
}
