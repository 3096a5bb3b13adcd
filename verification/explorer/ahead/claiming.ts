import type { Decision } from '../../../packages/cronce/src/policy/decision.ts'
import { advance } from '../../../packages/cronce/src/policy/plan/advance.ts'
import { advancePlain, claimAhead } from '../../../packages/cronce/src/policy/plan/plain-fire.ts'
import { idOf, JOB, nameOf, SCHEDULE } from '../state.ts'
import { type AheadFleet, type AheadMoves, contextOf, mayFail } from './fleet.ts'
import { takeRun } from './running.ts'
import {
  AHEAD_MS,
  type AheadState,
  type ClaimMessage,
  clockOf,
  fault,
  LEASE_MS,
  patchWorker,
  send,
  without,
} from './state.ts'
import { forgetClock, hearClock, hearRenewal, isTrusted, trustMs } from './trust.ts'

const ALL_BUCKETS = '1'.repeat(256)

/** `engine/claim`: look, decide, claim; and what follows from the answer, or from none. */
export async function claimMoves(fleet: AheadFleet, state: AheadState, index: number): Promise<AheadMoves> {
  const worker = state.workers[index]!
  const claim = awaitedClaim(state, index)
  if (claim !== undefined) return answerMoves(fleet, state, claim)
  if (worker.run !== null || worker.isStopping || !isTrusted(state, worker)) return []
  const next = await look(fleet, state, index)
  if (next === null) return []
  return [{ words: `${nameOf(idOf(index, worker.incarnation))} sends a claim`, isFault: false, make: () => next }]
}

export function awaitedClaim({ messages }: AheadState, index: number): ClaimMessage | undefined {
  return messages.find(
    (message): message is ClaimMessage => message.kind === 'claim' && message.worker === index && message.isAwaited,
  )
}

async function look(fleet: AheadFleet, state: AheadState, index: number): Promise<AheadState | null> {
  const worker = state.workers[index]!
  const instance = idOf(index, worker.incarnation)
  const aheadMs = Math.min(AHEAD_MS, trustMs(state, worker))
  const query = { jobs: [{ job: JOB, buckets: ALL_BUCKETS }], patienceMs: 0, aheadMs, limit: 1 }
  const { schedules } = await fleet.at.read(state.store, clockOf(state), (store) => store.due(query))
  const [schedule] = schedules
  if (schedule === undefined) return null
  const claim = worker.claims + 1
  const claimant = { instance, claim, room: 1, idle: true }
  const context = contextOf(state)
  const isAhead = schedule.wakeAt !== null && schedule.wakeAt > context.now
  const decision: Decision | null = isAhead
    ? claimAhead(schedule, context, claimant)
    : (advancePlain(schedule, context, claimant) ?? advance(schedule, context, claimant, []))
  if (decision === null) return null
  const heard = hearNow(patchWorker(state, index, { claims: claim }), index)
  const frame = { worker: index, instance, isAwaited: true }
  return send(heard, { ...frame, kind: 'claim', decision, claim, sentAt: state.time, answer: null })
}

/** An answer that comes at once, and renews nothing. */
export function hearNow(state: AheadState, index: number): AheadState {
  return hearClock(state, index, { now: clockOf(state), sentAt: state.time, backs: state.faults.back })
}

function answerMoves(fleet: AheadFleet, state: AheadState, claim: ClaimMessage): AheadMoves {
  const name = nameOf(claim.instance)
  const moves: AheadMoves = []
  if (claim.answer !== null) {
    const make = () => hearClaim(fleet, without(state, claim), claim)
    moves.push({ words: `${name} hears of its claim: ${claim.answer.result.kind}`, isFault: false, make })
  }
  if (!mayFail(fleet, state, 'silence')) return moves
  const rest = without(state, claim)
  const late = claim.answer === null ? send(rest, { ...claim, isAwaited: false }) : rest
  const silent = fault(forgetClock(late, claim.worker), 'silence')
  const find = () => findClaimed(fleet, silent, claim)
  moves.push({ words: `${name} gets no answer to its claim, and reads its result`, isFault: true, make: find })
  moves.push({ words: `${name} gets no answer to its claim, nor to its look`, isFault: true, make: () => silent })
  return moves
}

async function findClaimed(fleet: AheadFleet, state: AheadState, claim: ClaimMessage): Promise<AheadState> {
  const { schedules } = await fleet.at.read(state.store, clockOf(state), (store) => store.load([SCHEDULE]))
  const isOurs = schedules[0]?.open.some(({ run }) => run?.instance === claim.instance && run.claim === claim.claim)
  const [started] = claim.decision.started
  return isOurs === true && started !== undefined ? takeRun(fleet, state, claim.worker, started) : state
}

/** The claim arrives. The answer of a refused claim arrives at once: nothing depends on when. */
export async function deliverClaim(fleet: AheadFleet, state: AheadState, claim: ClaimMessage): Promise<AheadState> {
  const claimant = { instance: claim.instance, leaseMs: LEASE_MS, renew: true }
  const { answer, snapshot } = await fleet.at.write(state.store, clockOf(state), (store) =>
    store.apply([claim.decision.change], { claimant }),
  )
  const next = { ...without(state, claim), store: snapshot }
  const [result] = answer.results
  if (!claim.isAwaited) return next
  const answered = { ...claim, answer: { result: result!, now: clockOf(state), backs: state.faults.back } }
  return result!.kind === 'applied' ? send(next, answered) : hearClaim(fleet, next, answered)
}

function hearClaim(fleet: AheadFleet, state: AheadState, claim: ClaimMessage): AheadState {
  const { worker: index, instance, sentAt, decision, answer } = claim
  const { result, now, backs } = answer!
  const heard = hearClock(state, index, { now, sentAt, backs })
  const isOurs = idOf(index, state.workers[index]!.incarnation) === instance
  const isRenewed = isOurs && result.kind !== 'not-live'
  const renewed = isRenewed ? hearRenewal(fleet, heard, index, { sentAt, now }) : heard
  const [started] = decision.started
  return result.kind === 'applied' && started !== undefined ? takeRun(fleet, renewed, index, started) : renewed
}
