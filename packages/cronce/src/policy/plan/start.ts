import type { StartCause } from '../../model/outcome.ts'
import { DEFAULT_POLICY } from '../../model/policy.ts'
import type { Instant, OpenFire, OpenRun, ScheduleState } from '../../model/schedule.ts'
import { makeToken } from '../../model/token.ts'
import type { Claimant } from '../decision.ts'
import { choicesOfFire, type Draft, demandTime, policyOfFire, set } from '../draft.ts'
import { changeFire } from '../fires.ts'
import { runRecordOf, type Slot, slotsOf } from '../records.ts'
import { isOnTime } from './misfire.ts'
import { inTurn, takeTurns } from './turn.ts'
import { isFrozen, isOutOfPatience, isSuspect } from './wake.ts'

/** Claim what may start now, in order, while the claimant has room. */
export function startFires(draft: Draft, claimant: Claimant): void {
  let { room } = claimant
  const { now } = draft.context
  takeTurns(inTurn(draft.open), draft.state.definition.policy, (fire, mayStart) => {
    if (!mayStart || room <= 0 || fire.readyAt > now || isFrozen(draft.state, fire)) return false
    const isLoner = isSuspect(fire)
    const isAlone = claimant.idle && draft.started.length === 0
    if (isLoner && !isAlone && !isOutOfPatience(fire, now)) return false
    // One at a time if a limit may refuse it: several at once would wait until there is room for all of them, or forever.
    const slots = slotsOf(draft.state.definition.job, choicesOfFire(draft, fire))
    if (slots.length > 0 && (draft.limits.length > 0 || claimant.isFull?.(slots))) return false
    // Nothing beside a fire that may crash its instance.
    room = isLoner ? 0 : room - 1
    startFire(draft, fire, claimant)
    return true
  })
}

/** For each fire that could start now, the limits that it counts against; if none waits, those of the next planned instant. */
export function nextSlots(state: ScheduleState, now: Instant): readonly (readonly Slot[])[] {
  const { job, policy } = state.definition
  const next: (readonly Slot[])[] = []
  takeTurns(inTurn(state.open), policy, (fire, mayStart) => {
    if (mayStart && fire.readyAt <= now && !isFrozen(state, fire)) next.push(slotsOf(job, fire.own?.policy ?? policy))
    return false
  })
  return next.length === 0 ? [slotsOf(job, policy)] : next
}

/** Claim this fire and no other, whatever else is active. False: it is not due, or a pause prevents it. */
export function startOne(draft: Draft, fire: OpenFire, claimant: Pick<Claimant, 'instance' | 'claim'>): boolean {
  if (fire.readyAt > draft.context.now || isFrozen(draft.state, fire)) return false
  startFire(draft, { ...fire, wait: { cause: 'asked' } }, claimant)
  return true
}

function startFire(draft: Draft, fire: OpenFire, { instance, claim }: Pick<Claimant, 'instance' | 'claim'>): void {
  const { now, epoch } = draft.context
  const tokens = draft.state.tokens + 1
  set(draft, { tokens })
  const slots = slotsOf(draft.state.definition.job, choicesOfFire(draft, fire))
  const cause = causeOf(draft, fire)
  const run: OpenRun = {
    ...{ token: makeToken(epoch, tokens), instance, claim, startedAt: now, cancel: null },
    ...(cause === undefined ? {} : { cause }),
    ...(slots.length === 0 ? {} : { slots: slots.map(({ slot }) => slot) }),
  }
  const { wait: _, ...rest } = fire
  // Of first runs, only one that is claimed ahead has a fire that was planned before its due time: see `isClaimedAhead`.
  const plannedAt = fire.attempt > 0 ? fire.plannedAt : Math.max(fire.plannedAt, fire.dueAt)
  const changed = { ...rest, plannedAt, attempt: fire.attempt + 1, run }
  changeFire(draft, fire, changed)
  const record = runRecordOf(draft, changed)
  const policy = policyOfFire(draft, changed)
  for (const { slot, limit } of slots) {
    const known = draft.limits.find((other) => other.slot === slot)
    if (known === undefined) draft.limits.push({ slot, limit })
    else known.limit = Math.min(known.limit, limit)
  }
  demandTime(draft, fire.readyAt)
  draft.started.push({
    record,
    fire: changed,
    kind: fire.kind,
    input: fire.own === null ? draft.state.definition.input : fire.own.input,
    policy,
    previous: draft.state.last,
    suspect: isSuspect(fire),
  })
  const { schedule, job, dueAt, nonce, token, attempt } = record
  const lateness = { latenessMs: now - fire.readyAt, cause: cause ?? null }
  draft.events.push({ type: 'run.started', schedule, job, dueAt, nonce, token, attempt, instance, ...lateness })
}

/** Why the run starts late; `undefined`: it does not. */
function causeOf(draft: Draft, fire: OpenFire): StartCause | undefined {
  const { misfire = DEFAULT_POLICY.misfire } = choicesOfFire(draft, fire)
  if (isOnTime(misfire, draft.context.now - fire.readyAt)) return undefined
  if (fire.round === 1 && fire.attempt > 0) return 'recovered'
  if (fire.kind !== 'scheduled' || fire.round > 1) return 'asked'
  return fire.wait?.cause ?? 'room'
}
