import type { Change } from '../../model/change.ts'
import type { FireKey, HistoryRecord } from '../../model/record.ts'
import { isRunning, NOBODY, type OpenFire, type RunningFire, type ScheduleState } from '../../model/schedule.ts'
import { activityPuts } from './activity.ts'
import { EndCounter } from './counts.ts'
import type { Group, Guard } from './driver.ts'
import { encodeName, type Keys } from './keys.ts'
import { deleteLine, putLine, reopenLine } from './lines.ts'
import { type Known, writeDefinition, writeState } from './schedules.ts'
import { Writes } from './writes.ts'

/** More than this many are looked for before the write: guards are limited, and the version alone guards what was read. */
export const MOST_GUARDED_CREATES = 20

/** What must be known beside the state to write a change. */
export interface Facts {
  readonly floor: number
  /** Of the last line of a schedule that is created. */
  readonly lastNumber: number
  /** Lines that `rewrites` replace, and the final ones of `reopens`. */
  readonly replaced: readonly HistoryRecord[]
  readonly reopened: readonly HistoryRecord[]
  /** Nonces of fires that vanish without a line, and have none on record. */
  readonly freed: readonly string[]
}

export interface Planned {
  readonly group: Group
  /** What the schedule is once this is written, but for the revision of its key. `null`: gone. */
  readonly next: Omit<Known, 'revision'> | null
  /** Instances of the runs that it begins or changes. */
  readonly instances: readonly string[]
}

export interface Planning {
  readonly keys: Keys
  readonly now: number
  /** Of the change within its commit. */
  readonly place: number
}

/** All that a change writes: pure, so that what it would write can be decided again after a conflict. */
export function planChange(
  { keys, now, place }: Planning,
  change: Change,
  before: Known | undefined,
  facts: Facts,
): Planned {
  const writes = new Writes()
  const next = nextState(change, before, facts)
  const state = next?.state ?? null
  writeQueue(keys, writes, before?.state ?? null, state)
  writeIndexes(keys, writes, before?.state ?? null, state)
  const instances = writeOpen(keys, writes, change.id, before?.state ?? null, state)
  for (const nonce of facts.freed) writes.delete(keys.nonce(change.id, nonce))
  writeHistory(keys, writes, change, facts, place)
  for (const { key, value } of activityPuts(keys, change.activity)) writes.put(key, value)
  if (next === null) {
    writes.delete(keys.state(change.id))
    writes.delete(keys.definition(change.id))
  } else {
    writes.put(keys.state(change.id), writeState(next.state, next.edition, now))
    const { edition, state } = next
    if (edition === state.version) writes.put(keys.definition(change.id), writeDefinition(state.definition, edition))
  }
  const { puts, deletes } = writes
  return { group: { guards: guardsOf(keys, change, before), puts, deletes }, next, instances }
}

function guardsOf(keys: Keys, { id, creates }: Change, before: Known | undefined): Guard[] {
  const key = keys.state(id)
  const version: Guard =
    before === undefined ? { key, is: 'absent' } : { key, is: 'revision', revision: before.revision }
  if (creates.length > MOST_GUARDED_CREATES) return [version]
  return [
    version,
    ...creates.flatMap((fire): Guard[] => [
      { range: keys.linesOf(fire), is: 'empty' },
      ...(fire.nonce === '' ? [] : [{ key: keys.nonce(id, fire.nonce), is: 'absent' } as const]),
    ]),
  ]
}

function nextState(change: Change, before: Known | undefined, facts: Facts): Planned['next'] {
  const { state } = change
  if (state === null) return null
  if (before === undefined) {
    const version = facts.floor + 1
    const tokens = Math.max(state.tokens, facts.floor)
    const ended = Math.max(state.ended, facts.lastNumber)
    return { state: { ...state, version, tokens, ended }, edition: version }
  }
  const version = change.version + 1
  const isSame = before.state.revision === state.revision
  const definition = isSame ? before.state.definition : state.definition
  return { state: { ...state, version, definition }, edition: isSame ? before.edition : version }
}

