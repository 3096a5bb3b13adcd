import { STALE } from '../../../packages/cronce/src/policy/decision.ts'
import { requestCancel } from '../../../packages/cronce/src/policy/operate/cancel.ts'
import { openRunsOf } from '../records.ts'
import { idOf, nameOf, SCHEDULE } from '../state.ts'
import { awaitedClaim, claimMoves, deliverClaim, hearNow } from './claiming.ts'
import { type AheadFleet, type AheadMoves, contextOf, mayFail } from './fleet.ts'
import { beatMoves, isBusy, isIdle, join, leave, NEWCOMER, renewIdle, watchMoves } from './membership.ts'
import { deliverSettlement, runMoves } from './running.ts'
import {
  type AheadFault,
  type AheadMessage,
  type AheadState,
  type ClaimMessage,
  clockOf,
  fault,
  LEAP_MS,
  MOMENT_MS,
  patchWorker,
  witness,
} from './state.ts'

/** An answer that is older than this proves nothing: `StoreTime.atLeast`. */
const ANSWER_MS = 1_000

/**
 * All possible next moves. Moves that end something come first and time comes last, so that taking the first move makes
 * progress.
 */
export async function movesOf(fleet: AheadFleet, state: AheadState): Promise<AheadMoves> {
  if (isOver(state)) return []
  // One at a time, before anything else: nothing depends on when.
  const first = refusal(fleet, state) ?? restart(fleet, state)
  if (first !== null) return [noted(fleet, state, first)]
  const moves = deliveries(fleet, state)
  for (const index of state.workers.keys()) moves.push(...(await workerMoves(fleet, state, index)))
  moves.push(...(await watchMoves(fleet, state)), ...cancelMoves(fleet, state))
  moves.push(...clockMoves(fleet, state), ...timeMoves(fleet, state))
  return moves.map((move) => noted(fleet, state, move))
}

/** The fire has ended, and no run of it can start any more. */
export function isOver({ store, workers, messages }: AheadState): boolean {
  const { schedules, history } = store.space
  const isEnded = schedules.get(SCHEDULE)!.open.length === 0 && history.size > 0
  return (
    isEnded && workers.every(({ run }) => run?.phase !== 'waiting') && messages.every(({ kind }) => kind !== 'claim')
  )
}

/** A worker that is down comes back when it has left nothing behind: before that, it could do no more than its peer. */
function restart(fleet: AheadFleet, state: AheadState): AheadMoves[number] | null {
  const index = state.workers.findIndex(({ isUp, incarnation }, at) => !isUp && !isBusy(state, idOf(at, incarnation)))
  if (index < 0) return null
  const make = () => join(fleet, state, index, state.workers[index]!.incarnation + 1)
  return { words: `w${index + 1} starts again`, isFault: false, make }
}

function noted(fleet: AheadFleet, state: AheadState, move: AheadMoves[number]): AheadMoves[number] {
  return { ...move, make: async () => afterWrite(fleet, state, sweep(await move.make())) }
}

/** A claim that the store will refuse, because the schedule has changed. */
function refusal(fleet: AheadFleet, state: AheadState): AheadMoves[number] | null {
  const version = state.store.space.schedules.get(SCHEDULE)!.version
  const past = state.messages.find((message): message is ClaimMessage => {
    return message.kind === 'claim' && message.answer === null && message.decision.change.version !== version
  })
  if (past === undefined) return null
  const words = `${nameOf(past.instance)}'s claim arrives too late`
  return { words, isFault: false, make: () => deliverClaim(fleet, state, past) }
}

function deliveries(fleet: AheadFleet, state: AheadState): AheadMoves {
  return state.messages.flatMap((message): AheadMoves => {
    const words = `${nameOf(message.instance)}'s ${message.kind} arrives`
    if (message.kind === 'settlement')
      return [{ words, isFault: false, make: () => deliverSettlement(fleet, state, message) }]
    if (message.kind !== 'claim' || message.answer !== null) return []
    return [{ words, isFault: false, make: () => deliverClaim(fleet, state, message) }]
  })
}

async function workerMoves(fleet: AheadFleet, state: AheadState, index: number): Promise<AheadMoves> {
  const worker = state.workers[index]!
  const name = nameOf(idOf(index, worker.incarnation))
  if (!worker.isUp) return []
  const moves = [...(await claimMoves(fleet, state, index)), ...runMoves(fleet, state, index)]
  moves.push(...beatMoves(fleet, state, index))
  const hasNews = worker.answers.at(-1)?.now !== clockOf(state) - state.time + (worker.answers.at(-1)?.receivedAt ?? 0)
  if (worker.run?.phase === 'waiting' && hasNews)
    moves.push({ words: `${name} asks for something else`, isFault: true, make: () => hearNow(state, index) })
  if (worker.isStopping && worker.run === null && awaitedClaim(state, index) === undefined) {
    moves.push({ words: `${name} leaves, and starts again`, isFault: false, make: () => leave(fleet, state, index) })
  }
  if (isIdle(state, index)) return moves
  if (mayFail(fleet, state, 'stop') && !worker.isStopping) {
    const make = () => fault(patchWorker(state, index, { isStopping: true }), 'stop')
    moves.push({ words: `${name} is asked to stop`, isFault: true, make })
  }
  if (mayFail(fleet, state, 'crash')) {
    moves.push({ words: `${name} crashes`, isFault: true, make: () => crash(state, index) })
  }
  return moves
}

