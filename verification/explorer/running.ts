import type { Change } from '../../packages/cronce/src/model/change.ts'
import { ending } from '../../packages/cronce/src/model/outcome.ts'
import type { ScheduleState } from '../../packages/cronce/src/model/schedule.ts'
import { type Decision, STALE } from '../../packages/cronce/src/policy/decision.ts'
import type { Settlement } from '../../packages/cronce/src/policy/end/settle.ts'
import { listRuns } from '../../packages/cronce/src/store/list-views.ts'
import type { StepAnswer } from '../../packages/cronce/src/store/store.ts'
import { contextOf, type Fleet, type Moves, mayFail } from './fleet.ts'
import {
  fault,
  type How,
  idOf,
  isTrusted,
  type LocalRun,
  type Message,
  nameOf,
  patchRun,
  patchWorker,
  type State,
  send,
  without,
  witness,
} from './state.ts'

/** `engine/run/execute.ts`, `run-handle.ts`, `transact.ts`, `settle.ts`: the life of a run on its worker. */
export function runMoves(fleet: Fleet, state: State, index: number): Moves {
  const { run } = state.workers[index]!
  if (run === null) return []
  const name = nameOf(run.instance)
  const asked = state.messages.find((message) => message.worker === index && message.waiting === 'run')
  if (asked !== undefined) {
    if (!mayFail(fleet, state, 'silence')) return []
    const words = `${name} gets no answer to its ${asked.kind}`
    return [{ words, isFault: true, make: () => silence(state, index, asked) }]
  }
  const move = (words: string, make: () => Promise<State> | State): Moves => [
    { words: `${name} ${words}`, isFault: false, make },
  ]
  switch (run.phase) {
    case 'begin':
      return move('begins its step', () => beginStep(fleet, state, index, run))
    case 'end':
      return move('ends its step', () => send(state, { ...frameOf(index, run), kind: 'end' }))
    case 'commit':
      return move('commits', () => commit(fleet, state, index, run))
    case 'resolve':
      return move('asks for the result of its transaction', () => resolve(fleet, state, index, run))
    case 'settle':
      return move(`settles: ${run.how}`, () => settleRun(fleet, state, index, run))
  }
}

function frameOf(worker: number, { instance, token, fire }: LocalRun) {
  return { worker, instance, token, fire, waiting: 'run' } as const
}

function silence(state: State, index: number, asked: Message): State {
  const silent = fault(send(without(state, asked), { ...asked, waiting: null }), 'silence')
  return asked.kind === 'commit' ? patchRun(silent, index, { phase: 'resolve' }) : silent
}

/** Right before anything begins that must not be done twice. */
function mayGoOn({ protocol }: Fleet, state: State, index: number, run: LocalRun): boolean {
  const worker = state.workers[index]!
  const isOurs = idOf(index, worker.incarnation) === run.instance && isTrusted(state, worker)
  return isOurs || !protocol.engine.trustsOnlyItsLease
}

export function returned(state: State, index: number, how: How): State {
  return patchRun(state, index, { phase: 'settle', how, isOver: true })
}

function beginStep(fleet: Fleet, state: State, index: number, run: LocalRun): State {
  if (!mayGoOn(fleet, state, index, run)) return returned(state, index, 'handed-back')
  return send(state, { ...frameOf(index, run), kind: 'begin' })
}

/** The work is done as soon as the store has recorded its start. Its end is a separate message, which may be lost. */
export function hearBegun(fleet: Fleet, state: State, index: number, answer: StepAnswer): State {
  const { run } = state.workers[index]!
  if (run === null || run.phase !== 'begin') return state
  if (answer.kind === 'done') return patchRun(state, index, { phase: 'settle' })
  if (answer.kind === 'unknown') return returned(state, index, 'step-unknown')
  if (answer.kind !== 'applied' && answer.kind !== 'duplicate') return returned(state, index, 'handed-back')
  if (!mayGoOn(fleet, state, index, run)) return returned(state, index, 'handed-back')
  return witness(patchRun(state, index, { phase: 'end' }), { worked: Math.min(2, state.witness.worked + 1) })
}

export function hearEnded(state: State, index: number, answer: StepAnswer): State {
  if (answer.kind === 'applied' || answer.kind === 'duplicate') return patchRun(state, index, { phase: 'settle' })
  return returned(state, index, 'handed-back')
}

async function load({ at }: Fleet, { store, now }: State, run: LocalRun): Promise<ScheduleState | null> {
  const { schedules } = await at.read(store, now, (opened) => opened.load([run.fire.schedule]))
  return schedules[0] ?? null
}

async function decide(fleet: Fleet, state: State, run: LocalRun): Promise<Decision | null> {
  const schedule = await load(fleet, state, run)
  const decision = schedule && fleet.protocol.settle(schedule, settlementOf(run), contextOf(state))
  return decision === STALE ? null : decision
}

async function settleRun(fleet: Fleet, state: State, index: number, run: LocalRun): Promise<State> {
  const decision = await decide(fleet, state, run)
  if (decision === null) return patchWorker(state, index, { run: null })
  const { fire: _, ...frame } = frameOf(index, run)
  const { change } = decision
  return send(patchRun(state, index, { isOver: true }), { ...frame, kind: 'settlement', change })
}

async function commit(fleet: Fleet, state: State, index: number, run: LocalRun): Promise<State> {
  if (!mayGoOn(fleet, state, index, run)) return returned(state, index, 'handed-back')
  const decision = await decide(fleet, state, run)
  if (decision === null) return returned(state, index, 'handed-back')
  return send(state, { ...frameOf(index, run), kind: 'commit', change: decision.change })
}

/** `engine/run/resolve-transaction.ts`: first it must not be able to happen any more, then one looks. */
async function resolve(fleet: Fleet, state: State, index: number, run: LocalRun): Promise<State> {
  const schedule = await load(fleet, state, run)
  const isOpen = schedule?.open.some((fire) => fire.run?.token === run.token) === true
  if (!isOpen) {
    const query = { schedule: run.fire.schedule, token: run.token, after: null, limit: 1 }
    const { items } = await fleet.at.read(state.store, state.now, (store) => listRuns(store, query))
    return told(state, index, run, items[0]?.ending?.outcome === 'succeeded')
  }
  if (!fleet.protocol.engine.fencesBeforeItLooks) return told(state, index, run, false)
  const { fire: _, ...frame } = frameOf(index, run)
  return send(state, { ...frame, kind: 'fence', change: unchanged(schedule!, state.store.epoch) })
}

export function told(state: State, index: number, run: LocalRun, isCommitted: boolean): State {
  const words = isCommitted ? ('committed' as const) : ('rolled back' as const)
  const heard = witness(state, { told: new Map(state.witness.told).set(run.token, words) })
  return isCommitted ? patchWorker(heard, index, { run: null }) : returned(heard, index, 'error')
}

export function settlementOf({ token, how }: Pick<LocalRun, 'token' | 'how'>): Settlement {
  const rest = { token, error: null, result: null, retryable: false, handBack: null }
  if (how === 'handed-back') return { ...rest, ending: ending('handed-back'), handBack: 'started' }
  if (how === 'not-started') return { ...rest, ending: ending('handed-back'), handBack: 'not-started' }
  return { ...rest, ending: ending(how) }
}

function unchanged(state: ScheduleState, epoch: number): Change {
  return {
    ...{
      id: state.id,
      version: state.version,
      epoch,
      state: { ...state, version: state.version + 1 },
      notBefore: null,
    },
    ...{ creates: [], reopens: [], history: [], rewrites: [], limits: [], trim: null },
  }
}
