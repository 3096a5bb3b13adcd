import type { FireKey, FireRecord, RunRecord } from '../../model/record.ts'
import type { Instant } from '../../model/schedule.ts'
import { fireKeyText } from './data.ts'
import { compareText, insert, remove, type Sorted, sorted } from './sorted.ts'

/** Fires, runs and steps in the orders in which somebody looks for them: derived from the records. */
export interface RecordIndex extends Shelf {
  readonly fireEntries: Map<string, FireEntry>
  readonly runEntries: Map<string, RunEntry>
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

interface ScheduleShelf extends Shelf {
  /** Ended fires in the order in which they ended. */
  readonly numbers: Sorted<Numbered, FireEntry>
  /** Key of the fire that has this nonce; empty nonces are not in it. */
  readonly nonces: Map<string, string>
}

export interface FireEntry extends FireKey {
  readonly key: string
  /** What hangs on it: `runKeyText`, `stepKeyText`. May be there before the fire's own record, or without. */
  readonly runs: string[]
  /** Most fires have none, and a set is no small thing. */
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
    fireEntries: new Map(),
    runEntries: new Map(),
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

export function indexFire(index: RecordIndex, key: FireKey, record: FireRecord | undefined): void {
  const entry = fireEntry(index, key, fireKeyText(key))
  const own = scheduleShelf(index, key.schedule)
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
  dropIfIdle(index, entry)
}

function list(index: RecordIndex, own: ScheduleShelf, entry: FireEntry, isRange: boolean): void {
  entry.recorded = true
  entry.range = isRange
  insert(index.fires, entry)
  insert(own.fires, entry)
  if (entry.nonce !== '') own.nonces.set(entry.nonce, entry.key)
  if (!isRange) return
  insert(index.ranges, entry)
  insert(own.ranges, entry)
}

function unlist(index: RecordIndex, own: ScheduleShelf, entry: FireEntry): void {
  remove(index.fires, entry)
  remove(own.fires, entry)
  if (own.nonces.get(entry.nonce) === entry.key) own.nonces.delete(entry.nonce)
  if (entry.range) {
    remove(index.ranges, entry)
    remove(own.ranges, entry)
  }
  entry.recorded = false
  entry.range = false
}

export function indexRun(index: RecordIndex, key: string, record: RunRecord | undefined): void {
  const old = index.runEntries.get(key)
  const isOpen = record !== undefined && record.ending === null
  if (old !== undefined && record !== undefined && isSameRun(old, record)) {
    if (old.open !== isOpen) setOpen(index, old, isOpen)
    return
  }
  if (old !== undefined) unlistRun(index, old)
  if (record === undefined) return
  const { schedule, token, startedAt, instance, slots } = record
  const fire = fireEntry(index, record, fireKeyText(record))
  const entry: RunEntry = { key, schedule, token, startedAt, instance, slots, fire, open: false }
  index.runEntries.set(key, entry)
  fire.runs.push(key)
  insert(index.runs, entry)
  insert(scheduleShelf(index, schedule).runs, entry)
  if (isOpen) setOpen(index, entry, true)
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

function unlistRun(index: RecordIndex, entry: RunEntry): void {
  if (entry.open) setOpen(index, entry, false)
  remove(index.runs, entry)
  remove(scheduleShelf(index, entry.schedule).runs, entry)
  index.runEntries.delete(entry.key)
  entry.fire.runs.splice(entry.fire.runs.indexOf(entry.key), 1)
  dropIfIdle(index, entry.fire)
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
  const entry = fireEntry(index, fire, fireKeyText(fire))
  entry.steps ??= new Set()
  if (exists) entry.steps.add(key)
  else entry.steps.delete(key)
  if (entry.steps.size === 0) entry.steps = null
  dropIfIdle(index, entry)
}

function fireEntry(index: RecordIndex, { schedule, dueAt, nonce }: FireKey, key: string): FireEntry {
  let entry = index.fireEntries.get(key)
  if (entry === undefined) {
    entry = {
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
    index.fireEntries.set(key, entry)
  }
  return entry
}

function dropIfIdle(index: RecordIndex, entry: FireEntry): void {
  if (entry.recorded || entry.runs.length > 0 || entry.steps !== null) return
  index.fireEntries.delete(entry.key)
  const own = index.schedules.get(entry.schedule)
  if (own !== undefined && own.fires.chunks.length === 0 && own.runs.chunks.length === 0) {
    index.schedules.delete(entry.schedule)
  }
}

function scheduleShelf(index: RecordIndex, schedule: string): ScheduleShelf {
  let own = index.schedules.get(schedule)
  if (own === undefined) {
    own = { ...shelf(), numbers: sorted(compareNumbers), nonces: new Map() }
    index.schedules.set(schedule, own)
  }
  return own
}
