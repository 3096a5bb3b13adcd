import { type FireView, OUTCOMES } from 'cronce'
import { collect } from './collect.ts'
import type { Source } from './source.ts'

type State = FireView['state']

/** As far as the fires of one schedule are read, the latest first. */
const FIRES = { pages: 10, limit: 1_000 } as const
/** The later one hides the earlier one in a bucket. */
const FROM_GOOD_TO_BAD: readonly State[] = [
  'succeeded',
  'open',
  'skipped',
  'cancelled',
  'missed',
  'abandoned',
  'failed',
]

interface Bucket {
  readonly at: number
  /** `null`: nothing was due. */
  worst: State | null
  readonly counts: Record<State, number>
}

export interface BucketQuery {
  readonly schedule: string
  /** Included. */
  readonly from: number
  /** Not included. */
  readonly to: number
  readonly buckets: number
}

/**
 * The fires of a schedule in buckets of equal length. A range of due times is counted where it begins, and seen in every bucket that it
 * reaches. `cut`: fires before `readFrom` were not read.
 */
export async function bucketsOf(source: Source, { schedule, from, to, buckets }: BucketQuery) {
  const { items: fires, cut } = await collect(FIRES, (page) => source.fires.list({ schedule, from, to, ...page }))
  const lengthMs = (to - from) / buckets
  const items = Array.from({ length: buckets }, (_, index) => emptyBucket(Math.round(from + index * lengthMs)))
  const indexOf = (at: number): number => Math.min(buckets - 1, Math.max(0, Math.floor((at - from) / lengthMs)))
  for (const { dueAt, state, range } of fires) {
    const first = indexOf(dueAt)
    items[first]!.counts[state] += range?.count ?? 1
    for (const bucket of items.slice(first, indexOf(range?.untilAt ?? dueAt) + 1))
      bucket.worst = worse(bucket.worst, state)
  }
  return { schedule, from, to, readFrom: cut ? (fires.at(-1)?.dueAt ?? to) : from, items, cut }
}

function emptyBucket(at: number): Bucket {
  const counts = Object.fromEntries(['open', ...OUTCOMES].map((state) => [state, 0])) as Bucket['counts']
  return { at, worst: null, counts }
}

function worse(one: State | null, other: State): State {
  return one !== null && FROM_GOOD_TO_BAD.indexOf(one) > FROM_GOOD_TO_BAD.indexOf(other) ? one : other
}
