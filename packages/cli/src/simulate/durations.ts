import type { Store } from 'cronce'

/** How long the work of an attempt takes, in ms. The same each time. */
export type Durations = (schedule: string, dueAt: number, attempt: number) => number

export interface DurationSettings {
  /** By schedule or job; these are assumed whatever is on record. */
  readonly named: ReadonlyMap<string, number>
  readonly otherwise: number
  /** By schedule. */
  readonly recorded: ReadonlyMap<string, readonly number[]>
  readonly jobOf: ReadonlyMap<string, string>
}

/** Latest runs of a schedule that are looked at. */
const MOST_RECORDED = 100
const SCHEDULES_AT_A_TIME = 8

/** One of the recorded durations by due time and attempt, so that long ones come as often as they did. */
export function durationsOf({ named, otherwise, recorded, jobOf }: DurationSettings): Durations {
  return (schedule, dueAt, attempt) => {
    const assumed = named.get(schedule) ?? named.get(jobOf.get(schedule) ?? '')
    if (assumed !== undefined) return assumed
    const known = recorded.get(schedule)
    return known === undefined || known.length === 0 ? otherwise : known[spread(dueAt + attempt) % known.length]!
  }
}

/** Due times of a schedule have common factors. */
function spread(number: number): number {
  const mixed = Math.imul((number / 1_000) ^ (number >>> 3), 0x9e3779b1)
  return (mixed ^ (mixed >>> 15)) >>> 0
}

/** How long the latest successful runs of these schedules took. */
export async function recordedDurations(
  store: Store,
  schedules: readonly string[],
): Promise<ReadonlyMap<string, readonly number[]>> {
  const recorded = new Map<string, readonly number[]>()
  for (let start = 0; start < schedules.length; start += SCHEDULES_AT_A_TIME) {
    const some = schedules.slice(start, start + SCHEDULES_AT_A_TIME)
    const found = await Promise.all(
      some.map(async (schedule) => {
        const query = { view: 'runs', schedule, outcome: 'succeeded', after: null, limit: MOST_RECORDED } as const
        const { items } = await store.listRecords(query)
        return items.flatMap(({ run, endedAt }) => (run === null || endedAt === null ? [] : [endedAt - run.startedAt]))
      }),
    )
    some.forEach((schedule, index) => {
      if (found[index]!.length > 0) recorded.set(schedule, found[index]!)
    })
  }
  return recorded
}
