import type { InstanceRecord } from '../../packages/cronce/src/model/instance.ts'
import { STALE } from '../../packages/cronce/src/policy/decision.ts'
import type { Beat, HeldRun } from '../../packages/cronce/src/store/store.ts'
import { isClaiming } from './claiming.ts'
import { contextOf, type Fleet, type Moves, mayFail } from './fleet.ts'
import { returned, settlementOf } from './running.ts'
import {
  fault,
  idOf,
  JOB,
  LEASE,
  MOST_INCARNATIONS,
  nameOf,
  patchWorker,
  type Seen,
  type State,
  send,
  TICK_MS,
  type Worker,
  waits,
} from './state.ts'

export const NEWCOMER: Omit<Worker, 'incarnation' | 'trustedUntil' | 'beatAt' | 'lookedAt'> = {
  isUp: true,
  seen: new Map(),
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

/** `engine/beat.ts`: at most one in a tick. */
export function beatMoves(fleet: Fleet, state: State, index: number): Moves {
  const worker = state.workers[index]!
  if (worker.beatAt === state.now) return []
  const name = nameOf(idOf(index, worker.incarnation))
  const moves: Moves = [{ words: `${name} renews`, isFault: false, make: () => renew(fleet, state, index, true) }]
  if (!mayFail(fleet, state, 'silence')) return moves
  const make = async () => fault(await renew(fleet, state, index, false), 'silence')
  return [...moves, { words: `${name} renews, and hears no answer`, isFault: true, make }]
}

async function renew(fleet: Fleet, state: State, index: number, isHeard: boolean): Promise<State> {
  const id = idOf(index, state.workers[index]!.incarnation)
  const beat = beatOf(id, false)
  const { answer, snapshot } = await fleet.at.write(state.store, state.now, (store) => store.beat(beat))
  const sent = patchWorker({ ...state, store: snapshot }, index, { beatAt: state.now })
  if (!isHeard) return sent
  if (!answer.alive) return rejoin(fleet, sent, index)
  const renewed = patchWorker(sent, index, { trustedUntil: state.now + LEASE })
  return reconcile(fleet, observe(renewed, index, answer.instances), index, answer.held)
}

/** Declared dead: what it executes is somebody else's now. */
async function rejoin(fleet: Fleet, state: State, index: number): Promise<State> {
  const worker = state.workers[index]!
  const { run } = worker
  const messages = state.messages.map((message) =>
    message.worker === index && message.waiting === 'watch' ? { ...message, waiting: null } : message,
  )
  const joined = await join(fleet, { ...state, messages }, index, { ...worker, incarnation: worker.incarnation + 1 })
  return run === null || run.isOver || waits(joined, index, 'run') ? joined : returned(joined, index, 'handed-back')
}

/** A new incarnation. Those that the first one started out from are not known to it. */
export async function join(fleet: Fleet, state: State, index: number, as: Worker): Promise<State> {
  if (as.incarnation >= MOST_INCARNATIONS) throw new Error('More incarnations than there are names for.')
  const beat = beatOf(idOf(index, as.incarnation), true)
  const { answer, snapshot } = await fleet.at.write(state.store, state.now, (store) => store.beat(beat))
  const fresh = { ...as, seen: new Map(), doubtful: [], onRecord: [], claims: 0 }
  const times = { trustedUntil: state.now + LEASE, beatAt: state.now, lookedAt: state.now }
  return observe(patchWorker({ ...state, store: snapshot }, index, { ...fresh, ...times }), index, answer.instances)
}

/** `engine/peers.ts`: who has renewed since one last looked. */
function observe(state: State, index: number, peers: readonly InstanceRecord[]): State {
  const worker = state.workers[index]!
  const { now } = state
  const own = idOf(index, worker.incarnation)
  const wasBlind = now - worker.lookedAt >= LEASE
  const seen = new Map<string, Seen>()
  for (const { id, renewals } of peers) {
    const last = worker.seen.get(id)
    if (id === own) continue
    const isNew = last === undefined || last.renewals !== renewals || wasBlind
    seen.set(id, isNew ? { renewals, at: now } : last)
  }
  return patchWorker(state, index, { seen, lookedAt: now })
}

/** `engine/reconcile.ts`: what it holds without knowing is handed back, what it executes without holding is fenced. */
function reconcile({ protocol }: Fleet, state: State, index: number, held: readonly HeldRun[]): State {
  const { run, doubtful } = state.workers[index]!
  const unknown = held.filter(({ token, request }) => run?.token !== token && !isClaiming(state, index, request))
  const tokens = unknown.map(({ token }) => token)
  let next = patchWorker(state, index, { doubtful: tokens })
  for (const token of tokens) {
    if (doubtful.includes(token) && protocol.engine.handsBackWhatItDoesNotKnow)
      next = handBack(next, index, token, protocol)
  }
  const isTaken = run !== null && !run.isOver && held.every(({ token }) => token !== run.token)
  // Whoever is about to be told by the store need not be told here.
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

/** `engine/peers.ts`: who seems dead is declared dead, and what the dead hold is given back. */
export async function watchMoves(fleet: Fleet, state: State, index: number): Promise<Moves> {
  if (waits(state, index, 'watch')) return []
  const moves: Moves = []
  const { seen, incarnation } = state.workers[index]!
  const name = nameOf(idOf(index, incarnation))
  if ([...seen.values()].some(({ at }) => state.now - at >= LEASE)) {
    moves.push({ words: `${name} looks who has not renewed`, isFault: false, make: () => watch(fleet, state, index) })
  }
  for (const { id, isOver } of holders(fleet, state)) {
    if (id === idOf(index, incarnation)) continue
    const words = `${name} recovers what ${nameOf(id)} held${isOver ? '' : ', which is not dead'}`
    moves.push({ words, isFault: false, make: () => recoverFrom(fleet, state, index, id) })
  }
  return moves
}

function holders({ protocol }: Fleet, { store, now }: State): { readonly id: string; readonly isOver: boolean }[] {
  const { instances, runs } = store.space
  const open = new Set([...runs.values()].filter(({ ending }) => ending === null).map(({ instance }) => instance))
  return [...open]
    .map((id) => ({ id, known: instances.get(id) }))
    .filter(({ known }) => {
      if (known === undefined || protocol.engine.recoversOnlyFromTheDead) return known?.goneAt !== null
      return known.leaseUntil <= now * TICK_MS
    })
    .map(({ id, known }) => ({ id, isOver: known?.goneAt !== null }))
}

async function watch(fleet: Fleet, state: State, index: number): Promise<State> {
  const { instances } = await fleet.at.read(state.store, state.now, (store) => store.listInstances())
  const present = instances.filter((peer) => peer.state === 'live')
  const looked = observe(state, index, present)
  const { seen, incarnation } = looked.workers[index]!
  const frame = { worker: index, instance: idOf(index, incarnation), waiting: 'watch' } as const
  for (const { id, renewals, expired } of present) {
    const last = seen.get(id)
    if (last === undefined || state.now - last.at < LEASE) continue
    if (expired) return send(looked, { ...frame, kind: 'burial', target: id, renewals })
    return patchWorker(looked, index, { seen: new Map(seen).set(id, { renewals, at: state.now - LEASE / 2 }) })
  }
  return looked
}

async function recoverFrom(fleet: Fleet, state: State, index: number, dead: string): Promise<State> {
  const query = { instance: dead, outcome: 'open', after: null, limit: 1 } as const
  const { items } = await fleet.at.read(state.store, state.now, (store) => store.listRuns(query))
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
