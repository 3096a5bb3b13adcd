import type { Time } from './history.ts'

/** Something that lasted; `to` is infinite if it has not ended. */
export interface Span<Item> {
  readonly from: Time
  readonly to: Time
  readonly item: Item
}

/** Answers which of many spans touch a given one, without looking at all of them. */
export interface SpanIndex<Item> {
  some(from: Time, to: Time, test?: (item: Item) => boolean): boolean
  count(from: Time, to: Time, test?: (item: Item) => boolean): number
}

export function spanIndex<Item>(spans: readonly Span<Item>[]): SpanIndex<Item> {
  const sorted = spans.toSorted((a, b) => a.from - b.from)
  const latestEnd: Time[] = []
  let latest = Number.NEGATIVE_INFINITY
  for (const { to } of sorted) {
    latest = Math.max(latest, to)
    latestEnd.push(latest)
  }
  function* touching(from: Time, to: Time): Generator<Item> {
    for (let index = countUpTo(sorted, to) - 1; index >= 0 && latestEnd[index]! >= from; index--) {
      if (sorted[index]!.to >= from) yield sorted[index]!.item
    }
  }
  return {
    some(from, to, test) {
      for (const item of touching(from, to)) if (test === undefined || test(item)) return true
      return false
    },
    count(from, to, test) {
      let count = 0
      for (const item of touching(from, to)) if (test === undefined || test(item)) count++
      return count
    },
  }
}

/** How many begin at `to` or before. */
function countUpTo(sorted: readonly Span<unknown>[], to: Time): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (sorted[middle]!.from <= to) low = middle + 1
    else high = middle
  }
  return low
}
