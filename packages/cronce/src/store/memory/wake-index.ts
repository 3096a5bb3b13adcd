import { bucketOf } from '../../model/bucket.ts'
import type { Instant, ScheduleState } from '../../model/schedule.ts'
import { compareText, insert, isEmpty, remove, type Sorted, sorted } from './sorted.ts'

/** Schedules by name, by job, and by wake time: derived from the states. */
export interface WakeIndex {
  readonly places: Map<string, Place>
  readonly names: Sorted<string>
  readonly jobs: Map<string, JobIndex>
}

export interface JobIndex {
  readonly names: Sorted<string>
  /** Those that have a `wakeAt`, by bucket; only buckets that have some. */
  readonly buckets: Map<number, Sorted<WakeKey, Place>>
}

export interface WakeKey {
  readonly id: string
  readonly wakeAt: Instant
}

interface Place extends WakeKey {
  readonly id: string
  readonly job: string
  readonly bucket: number
  /** `Infinity`: in no bucket. */
  wakeAt: Instant
}

export function wakeIndex(): WakeIndex {
  return { places: new Map(), names: sorted(compareText), jobs: new Map() }
}

export function indexSchedule(index: WakeIndex, id: string, state: ScheduleState | undefined): void {
  let place = index.places.get(id)
  if (place !== undefined && place.job !== state?.definition.job) {
    takeOut(index, place)
    place = undefined
  }
  if (state === undefined) return
  place ??= putIn(index, id, state.definition.job)
  const wakeAt = state.wakeAt ?? Infinity
  if (place.wakeAt === wakeAt) return
  const job = index.jobs.get(place.job)!
  removeWake(job, place)
  place.wakeAt = wakeAt
  if (wakeAt !== Infinity) insert(bucketIn(job, place.bucket), place)
}

function putIn(index: WakeIndex, id: string, job: string): Place {
  const place: Place = { id, job, bucket: bucketOf(id), wakeAt: Infinity }
  index.places.set(id, place)
  insert(index.names, id)
  let jobIndex = index.jobs.get(job)
  if (jobIndex === undefined) {
    jobIndex = { names: sorted(compareText), buckets: new Map() }
    index.jobs.set(job, jobIndex)
  }
  insert(jobIndex.names, id)
  return place
}

function takeOut(index: WakeIndex, place: Place): void {
  const job = index.jobs.get(place.job)!
  removeWake(job, place)
  remove(job.names, place.id)
  if (isEmpty(job.names)) index.jobs.delete(place.job)
  remove(index.names, place.id)
  index.places.delete(place.id)
}

function removeWake(job: JobIndex, place: Place): void {
  const bucket = job.buckets.get(place.bucket)
  if (bucket === undefined || place.wakeAt === Infinity) return
  remove(bucket, place)
  if (isEmpty(bucket)) job.buckets.delete(place.bucket)
}

function bucketIn(job: JobIndex, number: number): Sorted<WakeKey, Place> {
  let bucket = job.buckets.get(number)
  if (bucket === undefined) {
    bucket = sorted(compareWake)
    job.buckets.set(number, bucket)
  }
  return bucket
}

export function compareWake(one: WakeKey, other: WakeKey): number {
  return one.wakeAt - other.wakeAt || compareText(one.id, other.id)
}
