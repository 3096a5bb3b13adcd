import type { Change } from '../../model/change.ts'
import { ownEndsOf } from '../../model/own-ends.ts'
import type { FireRecord, RunRecord } from '../../model/record.ts'
import type { Instant, ScheduleState } from '../../model/schedule.ts'
import type { ApplyOptions, ChangeResult } from '../store.ts'
import { fireKeyText, runKeyText } from './data.ts'
import { areClaimsHeld } from './hold.ts'
import { renew } from './instances.ts'
import { trim } from './prune.ts'
import { logEnd, type Space, setFire, setFloor, setRun, setSchedule } from './space.ts'

const APPLIED: ChangeResult = { kind: 'applied' }
const CONFLICT: ChangeResult = { kind: 'conflict' }
const EARLY: ChangeResult = { kind: 'early' }
const NOT_LIVE: ChangeResult = { kind: 'not-live' }

/** One after the other: each sees what those before it wrote. */
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
  // Everything is asked before anything is written: what is refused leaves no trace.
  if (change.epoch !== space.epoch || (current?.version ?? 0) !== change.version) return CONFLICT
  if (change.notBefore !== null && now < change.notBefore) return EARLY
  const created = change.creates.map(fireKeyText)
  const refusal = findExisting(space, change, created) ?? findFull(space, change)
  if (refusal !== undefined) return refusal
  if (change.state !== null) setSchedule(space, change.id, nextState(space, current, change, change.state))
  else if (current !== undefined) {
    setFloor(space, Math.max(space.data.floor, current.tokens, current.version))
    setSchedule(space, change.id, undefined)
  }
  for (let index = 0; index < created.length; index++) {
    const fire = change.creates[index]!
    setFire(space, created[index]!, fire, fire)
  }
  for (const fire of change.updates) setFire(space, fireKeyText(fire), fire, fire)
  for (const run of change.runs) {
    const key = runKeyText(run.schedule, run.token)
    setRun(space, key, run)
    if (run.ending !== null) logEnd(space, { kind: 'run', key })
  }
  for (const fire of ownEndsOf(change)) logEnd(space, { kind: 'fire', key: fireKeyText(fire) })
  if (change.trim !== null) trim(space, change.id, change.trim)
  return APPLIED
}

function nextState(
  { data }: Space,
  current: ScheduleState | undefined,
  change: Change,
  state: ScheduleState,
): ScheduleState {
  const version = (current === undefined ? data.floor : change.version) + 1
  const definition = current?.revision === state.revision ? current.definition : state.definition
  const tokens = current === undefined ? Math.max(state.tokens, data.floor) : state.tokens
  const isAsGiven = state.version === version && state.definition === definition && state.tokens === tokens
  return isAsGiven ? state : { ...state, version, definition, tokens }
}

function findExisting(space: Space, { creates }: Change, keys: readonly string[]): ChangeResult | undefined {
  const { data, records } = space
  for (let index = 0; index < creates.length; index++) {
    const { schedule, nonce } = creates[index]!
    const twin = nonce === '' ? undefined : records.schedules.get(schedule)?.nonces.get(nonce)?.key
    const fire = data.fires.get(keys[index]!) ?? (twin === undefined ? undefined : data.fires.get(twin))
    if (fire !== undefined) return { kind: 'exists', fire }
  }
  const fire = creates.length < 2 ? undefined : findTwice(creates, keys)
  return fire && { kind: 'exists', fire }
}

/** Two fires of one change may not be the same either. */
function findTwice(creates: readonly FireRecord[], keys: readonly string[]): FireRecord | undefined {
  const made = new Map<string, FireRecord>()
  for (const [index, fire] of creates.entries()) {
    const { schedule, nonce } = fire
    const names = nonce === '' ? [keys[index]!] : [keys[index]!, `nonce ${schedule.length}:${schedule}${nonce}`]
    const first = names.map((name) => made.get(name)).find((other) => other !== undefined)
    if (first !== undefined) return first
    for (const name of names) made.set(name, fire)
  }
  return undefined
}

function findFull({ data, records }: Space, { limits, runs }: Change): ChangeResult | undefined {
  if (limits.length === 0) return undefined
  const before = runs.map((run) => data.runs.get(runKeyText(run.schedule, run.token)))
  const full = limits.find(({ slot, limit }) => {
    const count = (records.slots.get(slot) ?? 0) + countOpen(slot, runs) - countOpen(slot, before)
    return count > limit
  })
  return full && { kind: 'full', slot: full.slot }
}

function countOpen(slot: string, runs: readonly (RunRecord | undefined)[]): number {
  let count = 0
  for (const run of runs) if (run?.ending === null && run.slots.includes(slot)) count++
  return count
}
