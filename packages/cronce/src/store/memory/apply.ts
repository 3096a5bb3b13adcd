import type { Change } from '../../model/change.ts'
import type { FireRecord, RunRecord } from '../../model/record.ts'
import type { Instant, ScheduleState } from '../../model/schedule.ts'
import type { ApplyOptions, ChangeResult } from '../store.ts'
import { fireKeyText, runKeyText } from './data.ts'
import { renew } from './instances.ts'
import { trim } from './prune.ts'
import { deleteFire, type Space, setFire, setRun, setSchedule, setTokensFloor } from './space.ts'

const APPLIED: ChangeResult = { kind: 'applied' }
const CONFLICT: ChangeResult = { kind: 'conflict' }
const EARLY: ChangeResult = { kind: 'early' }
const NOT_LIVE: ChangeResult = { kind: 'not-live' }

/** One after the other: each sees what those before it wrote. */
export function applyChanges(
  space: Space,
  now: Instant,
  changes: readonly Change[],
  claimant: ApplyOptions<unknown>['claimant'],
): ChangeResult[] {
  const isLive = claimant === undefined || renew(space, now, claimant)
  return changes.map((change) => (isLive ? applyChange(space, now, change) : NOT_LIVE))
}

function applyChange(space: Space, now: Instant, change: Change): ChangeResult {
  const current = space.data.schedules.get(change.id)
  // Everything is asked before anything is written: what is refused leaves no trace.
  if ((current?.version ?? 0) !== change.version) return CONFLICT
  if (change.notBefore !== null && now < change.notBefore) return EARLY
  const refusal = findExisting(space, change) ?? findFull(space, change)
  if (refusal !== undefined) return refusal
  if (change.state !== null) setSchedule(space, change.id, nextState(space, current, change, change.state))
  else if (current !== undefined) {
    setTokensFloor(space, Math.max(space.data.tokensFloor, current.tokens))
    setSchedule(space, change.id, undefined)
  }
  for (const key of change.deletes) deleteFire(space, key)
  for (const fire of change.creates) setFire(space, fire, fire)
  for (const fire of change.updates) setFire(space, fire, fire)
  for (const run of change.runs) setRun(space, runKeyText(run.schedule, run.token), run)
  if (change.trim !== null) trim(space, change.id, change.trim)
  return APPLIED
}

function nextState(
  { data }: Space,
  current: ScheduleState | undefined,
  change: Change,
  state: ScheduleState,
): ScheduleState {
  const version = change.version + 1
  const definition = current?.revision === state.revision ? current.definition : state.definition
  const tokens = current === undefined ? Math.max(state.tokens, data.tokensFloor) : state.tokens
  const isAsGiven = state.version === version && state.definition === definition && state.tokens === tokens
  return isAsGiven ? state : { ...state, version, definition, tokens }
}

function findExisting({ data, records }: Space, { creates, deletes }: Change): ChangeResult | undefined {
  if (creates.length === 0) return undefined
  const gone = new Set(deletes.map(fireKeyText))
  // Two of one change may not be the same either.
  const made = new Map<string, FireRecord>()
  for (const fire of creates) {
    const key = fireKeyText(fire)
    const { schedule, nonce } = fire
    const twin = nonce === '' ? undefined : records.schedules.get(schedule)?.nonces.get(nonce)
    const onRecord = [key, twin].find((other) => other !== undefined && data.fires.has(other) && !gone.has(other))
    const name = nonce === '' ? key : `nonce ${schedule.length}:${schedule}${nonce}`
    const existing = onRecord === undefined ? made.get(name) : data.fires.get(onRecord)
    if (existing !== undefined) return { kind: 'exists', fire: existing }
    made.set(name, fire)
  }
  return undefined
}

function findFull({ data, records }: Space, { limits, runs }: Change): ChangeResult | undefined {
  for (const { slot, limit } of limits) {
    let count = records.slots.get(slot) ?? 0
    for (const run of runs) {
      count += openIn(slot, run) - openIn(slot, data.runs.get(runKeyText(run.schedule, run.token)))
    }
    if (count > limit) return { kind: 'full', slot }
  }
  return undefined
}

function openIn(slot: string, run: RunRecord | undefined): number {
  return run?.ending === null && run.slots.includes(slot) ? 1 : 0
}
