import type { StartedRun } from '../../packages/cronce/src/policy/decision.ts'
import type { ChangeResult } from '../../packages/cronce/src/store/store.ts'
import { contextOf, type Fleet, type Moves, mayFail } from './fleet.ts'
import {
  fault,
  idOf,
  isTrusted,
  JOB,
  LEASE,
  type LocalRun,
  type Message,
  nameOf,
  patchWorker,
  SCHEDULE,
  type State,
  send,
  waits,
  without,
  witness,
} from './state.ts'

type Claim = Extract<Message, { readonly kind: 'claim' }>

const ALL_BUCKETS = '1'.repeat(256)

/** `engine/claim/claim.ts`: look, decide, claim; and what follows from the answer, or from none. */
export async function claimMoves(fleet: Fleet, state: State, index: number): Promise<Moves> {
  const worker = state.workers[index]!
  const id = idOf(index, worker.incarnation)
  const claim = state.messages.find((message) => message.worker === index && message.waiting === 'claim')
  if (claim?.kind === 'claim') return answerMoves(fleet, state, claim)
  if (worker.run !== null || !isTrusted(state, worker)) return []
  const next = await look(fleet, state, index)
  return next === null ? [] : [{ words: `${nameOf(id)} looks, and sends a claim`, isFault: false, make: () => next }]
}

async function look(fleet: Fleet, state: State, index: number): Promise<State | null> {
  const worker = state.workers[index]!
  const instance = idOf(index, worker.incarnation)
  const query = { jobs: [{ job: JOB, buckets: ALL_BUCKETS }], patienceMs: 0, limit: 1 }
  const { schedules } = await fleet.at.read(state.store, state.now, (store) => store.due(query))
  const schedule = schedules[0]
  if (schedule === undefined) return null
  const claim = worker.claims + 1
  const claimant = { instance, claim, room: 1, idle: true }
  const decision = fleet.protocol.advance(schedule, contextOf(state), claimant, worker.onRecord)
  if (decision === null) return null
  const frame = { worker: index, instance, waiting: 'claim' } as const
  const claims = patchWorker(state, index, { claims: claim })
  return send(claims, { ...frame, kind: 'claim', decision, claim, sentAt: state.now, answer: null })
}

function answerMoves(fleet: Fleet, state: State, claim: Claim): Moves {
  const name = nameOf(claim.instance)
  const moves: Moves = []
  const { answer } = claim
  if (answer !== null) {
    const hear = () => follow(fleet, without(state, claim), claim, answer, true)
    moves.push({ words: `${name} hears of its claim: ${answer.kind}`, isFault: false, make: hear })
  }
  if (!mayFail(fleet, state, 'silence')) return moves
  const silent = fault(giveUp(state, claim), 'silence')
  const look = () => findClaimed(fleet, silent, claim)
  moves.push({ words: `${name} gets no answer to its claim, and reads its result`, isFault: true, make: look })
  moves.push({
    words: `${name} gets no answer to its claim, nor to anything it asks`,
    isFault: true,
    make: () => silent,
  })
  return moves
}

/** What has not arrived may still do so. */
function giveUp(state: State, claim: Claim): State {
  const rest = without(state, claim)
  return claim.answer === null ? send(rest, { ...claim, waiting: null }) : rest
}

async function findClaimed(fleet: Fleet, state: State, claim: Claim): Promise<State> {
  const { schedules } = await fleet.at.read(state.store, state.now, (store) => store.load([SCHEDULE]))
  const { started } = claim.decision
  const held =
    schedules[0]?.open
      .filter(({ run }) => run?.instance === claim.instance && run.claim === claim.claim)
      .map(({ run }) => run!.token) ?? []
  const isApplied = started.length > 0 && started.every(({ record }) => held.includes(record.token))
  return isApplied ? follow(fleet, state, claim, { kind: 'applied' }, false) : state
}

export function follow(fleet: Fleet, state: State, claim: Claim, answer: ChangeResult, isAnswer: boolean): State {
  const { worker: index } = claim
  const worker = state.workers[index]!
  const isOurs = idOf(index, worker.incarnation) === claim.instance
  const isRenewed = isAnswer && isOurs && answer.kind !== 'not-live'
  const trustedUntil = isRenewed ? Math.max(worker.trustedUntil, claim.sentAt + LEASE) : worker.trustedUntil
  const onRecord = answer.kind === 'exists' ? [...worker.onRecord, answer.fire] : []
  const heard = patchWorker(state, index, { trustedUntil, onRecord })
  const [started] = claim.decision.started
  return answer.kind === 'applied' && started !== undefined ? start(fleet, heard, index, started) : heard
}

/** `engine/run/execute.ts`: trust is judged right before the handler is called. */
function start({ options, protocol }: Fleet, state: State, index: number, { record }: StartedRun): State {
  const worker = state.workers[index]!
  const isOurs = idOf(index, worker.incarnation) === record.instance && isTrusted(state, worker)
  const { schedule, dueAt, nonce, token, instance } = record
  const run = { fire: { schedule, dueAt, nonce }, token, instance }
  if (!isOurs && protocol.engine.trustsOnlyItsLease) {
    return patchWorker(state, index, { run: { ...run, phase: 'settle', how: 'not-started', isOver: true } })
  }
  const phase = ({ plain: 'settle', step: 'begin', transaction: 'commit' } as const)[options.handler]
  const begun: LocalRun = { ...run, phase, how: 'completed', isOver: false }
  return witness(patchWorker(state, index, { run: begun }), { called: Math.min(2, state.witness.called + 1) })
}

export function isClaiming(state: State, index: number, claim: number): boolean {
  if (!waits(state, index, 'claim')) return false
  return state.messages.some((message) => message.kind === 'claim' && message.claim === claim)
}
