import type { Clock } from '../../../packages/cronce/src/clock.ts'
import { type Lease, lease } from '../../../packages/cronce/src/engine/fleet/lease.ts'
import { storeTime } from '../../../packages/cronce/src/engine/fleet/store-time.ts'
import type { AheadFleet } from './fleet.ts'
import { type AheadState, type AheadWorker, type ClockAnswer, DUE_MS, LEASE_MS, patchWorker } from './state.ts'

/** The engine's own view of its lease and of the store's clock, rebuilt from the answers that a worker has received. */

function clockAt(now: () => number): Clock {
  return { wall: now, mono: now, boot: now, sleep: async () => {}, pause: async () => {} }
}

function leaseOf({ time }: AheadState, { renewal: { sentAt } }: AheadWorker): Lease {
  const made = lease(
    clockAt(() => time),
    'mono',
  )
  const sent = { mono: sentAt, at: sentAt, wall: sentAt }
  made.renewed(sent, LEASE_MS)
  made.answered(sent)
  return made
}

export function isTrusted(state: AheadState, worker: AheadWorker): boolean {
  return leaseOf(state, worker).trusted()
}

export function trustMs(state: AheadState, worker: AheadWorker): number {
  return leaseOf(state, worker).left().trustMs
}

/** What the store's clock has reached for certain, by these answers. */
function boundOf(answers: readonly ClockAnswer[], at: number): number | null {
  let mono = 0
  const time = storeTime(clockAt(() => mono))
  for (const { now, sentAt, receivedAt } of answers) {
    mono = receivedAt
    time.observe(now, sentAt)
  }
  mono = at
  return time.atLeast()
}

/** `readinessOf`: a fire that was claimed ahead is due for certain, and no peer can have declared this worker dead. */
export function mayStart({ rules }: AheadFleet, state: AheadState, worker: AheadWorker): boolean {
  const bound = boundOf(worker.answers, state.time)
  const isDue = worker.run?.isAhead !== true || !rules.startsByTheClock || (bound !== null && bound >= DUE_MS)
  return isDue && (!rules.startsByARenewal || leaseOf(state, worker).isFresh())
}

/** When it starts, by the bound that `mayStart` looked at. */
export function startTime(state: AheadState, worker: AheadWorker): number {
  return Math.floor(boundOf(worker.answers, state.time) ?? DUE_MS)
}

/** Whether answers that were given after the store's clock was last set back are enough for the start. */
export function isProven(state: AheadState, { answers }: AheadWorker): boolean {
  const bound = boundOf(
    answers.filter(({ backs }) => backs === state.faults.back),
    state.time,
  )
  return bound !== null && bound >= DUE_MS
}

/** A worker receives the time of the store's clock. Only answers that the bound can rest on are kept. */
export function hearClock(state: AheadState, index: number, answer: Omit<ClockAnswer, 'receivedAt'>): AheadState {
  const heard = { ...answer, receivedAt: state.time }
  const { answers } = state.workers[index]!
  const all = [...answers, heard]
  const isAlone = boundOf(all, state.time) === boundOf([heard], state.time)
  const offset = ({ now, receivedAt }: ClockAnswer): number => now - receivedAt
  const kept = isAlone ? [heard] : all.filter((one) => one === heard || offset(one) > offset(heard))
  return patchWorker(state, index, { answers: kept })
}

export function hearRenewal(
  { rules }: AheadFleet,
  state: AheadState,
  index: number,
  { sentAt, now }: AheadWorker['renewal'],
): AheadState {
  const from = rules.countsFromTheRequest ? sentAt : state.time
  const known = state.workers[index]!.renewal.sentAt
  return patchWorker(state, index, { renewal: { sentAt: Math.max(known, from), now } })
}

/** `Core.storeFailed`: the next answer may come from another server. */
export function forgetClock(state: AheadState, index: number): AheadState {
  return patchWorker(state, index, { answers: [] })
}
