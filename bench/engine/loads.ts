import type { NewSchedule, TriggerOptions } from 'cronce'
import type { Load } from './protocol.ts'

export const JOB = 'noop'

const HOUR_MS = 3_600_000

/** Schedules are named by their number. */
export function* schedulesOf(load: Load): Generator<readonly [string, NewSchedule]> {
  for (let number = 0; number < load.count; number++) yield [String(number), { job: JOB, ...triggerOf(load, number) }]
}

function triggerOf(load: Load, number: number): TriggerOptions {
  switch (load.kind) {
    case 'burst':
      return { every: { interval: HOUR_MS, anchor: load.at } }
    case 'steady':
      return { every: { interval: 1_000, anchor: Math.floor((number * 1_000) / load.count) } }
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
