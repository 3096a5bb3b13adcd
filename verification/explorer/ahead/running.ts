import { ending } from '../../../packages/cronce/src/model/outcome.ts'
import { policyOf } from '../../../packages/cronce/src/model/policy.ts'
import { STALE, type StartedRun } from '../../../packages/cronce/src/policy/decision.ts'
import { type Settlement, settle } from '../../../packages/cronce/src/policy/end/settle.ts'
import { isOnTime } from '../../../packages/cronce/src/policy/plan/misfire.ts'
import { idOf, nameOf, SCHEDULE } from '../state.ts'
import { type AheadFleet, type AheadMoves, contextOf, mayFail } from './fleet.ts'
import { POLICY } from './policy.ts'
import {
  type AheadRun,
  type AheadState,
  type AheadWorker,
  clockOf,
  DUE_MS,
  fault,
  patchRun,
  patchWorker,
  type SettlementMessage,
  send,
  without,
  witness,
} from './state.ts'
import { isProven, isTrusted, mayStart, startTime } from './trust.ts'

/** `engine/run/execute.ts`: what was claimed ahead waits for its due time; all else starts at once, if it may, or by a later renewal. */
export function takeRun(
  fleet: AheadFleet,
  state: AheadState,
  index: number,
  { record, isAhead }: StartedRun,
): AheadState {
  const { token, attempt, instance } = record
  const run: AheadRun = {
    ...{ token, attempt, instance, isAhead: isAhead === true },
    ...{ phase: 'waiting', hasStarted: false, isAborted: false },
  }
  const taken = patchWorker(state, index, { run })
  if (isAhead) return taken
  if (!isHeld(taken, index, run)) return mark(taken, index)
  return mayStart(fleet, taken, taken.workers[index]!) ? start(fleet, taken, index) : taken
}

function mark(state: AheadState, index: number): AheadState {
  return patchRun(state, index, { phase: 'ending' })
}

/** The lease is trusted, its holder goes on, and it is the one that claimed the run. */
function isHeld(state: AheadState, index: number, run: AheadRun): boolean {
  const worker = state.workers[index]!
  return isTrusted(state, worker) && !worker.isStopping && idOf(index, worker.incarnation) === run.instance
}

export function runMoves(fleet: AheadFleet, state: AheadState, index: number): AheadMoves {
  const { run } = state.workers[index]!
  if (run === null) return []
  const move = (words: string, make: () => Promise<AheadState> | AheadState): AheadMoves => [
    { words: `${nameOf(run.instance)} ${words}`, isFault: false, make },
  ]
  switch (run.phase) {
    case 'waiting':
      return waitingMoves(fleet, state, index, run, move)
    case 'started':
      return move('returns from its handler', () => settleRun(fleet, mark(state, index), index))
    case 'ending': {
      const sent = awaitedSettlement(state, index)
      if (sent === undefined) return move('settles again', () => settleRun(fleet, state, index))
      if (!mayFail(fleet, state, 'silence')) return []
      const make = () => fault(send(without(state, sent), { ...sent, isAwaited: false }), 'silence')
      return [{ words: `${nameOf(run.instance)} gets no answer to its settlement`, isFault: true, make }]
    }
  }
}

type NamedMove = (words: string, make: () => Promise<AheadState> | AheadState) => AheadMoves

function waitingMoves(fleet: AheadFleet, state: AheadState, index: number, run: AheadRun, move: NamedMove): AheadMoves {
  const worker = state.workers[index]!
  const isWanted = !run.isAborted || !fleet.rules.obeysCancel
  const isReady = mayStart(fleet, state, worker)
  const isLate = run.isAhead && isReady && !isOnTime(policyOf(POLICY).misfire, startTime(state, worker) - DUE_MS)
  if (!isWanted || !isHeld(state, index, run) || isLate) {
    const isSent = awaitedSettlement(state, index) !== undefined
    return isSent ? [] : move('hands its run back', () => handBack(fleet, state, index))
  }
  return isReady ? move('starts its run', () => start(fleet, state, index)) : []
}

/** The run is marked before the settlement is sent, so it never starts, even if the settlement is lost. */
function handBack(fleet: AheadFleet, state: AheadState, index: number): Promise<AheadState> {
  return settleRun(fleet, fleet.rules.marksBeforeHandBack ? mark(state, index) : state, index)
}

