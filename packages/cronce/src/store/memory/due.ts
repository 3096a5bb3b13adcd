import type { Instant } from '../../model/schedule.ts'
import type { Due, DueQuery } from '../store.ts'
import { areClaimsHeld } from './hold.ts'
import { chunksOf, type Sorted } from './sorted.ts'
import type { Space } from './space.ts'
import { compareWake, type WakeKey } from './wake-index.ts'

/** When to ask again while claims are held. */
const HELD_MS = 100

/**
 * Merges the lists of the requested jobs' buckets from their heads: it reads only what it returns, and one more item in each
 * list.
 */
export function findDue(space: Space, now: Instant, { jobs, patienceMs, aheadMs = 0, limit }: DueQuery): Due {
  if (areClaimsHeld(space, now)) {
    return { now, epoch: space.epoch, schedules: [], mineAt: now + aheadMs + HELD_MS, othersAt: null }
  }
  const heads: Head[] = []
  const rest = { mine: Infinity, others: Infinity }
  for (const { job, buckets } of jobs) {
    for (const [bucket, list] of space.wakes.jobs.get(job)?.buckets ?? []) {
      const mine = buckets[bucket] === '1'
      offer({ list, chunkIndex: 0, index: 0, mine, until: mine ? now + aheadMs : now - patienceMs }, heads, rest)
    }
  }
  const found: string[] = []
  while (heads.length > 0 && found.length < limit) {
    const head = takeFirst(heads)
    found.push(current(head)!.id)
    offer(following(head), heads, rest)
  }
  for (const head of heads) noteRest(head, rest)
  return {
    now,
    epoch: space.epoch,
    schedules: found.map((id) => space.data.schedules.get(id)!),
    mineAt: rest.mine === Infinity ? null : rest.mine,
    othersAt: rest.others === Infinity ? null : rest.others,
  }
}

/** A position in one list; everything before it has been taken. */
interface Head {
  readonly list: Sorted<WakeKey>
  readonly chunkIndex: number
  readonly index: number
  readonly mine: boolean
  readonly until: Instant
}

interface Rest {
  mine: Instant
  others: Instant
}

function current({ list, chunkIndex, index }: Head): WakeKey | undefined {
  return chunksOf(list)[chunkIndex]?.[index]
}

function following(head: Head): Head {
  const isLast = head.index + 1 === chunksOf(head.list)[head.chunkIndex]!.length
  return isLast ? { ...head, chunkIndex: head.chunkIndex + 1, index: 0 } : { ...head, index: head.index + 1 }
}

function noteRest(head: Head, rest: Rest): void {
  const { wakeAt } = current(head)!
  if (head.mine) rest.mine = Math.min(rest.mine, wakeAt)
  else rest.others = Math.min(rest.others, wakeAt)
}

/** Into the heap if it is due, otherwise into the summary of the rest. */
function offer(head: Head, heap: Head[], rest: Rest): void {
  const place = current(head)
  if (place === undefined) return
  if (place.wakeAt > head.until) {
    noteRest(head, rest)
    return
  }
  let at = heap.length
  while (at > 0) {
    const parent = (at - 1) >> 1
    if (compareHeads(heap[parent]!, head) <= 0) break
    heap[at] = heap[parent]!
    at = parent
  }
  heap[at] = head
}

function takeFirst(heap: Head[]): Head {
  const first = heap[0]!
  const last = heap.pop()!
  if (heap.length === 0) return first
  let at = 0
  for (;;) {
    let child = 2 * at + 1
    if (child >= heap.length) break
    if (child + 1 < heap.length && compareHeads(heap[child + 1]!, heap[child]!) < 0) child++
    if (compareHeads(last, heap[child]!) <= 0) break
    heap[at] = heap[child]!
    at = child
  }
  heap[at] = last
  return first
}

function compareHeads(one: Head, other: Head): number {
  return compareWake(current(one)!, current(other)!)
}