/** Messages that it has sent are still under way. */
function crash(state: AheadState, index: number): AheadState {
  const messages = state.messages
    .filter((message) => message.worker !== index || !('answer' in message) || message.answer === null)
    .map((message) => (message.worker === index ? { ...message, isAwaited: false } : message))
  return patchWorker(fault({ ...state, messages }, 'crash'), index, { ...NEWCOMER, isUp: false })
}

function cancelMoves(fleet: AheadFleet, state: AheadState): AheadMoves {
  const [fire] = openRunsOf(state.store.space)
  if (fire === undefined || fire.run.cancel !== null || !mayFail(fleet, state, 'cancel')) return []
  const make = async () => {
    const schedule = state.store.space.schedules.get(SCHEDULE)!
    const decision = requestCancel(schedule, fire.run.token, { author: null, note: null }, contextOf(state))
    if (decision === STALE) return state
    const { snapshot } = await fleet.at.write(state.store, clockOf(state), (store) => store.apply([decision.change]))
    return fault({ ...state, store: snapshot }, 'cancel')
  }
  return [{ words: 'the operator cancels the run', isFault: true, make }]
}

function clockMoves(fleet: AheadFleet, state: AheadState): AheadMoves {
  const step = (kind: AheadFault & ('back' | 'forward'), byMs: number): AheadMoves => {
    if (!mayFail(fleet, state, kind)) return []
    const make = () => fault({ ...state, offset: state.offset + byMs }, kind)
    return [{ words: `the store's clock is set ${kind} by ${Math.abs(byMs)} ms`, isFault: true, make }]
  }
  const { stepMs } = fleet.options
  return [...step('back', -stepMs), ...step('forward', stepMs)]
}

function timeMoves(fleet: AheadFleet, state: AheadState): AheadMoves {
  const { moments, leaps } = fleet.options
  const moves: AheadMoves = []
  const pass = (byMs: number, leapt: number): AheadState => {
    const time = state.time + byMs
    const workers = state.workers.map((worker) => {
      const answers = worker.answers.filter(({ receivedAt }) => time - receivedAt <= ANSWER_MS)
      return { ...worker, answers }
    })
    return { ...state, time, leaps: state.leaps + leapt, workers }
  }
  const passed = (state.time - state.leaps * LEAP_MS) / MOMENT_MS
  if (passed < moments) {
    moves.push({ words: 'a moment passes', isFault: false, make: () => pass(MOMENT_MS, 0) })
  }
  if (state.leaps < leaps) {
    moves.push({ words: 'a lease passes', isFault: true, make: () => renewIdle(fleet, pass(LEAP_MS, 1)) })
  }
  return moves
}

/** Messages that no sender waits for and that the store would reject are dropped. */
function sweep(state: AheadState): AheadState {
  const { schedules, instances } = state.store.space
  const isPast = (message: AheadMessage): boolean => {
    if (message.isAwaited || message.kind === 'beat') return false
    const change = message.kind === 'claim' ? message.decision.change : message.change
    const isOld = schedules.get(change.id)!.version !== change.version
    return isOld || (message.kind === 'claim' && instances.get(message.instance)?.goneAt !== null)
  }
  const messages = state.messages.filter((message) => !isPast(message))
  return messages.length === state.messages.length ? state : { ...state, messages }
}

function afterWrite(fleet: AheadFleet, before: AheadState, after: AheadState): AheadState {
  if (before.store === after.store) return after
  return notePutBack(fleet, before, noteRenewals(before, after))
}

function noteRenewals({ store }: AheadState, after: AheadState): AheadState {
  const renewedAt = new Map(after.witness.renewedAt)
  for (const [id, { record }] of after.store.space.instances) {
    if (store.space.instances.get(id)?.record.renewals !== record.renewals) renewedAt.set(id, after.time)
  }
  return witness(after, { renewedAt })
}

/** Which runs were put back without a trace: they were open, and are neither open nor on record. */
function notePutBack({ options }: AheadFleet, before: AheadState, after: AheadState): AheadState {
  const { space } = after.store
  const known = new Set([
    ...openRunsOf(space).map(({ run }) => run.token),
    ...[...space.history.values()].map(({ run }) => run?.token),
  ])
  const gone = openRunsOf(before.store.space).filter(({ run }) => !known.has(run.token))
  if (gone.length === 0) return after
  const tokens = gone.map(({ run }) => run.token)
  const { starts, putBack } = after.witness
  // If the store's clock was set back after the proofs of a start were given, its last renewal proves nothing about it.
  const isExcused = (backs: number): boolean => backs < after.faults.back && options.excused.includes('A3')
  const wrong = starts.find(({ token, backs }) => tokens.includes(token) && !isExcused(backs))
  return witness(after, {
    putBack: [...putBack, ...tokens],
    starts: starts.filter(({ token }) => !tokens.includes(token)),
    broken:
      wrong === undefined ? after.witness.broken : `A3: ${wrong.token} was put back without a trace, and had started`,
  })
}