function writeQueue(keys: Keys, writes: Writes, before: ScheduleState | null, state: ScheduleState | null): void {
  const [old, next] = [before, state].map((one) => queueKey(keys, one))
  if (old === next) return
  if (old != null) writes.delete(old)
  if (next != null) writes.put(next, '')
}

function queueKey(keys: Keys, state: ScheduleState | null): string | null {
  return state === null || state.wakeAt === null ? null : keys.queued(state.definition.job, state.wakeAt, state.id)
}

/** Schedules are found by job, tenant and app. */
function writeIndexes(keys: Keys, writes: Writes, before: ScheduleState | null, state: ScheduleState | null): void {
  if (before !== null && state !== null && before.definition === state.definition && before.source === state.source)
    return
  for (const key of indexKeys(keys, before)) writes.delete(key)
  for (const key of indexKeys(keys, state)) writes.put(key, '')
}

function indexKeys(keys: Keys, state: ScheduleState | null): string[] {
  if (state === null) return []
  const { id, definition, source } = state
  const name = encodeName(id)
  const found = [keys.key('j', encodeName(definition.job), name)]
  if (definition.tenant !== null) found.push(keys.key('jt', encodeName(definition.tenant), name))
  if (source.kind === 'code') found.push(keys.key('ja', encodeName(source.app), name))
  return found
}

/** Fires that are open, runs by their instance, and the limits they count against. Most fires of a long list are the same as before. */
function writeOpen(
  keys: Keys,
  writes: Writes,
  schedule: string,
  before: ScheduleState | null,
  state: ScheduleState | null,
): string[] {
  const instances: string[] = []
  const [old, next] = [new Set(before?.open), new Set(state?.open)]
  for (const fire of old) {
    if (next.has(fire)) continue
    writes.delete(keys.openFire({ ...fire, schedule }))
    if (isRunning(fire)) for (const key of slotKeys(keys, schedule, fire)) writes.delete(key)
    if (isRunning(fire)) writes.delete(keys.held(fire.run.instance, schedule, fire.run.token))
  }
  for (const fire of next) {
    if (old.has(fire)) continue
    writes.put(keys.openFire({ ...fire, schedule }), '')
    if (fire.nonce !== '') writes.put(keys.nonce(schedule, fire.nonce), String(fire.dueAt))
    if (!isRunning(fire)) continue
    for (const key of slotKeys(keys, schedule, fire)) writes.put(key, '')
    const { instance, token, claim, cancel } = fire.run
    writes.put(keys.held(instance, schedule, token), JSON.stringify([claim, cancel]))
    if (instance !== NOBODY) instances.push(instance)
  }
  return instances
}

function slotKeys(keys: Keys, schedule: string, { run }: RunningFire): string[] {
  return (run.slots ?? []).map((slot) => keys.slot(slot, schedule, run.token))
}

function writeHistory(
  keys: Keys,
  writes: Writes,
  { rewrites, history }: Change,
  { replaced, reopened }: Facts,
  place: number,
): void {
  const counter = new EndCounter(keys, writes, place)
  for (const line of reopened) {
    counter.count(line, -1)
    reopenLine(keys, writes, line)
  }
  for (const line of replaced) {
    counter.count(line, -1)
    deleteLine(keys, writes, line)
  }
  for (const line of [...rewrites, ...history]) {
    counter.count(line, 1)
    putLine(keys, writes, line)
    if (line.nonce !== '') writes.put(keys.nonce(line.schedule, line.nonce), String(line.dueAt))
  }
}

/** Fires that were open before the change, and neither are after it nor have a line in it. */
export function vanishing({ state, history }: Change, before: ScheduleState | undefined): FireKey[] {
  const schedule = before?.id ?? ''
  const isIn = (fires: readonly Pick<OpenFire, 'dueAt' | 'nonce'>[], { dueAt, nonce }: OpenFire): boolean =>
    fires.some((one) => one.dueAt === dueAt && one.nonce === nonce)
  return (before?.open ?? [])
    .filter((fire) => fire.nonce !== '' && !isIn(state?.open ?? [], fire) && !isIn(history, fire))
    .map(({ dueAt, nonce }) => ({ schedule, dueAt, nonce }))
}
