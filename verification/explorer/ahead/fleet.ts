import type { Context } from '../../../packages/cronce/src/policy/decision.ts'
import type { Move } from '../explore.ts'
import type { StoreAt } from '../store-at.ts'
import { type AheadFault, type AheadState, clockOf } from './state.ts'

export interface AheadOptions {
  readonly workers: number
  readonly moments: number
  readonly leaps: number
  /** At most this many of each. */
  readonly faults: Readonly<Record<AheadFault, number>>
  /** How far the store's clock is set. */
  readonly stepMs: number
  /** What is not demanded of a start that rests on answers from before the store's clock was set back. */
  readonly excused: readonly ('A1' | 'A3')[]
}

/** What the engine does, rule by rule; all are true for ours. */
export interface AheadRules {
  readonly startsByTheClock: boolean
  readonly startsByARenewal: boolean
  /** Trust in a renewal is counted from when it was requested, not from when it was answered. */
  readonly countsFromTheRequest: boolean
  readonly marksBeforeHandBack: boolean
  readonly obeysCancel: boolean
  readonly waitsForTheGrace: boolean
}

export const OUR_RULES: AheadRules = {
  startsByTheClock: true,
  startsByARenewal: true,
  countsFromTheRequest: true,
  marksBeforeHandBack: true,
  obeysCancel: true,
  waitsForTheGrace: true,
}

export interface AheadFleet {
  readonly options: AheadOptions
  readonly rules: AheadRules
  readonly at: StoreAt
}

export type AheadMoves = Move<AheadState>[]

export function contextOf(state: AheadState): Context {
  return { now: clockOf(state), epoch: state.store.epoch, zoneData: '2027a', random: () => 0.5 }
}

export function mayFail({ options }: AheadFleet, { faults }: AheadState, kind: AheadFault): boolean {
  return faults[kind] < options.faults[kind]
}
