import type { ActivityRecord } from '../../model/activity.ts'
import type { AppRecord } from '../../model/app.ts'
import { hourOf } from '../../model/hours.ts'
import type { FireKey, HistoryRecord, RunNotes, StepRecord } from '../../model/record.ts'
import { isRunning, type RunningFire, type ScheduleState } from '../../model/schedule.ts'
import { ENDS_KEPT } from '../store.ts'
import {
  fireKeyText,
  hourKeyText,
  lineKeyText,
  type NamespaceData,
  runKeyText,
  type StoredInstance,
  stepKeyText,
} from './data.ts'
import type { Journal } from './journal.ts'
import { findFire, indexLine, indexOpen, indexStep, type RecordIndex, recordIndex } from './record-index.ts'
import { compareText, insert, remove, type Sorted, sorted } from './sorted.ts'
import { indexSchedule, type WakeIndex, wakeIndex } from './wake-index.ts'

/**
 * A namespace in use: its data and the derived indexes. All writes go through the functions below, one value at a time: they
 * update the indexes, and tell an open journal how to undo the write.
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
  /** No instance may claim until all live ones have settled in this epoch: those that have. `null`: claims are not held. */
  settled: Set<string> | null
}

/** The latest ends, in the order of their commits. Not part of the data: a position does not outlive a `restore`. */
export interface EndLog {
  /** Distinguishes the positions of this log from those before a `restore`. */
  readonly generation: number
  /** Number of keys dropped from the front of `keys`. */
  dropped: number
  /** Of `data.history`. */
  keys: string[]
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
  for (const [id, state] of data.schedules) {
    indexSchedule(space.wakes, id, state)
    indexOpen(space.records, id, undefined, state)
  }
  for (const line of data.history.values()) indexLine(space.records, undefined, line)
  for (const [key, step] of data.steps) indexStep(space.records, step, key, true)
  for (const [id, { goneAt }] of data.instances) if (goneAt === null) insert(space.present, id)
  return space
}

export function setSchedule(space: Space, id: string, state: ScheduleState | undefined): void {
  const old = put(space.data.schedules, id, state)
  indexSchedule(space.wakes, id, state)
  indexOpen(space.records, id, old, state)
  space.journal.undo?.push(() => setSchedule(space, id, old))
}

export function setFloor(space: Space, floor: number): void {
  const old = space.data.floor
  space.data.floor = floor
  space.journal.undo?.push(() => setFloor(space, old))
}

export function setLine(space: Space, key: string, line: HistoryRecord | undefined): void {
  const old = put(space.data.history, key, line)
  indexLine(space.records, old, line)
  space.journal.undo?.push(() => setLine(space, key, old))
}

/** A fire has ended with this line (1), or is open again (-1). */
export function countEnd(space: Space, { dueAt, ending, range, isFinal }: HistoryRecord, by: 1 | -1): void {
  if (!isFinal) return
  const key = hourKeyText(hourOf(dueAt), ending.outcome)
  setCount(space, key, (space.data.counts.get(key) ?? 0) + by * (range?.count ?? 1))
}

export function setCount(space: Space, key: string, count: number): void {
  const old = put(space.data.counts, key, count === 0 ? undefined : count) ?? 0
  space.journal.undo?.push(() => setCount(space, key, old))
}

export function logEnd({ ends, journal }: Space, key: string): void {
  ends.keys.push(key)
  journal.undo?.push(() => void ends.keys.pop())
  // In large steps, and never entries that may have to be undone.
  if (journal.undo !== null || ends.keys.length < 2 * ENDS_KEPT) return
  ends.keys = ends.keys.slice(-ENDS_KEPT)
  ends.dropped += ENDS_KEPT
}

/** The line, if there is one. */
export function addActivity(space: Space, line: ActivityRecord | undefined): void {
  if (line !== undefined) setActivity(space, line.id, line)
}

export function setActivity(space: Space, id: string, line: ActivityRecord | undefined): void {
  const old = put(space.data.activity, id, line)
  space.journal.undo?.push(() => setActivity(space, id, old))
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

/** The fire whose open run has this token, if the run's instance is known and has not ended: a parked run has none. */
export function liveRun({ data }: Space, schedule: string, token: string): RunningFire | undefined {
  const fire = data.schedules.get(schedule)?.open.find(({ run }) => run?.token === token)
  const isLive = fire !== undefined && isRunning(fire) && data.instances.get(fire.run.instance)?.goneAt === null
  return isLive ? fire : undefined
}

/** The fire's lines, and everything that refers to them. */
export function deleteFire(space: Space, fire: FireKey): void {
  const entry = findFire(space.records, fire)
  if (entry === undefined) return
  for (const key of [...(entry.steps ?? [])]) setStep(space, fire, key, undefined)
  for (const { schedule, number, run } of [...entry.lines]) {
    const notes = run === null ? undefined : runKeyText(schedule, run.token)
    if (notes !== undefined && space.data.notes.has(notes)) setNotes(space, notes, undefined)
    setLine(space, lineKeyText(schedule, number), undefined)
  }
}

export function stepKey(fire: FireKey, step: string): string {
  return stepKeyText(fireKeyText(fire), step)
}
