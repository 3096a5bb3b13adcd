import type { Change } from '../../packages/cronce/src/model/change.ts'
import type { Transacted } from '../../packages/cronce/src/store/store.ts'
import { follow } from './claiming.ts'
import { type Fleet, type Moves, mayFail } from './fleet.ts'
import { hearCommand } from './operator.ts'
import { recordsOf } from './records.ts'
import { hearBegun, hearEnded, told } from './running.ts'
import {
  fault,
  LEASE,
  type Message,
  nameOf,
  patchRun,
  patchWorker,
  type Snapshot,
  type State,
  send,
  TICK_MS,
  type Witness,
  without,
  witness,
} from './state.ts'
import type { MemoryStore } from './store-at.ts'

type MessageOf<Kind> = Extract<Message, { readonly kind: Kind }>

/** What is under way arrives, in any order; perhaps once more later. */
export function deliveryMoves(fleet: Fleet, state: State): Moves {
  return state.messages.filter(isUnderWay).flatMap((message): Moves => {
    const words = `${nameOf(message.instance)}'s ${message.kind} arrives`
    const make = () => deliver(fleet, without(state, message), message)
    const moves: Moves = [{ words, isFault: false, make }]
    if (!mayFail(fleet, state, 'duplicate')) return moves
    const copied = fault(send(without(state, message), { ...message, waiting: null }), 'duplicate')
    const again = { words: `${words}, and will once more`, isFault: true, make: () => deliver(fleet, copied, message) }
    return [...moves, again]
  })
}

/** It has not arrived yet. */
export function isUnderWay(message: Message): boolean {
  return message.kind !== 'claim' || message.answer === null
}

export async function deliver(fleet: Fleet, state: State, message: Message): Promise<State> {
  const write = async <Answer>(ask: (store: MemoryStore) => Promise<Answer>) => {
    const { answer, snapshot } = await fleet.at.write(state.store, state.now, ask)
    return { answer, next: granted(state, snapshot) }
  }
  switch (message.kind) {
    case 'claim': {
      const claimant = { instance: message.instance, leaseMs: LEASE * TICK_MS }
      const { answer, next } = await write((store) => store.apply([message.decision.change], { claimant }))
      const [result] = answer.results
      if (message.waiting === null) return next
      // Nothing depends on when a refusal arrives.
      return result!.kind === 'applied'
        ? send(next, { ...message, answer: result! })
        : follow(fleet, next, message, result!, true)
    }
    case 'settlement':
    case 'recovery':
    case 'fence':
    case 'command': {
      const { answer, next } = await write((store) => store.apply([message.change]))
      return hearChange(next, message, answer.results[0]!.kind === 'applied')
    }
    case 'commit': {
      const { answer, next } = await write((store) => commit(store, message))
      return hearCommit(next, message, answer)
    }
    case 'begin':
    case 'end': {
      const { answer, next } = await write((store) => store.step(stepOf(message)))
      if (message.waiting === null) return next
      return message.kind === 'begin'
        ? hearBegun(fleet, next, message.worker, answer)
        : hearEnded(next, message.worker, answer)
    }
    case 'burial': {
      const { target, renewals } = message
      const { next } = await write((store) => store.mark({ kind: 'dead', instance: target, renewals, hint: false }))
      return next
    }
  }
}

function stepOf({ kind, fire, token }: MessageOf<'begin' | 'end'>) {
  const about = { fire, step: 'charge', token }
  return kind === 'begin'
    ? ({ kind, ...about, rerun: false } as const)
    : ({ kind, ...about, failed: false, result: null } as const)
}

/** Decided when the message was sent: its sender may be down when it arrives. */
function commit(
  store: MemoryStore,
  { fire, token, change }: MessageOf<'commit'>,
): Promise<Transacted<null> | 'conflict'> {
  const key = `${fire.schedule} ${fire.dueAt}`
  const work = (tx: { set(key: string, value: string): void }): null => {
    tx.set(key, token)
    return null
  }
  // A change that was decided on another version is refused, and everything with it.
  return store.transact({ schedule: fire.schedule, token, work, settle: (): Change => change }).catch((error) => {
    if (error.notApplied === true) return 'conflict'
    throw error
  })
}

function hearCommit(state: State, message: MessageOf<'commit'>, answer: Transacted<null> | 'conflict'): State {
  const { run } = state.workers[message.worker]!
  if (message.waiting === null || run === null) return state
  // Another worker changed the schedule meanwhile. Retried while the lease is trusted.
  if (answer === 'conflict') return state
  if (answer.kind === 'committed') return told(state, message.worker, run, true)
  return patchRun(state, message.worker, { phase: 'settle', how: 'handed-back', isOver: true })
}

function hearChange(
  state: State,
  message: MessageOf<'settlement' | 'recovery' | 'fence' | 'command'>,
  isApplied: boolean,
): State {
  if (message.kind === 'command')
    return message.waiting === null ? state : hearCommand(state, message.command, isApplied)
  if (message.waiting === null || !isApplied || message.kind === 'recovery') return state
  const { run } = state.workers[message.worker]!
  if (run === null) return state
  if (message.kind === 'fence') return told(state, message.worker, run, false)
  const settled = [...state.witness.settled, message.token]
  return witness(patchWorker(state, message.worker, { run: null }), { settled })
}

/** Granted claims are recorded here, because a store that falls back loses them. */
function granted(state: State, store: Snapshot): State {
  if (store === state.store) return state
  let highest = state.witness.highest
  for (const { token } of recordsOf(store.space).runs.values()) if (BigInt(token) > BigInt(highest)) highest = token
  const seen: Witness = highest === state.witness.highest ? state.witness : { ...state.witness, highest }
  return { ...state, store, witness: seen }
}
