import type { Change } from '../../../packages/cronce/src/model/change.ts'
import type { FireKey, FireRecord, HistoryRecord, RunRecord } from '../../../packages/cronce/src/model/record.ts'
import {
  type Instant,
  isRunning,
  type OpenFire,
  type ScheduleState,
} from '../../../packages/cronce/src/model/schedule.ts'
import { viewEndedFire, viewEndedRun, viewOpenFire, viewOpenRun } from '../../../packages/cronce/src/model/views.ts'
import { fireKeyText, lineKeyText, type NamespaceData } from '../../../packages/cronce/src/store/memory/data.ts'

/** One change of one schedule, as the store was before and after it. What the store holds is never changed in place. */
export interface Step {
  /** The process whose request it was. */
  readonly who: string
  /** By the store's clock. */
  readonly now: Instant
  readonly change: Change
  readonly before: ScheduleState | undefined
  readonly after: ScheduleState | undefined
  readonly fires: readonly TouchedFire[]
  readonly runs: readonly Touched<RunRecord>[]
  readonly claimant: string | null
}

/** As it would be listed before and after the change. */
export interface Touched<Item> {
  readonly before: Item | undefined
  readonly after: Item | undefined
}

export interface TouchedFire extends Touched<FireRecord> {
  readonly key: string
  readonly fire: FireKey
  /** Its lines of the history, by number. */
  readonly linesBefore: readonly HistoryRecord[]
  readonly linesAfter: readonly HistoryRecord[]
}

/** What the checks remember from step to step, beside the store and without its indexes. */
export interface Mirror {
  readonly data: () => NamespaceData
  /** All lines that were written and not seen to go, by fire, then number. */
  readonly lines: Map<string, Map<number, HistoryRecord>>
  /** How many they are. */
  lineCount: number
  /** Lines of ranges by schedule, then key. */
  readonly ranges: Map<string, Map<string, HistoryRecord>>
  /** Keys of fires by schedule, then nonce. */
  readonly nonces: Map<string, Map<string, string>>
  /** Open runs by slot. */
  readonly slots: Map<string, number>
  /** The highest token that any run of a schedule of this name had. */
  readonly tokens: Map<string, bigint>
  /** How long before their due time fires may be claimed. */
  readonly claimAheadMs: number
  /** Runs whose handler was called, by token and schedule. */
  readonly starts: Set<string>
  /** Runs that were given back without a record, because they had not started. */
  readonly unstarted: Set<string>
}

export function createMirror(data: () => NamespaceData, claimAheadMs: number): Mirror {
  return {
    data,
    lines: new Map(),
    lineCount: 0,
    ranges: new Map(),
    nonces: new Map(),
    slots: new Map(),
    tokens: new Map(),
    claimAheadMs,
    starts: new Set(),
    unstarted: new Set(),
  }
}

/** What of the store a change may touch. */
export interface Captured {
  readonly state: ScheduleState | undefined
  readonly fires: readonly {
    readonly key: string
    readonly fire: FireKey
    readonly lines: readonly HistoryRecord[]
    readonly record: FireRecord | undefined
  }[]
  /** By token. */
  readonly runs: ReadonlyMap<string, RunRecord>
}

/** To be called before and after the change; `earlier`: what it answered before. */
export function capture(mirror: Mirror, change: Change, earlier?: Captured): Captured {
  const data = mirror.data()
  const state = data.schedules.get(change.id)
  const fires = (earlier?.fires.map(({ fire }) => fire) ?? firesIn(change, state)).map((fire) => {
    const key = fireKeyText(fire)
    const lines = linesOf(mirror, change, key)
    return { key, fire, lines, record: viewFire(state, fire, lines) }
  })
  const runs = new Map<string, RunRecord>()
  for (const { fire, lines } of fires) for (const run of runsOf(state, fire, lines)) runs.set(run.token, run)
  return { state, fires, runs }
}

export function touchedFires(before: Captured, after: Captured): TouchedFire[] {
  return before.fires.map(({ key, fire, record, lines }, index) => {
    const { record: now, lines: linesAfter } = after.fires[index]!
    return { key, fire, before: record, after: now, linesBefore: lines, linesAfter }
  })
}

