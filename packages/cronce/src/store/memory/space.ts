import type { AppRecord } from '../../model/app.ts'
import type { FireKey, FireRecord, RunNotes, RunRecord, StepRecord } from '../../model/record.ts'
import type { ScheduleState } from '../../model/schedule.ts'
import { ENDS_KEPT } from '../store.ts'
import { fireKeyText, type NamespaceData, runKeyText, type StoredInstance, stepKeyText } from './data.ts'
import type { Journal } from './journal.ts'
import { findFire, indexFire, indexRun, indexStep, type RecordIndex, recordIndex } from './record-index.ts'
import { compareText, insert, remove, type Sorted, sorted } from './sorted.ts'
import { indexSchedule, type WakeIndex, wakeIndex } from './wake-index.ts'

/**
 * A namespace at work: its data, and what is derived from it. All writing goes through the functions below, one value at a
 * time: they keep the indexes true, and tell an open journal how to take it back.
 */
export interface Space {
  readonly data: NamespaceData
  readonly epoch: number
  readonly wakes: WakeIndex
  readonly records: RecordIndex
  /** Ids of instances that are neither dead nor have left. */
  readonly present: Sorted<string>
  readonly journal: Journal
  readonly ends: EndLog
  /** `writes` when this epoch began. */
  readonly writesBefore: number
  /** Nobody may claim until all who live have settled in this epoch: those who have. `null`: nothing is held. */
  settled: Set<string> | null
}

/** The latest ends, in the order of their commits. Not part of the data: a position does not outlive a `restore`. */
export interface EndLog {
  /** Tells the positions of this log from those of the one before a `restore`. */
  readonly generation: number
  /** How many were dropped from the front of `keys`. */
  dropped: number
  keys: EndKey[]
}

/** A key of `data.fires` or of `data.runs`. */
export interface EndKey {
  readonly kind: 'fire' | 'run'
  readonly key: string
}

export function makeSpace(data: NamespaceData, epoch: number, journal: Journal, generation: number): Space {
  const space: Space = {
    data,
    epoch,
    wakes: wakeIndex(),
    records: recordIndex(),
    present: sorted(compareText),
    journal,
    ends: { generation, dropped: 0, keys: [] },
    writesBefore: data.writes ?? 0,
    settled: null,
  }
  for (const [id, state] of data.schedules) indexSchedule(space.wakes, id, state)
  for (const [key, fire] of data.fires) indexFire(space.records, key, fire, fire)
  for (const [key, run] of data.runs) indexRun(space.records, key, undefined, run)
  for (const [key, step] of data.steps) indexStep(space.records, step, key, true)
  for (const [id, { goneAt }] of data.instances) if (goneAt === null) insert(space.present, id)
  return space
}

export function setSchedule(space: Space, id: string, state: ScheduleState | undefined): void {
  const old = put(space.data.schedules, id, state)
  indexSchedule(space.wakes, id, state)
  space.journal.undo?.push(() => setSchedule(space, id, old))
}

export function setFloor(space: Space, floor: number): void {
  const old = space.data.floor
  space.data.floor = floor
  space.journal.undo?.push(() => setFloor(space, old))
}

export function setFire(space: Space, key: string, fire: FireKey, record: FireRecord | undefined): void {
  const old = put(space.data.fires, key, record)
  indexFire(space.records, key, fire, record)
  space.journal.undo?.push(() => setFire(space, key, fire, old))
}

export function setRun(space: Space, key: string, record: RunRecord | undefined): void {
  const old = put(space.data.runs, key, record)
  indexRun(space.records, key, old, record)
  space.journal.undo?.push(() => setRun(space, key, old))
}

export function logEnd({ ends, journal }: Space, end: EndKey): void {
  ends.keys.push(end)
  journal.undo?.push(() => void ends.keys.pop())
  // In large steps, and never what may have to be undone.
  if (journal.undo !== null || ends.keys.length < 2 * ENDS_KEPT) return
  ends.keys = ends.keys.slice(-ENDS_KEPT)
  ends.dropped += ENDS_KEPT
}

export function setNotes(space: Space, key: string, notes: RunNotes | undefined): void {
  const old = put(space.data.notes, key, notes)
  space.journal.undo?.push(() => setNotes(space, key, old))
}

export function setStep(space: Space, fire: FireKey, key: string, record: StepRecord | undefined): void {
  const old = put(space.data.steps, key, record)
  indexStep(space.records, fire, key, record !== undefined)
  space.journal.undo?.push(() => setStep(space, fire, key, old))
}

export function setInstance(space: Space, id: string, instance: StoredInstance | undefined): void {
  const old = put(space.data.instances, id, instance)
  const wasPresent = old?.goneAt === null
  const isPresent = instance?.goneAt === null
  if (isPresent && !wasPresent) insert(space.present, id)
  if (wasPresent && !isPresent) remove(space.present, id)
  space.journal.undo?.push(() => setInstance(space, id, old))
}

export function setApp(space: Space, app: AppRecord): void {
  space.data.apps.set(app.name, app)
}

function put<Value>(map: Map<string, Value>, key: string, value: Value | undefined): Value | undefined {
  const old = map.get(key)
  if (value === undefined) map.delete(key)
  else map.set(key, value)
  return old
}

/** The run of this token, if it is open, and its instance is known and not over: a parked run has none. */
export function liveRun(space: Space, schedule: string, token: string): RunRecord | undefined {
  const run = space.data.runs.get(runKeyText(schedule, token))
  const isLive = run?.ending === null && space.data.instances.get(run.instance)?.goneAt === null
  return isLive ? run : undefined
}

/** The fire's record, and all that hangs on it. */
export function deleteFire(space: Space, fire: FireKey): void {
  const entry = findFire(space.records, fire)
  if (entry === undefined) return
  for (const { key } of [...entry.runs]) deleteRun(space, key)
  for (const key of [...(entry.steps ?? [])]) setStep(space, fire, key, undefined)
  if (entry.recorded) setFire(space, entry.key, fire, undefined)
}

function deleteRun(space: Space, key: string): void {
  if (space.data.notes.has(key)) setNotes(space, key, undefined)
  setRun(space, key, undefined)
}

export function stepKey(fire: FireKey, step: string): string {
  return stepKeyText(fireKeyText(fire), step)
}
