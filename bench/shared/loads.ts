import type { NewSchedule, TriggerOptions, WindowOptions } from 'cronce'
import type { Load } from './protocol.ts'

export const JOB = 'noop'
export const STUCK_JOB = 'stuck'

const HOUR_MS = 3_600_000

/** Schedules are named by their number. */
export function* schedulesOf(load: Load): Generator<readonly [string, NewSchedule]> {
  const { count, first = 0 } = load
  const job = load.kind === 'stuck' ? STUCK_JOB : JOB
  for (let number = 0; number < count; number++) yield [String(first + number), { job, ...triggerOf(load, number) }]
}

function triggerOf(load: Load, number: number): TriggerOptions & WindowOptions {
  switch (load.kind) {
    case 'burst':
      // Without a start, a schedule that takes long to create would have an instant before the first one.
      return { every: { interval: load.intervalMs ?? HOUR_MS, anchor: load.at }, start: new Date(load.at) }
    case 'steady':
      return { every: { interval: 1_000, anchor: Math.floor((number * 1_000) / load.count) } }
    case 'together':
      return { every: { interval: load.intervalMs, anchor: 0 } }
    case 'stuck':
      return { at: new Date(Date.now() + 1_000) }
    case 'idle':
      // Daily, each at a time of its own, from two hours to twenty-four from now.
      return {
        every: {
          interval: 24 * HOUR_MS,
          anchor: Date.now() + 2 * HOUR_MS + Math.floor((number / load.count) * 22 * HOUR_MS),
        },
      }
  }
}
