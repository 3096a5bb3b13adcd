import { hash } from 'node:crypto'
import { GRACE_MS } from '../../../packages/cronce/src/engine/fleet/lease.ts'
import { renamed } from '../identity.ts'
import { idOf, SCHEDULE } from '../state.ts'
import { isBusy, isIdle } from './membership.ts'
import { type AheadMessage, type AheadState, clockOf, LEASE_MS } from './state.ts'
import { isTrusted } from './trust.ts'

/** The store's clock is not set by more than this. */
const MOST_STEP_MS = 300

/**
 * What a state's future depends on, as long as there are at most ten moments: then no answer of the store grows too old between two leaps.
 * Workers are put in the order that makes the text the first one.
 */
export function identityOf(state: AheadState): string {
  const segments = state.workers.map((_, index) => workerText(state, index))
  const texts = permutations(state.workers.length).map((ranks) => {
    const order = ranks.map((_, rank) => ranks.indexOf(rank))
    const parts = [worldText(state), storeText(state), ...order.map((index) => segments[index]!)]
    return renamed(parts.join('\n'), ranks)
  })
  return hash('sha1', texts.sort()[0]!, 'base64')
}

function permutations(count: number): number[][] {
  if (count === 0) return [[]]
  return permutations(count - 1).flatMap((shorter) =>
    Array.from({ length: count }, (_, at) => [...shorter.slice(0, at), count - 1, ...shorter.slice(at)]),
  )
}

function worldText({ time, leaps, offset, faults, witness }: AheadState): string {
  const starts = witness.starts.map(({ token, attempt, backs }) => `${token} ${attempt} ${backs}`)
  return [time, leaps, offset, ...Object.values(faults), starts, witness.putBack].join(';')
}

function storeText(state: AheadState): string {
  const { space } = state.store
  const { nextAt, open, wakeAt } = space.schedules.get(SCHEDULE)!
  const fires = open.map(({ attempt, crashes, plannedAt, dueAt, readyAt, run }) => {
    const running = run === null ? '' : `${run.token}${run.instance}${run.startedAt} ${run.cancel?.revokeAt}`
    return `${attempt} ${crashes} ${plannedAt < dueAt} ${readyAt} ${running}`
  })
  const lines = [...space.history.values()].map(
    ({ ending, run, isFinal }) => `${ending.reason} ${run?.token} ${isFinal}`,
  )
  return [nextAt, wakeAt, ...fires, ...lines].join(';')
}

function workerText(state: AheadState, index: number): string {
  const worker = state.workers[index]!
  const { isUp, isStopping, incarnation, renewal, answers, doubtful, run } = worker
  const id = idOf(index, incarnation)
  const heard = answers.map(({ now, receivedAt, backs }) => `${now - receivedAt} ${backs}`)
  const age = isIdle(state, index) ? '' : `${Math.min(GRACE_MS, state.time - renewal.sentAt)}`
  const holds =
    run === null
      ? ''
      : `${run.token}${run.attempt}${run.instance}${run.isAhead}${run.phase}${run.hasStarted}${run.isAborted}`
  const sent = state.messages
    .filter((message) => message.worker === index)
    .map((message) => messageText(state, message))
  const own = isUp ? [id, isStopping, isTrusted(state, worker), age, heard, doubtful, holds] : ['down']
  return [...own, ...sent.sort(), instancesText(state, index)].join(';')
}

/** Of a renewal on record it matters when a peer may declare its instance dead. */
function instancesText(state: AheadState, index: number): string {
  const { incarnation: last, run } = state.workers[index]!
  const parts: string[] = []
  for (let incarnation = 0; incarnation <= last; incarnation++) {
    const id = idOf(index, incarnation)
    const known = state.store.space.instances.get(id)
    if (known === undefined || !(isBusy(state, id) || run?.instance === id || incarnation === last)) continue
    const { goneAt, leaseUntil } = known
    const isOver = goneAt === null ? leaseText(state, leaseUntil) : 'gone'
    const silentMs = state.time - state.witness.renewedAt.get(id)!
    const silence = isBusy(state, id) ? `${silentMs < LEASE_MS ? Math.min(GRACE_MS, silentMs) : 'lease'}` : ''
    parts.push(`${id}${isOver} ${silence}`)
  }
  return parts.join()
}

/** No lease ends before the first leap. One that has ended goes on if the store's clock is set back. */
function leaseText(state: AheadState, leaseUntil: number): string {
  return state.leaps === 0 ? '' : String(Math.max(-MOST_STEP_MS, leaseUntil - clockOf(state)))
}

function messageText({ store }: AheadState, message: AheadMessage): string {
  const { kind, instance, isAwaited } = message
  const current = store.space.schedules.get(SCHEDULE)!
  switch (message.kind) {
    case 'beat': {
      const { sentAt, backs, run, answer } = message
      const held = answer.held.map(({ token, cancel }) => `${token} ${cancel === null}`)
      return [kind, instance, sentAt, backs, run, answer.alive, answer.now, held].join(' ')
    }
    case 'settlement': {
      const isFresh = message.change.version === current.version
      return [kind, instance, isAwaited, message.token, isFresh, message.change.history.length].join(' ')
    }
    case 'claim': {
      const { sentAt, decision, answer, claim } = message
      const isOpen = current.open.some(({ run }) => run?.instance === instance && run.claim === claim)
      const isFresh = decision.change.version === current.version
      const [started] = decision.started
      const what = [started?.record.token, started?.isAhead, decision.change.notBefore, isFresh, isOpen]
      return [kind, instance, isAwaited, sentAt, ...what, answer?.now, answer?.backs].join(' ')
    }
  }
}
