import type { Change } from '../../model/change.ts'
import type { FireKey, HistoryRecord } from '../../model/record.ts'
import type { Instant, ScheduleState } from '../../model/schedule.ts'
import { findTwin } from '../matches.ts'
import type { ApplyOptions, ChangeResult } from '../store.ts'
import { lineKeyText } from './data.ts'
import { areClaimsHeld } from './hold.ts'
import { renew } from './instances.ts'
import { viewFire } from './list.ts'
import { trim } from './prune.ts'
import { findFire, isOnRecord, lastNumber } from './record-index.ts'
import { addActivity, countEnd, logEnd, type Space, setFloor, setLine, setSchedule } from './space.ts'

const APPLIED: ChangeResult = { kind: 'applied' }
const CONFLICT: ChangeResult = { kind: 'conflict' }
const EARLY: ChangeResult = { kind: 'early' }
const NOT_LIVE: ChangeResult = { kind: 'not-live' }

/** One after the other: each sees what the ones before it wrote. */
export function applyChanges(
  space: Space,
  now: Instant,
  changes: readonly Change[],
  { claimant, app }: Pick<ApplyOptions<unknown>, 'claimant' | 'app'>,
): ChangeResult[] {
  const isLive = claimant === undefined || renew(space, now, claimant)
  const isHeld = claimant !== undefined && areClaimsHeld(space, now)
  const isStale = app !== undefined && (space.data.apps.get(app.name)?.version ?? 0) !== app.version
  return changes.map((change) => {
    if (!isLive) return NOT_LIVE
    return isHeld || isStale ? CONFLICT : applyChange(space, now, change)
  })
}

function applyChange(space: Space, now: Instant, change: Change): ChangeResult {
  const current = space.data.schedules.get(change.id)
  // Everything is checked before anything is written: a refused change leaves no trace.
  if (change.epoch !== space.epoch || (current?.version ?? 0) !== change.version) return CONFLICT
  if (change.notBefore !== null && now < change.notBefore) return EARLY
  const refusal = findExisting(space, change) ?? findFull(space, current, change)
  if (refusal !== undefined) return refusal
  if (change.state !== null) setSchedule(space, change.id, nextState(space, current, change, change.state))
  else if (current !== undefined) {
    setFloor(space, Math.max(space.data.floor, current.tokens, current.version))
    setSchedule(space, change.id, undefined)
  }
  for (const fire of change.reopens) reopen(space, fire)
  for (const line of [...change.rewrites, ...change.history]) writeLine(space, line)
  if (change.trim !== null) trim(space, change.id, change.trim)
  addActivity(space, change.activity)
  return APPLIED
}

function writeLine(space: Space, line: HistoryRecord): void {
  const key = lineKeyText(line.schedule, line.number)
  const old = space.data.history.get(key)
  if (old !== undefined) countEnd(space, old, -1)
  countEnd(space, line, 1)
  setLine(space, key, line)
  if (line.run !== null || line.isFinal) logEnd(space, key)
}

function reopen(space: Space, fire: FireKey): void {
  for (const line of findFire(space.records, fire)?.lines.filter(({ isFinal }) => isFinal) ?? []) {
    countEnd(space, line, -1)
    setLine(space, lineKeyText(line.schedule, line.number), { ...line, isFinal: false })
  }
}

function nextState(
  { data, records }: Space,
  current: ScheduleState | undefined,
  change: Change,
  state: ScheduleState,
): ScheduleState {
  const version = (current === undefined ? data.floor : change.version) + 1
  const definition = current?.revision === state.revision ? current.definition : state.definition
  if (current !== undefined) {
    const isAsGiven = state.version === version && state.definition === definition
    return isAsGiven ? state : { ...state, version, definition }
  }
  const ended = Math.max(state.ended, lastNumber(records, state.id))
  return { ...state, version, tokens: Math.max(state.tokens, data.floor), ended }
}

function findExisting(space: Space, change: Change): ChangeResult | undefined {
  for (const fire of change.creates) {
    const known = findFire(space.records, fire)
    const namesake = fire.nonce === '' ? undefined : space.records.schedules.get(fire.schedule)?.nonces.get(fire.nonce)
    const entry = [known, namesake].find((one) => one !== undefined && isOnRecord(one))
    if (entry !== undefined) return { kind: 'exists', fire: viewFire(space, entry) }
  }
  const twin = findTwin(change)
  return twin === null ? undefined : { kind: 'exists', fire: twin }
}

function findFull({ records }: Space, current: ScheduleState | undefined, change: Change): ChangeResult | undefined {
  const full = change.limits.find(({ slot, limit }) => {
    const count = (records.slots.get(slot) ?? 0) + countHolders(slot, change.state) - countHolders(slot, current)
    return count > limit
  })
  return full && { kind: 'full', slot: full.slot }
}

function countHolders(slot: string, state: ScheduleState | null | undefined): number {
  return state?.open.filter(({ run }) => run?.slots?.includes(slot)).length ?? 0
}
