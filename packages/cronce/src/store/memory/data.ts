import type { ActivityRecord } from '../../model/activity.ts'
import type { AppRecord } from '../../model/app.ts'
import type { InstanceRecord } from '../../model/instance.ts'
import type { Json } from '../../model/json.ts'
import type { Outcome } from '../../model/outcome.ts'
import type { FireKey, HistoryRecord, RunNotes, StepRecord } from '../../model/record.ts'
import type { Instant, ScheduleState } from '../../model/schedule.ts'

/**
 * Everything that a store in memory knows, as plain data: nothing else outlives a `restore`. The order of the maps means nothing.
 * The values are the caller's own objects: they are never changed, only replaced.
 */
export interface MemoryData {
  /** Upper part of every token. A restored copy that stands for a lossy failover has a higher one. */
  readonly epoch: number
  readonly namespaces: Map<string, NamespaceData>
  /** What transactions wrote: the user's tables. */
  readonly effects: Map<string, Json>
}

/** All data of one namespace. */
export interface NamespaceData {
  readonly schedules: Map<string, ScheduleState>
  /** By `lineKeyText`. */
  readonly history: Map<string, HistoryRecord>
  /** By `runKeyText`. */
  readonly notes: Map<string, RunNotes>
  /** By `stepKeyText`. */
  readonly steps: Map<string, StepRecord>
  readonly instances: Map<string, StoredInstance>
  readonly apps: Map<string, AppRecord>
  /** The operator log, by the ids of its lines. */
  readonly activity: Map<string, ActivityRecord>
  /** Ended fires by `hourKeyText`. */
  readonly counts: Map<string, number>
  /** The highest version or counter of any removed schedule: a new schedule continues from it, in case it has the same name. */
  floor: number
  /** Number of writes so far; not counted if nothing can be lost. */
  writes?: number
}

/** An instance, and when it ended. */
export interface StoredInstance {
  /** Its `expired` means nothing here: it is computed on reading. */
  readonly record: Omit<InstanceRecord, 'endedAt'>
  /** The number of its last heartbeat. */
  readonly beat: number
  readonly leaseMs: number
  readonly leaseUntil: Instant
  /** When it left or was declared dead. */
  readonly goneAt: Instant | null
}

export function emptyData(): MemoryData {
  return { epoch: 1, namespaces: new Map(), effects: new Map() }
}

export function emptyNamespace(): NamespaceData {
  return {
    schedules: new Map(),
    history: new Map(),
    notes: new Map(),
    steps: new Map(),
    instances: new Map(),
    apps: new Map(),
    activity: new Map(),
    counts: new Map(),
    floor: 0,
  }
}

// Names may contain any character, so no separator is safe; lengths are.

export function fireKeyText({ schedule, dueAt, nonce }: FireKey): string {
  return `${dueAt}:${schedule.length}:${schedule}${nonce}`
}

export function lineKeyText(schedule: string, number: number): string {
  return `${schedule.length}:${schedule}${number}`
}

export function runKeyText(schedule: string, token: string): string {
  return `${schedule.length}:${schedule}${token}`
}

export function stepKeyText(fireKey: string, step: string): string {
  return `${fireKey.length}:${fireKey}${step}`
}

export function hourKeyText(hour: Instant, outcome: Outcome): string {
  return `${hour} ${outcome}`
}

/** A deep copy that shares nothing with the original. */
export function copyData(data: MemoryData): MemoryData {
  return copy(data) as MemoryData
}

function copy(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(copy)
  if (value instanceof Map) return new Map([...value].map(([key, item]) => [key, copy(item)]))
  // Not by assignment: an input may have the key `__proto__`.
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, copy(item)]))
}
