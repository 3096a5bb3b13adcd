/**
 * Reductions: moves whose order makes no difference. For messages this is checked: one that should change nothing is still sent
 * to the store, and a change is an error (S3). For idle workers it is an argument. Paths may be a few moves longer than the shortest.
 */
import type { Change } from '../../packages/cronce/src/model/change.ts'
import type { Fleet, Moves } from './fleet.ts'
import { deliver, isUnderWay } from './network.ts'
import { openRunsOf } from './records.ts'
import { idOf, type Message, nameOf, type Snapshot, type State, without, witness } from './state.ts'

/**
 * A worker that neither holds nor wants anything. Stalling or restarting it changes nothing, so it always renews, does
 * not crash, and is not declared dead.
 */
export function isIdle(state: State, index: number): boolean {
  const { run, incarnation, isUp } = state.workers[index]!
  return isUp && run === null && !isBusy(state, idOf(index, incarnation))
}

/** The store thinks that it holds a run, or something that it sent may still make it so, or matters to its run. */
export function isBusy({ store, messages }: State, id: string): boolean {
  if (openRunsOf(store.space).some(({ run }) => run.instance === id)) return true
  return messages.some((message) => message.instance === id && message.kind !== 'burial' && message.kind !== 'recovery')
}

/** Nothing is known about a store that falls back to a copy: there everything counts. */
export function isReduced({ options }: Fleet): boolean {
  return options.faults.failover === 0
}

/** A worker that waits for the answer to a message that cannot be applied any more gets the answer now. */
export function refusals(fleet: Fleet, state: State): Moves {
  const message = state.messages.find((other) => other.waiting !== null && isUnderWay(other) && isPast(state, other))
  if (message === undefined || !isReduced(fleet)) return []
  const words = `${nameOf(message.instance)}'s ${message.kind} arrives too late`
  return [{ words, isFault: false, make: () => tryPast(fleet, state, message, true) }]
}

/** Messages that cannot be applied any more and that no worker waits for are dropped. */
export async function sweep(fleet: Fleet, state: State): Promise<State> {
  if (!isReduced(fleet)) return state
  let next = state
  for (const message of state.messages) {
    if (message.waiting === null && isPast(state, message)) next = await tryPast(fleet, next, message, false)
  }
  return next
}

async function tryPast(fleet: Fleet, state: State, message: Message, isHeard: boolean): Promise<State> {
  const rest = without(state, message)
  const tried = await deliver(fleet, rest, message)
  if (isSame(state.store, tried.store)) return isHeard ? tried : rest
  return witness(tried, { broken: `S3: a ${message.kind} that was decided on the past was accepted` })
}

/** Leases are ignored, because a live worker's renewal is never refused. */
function isSame(one: Snapshot, other: Snapshot): boolean {
  const keys = ['schedules', 'history', 'steps'] as const
  const isGone = ({ space }: Snapshot): string => [...space.instances.values()].map(({ goneAt }) => goneAt).join()
  const isAll = keys.every((key) => [...other.space[key]].every(([id, value]) => one.space[key].get(id) === value))
  return (
    isAll && isGone(one) === isGone(other) && [...other.effects].every(([id, value]) => one.effects.get(id) === value)
  )
}

/** Decided on a state that has changed and will not return. */
function isPast({ store }: State, message: Message): boolean {
  const { schedules, steps, instances } = store.space
  const isOld = (change: Change): boolean => (schedules.get(change.id)?.version ?? 0) !== change.version
  const isLive = (token: string): boolean =>
    openRunsOf(store.space).some(({ run }) => run.token === token && instances.get(run.instance)?.goneAt === null)
  switch (message.kind) {
    case 'claim':
      return isOld(message.decision.change) || instances.get(message.instance)?.goneAt !== null
    case 'commit':
      return isOld(message.change) || !isLive(message.token)
    case 'begin':
      return !isLive(message.token)
    case 'end':
      return [...steps.values()].every((step) => step.token !== message.token || step.state !== 'begun')
    case 'burial': {
      const known = instances.get(message.target)
      return known === undefined || known.goneAt !== null || known.record.renewals !== message.renewals
    }
    default:
      return isOld(message.change)
  }
}
