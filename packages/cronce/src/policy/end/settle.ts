import type { Json } from '../../model/json.ts'
import { type Ending, ending } from '../../model/outcome.ts'
import type { ErrorRecord } from '../../model/record.ts'
import { type Instant, NOBODY, type ScheduleState } from '../../model/schedule.ts'
import { type Context, type Decision, STALE, type Stale } from '../decision.ts'
import { begin, type Draft, finish, policyOfFire } from '../draft.ts'
import { cancelEnding, changeFire, endFire, endRun, findRunning, freezeFire } from '../fires.ts'
import { aboutRun, type RunningFire } from '../records.ts'
import { isClaimedAhead, putBack, withStart } from './claimed-ahead.ts'
import { backoffMs, deadlineOf } from './retry.ts'

/** How a run ended. */
export interface Settlement {
  readonly token: string
  /** Ignored when the run is handed back. */
  readonly ending: Ending
  readonly error: ErrorRecord | null
  readonly result: Json
  readonly retryable: boolean
  /** The target asked to wait this long (`Retry-After`): the next run does not start earlier. */
  readonly retryAfterMs?: number
  /** The run has not ended: its work goes on elsewhere, and a call-back must report its outcome within this time. */
  readonly parkMs?: number
  /** When the handler was called, if the run was claimed ahead: the state only has the planned start. */
  readonly startedAt?: Instant
  /** Its instance hands it back; tells whether the handler had started. */
  readonly handBack: 'started' | 'not-started' | null
}

/** End a run, and decide whether its fire ends with it. */
export function settle(state: ScheduleState, settlement: Settlement, context: Context): Decision | Stale {
  const draft = begin(state, context)
  const found = findRunning(draft, settlement.token)
  if (found === undefined) return STALE
  const fire = withStart(found, settlement.startedAt)
  if (settlement.handBack !== null) handBack(draft, fire, settlement.handBack, settlement.retryAfterMs)
  else if (settlement.parkMs !== undefined && fire.run.cancel === null) park(draft, fire, settlement.parkMs)
  else settleRun(draft, fire, settlement)
  return finish(draft)
}

function settleRun(draft: Draft, fire: RunningFire, settlement: Settlement): void {
  const { ending: end, error, result } = settlement
  const wish = fire.run.cancel
  // The run was asked to end and did, so it is cancelled, whatever it reports; but a success stays a success.
  if (wish !== null && (end.outcome !== 'succeeded' || settlement.parkMs !== undefined)) {
    const cancelled = cancelEnding(wish)
    endRun(draft, fire, cancelled, { error, result })
    endFire(draft, fire, cancelled)
    return
  }
  endRun(draft, fire, end, { error, result })
  if (end.outcome === 'failed') failFire(draft, fire, end, settlement)
  else endFire(draft, fire, end)
}

/** The run stays open without a lease; it only has a deadline for the call-back. */
function park(draft: Draft, fire: RunningFire, parkMs: number): void {
  const until = draft.context.now + parkMs
  const changed = { ...fire, run: { ...fire.run, instance: NOBODY, parkedUntil: until } }
  changeFire(draft, fire, changed)
  draft.events.push({ type: 'run.parked', ...aboutRun(draft, fire), until })
}

/** No call-back came in time: this counts as a failure like any other. */
export function failParked(draft: Draft, fire: RunningFire): void {
  const end = ending('timeout', 'no call-back came in time')
  endRun(draft, fire, end)
  failFire(draft, fire, end, { retryable: true })
}

/** A run of the fire has failed: the fire waits for another attempt, or ends. */
function failFire(
  draft: Draft,
  fire: RunningFire,
  end: Ending,
  { retryable, retryAfterMs = 0 }: Pick<Settlement, 'retryable' | 'retryAfterMs'>,
): void {
  const { now, random } = draft.context
  const policy = policyOfFire(draft, fire)
  const failures = fire.failures + 1
  const isRetried = retryable && policy.guarantee !== 'at-most-once' && failures <= policy.retry.attempts
  if (!isRetried) {
    endFire(draft, fire, end)
    return
  }
  const readyAt = now + Math.max(retryAfterMs, backoffMs(policy.retry, failures, random()))
  if (readyAt < deadlineOf(fire, policy)) waitAgain(draft, fire, { failures, readyAt }, end)
  else endFire(draft, fire, ending('retry-too-late', end.detail))
}

/** The fire is to be run again, from `readyAt` on. */
export function waitAgain(
  draft: Draft,
  fire: RunningFire,
  patch: { readonly readyAt: Instant; readonly failures?: number; readonly crashes?: number },
  { reason }: Ending,
): void {
  // With a clock that went back it would start before its due time.
  const readyAt = Math.max(patch.readyAt, fire.dueAt)
  const giveUp = {
    at: deadlineOf(fire, policyOfFire(draft, fire)),
    reason: patch.failures === undefined ? ('recovery-too-late' as const) : ('retry-too-late' as const),
  }
  const changed = { ...fire, ...patch, readyAt, giveUp, run: null }
  changeFire(draft, fire, changed)
  if (draft.state.pause !== null) freezeFire(draft, changed)
  draft.events.push({ type: 'run.retried', ...aboutRun(draft, fire), readyAt, reason })
}

function handBack(draft: Draft, fire: RunningFire, how: 'started' | 'not-started', retryAfterMs = 0): void {
  const wish = fire.run.cancel
  // A run that an operator cancelled has a record, whether it has started or not.
  if (how === 'not-started' && wish === null && retryAfterMs === 0 && isClaimedAhead(fire)) {
    putBack(draft, fire)
    return
  }
  const mustNotRepeat = how === 'started' && policyOfFire(draft, fire).guarantee === 'at-most-once'
  // Its record has the planned start of a run that was claimed ahead.
  const detail = how === 'not-started' && isClaimedAhead(fire) ? 'it had not started' : null
  const end = mustNotRepeat ? ending('stopped') : ending('handed-back', detail)
  endRun(draft, fire, end)
  if (mustNotRepeat) endFire(draft, fire, end)
  else if (wish !== null) endFire(draft, fire, cancelEnding(wish))
  // At no cost: neither a failure nor a crash.
  else waitAgain(draft, fire, { readyAt: draft.context.now + retryAfterMs }, end)
}
