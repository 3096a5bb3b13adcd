/** Events in the order of their times; those of one time in the order of `rank`, then as they were added. */
export interface Timed {
  readonly at: number
  readonly rank: number
}

interface Placed<Event> {
  readonly event: Event
  readonly order: number
}

/** A binary heap. */
export class EventQueue<Event extends Timed> {
  #heap: Placed<Event>[] = []
  #count = 0

  copy(): EventQueue<Event> {
    const copied = new EventQueue<Event>()
    copied.#heap = [...this.#heap]
    copied.#count = this.#count
    return copied
  }

  peek(): Event | undefined {
    return this.#heap[0]?.event
  }

  add(event: Event): void {
    const heap = this.#heap
    const placed = { event, order: this.#count++ }
    let index = heap.length
    heap.push(placed)
    while (index > 0) {
      const parent = (index - 1) >> 1
      if (!isBefore(placed, heap[parent]!)) break
      heap[index] = heap[parent]!
      index = parent
    }
    heap[index] = placed
  }

  take(): Event | undefined {
    const heap = this.#heap
    const first = heap[0]
    const last = heap.pop()
    if (first === undefined || last === undefined || heap.length === 0) return first?.event
    let index = 0
    for (let child = 1; child < heap.length; child = 2 * index + 1) {
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++
      if (!isBefore(heap[child]!, last)) break
      heap[index] = heap[child]!
      index = child
    }
    heap[index] = last
    return first.event
  }
}

function isBefore(one: Placed<Timed>, other: Placed<Timed>): boolean {
  if (one.event.at !== other.event.at) return one.event.at < other.event.at
  return one.event.rank === other.event.rank ? one.order < other.order : one.event.rank < other.event.rank
}
