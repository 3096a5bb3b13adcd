import type { Change } from '../../../packages/cronce/src/model/change.ts'
import type { FireRecord, RunRecord } from '../../../packages/cronce/src/model/record.ts'
import type { Instant, ScheduleState } from '../../../packages/cronce/src/model/schedule.ts'
import { fireKeyText, type NamespaceData, runKeyText } from '../../../packages/cronce/src/store/memory/data.ts'

/** One change of one schedule, as the store was before and after it. What the store holds is never changed in place. */
export interface Step {
  /** The process whose request it was. */
  readonly who: string
  /** By the store's clock. */
  readonly now: Instant
  readonly change: Change
  readonly before: ScheduleState | undefined
  readonly after: ScheduleState | undefined
  readonly fires: readonly Touched<FireRecord>[]
  readonly runs: readonly Touched<RunRecord>[]
  readonly claimant: string | null
}

export interface Touched<Item> {
  readonly key: string
  /** As the change has it. */
  readonly wanted: Item
  readonly before: Item | undefined
  readonly after: Item | undefined
}

/** What the checks remember from step to step, beside the store and without its indexes. */
export interface Mirror {
  readonly data: () => NamespaceData
  /** All records that were written and not seen to go. */
  readonly fires: Map<string, FireRecord>
  /** Open runs by schedule, then token. */
  readonly openRuns: Map<string, Map<string, RunRecord>>
  /** Open records of fires by schedule. */
  readonly openFires: Map<string, number>
  /** Range records by schedule, then key. */
  readonly ranges: Map<string, Map<string, FireRecord>>
  /** Keys of fires by schedule, then nonce. */
  readonly nonces: Map<string, Map<string, string>>
  /** Open runs by slot. */
  readonly slots: Map<string, number>
  /** The highest token that any run of a schedule of this name had. */
  readonly tokens: Map<string, bigint>
}

export function createMirror(data: () => NamespaceData): Mirror {
  return {
    data,
    fires: new Map(),
    openRuns: new Map(),
    openFires: new Map(),
    ranges: new Map(),
    nonces: new Map(),
    slots: new Map(),
    tokens: new Map(),
  }
}

/** What of the store a change may touch. To be called before and after. */
export function capture(data: NamespaceData, change: Change) {
  const fires = [...change.creates, ...change.updates].map((wanted) => {
    const key = fireKeyText(wanted)
    return { key, wanted, record: data.fires.get(key) }
  })
  const runs = change.runs.map((wanted) => {
    const key = runKeyText(wanted.schedule, wanted.token)
    return { key, wanted, record: data.runs.get(key) }
  })
  return { state: data.schedules.get(change.id), fires, runs }
}

export type Captured = ReturnType<typeof capture>

export function touched<Item>(
  before: readonly { readonly key: string; readonly wanted: Item; readonly record: Item | undefined }[],
  after: readonly { readonly record: Item | undefined }[],
): Touched<Item>[] {
  return before.map(({ key, wanted, record }, index) => ({ key, wanted, before: record, after: after[index]!.record }))
}

/** Take over what a step wrote. After the checks, which want to see what was before. */
export function follow(mirror: Mirror, step: Step): void {
  for (const { key, before, after } of step.fires) {
    if (after === undefined || before === after) continue
    mirror.fires.set(key, after)
    if (after.nonce !== '') inner(mirror.nonces, after.schedule).set(after.nonce, key)
    const wasOpen = before !== undefined && before.ending === null
    add(mirror.openFires, after.schedule, Number(after.ending === null) - Number(wasOpen))
    const ranges = inner(mirror.ranges, after.schedule)
    if (after.range === null) ranges.delete(key)
    else ranges.set(key, after)
  }
  for (const { before, after } of step.runs) {
    if (after === undefined || before === after) continue
    const open = inner(mirror.openRuns, after.schedule)
    if (after.ending === null) open.set(after.token, after)
    else open.delete(after.token)
    const change = Number(after.ending === null) - Number(before?.ending === null)
    for (const slot of after.slots) add(mirror.slots, slot, change)
    const token = BigInt(after.token)
    if (token > (mirror.tokens.get(after.schedule) ?? 0n)) mirror.tokens.set(after.schedule, token)
  }
}

export function inner<Item>(map: Map<string, Map<string, Item>>, key: string): Map<string, Item> {
  let found = map.get(key)
  if (found === undefined) {
    found = new Map()
    map.set(key, found)
  }
  return found
}

function add(counts: Map<string, number>, key: string, by: number): void {
  if (by !== 0) counts.set(key, (counts.get(key) ?? 0) + by)
}
