import type { Definition } from '../../packages/cronce/src/model/schedule.ts'
import type { Context } from '../../packages/cronce/src/policy/decision.ts'
import { recover } from '../../packages/cronce/src/policy/end/recover.ts'
import { settle } from '../../packages/cronce/src/policy/end/settle.ts'
import { advance } from '../../packages/cronce/src/policy/plan/advance.ts'
import type { MemorySource } from '../../packages/cronce/src/store/memory/memory.ts'
import type { Move } from './explore.ts'
import { type Command, type FaultKind, type State, TICK_MS } from './state.ts'
import type { MemoryStore, StoreAt } from './store-at.ts'

export interface FleetOptions {
  readonly workers: number
  /** Time goes on until this tick. */
  readonly ticks: number
  readonly definition: Definition
  /** What a handler does: nothing that matters, a durable step, or a transaction. */
  readonly handler: 'plain' | 'step' | 'transaction'
  /** The maximum number of each fault. */
  readonly faults: Readonly<Record<FaultKind, number>>
  /** What an operator may do, in order: one of these. */
  readonly scripts: readonly (readonly Command[])[]
  /** Whether the store's epoch moves up when it falls back to an earlier copy. */
  readonly movesEpoch: boolean
  /** Instants of the schedule, in ticks. Given here, not computed. */
  readonly instants: readonly number[]
}

/** How things are done. A test breaks one of them, and sees that it is found out. */
export interface Protocol {
  readonly advance: typeof advance
  readonly settle: typeof settle
  readonly recover: typeof recover
  readonly disguise: (store: MemoryStore, source: MemorySource) => MemoryStore
  readonly engine: EngineRules
}

/** What the engine does, rule by rule; all are true for ours. */
export interface EngineRules {
  readonly trustsOnlyItsLease: boolean
  readonly handsBackWhatItDoesNotKnow: boolean
  readonly fencesBeforeItLooks: boolean
  readonly recoversOnlyFromTheDead: boolean
}

export const OURS: Protocol = {
  advance,
  settle,
  recover,
  disguise: (store) => store,
  engine: {
    trustsOnlyItsLease: true,
    handsBackWhatItDoesNotKnow: true,
    fencesBeforeItLooks: true,
    recoversOnlyFromTheDead: true,
  },
}

export interface Fleet {
  readonly options: FleetOptions
  readonly protocol: Protocol
  readonly at: StoreAt
}

export type Moves = Move<State>[]

export function contextOf({ now, store }: State): Context {
  return { now: now * TICK_MS, epoch: store.epoch, zoneData: '2027a', random: () => 0.5 }
}

export function mayFail({ options }: Fleet, { faults }: State, kind: FaultKind): boolean {
  return faults[kind] < options.faults[kind]
}
