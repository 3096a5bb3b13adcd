import { type ClientEffort, effortOf } from '../shared/effort.ts'
import { type Fleet, withProcesses } from '../shared/fleet.ts'
import { type Reading, read } from './readings.ts'
import type { BenchServer } from './server.ts'

/** The measured systems: cronce and its alternatives. */
export type System = 'cronce' | 'BullMQ' | 'node-cron'

export interface FleetOptions {
  readonly system: System
  /** Each is a process of its own. */
  readonly instances: number
  /** Runs at a time of each process. */
  readonly concurrency: number
  /** BullMQ: whether completed jobs are removed instead of kept. */
  readonly removes?: boolean
  /** BullMQ: with the client option that sends the commands of one event loop turn together. */
  readonly pipelined?: boolean
}

const CHILDREN = {
  cronce: './cronce-child.ts',
  BullMQ: './bullmq-child.ts',
  'node-cron': './node-cron-child.ts',
} as const satisfies Record<System, string>

export function withFleet<Value>(
  { url }: BenchServer,
  { system, instances, concurrency, removes = false, pipelined = false }: FleetOptions,
  work: (fleet: Fleet) => Promise<Value>,
): Promise<Value> {
  const setup = { url, concurrency, removes, pipelined }
  return withProcesses({ script: new URL(CHILDREN[system], import.meta.url), name: system, instances, setup }, work)
}

/** What the processes and the server do for something: CPU of both, commands, log. */
export type Effort = Reading & ClientEffort

/** Starts counting. The returned function reports what has been done since. */
export function effort(server: BenchServer, { system }: FleetOptions, fleet: Fleet): Promise<() => Promise<Effort>> {
  // A lock of node-cron is taken by a plain command.
  return effortOf(fleet, () => read(server, system === 'node-cron' ? ['set'] : []))
}

export function nameOf({ system, instances, concurrency, removes = false, pipelined = false }: FleetOptions): string {
  return [
    system,
    `${instances} ${instances === 1 ? 'process' : 'processes'}`,
    ...(system === 'BullMQ' ? [`${concurrency} at a time`] : []),
    ...(removes ? ['keeping nothing'] : []),
    ...(pipelined ? ['auto pipelining'] : []),
  ].join(', ')
}
