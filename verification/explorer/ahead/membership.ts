import { GRACE_MS } from '../../../packages/cronce/src/engine/fleet/lease.ts'
import type { InstanceRecord } from '../../../packages/cronce/src/model/instance.ts'
import { STALE } from '../../../packages/cronce/src/policy/decision.ts'
import { recover } from '../../../packages/cronce/src/policy/end/recover.ts'
import type { Beat } from '../../../packages/cronce/src/store/store.ts'
import { openRunsOf } from '../records.ts'
import { idOf, JOB, MOST_INCARNATIONS, nameOf, SCHEDULE } from '../state.ts'
import { awaitedClaim } from './claiming.ts'
import { type AheadFleet, type AheadMoves, contextOf, mayFail } from './fleet.ts'
import { settlement, settlementOf } from './running.ts'
import {
  type AheadState,
  type AheadWorker,
  type BeatMessage,
  clockOf,
  fault,
  LEASE_MS,
  patchRun,
  patchWorker,
  send,
  without,
} from './state.ts'
import { forgetClock, hearClock, hearRenewal, isTrusted } from './trust.ts'

export const NEWCOMER: Omit<AheadWorker, 'incarnation' | 'renewal'> = {
  isUp: true,
  isStopping: false,
  answers: [],
  doubtful: [],
  claims: 0,
  run: null,
}

function beatOf(id: string, join: boolean, state: 'live' | 'left' = 'live'): Beat {
  const about = { app: 'app', deployment: '1', host: 'host', pid: 1, version: '1', zoneData: '2027a' }
  const instance = { ...about, id, jobs: [JOB], state, clockOffsetMs: 0, running: 0, concurrency: 1 } as const
  return { instance, join, leaseMs: LEASE_MS }
}

/** The store thinks that it holds a run, or may still come to think so. */
export function isBusy({ store, messages }: AheadState, id: string): boolean {
  if (openRunsOf(store.space).some(({ run }) => run.instance === id)) return true
  return messages.some((message) => message.instance === id && message.kind === 'claim')
}

/** Neither has nor wants anything: its crash, its stop and its death would change nothing. */
export function isIdle(state: AheadState, index: number): boolean {
  const { run, incarnation, isUp, isStopping } = state.workers[index]!
  return isUp && !isStopping && run === null && !isBusy(state, idOf(index, incarnation))
}

async function write(fleet: AheadFleet, state: AheadState, beat: Beat) {
  const { answer, snapshot } = await fleet.at.write(state.store, clockOf(state), (store) => store.beat(beat))
  return { answer, next: { ...state, store: snapshot } }
}

/** A new incarnation. */
export async function join(fleet: AheadFleet, state: AheadState, index: number, incarnation: number) {
  if (incarnation >= MOST_INCARNATIONS) throw new Error('More incarnations than there are names for.')
  const { next } = await write(fleet, state, beatOf(idOf(index, incarnation), true))
  const { run } = state.workers[index]!
  const renewal = { sentAt: state.time, now: clockOf(state) }
  return patchWorker(next, index, { ...NEWCOMER, incarnation, renewal, run: run && { ...run, isAborted: true } })
}

/** Idle workers renew whenever they have to. */
export async function renewIdle(fleet: AheadFleet, state: AheadState): Promise<AheadState> {
  let next = state
  for (const [index, { incarnation }] of state.workers.entries()) {
    if (!isIdle(next, index)) continue
    ;({ next } = await write(fleet, next, beatOf(idOf(index, incarnation), false)))
    next = hearRenewal(fleet, next, index, { sentAt: state.time, now: clockOf(state) })
  }
  return next
}

/** `engine/fleet/heartbeat.ts`. */
export function beatMoves(fleet: AheadFleet, state: AheadState, index: number): AheadMoves {
  const worker = state.workers[index]!
  const id = idOf(index, worker.incarnation)
  const name = nameOf(id)
  const beat = state.messages.find(
    (message): message is BeatMessage => message.kind === 'beat' && message.worker === index,
  )
  if (beat !== undefined) {
    const make = () => hearBeat(fleet, without(state, beat), beat)
    const moves: AheadMoves = [{ words: `${name} hears that it has renewed`, isFault: false, make }]
    if (!mayFail(fleet, state, 'silence')) return moves
    const lost = () => fault(forgetClock(without(state, beat), index), 'silence')
    return [...moves, { words: `${name} does not hear whether it has renewed`, isFault: true, make: lost }]
  }
  if (!wantsToBeat(state, index)) return []
  return [{ words: `${name} renews`, isFault: false, make: () => sendBeat(fleet, state, index, id) }]
}

/**
 * Heartbeats after the start only add certainty that the run has started, unless the store's clock was set back. A
 * second heartbeat in the same moment adds nothing.
 */
function wantsToBeat(state: AheadState, index: number): boolean {
  const worker = state.workers[index]!
  const { renewal, run, incarnation } = worker
  if (state.store.space.instances.get(idOf(index, incarnation))?.goneAt !== null || !isTrusted(state, worker))
    return true
  if (renewal.sentAt === state.time && renewal.now === clockOf(state)) return false
  if (run === null) return isBusy(state, idOf(index, incarnation)) && awaitedClaim(state, index) === undefined
  return run.phase === 'waiting' || (run.phase === 'started' && state.faults.back > 0)
}

