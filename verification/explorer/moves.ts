import { claimMoves } from './claiming.ts'
import { type Fleet, type Moves, mayFail } from './fleet.ts'
import { join, NEWCOMER, timeMoves, watchMoves } from './membership.ts'
import { deliveryMoves } from './network.ts'
import { operatorMoves } from './operator.ts'
import { isBusy, isIdle, isReduced, refusals, sweep } from './reduce.ts'
import { runMoves } from './running.ts'
import { fault, idOf, nameOf, patchWorker, type State } from './state.ts'

/**
 * All possible next moves. Moves that end something come first and time comes last, so that taking the first move makes
 * progress.
 */
export async function movesOf(fleet: Fleet, state: State): Promise<Moves> {
  // One at a time, before anything else: it makes no difference to the rest.
  const first = [...refusals(fleet, state), ...returns(fleet, state)].slice(0, 1)
  const moves: Moves = first.length > 0 ? first : await allMoves(fleet, state)
  return moves.map((move) => ({ ...move, make: async () => sweep(fleet, await move.make()) }))
}

async function allMoves(fleet: Fleet, state: State): Promise<Moves> {
  const moves: Moves = deliveryMoves(fleet, state)
  for (const index of state.workers.keys()) moves.push(...(await workerMoves(fleet, state, index)))
  moves.push(...(await operatorMoves(fleet, state)), ...failoverMoves(fleet, state))
  return [...moves, ...timeMoves(fleet, state)]
}

async function workerMoves(fleet: Fleet, state: State, index: number): Promise<Moves> {
  const worker = state.workers[index]!
  const name = nameOf(idOf(index, worker.incarnation))
  if (!worker.isUp) return restart(fleet, state, index)
  const moves = [...(await claimMoves(fleet, state, index)), ...runMoves(fleet, state, index)]
  moves.push(...(await watchMoves(fleet, state, index)))
  if (mayFail(fleet, state, 'crash') && !isIdle(state, index)) {
    moves.push({ words: `${name} crashes`, isFault: true, make: () => crash(state, index) })
  }
  return moves
}

function restart(fleet: Fleet, state: State, index: number): Moves {
  const worker = state.workers[index]!
  const as = { ...worker, ...NEWCOMER, incarnation: worker.incarnation + 1 }
  return [{ words: `w${index + 1} starts again`, isFault: false, make: () => join(fleet, state, index, as) }]
}

/** A worker that is down and has left nothing behind restarts; this is equivalent to its being up. */
function returns(fleet: Fleet, state: State): Moves {
  const { workers } = state
  const index = workers.findIndex(({ isUp, incarnation }, at) => !isUp && !isBusy(state, idOf(at, incarnation)))
  return index < 0 || !isReduced(fleet) ? [] : restart(fleet, state, index)
}

/** Messages that it has sent are still under way. */
function crash(state: State, index: number): State {
  const messages = state.messages
    .filter((message) => message.worker !== index || message.kind !== 'claim' || message.answer === null)
    .map((message) => (message.worker === index ? { ...message, waiting: null } : message))
  const gone = { ...NEWCOMER, isUp: false, trustedUntil: 0 }
  return patchWorker(fault({ ...state, messages }, 'crash'), index, gone)
}

function failoverMoves(fleet: Fleet, state: State): Moves {
  if (!mayFail(fleet, state, 'failover')) return []
  const { copy, store } = state
  if (copy === null) return [{ words: 'the store is copied', isFault: true, make: () => ({ ...state, copy: store }) }]
  const epoch = fleet.options.movesEpoch ? store.epoch + 1 : store.epoch
  const make = () => fault({ ...state, store: { ...copy, epoch } }, 'failover')
  return [{ words: 'the store falls back to its copy', isFault: true, make }]
}
