import type { FireKey, FireRecord, RunRecord } from '../../model/record.ts'
import type { Instant } from '../../model/schedule.ts'
import { fireKeyText } from './data.ts'
import { compareText, find, insert, remove, type Sorted, sorted } from './sorted.ts'

/** Fires, runs and steps in the orders in which somebody looks for them: derived from the records. */
export interface RecordIndex extends Shelf {
  readonly openFires: Set<FireEntry>
  /** By instance. */
  readonly openRuns: Map<string, Set<RunEntry>>
  /** Open runs by the limit that they count against. */
  readonly slots: Map<string, number>
  /** Ended fires, by when they may go. */
  readonly expiring: Sorted<Expiring, FireEntry>
  readonly schedules: Map<string, ScheduleShelf>
}

/** Records by time: of all, or of one schedule. */
export interface Shelf {
  readonly fires: Sorted<FireKey, FireEntry>
  /** Those of the fires that stand for a range. */
  readonly ranges: Sorted<FireKey, FireEntry>
  readonly runs: Sorted<RunKey, RunEntry>
}

/** `fires` contains also what is not recorded itself, as long as a run or a step hangs on it. */
interface ScheduleShelf extends Shelf {
  /** Ended fires in the order in which they ended. */
  readonly numbers: Sorted<Numbered, FireEntry>
  /** Fires that have a nonce. */
  readonly nonces: Map<string, FireEntry>
}

export interface FireEntry extends FireKey {
  /** `fireKeyText` */
  readonly key: string
  readonly runs: RunEntry[]
  /** `stepKeyText` of each. Most fires have none, and a set is no small thing. */
  steps: Set<string> | null
  recorded: boolean
  range: boolean
  number: number
  expiresAt: Instant
}

export interface RunKey {
  readonly startedAt: Instant
  readonly schedule: string
  readonly token: string
}

export interface RunEntry extends RunKey {
  /** `runKeyText` */
  readonly key: string
  readonly fire: FireEntry
  readonly instance: string
  readonly slots: readonly string[]
  open: boolean
}

type Expiring = Pick<FireEntry, 'expiresAt' | 'key'>
type Numbered = Pick<FireEntry, 'number' | 'key'>

export function recordIndex(): RecordIndex {
  return {
    ...shelf(),
    openFires: new Set(),
    openRuns: new Map(),
    slots: new Map(),
    expiring: sorted((one, other) => one.expiresAt - other.expiresAt || compareText(one.key, other.key)),
    schedules: new Map(),
  }
}

function shelf(): Shelf {
  return { fires: sorted(compareFires), ranges: sorted(compareFires), runs: sorted(compareRuns) }
}

/** Of one schedule. */
function compareOwnFires(one: FireKey, other: FireKey): number {
  return one.dueAt - other.dueAt || compareText(one.nonce, other.nonce)
}

function compareFires(one: FireKey, other: FireKey): number {
  return one.dueAt - other.dueAt || compareText(one.schedule, other.schedule) || compareText(one.nonce, other.nonce)
}

function compareRuns(one: RunKey, other: RunKey): number {
  return (
    one.startedAt - other.startedAt ||
    compareText(one.schedule, other.schedule) ||
    // Decimal numbers: the longer one is the larger one.
    one.token.length - other.token.length ||
    compareText(one.token, other.token)
  )
}

function compareNumbers(one: Numbered, other: Numbered): number {
  return one.number - other.number || compareText(one.key, other.key)
}

export function findFire(index: RecordIndex, fire: FireKey): FireEntry | undefined {
  const own = index.schedules.get(fire.schedule)
  return own === undefined ? undefined : find(own.fires, fire)
}

export function indexFire(index: RecordIndex, key: string, fire: FireKey, record: FireRecord | undefined): void {
  const own = scheduleShelf(index, fire.schedule)
  const entry = fireEntry(own, fire, key)
  const isRange = record !== undefined && record.range !== null
  if (entry.recorded !== (record !== undefined) || entry.range !== isRange) {
    if (entry.recorded) unlist(index, own, entry)
    if (record !== undefined) list(index, own, entry, isRange)
  }
  const number = record?.number ?? Infinity
  if (entry.number !== number) {
    if (entry.number !== Infinity) remove(own.numbers, entry)
    entry.number = number
    if (number !== Infinity) insert(own.numbers, entry)
  }
  const expiresAt = record?.expiresAt ?? Infinity
  if (entry.expiresAt !== expiresAt) {
    if (entry.expiresAt !== Infinity) remove(index.expiring, entry)
    entry.expiresAt = expiresAt
    if (expiresAt !== Infinity) insert(index.expiring, entry)
  }
  if (record !== undefined && record.ending === null) index.openFires.add(entry)
  else index.openFires.delete(entry)
  dropIfIdle(index, own, entry)
}

