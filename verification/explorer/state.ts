/**
 * A small fleet on the real store in memory, with the real policies, one move at a time.
 *
 * Real: the store (claims, settlements, steps, transactions, heartbeats, declarations of death are calls of its own methods, on a copy of its
 * data) and every decision about a schedule (`policy/`). Modelled: what the engine does between two calls of the store. Each
 * worker is a small machine of three loops that know as much as the engine's do, and can stop for any time between any
 * two of their moves: it claims and executes (one run at a time), it renews and reconciles, it watches its peers.
 *
 * Every write is a message that arrives at any later time, even after its sender has given it up or died, or never.
 * Reads are answered at once: waiting for an answer is the same as not moving after it. So are heartbeats, one for each worker when
 * a tick begins, unless it is stalled: a slow heartbeat gives less trust than one that was sent later, and no more.
 * Time is the store's clock, in ticks; workers count trust by it. Any worker may declare an instance dead whose lease has expired.
 *
 * Not modelled, and left to the simulation: clocks that differ or jump, signals and time-outs of handlers, limits, backfills,
 * deployments, which schedules are looked at first, more than one run at a time on one worker.
 */

import type { Change } from '../../packages/cronce/src/model/change.ts'
import type { Json } from '../../packages/cronce/src/model/json.ts'
import type { FireKey, FireRecord } from '../../packages/cronce/src/model/record.ts'
import type { Decision } from '../../packages/cronce/src/policy/decision.ts'
import type { NamespaceData } from '../../packages/cronce/src/store/memory/data.ts'
import type { ChangeResult } from '../../packages/cronce/src/store/store.ts'

export const TICK_MS = 1_000
/** In ticks: how long a lease holds, and how long its holder trusts it. */
export const LEASE = 2
export const SCHEDULE = 'nightly'
export const JOB = 'report'

/** The store's data at one moment. Immutable: writers write to a copy. */
export interface Snapshot {
  readonly epoch: number
  readonly space: NamespaceData
  readonly effects: ReadonlyMap<string, Json>
}

export interface State {
  /** The store's clock, in ticks. */
  readonly now: number
  readonly store: Snapshot
  readonly workers: readonly Worker[]
  readonly messages: readonly Message[]
  readonly operator: Operator
  /** Faults that have happened so far, by kind. */
  readonly faults: Readonly<Record<FaultKind, number>>
  readonly witness: Witness
  /** An earlier state of the store, to which it may fall back. */
  readonly copy: Snapshot | null
}

export type FaultKind = 'crash' | 'silence' | 'duplicate' | 'failover'

export interface Worker {
  /** The number of this start. A process that was restarted or declared dead gets a new identity. */
  readonly incarnation: number
  readonly isUp: boolean
  /** Trusts its lease before this tick. */
  readonly trustedUntil: number
  /** Held by it according to the last heartbeat, and unknown to it. */
  readonly doubtful: readonly string[]
  readonly onRecord: readonly FireRecord[]
  readonly claims: number
  readonly run: LocalRun | null
}

export interface LocalRun {
  readonly fire: FireKey
  readonly token: string
  readonly instance: string
  readonly phase: 'begin' | 'end' | 'commit' | 'resolve' | 'settle'
  /** What it will settle with. */
  readonly how: How
  /** Its handler has returned or was never called. */
  readonly isOver: boolean
}

export type How = 'completed' | 'error' | 'step-unknown' | 'handed-back' | 'not-started'

/** Which loop of a worker waits for the answer; `null`: none any more. */
export type Waiting = 'claim' | 'run' | 'watch' | 'operator' | null

interface Frame {
  readonly worker: number
  readonly instance: string
  readonly waiting: Waiting
}

export type Message =
  | (Frame & {
      readonly kind: 'claim'
      readonly decision: Decision
      readonly claim: number
      readonly sentAt: number
      /** It has arrived, and this is on its way back. */
      readonly answer: ChangeResult | null
    })
  | (Frame & { readonly kind: 'settlement' | 'recovery' | 'fence'; readonly token: string; readonly change: Change })
  | (Frame & { readonly kind: 'commit'; readonly token: string; readonly fire: FireKey; readonly change: Change })
  | (Frame & { readonly kind: 'begin' | 'end'; readonly token: string; readonly fire: FireKey })
  | (Frame & { readonly kind: 'burial'; readonly target: string; readonly renewals: number })
  | (Frame & { readonly kind: 'command'; readonly command: Command; readonly change: Change })

export type Command = 'pause' | 'resume' | 'redefine' | 'remove' | 'create'

export interface Operator {
  /** Commands that it has still to give, in order; the first one may be under way. */
  readonly script: readonly Command[]
  /** What was acknowledged last. */
  readonly acknowledged: Command | null
}

/** What was seen from outside, which the store does not know. */
export interface Witness {
  /** How often the work of the step was begun, and how often the handler was called. */
  readonly worked: number
  readonly called: number
  /** Results of transactions that runs received, by token. */
  readonly told: ReadonlyMap<string, 'committed' | 'rolled back'>
  /** The highest token that was ever granted. */
  readonly highest: string
  /** Tokens whose settlement was acknowledged. */
  readonly settled: readonly string[]
  /** What was found wrong on the way. */
  readonly broken: string | null
}

// One character each, so that they are easily renamed in a text; from a range that nothing else uses.
export const FIRST_ID = 0x80
export const MOST_INCARNATIONS = 16

export function idOf(worker: number, incarnation: number): string {
  return String.fromCharCode(FIRST_ID + worker * MOST_INCARNATIONS + incarnation)
}

export function workerOf(id: string): number {
  return Math.floor((id.charCodeAt(0) - FIRST_ID) / MOST_INCARNATIONS)
}

export function incarnationOf(id: string): number {
  return (id.charCodeAt(0) - FIRST_ID) % MOST_INCARNATIONS
}

export function nameOf(id: string): string {
  if (id === '') return 'the operator'
  return `w${workerOf(id) + 1}${"'".repeat(incarnationOf(id))}`
}

export function isTrusted({ now }: State, worker: Worker): boolean {
  return now < worker.trustedUntil
}

export function waits({ messages }: State, worker: number, waiting: Waiting): boolean {
  return messages.some((message) => message.worker === worker && message.waiting === waiting)
}

export function patchWorker(state: State, index: number, patch: Partial<Worker>): State {
  return { ...state, workers: state.workers.map((worker, at) => (at === index ? { ...worker, ...patch } : worker)) }
}

export function patchRun(state: State, index: number, patch: Partial<LocalRun>): State {
  const { run } = state.workers[index]!
  return run === null ? state : patchWorker(state, index, { run: { ...run, ...patch } })
}

export function send(state: State, message: Message): State {
  return { ...state, messages: [...state.messages, message] }
}

export function without(state: State, message: Message): State {
  return { ...state, messages: state.messages.filter((other) => other !== message) }
}

export function fault(state: State, kind: FaultKind): State {
  return { ...state, faults: { ...state.faults, [kind]: state.faults[kind] + 1 } }
}

export function witness(state: State, patch: Partial<Witness>): State {
  return { ...state, witness: { ...state.witness, ...patch } }
}
