import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CronceOptions } from '../../src/app/options.ts'
import type { ScheduleOptions } from '../../src/client/schedule-options.ts'

/** What a child process is started with; see `worker.ts`. */
export interface Order {
  readonly name: string
  /** Of the witnesses, the gate, and the store if that is a file. */
  readonly folder: string
  /** The URL of a PostgreSQL store; without, it is the file in the folder. */
  readonly postgres?: string
  readonly options?: Omit<CronceOptions, 'store' | 'logger'>
  readonly jobs: Readonly<Record<string, OrderedJob>>
  /** Take and release this lock once started, as a script does. */
  readonly lock?: string
  /** Log to stderr, as by default; `Member.stderr` has the text. */
  readonly logs?: boolean
}

export type OrderedJob = ScheduleOptions & {
  readonly was?: string
  readonly hosts?: 'each'
  /**
   * `note`: only report to the witness. `hold`: wait for the gate or the abort signal. `ignore`: wait for the gate,
   * ignoring the signal. `insert`: a row of the user's table, in one transaction with the settlement.
   */
  readonly does: 'note' | 'hold' | 'ignore' | 'insert'
}

export const STORE = 'store.db'
/** Runs that hold wait until there is such a file: for all processes, or for this one. */
export function gateFiles(folder: string, process: string): [all: string, own: string] {
  return [join(folder, 'gate'), join(folder, `gate-${process}`)]
}

/** What a handler wrote down with write(2), outside of the store: it outlives its process, however that ends. */
export interface Line {
  readonly what: 'started' | 'ended'
  readonly process: string
  readonly schedule: string
  readonly dueAt: number
  readonly attempt: number
  readonly token: string
}

const SUFFIX = '.witness'

export function witnessFile(folder: string, process: string): string {
  return join(folder, `${process}${SUFFIX}`)
}

export function readWitnesses(folder: string): Line[] {
  return (
    readdirSync(folder)
      .filter((name) => name.endsWith(SUFFIX))
      // Whose last line has no end yet is still being written to.
      .flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n').slice(0, -1))
      .map((line) => JSON.parse(line) as Line)
  )
}

/** By arithmetic: the first instants of a schedule that was made at that moment, and counts from the epoch. */
export function firstInstants(createdAt: number, everyMs: number, count: number): number[] {
  const first = Math.ceil(createdAt / everyMs) * everyMs
  return Array.from({ length: count }, (_, index) => first + index * everyMs)
}

/** Of one fire, for counting. */
export function fireName({ schedule, dueAt }: { readonly schedule: string; readonly dueAt: number }): string {
  return `${schedule} ${new Date(dueAt).toISOString()}`
}