export function touchedRuns(before: Captured, after: Captured): Touched<RunRecord>[] {
  const tokens = new Set([...before.runs.keys(), ...after.runs.keys()])
  return [...tokens].map((token) => ({ before: before.runs.get(token), after: after.runs.get(token) }))
}

/** Fires that the change names, and those that are open in one of its states and not the same in the other. */
function firesIn(change: Change, state: ScheduleState | undefined): FireKey[] {
  const [before, after] = [new Set(state?.open), new Set(change.state?.open)]
  const open = [...before].filter((fire) => !after.has(fire)).concat([...after].filter((fire) => !before.has(fire)))
  const keys = open.map(({ dueAt, nonce }) => ({ schedule: change.id, dueAt, nonce }))
  const all = [...keys, ...change.creates, ...change.reopens, ...change.history, ...change.rewrites]
  return [...new Map(all.map((fire) => [fireKeyText(fire), fire])).values()]
}

function linesOf(mirror: Mirror, change: Change, key: string): HistoryRecord[] {
  const { history } = mirror.data()
  const written = [...change.history, ...change.rewrites].filter((line) => fireKeyText(line) === key)
  const numbers = new Set([...(mirror.lines.get(key)?.keys() ?? []), ...written.map(({ number }) => number)])
  const lines = [...numbers].map((number) => history.get(lineKeyText(change.id, number)))
  return lines.filter((line) => line !== undefined && fireKeyText(line) === key) as HistoryRecord[]
}

export function openIn(
  state: ScheduleState | undefined,
  { dueAt, nonce }: Pick<FireKey, 'dueAt' | 'nonce'>,
): OpenFire | undefined {
  return state?.open.find((fire) => fire.dueAt === dueAt && fire.nonce === nonce)
}

function viewFire(
  state: ScheduleState | undefined,
  fire: FireKey,
  lines: readonly HistoryRecord[],
): FireRecord | undefined {
  const open = openIn(state, fire)
  if (state !== undefined && open !== undefined) return viewOpenFire(state, open)
  const final = lines.findLast(({ isFinal }) => isFinal)
  return final && viewEndedFire(final)
}

function runsOf(state: ScheduleState | undefined, fire: FireKey, lines: readonly HistoryRecord[]): RunRecord[] {
  const open = openIn(state, fire)
  const running = state !== undefined && open !== undefined && isRunning(open) ? [viewOpenRun(state, open)] : []
  return [...running, ...lines.map(viewEndedRun).filter((run) => run !== null)]
}

/** Take over what a step wrote. After the checks, which want to see what was before. */
export function follow(mirror: Mirror, step: Step): void {
  const { id } = step.change
  for (const { key, fire, after, linesAfter } of step.fires) {
    const lines = inner(mirror.lines, key)
    const known = lines.size
    for (const line of linesAfter) lines.set(line.number, line)
    if (lines.size === 0) mirror.lines.delete(key)
    mirror.lineCount += lines.size - known
    if (fire.nonce !== '' && (after !== undefined || lines.size > 0)) inner(mirror.nonces, id).set(fire.nonce, key)
    const range = linesAfter.find((line) => line.range !== null && line.isFinal)
    if (range === undefined) mirror.ranges.get(id)?.delete(key)
    else inner(mirror.ranges, id).set(key, range)
  }
  for (const { after } of step.runs) {
    const token = BigInt(after?.token ?? 0)
    if (token > (mirror.tokens.get(id) ?? 0n)) mirror.tokens.set(id, token)
  }
  countSlots(mirror, step.before, -1)
  countSlots(mirror, step.after, 1)
}

function countSlots({ slots }: Mirror, state: ScheduleState | undefined, by: 1 | -1): void {
  for (const { run } of state?.open ?? [])
    for (const slot of run?.slots ?? []) slots.set(slot, (slots.get(slot) ?? 0) + by)
}

export function holdersOf(slot: string, state: ScheduleState | undefined): number {
  return state?.open.filter(({ run }) => run?.slots?.includes(slot)).length ?? 0
}

export function inner<Key, Item>(map: Map<string, Map<Key, Item>>, key: string): Map<Key, Item> {
  let found = map.get(key)
  if (found === undefined) {
    found = new Map()
    map.set(key, found)
  }
  return found
}
