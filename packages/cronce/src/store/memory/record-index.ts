import type { FireKey, HistoryRecord } from '../../model/record.ts'
import { type Instant, isRunning, type RunningFire, type ScheduleState } from '../../model/schedule.ts'
import { fireKeyText } from './data.ts'
import { ascend, compareText, find, insert, remove, type Sorted, sorted } from './sorted.ts'

/** Fires, runs and steps in the orders in which somebody looks for them: derived from the history and from what is open. */
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

/** `fires` contains also what is not listed itself, as long as a line or a step hangs on it. */
interface ScheduleShelf extends Shelf {
  /** Ended fires in the order in which they ended. */
  readonly numbers: Sorted<Numbered, FireEntry>
  /** Fires that have a nonce. */
  readonly nonces: Map<string, FireEntry>
  readonly tokens: Map<string, RunEntry>
}

export interface FireEntry extends FireKey {
  /** `fireKeyText` */
  readonly key: string
  /** Its lines of the history, in the order of their numbers. */
  readonly lines: HistoryRecord[]
  /** As it is open in the state of its schedule. */
  isOpen: boolean
  readonly runs: RunEntry[]
  /** `stepKeyText` of each. Most fires have none, and a set is no small thing. */
  steps: Set<string> | null
  listed: 'not' | 'fire' | 'range'
  number: number
  expiresAt: Instant
}

export interface RunKey {
  readonly startedAt: Instant
  readonly schedule: string
  readonly token: string
}

export interface RunEntry extends RunKey {
  readonly fire: FireEntry
  readonly instance: string
  readonly slots: readonly string[]
  /** Its line of the history; `null`: it is open. */
  readonly line: HistoryRecord | null
}

type Expiring = Pick<FireEntry, 'expiresAt' | 'key'>
type Numbered = Pick<FireEntry, 'number' | 'key'>

const NO_SLOTS: readonly string[] = []

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

/** The highest number on record of a schedule of this name. 0: there is no line. */
export function lastNumber({ schedules }: RecordIndex, schedule: string): number {
  let last = 0
  const own = schedules.get(schedule)
  if (own !== undefined) for (const { lines } of ascend(own.fires)) last = Math.max(last, lines.at(-1)?.number ?? 0)
  return last
}

/** Whether a fire is open or has a line: then it is not to be made again. */
export function isOnRecord({ isOpen, lines }: FireEntry): boolean {
  return isOpen || lines.length > 0
}

/** The line that its fire ended with; `undefined`: it is open, or only a step or an earlier run is left of it. */
export function finalLine({ isOpen, lines }: FireEntry): HistoryRecord | undefined {
  return isOpen ? undefined : lines.findLast(({ isFinal }) => isFinal)
}

/** A line of the history takes the place of another one with its number. */
export function indexLine(index: RecordIndex, old: HistoryRecord | undefined, line: HistoryRecord | undefined): void {
  if (old !== undefined) {
    const own = scheduleShelf(index, old.schedule)
    const entry = find(own.fires, old)!
    entry.lines.splice(entry.lines.indexOf(old), 1)
    const run = entry.runs.find((one) => one.line === old)
    if (run !== undefined) removeRun(index, own, run)
    refresh(index, own, entry)
  }
  if (line === undefined) return
  const own = scheduleShelf(index, line.schedule)
  const entry = fireEntry(own, line)
  const place = entry.lines.findLastIndex(({ number }) => number < line.number)
  entry.lines.splice(place + 1, 0, line)
  if (line.run !== null) {
    const { token, startedAt, instance } = line.run
    addRun(index, own, { schedule: line.schedule, token, startedAt, instance, slots: NO_SLOTS, fire: entry, line })
  }
  refresh(index, own, entry)
}

/** What is open in a schedule changes with its state. */
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
    entry.isOpen = false
    const run = entry.runs.find(({ line }) => line === null)
    if (run !== undefined) removeRun(index, own, run)
    // One that goes on would only be taken down and put up again.
    const goesOn = state?.open.some(({ dueAt, nonce }) => dueAt === fire.dueAt && nonce === fire.nonce)
    if (goesOn !== true) refresh(index, own, entry)
  }
  for (const fire of after) {
    if (before.has(fire)) continue
    const own = scheduleShelf(index, schedule)
    const entry = fireEntry(own, { ...fire, schedule })
    entry.isOpen = true
    if (isRunning(fire)) addOpenRun(index, own, entry, fire)
    refresh(index, own, entry)
  }
}

