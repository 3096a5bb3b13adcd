import type { InstanceRecord } from '../../packages/cronce/src/model/instance.ts'
import { STALE } from '../../packages/cronce/src/policy/decision.ts'
import { listRuns } from '../../packages/cronce/src/store/list-views.ts'
import type { Beat, BeatAnswer, HeldRun } from '../../packages/cronce/src/store/store.ts'
import { isClaiming } from './claiming.ts'
import { contextOf, type Fleet, type Moves } from './fleet.ts'
import { openRunsOf } from './records.ts'
import { isBusy, isIdle } from './reduce.ts'
import { returned, settlementOf } from './running.ts'
import {
  fault,
  idOf,
  JOB,
  LEASE,
  MOST_INCARNATIONS,
  nameOf,
  patchWorker,
  type State,
  send,
  TICK_MS,
  type Worker,
  waits,
} from './state.ts'

export const NEWCOMER: Omit<Worker, 'incarnation' | 'trustedUntil'> = {
  isUp: true,
  doubtful: [],
  onRecord: [],
  claims: 0,
  run: null,
}

export function beatOf(id: string, join: boolean): Beat {
  const about = { app: 'app', deployment: '1', host: 'host', pid: 1, version: '1', zoneData: '2027a' }
  const instance = { ...about, id, jobs: [JOB], state: 'live', clockOffsetMs: 0, running: 0, concurrency: 1 } as const
  return { instance, join, leaseMs: LEASE * TICK_MS }
}

type Beating = 'stalls' | 'renews' | 'unheard'

/** `engine/fleet/heartbeat.ts`: a tick begins, and with it all renew that do not happen to be stalled. */
export function timeMoves(fleet: Fleet, state: State): Moves {
  if (state.now >= fleet.options.ticks) return []
  return waysToBeat(fleet, state).map((beating) => {
    const words = ['time goes on', ...beating.flatMap((how, index) => beatWords(state, index, how))]
    const isFault = state.workers.some(({ isUp }, index) => isUp && beating[index] !== 'renews')
    return { words: words.join('; '), isFault, make: () => tick(fleet, state, beating) }
  })
}

function waysToBeat(fleet: Fleet, state: State): readonly (readonly Beating[])[] {
  let ways: Beating[][] = [[]]
  for (const [index, { isUp }] of state.workers.entries()) {
    const own: Beating[] = !isUp ? ['stalls'] : isIdle(state, index) ? ['renews'] : ['renews', 'stalls', 'unheard']
    ways = ways.flatMap((way) => own.map((beating) => [...way, beating]))
  }
  const left = fleet.options.faults.silence - state.faults.silence
  return ways.filter((way) => way.filter((beating) => beating === 'unheard').length <= left)
}

function beatWords(state: State, index: number, beating: Beating): string[] {
  const { isUp, incarnation } = state.workers[index]!
  const name = nameOf(idOf(index, incarnation))
  if (!isUp || beating === 'stalls' || isIdle(state, index)) return []
  return [beating === 'renews' ? `${name} renews` : `${name} renews, and hears no answer`]
}

async function tick(fleet: Fleet, state: State, beating: readonly Beating[]): Promise<State> {
  let next: State = { ...state, now: state.now + 1 }
  const answers = new Map<number, BeatAnswer>()
  for (const [index, how] of beating.entries()) {
    if (how === 'stalls') continue
    const beat = beatOf(idOf(index, next.workers[index]!.incarnation), false)
    const { answer, snapshot } = await fleet.at.write(next.store, next.now, (store) => store.beat(beat))
    next = { ...next, store: snapshot }
    if (how === 'renews') answers.set(index, answer)
    else next = fault(next, 'silence')
  }
  for (const [index, answer] of answers) next = await hearBeat(fleet, next, index, answer)
  return next
}

async function hearBeat(fleet: Fleet, state: State, index: number, { alive, held }: BeatAnswer): Promise<State> {
  if (!alive) return rejoin(fleet, state, index)
  const renewed = patchWorker(state, index, { trustedUntil: state.now + LEASE })
  return reconcile(fleet, renewed, index, held)
}

/** Declared dead: its runs now belong to its peers. */
async function rejoin(fleet: Fleet, state: State, index: number): Promise<State> {
  const worker = state.workers[index]!
  const { run } = worker
  const messages = state.messages.map((message) =>
    message.worker === index && message.waiting === 'watch' ? { ...message, waiting: null } : message,
  )
  const joined = await join(fleet, { ...state, messages }, index, { ...worker, incarnation: worker.incarnation + 1 })
  return run === null || run.isOver || waits(joined, index, 'run') ? joined : returned(joined, index, 'handed-back')
}

/** A new incarnation. */
export async function join(fleet: Fleet, state: State, index: number, as: Worker): Promise<State> {
  if (as.incarnation >= MOST_INCARNATIONS) throw new Error('More incarnations than there are names for.')
  const beat = beatOf(idOf(index, as.incarnation), true)
  const { snapshot } = await fleet.at.write(state.store, state.now, (store) => store.beat(beat))
  const fresh = { ...as, doubtful: [], onRecord: [], claims: 0, trustedUntil: state.now + LEASE }
  return patchWorker({ ...state, store: snapshot }, index, fresh)
}