function start(fleet: AheadFleet, state: AheadState, index: number): AheadState {
  const worker = state.workers[index]!
  const { token, attempt, isAhead } = worker.run!
  // What was not claimed ahead was due by the store's clock when it was claimed.
  const proven = !isAhead || isProven(state, worker)
  const started = patchRun(state, index, { phase: 'started', hasStarted: true })
  const backs = proven ? state.faults.back : state.faults.back - 1
  return witness(started, {
    starts: [...state.witness.starts, { token, attempt, backs }],
    broken:
      wrongHolder(state, worker) ?? wrongTime(fleet, state, worker, proven) ?? wrongStart(fleet, state, worker, proven),
  })
}

/**
 * The instance of a run that starts by a recent renewal cannot have been declared dead, even if the store's clock was
 * set.
 */
function wrongHolder(state: AheadState, { run }: AheadWorker): string | null {
  const { token, instance, isAborted } = run!
  const isDead = state.store.space.instances.get(instance)!.goneAt !== null
  if (isDead) return `A5: ${token} started although its instance is dead`
  return isAborted ? `A4: ${token} started after its holder had heard that it was cancelled or taken away` : null
}

function wrongTime(
  { rules, options }: AheadFleet,
  state: AheadState,
  { run }: AheadWorker,
  isProven: boolean,
): string | null {
  const { token, isAhead } = run!
  // The store refuses a claim of what is not due.
  if (!isAhead) return null
  // By answers that the store gave before its clock was set back, it is due; no worker could know better.
  const isExcused = !isProven && rules.startsByTheClock && options.excused.includes('A1')
  return clockOf(state) < DUE_MS && !isExcused ? `A1: ${token} started before its due time` : null
}

function wrongStart(
  { rules, options }: AheadFleet,
  { witness: { starts, putBack } }: AheadState,
  { run }: AheadWorker,
  isProven: boolean,
): string | null {
  const { token, attempt } = run!
  if (!isProven && rules.startsByTheClock && options.excused.includes('A3')) return null
  if (putBack.includes(token)) return `A3: ${token} started after it was put back without a trace`
  return starts.some((other) => other.attempt === attempt) ? `A2: attempt ${attempt} started twice` : null
}

function awaitedSettlement({ messages }: AheadState, index: number): SettlementMessage | undefined {
  return messages.find(
    (message): message is SettlementMessage =>
      message.kind === 'settlement' && message.worker === index && message.isAwaited,
  )
}

export function settlementOf(token: string, hasStarted: boolean): Settlement {
  const rest = { token, error: null, result: null, retryable: false }
  return hasStarted
    ? { ...rest, ending: ending('completed'), handBack: null }
    : { ...rest, ending: ending('handed-back'), handBack: 'not-started' }
}

async function settleRun(fleet: AheadFleet, state: AheadState, index: number): Promise<AheadState> {
  const { run } = state.workers[index]!
  const { token, instance, hasStarted } = run!
  const sent = await settlement(fleet, state, settlementOf(token, hasStarted), { worker: index, instance })
  if (sent === null) return patchWorker(state, index, { run: null })
  return send(state, { ...sent, isAwaited: true })
}

/** `null`: the run is no longer open. */
export async function settlement(
  { at }: AheadFleet,
  state: AheadState,
  settled: Settlement,
  frame: { readonly worker: number; readonly instance: string },
): Promise<SettlementMessage | null> {
  const { schedules } = await at.read(state.store, clockOf(state), (store) => store.load([SCHEDULE]))
  const decision = schedules[0] === undefined ? STALE : settle(schedules[0], settled, contextOf(state))
  if (decision === STALE) return null
  return { ...frame, kind: 'settlement', isAwaited: false, token: settled.token, change: decision.change }
}

export async function deliverSettlement(
  { at }: AheadFleet,
  state: AheadState,
  message: SettlementMessage,
): Promise<AheadState> {
  const { answer, snapshot } = await at.write(state.store, clockOf(state), (store) => store.apply([message.change]))
  const next = { ...without(state, message), store: snapshot }
  const isHeard = message.isAwaited && answer.results[0]!.kind === 'applied'
  const isMarked = state.workers[message.worker]!.run?.phase === 'ending'
  return isHeard && isMarked ? patchWorker(next, message.worker, { run: null }) : next
}
