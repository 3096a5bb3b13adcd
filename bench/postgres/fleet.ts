import type { ClientEffort } from '../shared/effort.ts'
import { effortOf } from '../shared/effort.ts'
import { type Fleet, withProcesses } from '../shared/fleet.ts'
import { type Reading, read } from './readings.ts'
import type { BenchDatabase } from './server.ts'

/** The measured systems: cronce and its alternatives. */
export type System = 'cronce' | 'graphile-worker' | 'pg-boss' | 'node-cron'

export interface FleetOptions {
  readonly system: System
  /** Each is a process of its own. */
  readonly instances: number
  /** Runs at a time of each; of pg-boss, batches. */
  readonly concurrency: number
  /** Of pg-boss. */
  readonly batch?: number
}

const CHILDREN = {
  cronce: './cronce-child.ts',
  'graphile-worker': './graphile-child.ts',
  'pg-boss': './pg-boss-child.ts',
  'node-cron': './node-cron-child.ts',
} as const satisfies Record<System, string>

export function withFleet<Value>(
  { url }: BenchDatabase,
  { system, instances, concurrency, batch = 0 }: FleetOptions,
  work: (fleet: Fleet) => Promise<Value>,
): Promise<Value> {
  const setup = { url, concurrency, batch }
  return withProcesses({ script: new URL(CHILDREN[system], import.meta.url), name: system, instances, setup }, work)
}

/** What the processes and the server do for something: CPU of both, statements, WAL. */
export type Effort = Reading & ClientEffort

/** Starts counting. The returned function reports what has been done since. */
export function effort(database: BenchDatabase, fleet: Fleet): Promise<() => Promise<Effort>> {
  return effortOf(fleet, () => read(database))
}

export function nameOf({ system, instances, batch }: FleetOptions): string {
  const batches = batch === undefined ? '' : `, batches of ${batch.toLocaleString('en-US')}`
  return `${system}, ${instances} ${instances === 1 ? 'process' : 'processes'}${batches}`
}