/** `engine/fleet/reconcile.ts`: what it holds without knowing is handed back, what it executes without holding is fenced. */
function reconcile({ protocol }: Fleet, state: State, index: number, held: readonly HeldRun[]): State {
  const { run, doubtful } = state.workers[index]!
  const unknown = held.filter(({ token, claim }) => run?.token !== token && !isClaiming(state, index, claim))
  const tokens = unknown.map(({ token }) => token)
  let next = patchWorker(state, index, { doubtful: tokens })
  for (const token of tokens) {
    if (doubtful.includes(token) && protocol.engine.handsBackWhatItDoesNotKnow)
      next = handBack(next, index, token, protocol)
  }
  const isTaken = run !== null && !run.isOver && held.every(({ token }) => token !== run.token)
  // If the store is about to report it, it need not be reported here.
  return isTaken && !waits(next, index, 'run') ? returned(next, index, 'handed-back') : next
}

function handBack(state: State, index: number, token: string, { settle }: Fleet['protocol']): State {
  const isSent = state.messages.some((message) => message.kind === 'settlement' && message.token === token)
  if (isSent) return state
  for (const schedule of state.store.space.schedules.values()) {
    const decision = settle(schedule, settlementOf({ token, how: 'not-started' }), contextOf(state))
    if (decision === STALE) continue
    const instance = idOf(index, state.workers[index]!.incarnation)
    const frame = { worker: index, instance, token, waiting: null } as const
    return send(state, { ...frame, kind: 'settlement', change: decision.change })
  }
  return state
}

/** `engine/fleet/recover-peers.ts`: instances that seem dead are declared dead, and their runs are recovered. */
export async function watchMoves(fleet: Fleet, state: State, index: number): Promise<Moves> {
  if (waits(state, index, 'watch')) return []
  const moves: Moves = []
  const { incarnation } = state.workers[index]!
  const own = idOf(index, incarnation)
  const name = nameOf(own)
  for (const peer of await expiredPeers(fleet, state, own)) {
    const frame = { worker: index, instance: own, waiting: 'watch' } as const
    const burial = { ...frame, kind: 'burial', target: peer.id, renewals: peer.renewals } as const
    const words = `${name} finds that ${nameOf(peer.id)} has not renewed, and sends a burial`
    moves.push({ words, isFault: false, make: () => send(state, burial) })
  }
  for (const { id, isOver } of holders(fleet, state)) {
    if (id === own) continue
    const words = `${name} recovers what ${nameOf(id)} held${isOver ? '' : ', which is not dead'}`
    moves.push({ words, isFault: false, make: () => recoverFrom(fleet, state, index, id) })
  }
  return moves
}

function holders({ protocol }: Fleet, { store, now }: State): { readonly id: string; readonly isOver: boolean }[] {
  const { instances } = store.space
  const open = new Set(openRunsOf(store.space).map(({ run }) => run.instance))
  return [...open]
    .map((id) => ({ id, known: instances.get(id) }))
    .filter(({ known }) => {
      if (known === undefined || protocol.engine.recoversOnlyFromTheDead) return known?.goneAt !== null
      return known.leaseUntil <= now * TICK_MS
    })
    .map(({ id, known }) => ({ id, isOver: known?.goneAt !== null }))
}

/**
 * All instances with an expired lease. The engine also requires a whole lease without a renewal, to guard against clock
 * jumps. Clocks do not jump here, so this model allows more than the engine.
 */
async function expiredPeers({ at }: Fleet, state: State, own: string): Promise<InstanceRecord[]> {
  const { instances } = await at.read(state.store, state.now, (store) => store.listInstances())
  return instances.filter(
    (peer) => peer.id !== own && peer.expired && peer.state === 'live' && isWanted(state, peer.id),
  )
}

/** Declaring an instance dead that holds nothing would change nothing. */
function isWanted(state: State, id: string): boolean {
  const isRunning = state.workers.some(({ run }) => run?.instance === id)
  const isSent = state.messages.some((message) => message.kind === 'burial' && message.target === id)
  return (isRunning || isBusy(state, id)) && !isSent
}

async function recoverFrom(fleet: Fleet, state: State, index: number, dead: string): Promise<State> {
  const query = { instance: dead, outcome: 'open', after: null, limit: 1 } as const
  const { items } = await fleet.at.read(state.store, state.now, (store) => listRuns(store, query))
  const [item] = items
  const { schedules } = await fleet.at.read(state.store, state.now, (store) => store.load([item?.schedule ?? '']))
  const [schedule] = schedules
  if (item === undefined || schedule === undefined) return state
  const decision = fleet.protocol.recover(schedule, item.token, contextOf(state))
  if (decision === STALE) return state
  const { change } = decision
  const frame = { worker: index, instance: idOf(index, state.workers[index]!.incarnation), waiting: 'watch' } as const
  return send(state, { ...frame, kind: 'recovery', token: item.token, change })
}