function list(index: RecordIndex, own: ScheduleShelf, entry: FireEntry, isRange: boolean): void {
  entry.recorded = true
  entry.range = isRange
  insert(index.fires, entry)
  if (entry.nonce !== '') own.nonces.set(entry.nonce, entry)
  if (!isRange) return
  insert(index.ranges, entry)
  insert(own.ranges, entry)
}

function unlist(index: RecordIndex, own: ScheduleShelf, entry: FireEntry): void {
  remove(index.fires, entry)
  if (own.nonces.get(entry.nonce) === entry) own.nonces.delete(entry.nonce)
  if (entry.range) {
    remove(index.ranges, entry)
    remove(own.ranges, entry)
  }
  entry.recorded = false
  entry.range = false
}

export function indexRun(
  index: RecordIndex,
  key: string,
  old: RunRecord | undefined,
  record: RunRecord | undefined,
): void {
  const entry = old && findFire(index, old)?.runs.find(({ token }) => token === old.token)
  const isOpen = record !== undefined && record.ending === null
  if (entry !== undefined && record !== undefined && isSameRun(entry, record)) {
    if (entry.open !== isOpen) setOpen(index, entry, isOpen)
    return
  }
  if (entry !== undefined) unlistRun(index, entry)
  if (record !== undefined) listRun(index, key, record, isOpen)
}

/** The rest of a run never changes; if somebody does it all the same, the index follows. */
function isSameRun(entry: RunEntry, record: RunRecord): boolean {
  return (
    entry.startedAt === record.startedAt &&
    entry.instance === record.instance &&
    entry.fire.dueAt === record.dueAt &&
    entry.fire.nonce === record.nonce &&
    (entry.slots === record.slots ||
      (entry.slots.length === record.slots.length && entry.slots.every((slot, at) => slot === record.slots[at])))
  )
}

function listRun(index: RecordIndex, key: string, record: RunRecord, isOpen: boolean): void {
  const { schedule, token, startedAt, instance, slots } = record
  const own = scheduleShelf(index, schedule)
  const fire = findFire(index, record) ?? fireEntry(own, record, fireKeyText(record))
  const entry: RunEntry = { key, schedule, token, startedAt, instance, slots, fire, open: false }
  fire.runs.push(entry)
  insert(index.runs, entry)
  insert(own.runs, entry)
  if (isOpen) setOpen(index, entry, true)
}

function unlistRun(index: RecordIndex, entry: RunEntry): void {
  if (entry.open) setOpen(index, entry, false)
  const own = scheduleShelf(index, entry.schedule)
  remove(index.runs, entry)
  remove(own.runs, entry)
  entry.fire.runs.splice(entry.fire.runs.indexOf(entry), 1)
  dropIfIdle(index, own, entry.fire)
}

function setOpen(index: RecordIndex, entry: RunEntry, open: boolean): void {
  entry.open = open
  for (const slot of entry.slots) {
    const count = (index.slots.get(slot) ?? 0) + (open ? 1 : -1)
    if (count === 0) index.slots.delete(slot)
    else index.slots.set(slot, count)
  }
  const held = index.openRuns.get(entry.instance) ?? new Set()
  if (open) held.add(entry)
  else held.delete(entry)
  if (held.size === 0) index.openRuns.delete(entry.instance)
  else index.openRuns.set(entry.instance, held)
}

export function indexStep(index: RecordIndex, fire: FireKey, key: string, exists: boolean): void {
  const own = scheduleShelf(index, fire.schedule)
  const entry = fireEntry(own, fire, fireKeyText(fire))
  entry.steps ??= new Set()
  if (exists) entry.steps.add(key)
  else entry.steps.delete(key)
  if (entry.steps.size === 0) entry.steps = null
  dropIfIdle(index, own, entry)
}

function fireEntry(own: ScheduleShelf, fire: FireKey, key: string): FireEntry {
  const known = find(own.fires, fire)
  if (known !== undefined) return known
  const { schedule, dueAt, nonce } = fire
  const entry: FireEntry = {
    schedule,
    dueAt,
    nonce,
    key,
    runs: [],
    steps: null,
    recorded: false,
    range: false,
    number: Infinity,
    expiresAt: Infinity,
  }
  insert(own.fires, entry)
  return entry
}

function dropIfIdle(index: RecordIndex, own: ScheduleShelf, entry: FireEntry): void {
  if (entry.recorded || entry.runs.length > 0 || entry.steps !== null) return
  remove(own.fires, entry)
  if (own.fires.chunks.length === 0) index.schedules.delete(entry.schedule)
}

function scheduleShelf(index: RecordIndex, schedule: string): ScheduleShelf {
  let own = index.schedules.get(schedule)
  if (own === undefined) {
    own = { ...shelf(), fires: sorted(compareOwnFires), numbers: sorted(compareNumbers), nonces: new Map() }
    index.schedules.set(schedule, own)
  }
  return own
}
