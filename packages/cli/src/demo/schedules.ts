import type { JobOptions } from 'cronce'

/** One schedule of the demo, and what its handler does. */
export interface DemoSchedule {
  readonly name: string
  readonly everyMs: number
  /** How long a run takes. */
  readonly workMs: number
  /** The first run of every other fire throws. */
  readonly fails?: boolean
  /** A run ends with a row in the user's own table, in one transaction with its settlement. */
  readonly pays?: boolean
  readonly options: Pick<JobOptions, 'guarantee' | 'overlap' | 'retry'>
}

export const SCHEDULES: readonly DemoSchedule[] = [
  { name: 'heartbeat', everyMs: 1_000, workMs: 20, options: {} },
  { name: 'metrics', everyMs: 1_000, workMs: 60, options: {} },
  { name: 'prices', everyMs: 1_000, workMs: 120, options: {} },
  { name: 'inbox', everyMs: 1_000, workMs: 40, options: {} },
  { name: 'cache', everyMs: 2_000, workMs: 100, options: {} },
  {
    name: 'mail',
    everyMs: 2_000,
    workMs: 80,
    fails: true,
    options: { retry: { attempts: 3, backoff: { base: 300 } } },
  },
  // Longer than its interval: every other fire finds the one before it still at work.
  { name: 'sync', everyMs: 1_000, workMs: 1_300, options: { overlap: 'skip' } },
  { name: 'report', everyMs: 5_000, workMs: 2_500, options: { overlap: 'skip' } },
  {
    name: 'billing',
    everyMs: 2_000,
    workMs: 900,
    pays: true,
    options: { guarantee: 'exactly-once', overlap: 'queue-all' },
  },
]

/** The one that is killed and paused in the middle of a run. */
export const TARGET = 'billing'

/** What is left after the verdict: hundreds of fires a minute would hide the history of the shop. */
export const ENCORE: readonly DemoSchedule[] = SCHEDULES.filter(({ name }) => name === TARGET).map((schedule) => ({
  ...schedule,
  everyMs: 60_000,
  workMs: 20_000,
}))

/** What is due from one instant to another, both included: multiples of the interval, by arithmetic alone. */
export function dueBetween(everyMs: number, from: number, to: number): number[] {
  const due: number[] = []
  for (let at = Math.ceil(from / everyMs) * everyMs; at <= to; at += everyMs) due.push(at)
  return due
}
