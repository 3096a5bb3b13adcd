import type { Failover } from './failover-plan.ts'
import type { History } from './history-plan.ts'
import type { Idle } from './idle-plan.ts'
import type { Lateness } from './lateness-plan.ts'
import type { Breakdown } from './profile-plan.ts'
import type { Rush } from './rush-plan.ts'
import type { Scale } from './scale-plan.ts'
import type { HeldSnapshot } from './snapshot-plan.ts'

/** Everything that is measured; a part that was left out is not there. */
export interface Results {
  readonly throughput?: readonly Rounds[]
  readonly bursts?: readonly Rush[]
  readonly lateness?: readonly Lateness[]
  readonly together?: readonly Lateness[]
  readonly failover?: Failover
  readonly isolated?: readonly Lateness[]
  readonly idle?: readonly Idle[]
  readonly scale?: readonly Scale[]
  readonly history?: readonly History[]
  readonly snapshot?: HeldSnapshot
  readonly breakdown?: Breakdown
  /** Parts that could not be measured, and why. */
  readonly failures?: readonly string[]
}

export type Part = Exclude<keyof Results, 'failures'>

export const PARTS = [
  'throughput',
  'bursts',
  'lateness',
  'together',
  'failover',
  'isolated',
  'idle',
  'scale',
  'history',
  'snapshot',
  'breakdown',
] as const satisfies readonly Part[]

export interface Rounds {
  readonly rounds: readonly Rush[]
}

/** What must not happen to cronce. That others lose or double fires is a figure like any other. */
export function faultsOf(results: Results): string[] {
  const {
    throughput = [],
    bursts = [],
    lateness = [],
    together = [],
    isolated = [],
    scale = [],
    history = [],
  } = results
  const measured = [...throughput.flatMap(({ rounds }) => rounds), ...bursts, ...lateness, ...together, ...isolated]
  return [
    ...(results.failures ?? []),
    ...measured.filter(({ options }) => options.system === 'cronce').flatMap(({ faults }) => faults),
    ...(results.failover?.faults ?? []),
    ...[...scale, ...history].flatMap(({ faults }) => faults),
    ...(results.snapshot?.faults ?? []),
    ...(results.breakdown?.rush.faults ?? []),
  ]
}