function addOpenRun(index: RecordIndex, own: ScheduleShelf, entry: FireEntry, { run }: RunningFire): void {
  const { token, startedAt, instance, slots = NO_SLOTS } = run
  addRun(index, own, { schedule: entry.schedule, token, startedAt, instance, slots, fire: entry, line: null })
}

function addRun(index: RecordIndex, own: ScheduleShelf, run: RunEntry): void {
  run.fire.runs.push(run)
  insert(index.runs, run)
  insert(own.runs, run)
  own.tokens.set(run.token, run)
  if (run.line === null) countOpen(index, run, 1)
}

function removeRun(index: RecordIndex, own: ScheduleShelf, run: RunEntry): void {
  if (run.line === null) countOpen(index, run, -1)
  remove(index.runs, run)
  remove(own.runs, run)
  if (own.tokens.get(run.token) === run) own.tokens.delete(run.token)
  run.fire.runs.splice(run.fire.runs.indexOf(run), 1)
}

function countOpen(index: RecordIndex, run: RunEntry, by: 1 | -1): void {
  for (const slot of run.slots) {
    const count = (index.slots.get(slot) ?? 0) + by
    if (count === 0) index.slots.delete(slot)
    else index.slots.set(slot, count)
  }
  const held = index.openRuns.get(run.instance) ?? new Set()
  if (by > 0) held.add(run)
  else held.delete(run)
  if (held.size === 0) index.openRuns.delete(run.instance)
  else index.openRuns.set(run.instance, held)
}

/** Put a fire where its lines and its being open say, or drop it if nothing hangs on it any more. */
function refresh(index: RecordIndex, own: ScheduleShelf, entry: FireEntry): void {
  const final = finalLine(entry)
  const listed = entry.isOpen ? 'fire' : final === undefined ? 'not' : final.range === null ? 'fire' : 'range'
  if (listed !== entry.listed) {
    unlist(index, own, entry)
    list(index, own, entry, listed)
  }
  if (entry.isOpen) index.openFires.add(entry)
  else index.openFires.delete(entry)
  if (entry.nonce !== '' && isOnRecord(entry)) own.nonces.set(entry.nonce, entry)
  else if (own.nonces.get(entry.nonce) === entry) own.nonces.delete(entry.nonce)
  const number = final?.number ?? Infinity
  if (entry.number !== number) {
    if (entry.number !== Infinity) remove(own.numbers, entry)
    entry.number = number
    if (number !== Infinity) insert(own.numbers, entry)
  }
  const expiresAt = final?.expiresAt ?? Infinity
  if (entry.expiresAt !== expiresAt) {
    if (entry.expiresAt !== Infinity) remove(index.expiring, entry)
    entry.expiresAt = expiresAt
    if (expiresAt !== Infinity) insert(index.expiring, entry)
  }
  if (isOnRecord(entry) || entry.steps !== null) return
  remove(own.fires, entry)
  if (own.fires.chunks.length === 0) index.schedules.delete(entry.schedule)
}

function list(index: RecordIndex, own: ScheduleShelf, entry: FireEntry, listed: FireEntry['listed']): void {
  entry.listed = listed
  if (listed !== 'not') insert(index.fires, entry)
  if (listed !== 'range') return
  insert(index.ranges, entry)
  insert(own.ranges, entry)
}

function unlist(index: RecordIndex, own: ScheduleShelf, entry: FireEntry): void {
  if (entry.listed !== 'not') remove(index.fires, entry)
  if (entry.listed !== 'range') return
  remove(index.ranges, entry)
  remove(own.ranges, entry)
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
    ...{ schedule, dueAt, nonce, key: fireKeyText(fire), lines: [], isOpen: false, runs: [], steps: null },
    ...{ listed: 'not', number: Infinity, expiresAt: Infinity },
  }
  insert(own.fires, entry)
  return entry
}

function scheduleShelf(index: RecordIndex, schedule: string): ScheduleShelf {
  let own = index.schedules.get(schedule)
  if (own === undefined) {
    const byKey = { nonces: new Map(), tokens: new Map() }
    own = { ...shelf(), fires: sorted(compareOwnFires), numbers: sorted(compareNumbers), ...byKey }
    index.schedules.set(schedule, own)
  }
  return own
}
