/**
 * A small fleet that claims a fire before it is due: docs/decisions/004-time.md, "Claim ahead".
 *
 * Real: the store in memory, the policies (`claimAhead`, `advance`, `settle`, `recover`, `requestCancel`), the trust in a lease
 * (`engine/fleet/lease.ts`) and the lower bound of the store's clock (`engine/fleet/store-time.ts`). Modelled: what the engine does
 * between two calls of the store. Each worker has one run at most, and may stop for any time between two moves.
 *
 * Time passes in moments of 100 ms, the coarsest step that separates a renewal of less than 270 ms from a grace of 300 ms, and in leaps of a
 * lease in which no worker does anything. All monotonic clocks agree. The store's clock is set forward and back.
 *
 * Claims and settlements arrive at any later time, or never. A heartbeat arrives at once, and its answer arrives at any later time, or
 * never: a heartbeat that was under way for longer counts from when it was sent, and proves less. Declarations of death, recoveries and cancellations are
 * written at once, by a peer that is always there and has seen every renewal: one that sees it later has to wait for longer.
 *
 * Not modelled: several schedules, pauses, removals and new definitions, epochs, wall clocks of workers, clocks of different speed, and a
 * worker that hears of its lost session (it trusts itself for less time then). The simulation has all of these.
 */

import { GRACE_MS } from '../../../packages/cronce/src/engine/fleet/lease.ts'
import type { Instant } from '../../../packages/cronce/src/model/schedule.ts'
import type { Decision } from '../../../packages/cronce/src/policy/decision.ts'
import type { BeatAnswer, ChangeResult } from '../../../packages/cronce/src/store/store.ts'
import type { Snapshot } from '../state.ts'

export const MOMENT_MS = 100
export const LEASE_MS = 1_600
/** A lease, and a moment, in which no worker does anything. */
export const LEAP_MS = LEASE_MS + MOMENT_MS
/** `claimAhead` by default. */
export const AHEAD_MS = GRACE_MS
/** What the store's clock shows at first. */
export const FIRST_MS = 1_000_000
/** Just before the third moment, since the bound of the store's clock is a little lower than the clock. */
export const DUE_MS = FIRST_MS + 3 * MOMENT_MS - 5

export interface AheadState {
  /** What has passed since the beginning, by every monotonic clock. */
  readonly time: number
  readonly leaps: number
  /** The store's clock, less `time`. */
  readonly offset: number
  readonly store: Snapshot
  readonly workers: readonly AheadWorker[]
  readonly messages: readonly AheadMessage[]
  readonly faults: Readonly<Record<AheadFault, number>>
  readonly witness: AheadWitness
}

/**
 * `hint`: a live worker is taken for dead, because its session was lost. `back` and `forward`: steps of the store's clock. `stop` and `cancel`
 * are no faults, and are counted like them.
 */
export type AheadFault = 'crash' | 'silence' | 'hint' | 'back' | 'forward' | 'stop' | 'cancel'

export const NO_FAULTS: Readonly<Record<AheadFault, number>> = {
  crash: 0,
  silence: 0,
  hint: 0,
  back: 0,
  forward: 0,
  stop: 0,
  cancel: 0,
}

export interface AheadWorker {
  readonly incarnation: number
  readonly isUp: boolean
  readonly isStopping: boolean
  /** The last renewal that was answered: when it was requested, and the store's clock in the answer. */
  readonly renewal: { readonly sentAt: number; readonly now: Instant }
  /** Answers that the bound of the store's clock rests on. */
  readonly answers: readonly ClockAnswer[]
  /** Held by it according to the last heartbeat, and unknown to it. */
  readonly doubtful: readonly string[]
  readonly claims: number
  readonly run: AheadRun | null
}

export interface ClockAnswer {
  readonly now: Instant
  readonly sentAt: number
  readonly receivedAt: number
  /** How often the store's clock had been set back when the store read it. */
  readonly backs: number
}

export interface AheadRun {
  readonly token: string
  readonly attempt: number
  readonly instance: string
  /** It was claimed ahead. */
  readonly isAhead: boolean
  /** `waiting`: its handler was not called yet. `ending`: it has ended, or will never start, which the store has to hear. */
  readonly phase: 'waiting' | 'started' | 'ending'
  readonly hasStarted: boolean
  /** It was cancelled or fenced. */
  readonly isAborted: boolean
}

interface Frame {
  readonly worker: number
  readonly instance: string
  /** Its sender waits for the answer. */
  readonly isAwaited: boolean
}

export type ClaimMessage = Frame & {
  readonly kind: 'claim'
  readonly decision: Decision
  readonly claim: number
  readonly sentAt: number
  /** It has arrived, and this is on its way back. */
  readonly answer: { readonly result: ChangeResult; readonly now: Instant; readonly backs: number } | null
}

export type BeatMessage = Frame & {
  readonly kind: 'beat'
  readonly sentAt: number
  /** The run that its sender had then. */
  readonly run: string | null
  readonly answer: BeatAnswer
  readonly backs: number
}

export type SettlementMessage = Frame & {
  readonly kind: 'settlement'
  readonly token: string
  readonly change: Decision['change']
}

export type AheadMessage = ClaimMessage | BeatMessage | SettlementMessage

/** What was seen from outside, which the store does not know. */
export interface AheadWitness {
  readonly starts: readonly Start[]
  /** Tokens of runs that were put back without a trace. */
  readonly putBack: readonly string[]
  /** When each instance renewed last, by the monotonic clocks. Peers see every renewal at once: then they have to wait the least. */
  readonly renewedAt: ReadonlyMap<string, number>
  readonly broken: string | null
}

export interface Start {
  readonly token: string
  readonly attempt: number
  /** How often the store's clock had been set back when the answers were given that the start rests on. */
  readonly backs: number
}

export function clockOf({ time, offset }: AheadState): Instant {
  return FIRST_MS + time + offset
}

export function patchWorker(state: AheadState, index: number, patch: Partial<AheadWorker>): AheadState {
  return { ...state, workers: state.workers.map((worker, at) => (at === index ? { ...worker, ...patch } : worker)) }
}

export function patchRun(state: AheadState, index: number, patch: Partial<AheadRun>): AheadState {
  const { run } = state.workers[index]!
  return run === null ? state : patchWorker(state, index, { run: { ...run, ...patch } })
}

export function send(state: AheadState, message: AheadMessage): AheadState {
  return { ...state, messages: [...state.messages, message] }
}

export function without(state: AheadState, message: AheadMessage): AheadState {
  return { ...state, messages: state.messages.filter((other) => other !== message) }
}

export function fault(state: AheadState, kind: AheadFault): AheadState {
  return { ...state, faults: { ...state.faults, [kind]: state.faults[kind] + 1 } }
}

export function witness(state: AheadState, patch: Partial<AheadWitness>): AheadState {
  return { ...state, witness: { ...state.witness, ...patch } }
}