async function sendBeat(fleet: AheadFleet, state: AheadState, index: number, id: string): Promise<AheadState> {
  const { answer, next } = await write(fleet, state, beatOf(id, false))
  const run = state.workers[index]!.run?.token ?? null
  const frame = { worker: index, instance: id, isAwaited: true, sentAt: state.time, backs: state.faults.back }
  return send(next, { ...frame, kind: 'beat', run, answer })
}

async function hearBeat(fleet: AheadFleet, state: AheadState, beat: BeatMessage): Promise<AheadState> {
  const { worker: index, sentAt, backs, answer } = beat
  const { incarnation } = state.workers[index]!
  if (idOf(index, incarnation) !== beat.instance) return state
  if (!answer.alive) return join(fleet, state, index, incarnation + 1)
  const heard = hearClock(state, index, { now: answer.now, sentAt, backs })
  return reconcile(fleet, hearRenewal(fleet, heard, index, { sentAt, now: answer.now }), beat)
}

/** `engine/fleet/reconcile.ts`. */
async function reconcile(fleet: AheadFleet, state: AheadState, beat: BeatMessage): Promise<AheadState> {
  const { worker: index, instance, answer } = beat
  const { run, doubtful } = state.workers[index]!
  const own = answer.held.find(({ token }) => token === run?.token)
  const isTaken = run !== null && beat.run === run.token && own === undefined && run.phase !== 'ending'
  const isCancelled = own !== undefined && own.cancel !== null
  const unknown = answer.held.filter(
    ({ token, claim }) => token !== run?.token && awaitedClaim(state, index)?.claim !== claim,
  )
  let next = isTaken || isCancelled ? patchRun(state, index, { isAborted: true }) : state
  next = patchWorker(next, index, { doubtful: unknown.map(({ token }) => token) })
  for (const { token } of unknown) {
    const isSent = next.messages.some((message) => message.kind === 'settlement' && message.token === token)
    if (isSent || !doubtful.includes(token)) continue
    const message = await settlement(fleet, next, settlementOf(token, false), { worker: index, instance })
    if (message !== null) next = send(next, message)
  }
  return next
}

/** `engine/fleet/recover-peers.ts`. */
export async function watchMoves(fleet: AheadFleet, state: AheadState): Promise<AheadMoves> {
  const { instances } = await fleet.at.read(state.store, clockOf(state), (store) => store.listInstances())
  const busy = instances.filter(({ id }) => isBusy(state, id))
  return busy.flatMap((peer) => {
    if (peer.endedAt === null) return burials(fleet, state, peer)
    const words = `a peer recovers what ${nameOf(peer.id)} held`
    return [{ words, isFault: false, make: () => recoverFrom(fleet, state, peer) }]
  })
}

function isAlive({ workers }: AheadState, id: string): boolean {
  return workers.some(({ isUp, incarnation }, index) => isUp && idOf(index, incarnation) === id)
}

/**
 * By hint: the worker seems dead, as a live worker does that has lost its session. By lease: the lease has expired as
 * well.
 */
function burials(fleet: AheadFleet, state: AheadState, peer: InstanceRecord): AheadMoves {
  const bury = async (from: AheadState, hint: boolean): Promise<AheadState> => {
    const mark = { kind: 'dead', instance: peer.id, renewals: peer.renewals, hint } as const
    const { snapshot } = await fleet.at.write(from.store, clockOf(from), (store) => store.mark(mark))
    return { ...from, store: snapshot }
  }
  const words = `a peer declares ${nameOf(peer.id)} dead`
  const moves: AheadMoves = []
  const silentMs = state.time - state.witness.renewedAt.get(peer.id)!
  const isDown = !isAlive(state, peer.id)
  if ((silentMs >= GRACE_MS || !fleet.rules.waitsForTheGrace) && (isDown || mayFail(fleet, state, 'hint'))) {
    const from = isDown ? state : fault(state, 'hint')
    moves.push({ words: `${words}, by a hint`, isFault: !isDown, make: () => bury(from, true) })
  }
  if (silentMs >= LEASE_MS && peer.expired) {
    moves.push({ words: `${words}, by its lease`, isFault: isAlive(state, peer.id), make: () => bury(state, false) })
  }
  return moves
}

async function recoverFrom({ at }: AheadFleet, state: AheadState, dead: InstanceRecord): Promise<AheadState> {
  const { schedules } = await at.read(state.store, clockOf(state), (store) => store.load([SCHEDULE]))
  const [schedule] = schedules
  const fire = schedule?.open.find(({ run }) => run?.instance === dead.id)
  if (schedule === undefined || fire === undefined) return state
  const decision = recover(schedule, fire.run!.token, contextOf(state))
  if (decision === STALE) return state
  const { snapshot } = await at.write(state.store, clockOf(state), (store) => store.apply([decision.change]))
  return { ...state, store: snapshot }
}

/** Nothing is left to hand back: leaves, and comes back as a new incarnation. */
export async function leave(fleet: AheadFleet, state: AheadState, index: number): Promise<AheadState> {
  const { incarnation } = state.workers[index]!
  const { next } = await write(fleet, state, beatOf(idOf(index, incarnation), false, 'left'))
  return join(fleet, next, index, incarnation + 1)
}
