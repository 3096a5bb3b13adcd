/** When something was to start at the earliest, and at the latest. */
export interface Window {
  readonly from: number
  readonly to: number
}

export interface Matching {
  /** Which run stands for which target: indexes of both. */
  readonly matched: readonly { readonly target: number; readonly run: number }[]
  /** Indexes of the targets that nothing was run for. */
  readonly missed: readonly number[]
  /** Indexes of the runs that were run for nothing. */
  readonly extra: readonly number[]
}

/**
 * As many targets as possible, each with a run of its own that began in its window: for schedulers whose runs do not
 * say what they are for. Runs in order of time, each to the open window that closes first: never worse than another.
 */
export function matchWindows(targets: readonly Window[], runs: readonly number[]): Matching {
  const opening = targets.map((_, index) => index).sort((a, b) => targets[a]!.from - targets[b]!.from)
  const inOrder = runs.map((_, index) => index).sort((a, b) => runs[a]! - runs[b]!)
  const open = new Heap((target) => targets[target]!.to)
  const matched: { target: number; run: number }[] = []
  const missed: number[] = []
  const extra: number[] = []
  let next = 0
  for (const run of inOrder) {
    const at = runs[run]!
    for (; next < opening.length && targets[opening[next]!]!.from <= at; next++) open.push(opening[next]!)
    while (open.first !== undefined && targets[open.first]!.to < at) missed.push(open.pop())
    if (open.first === undefined) extra.push(run)
    else matched.push({ target: open.pop(), run })
  }
  missed.push(...open.items, ...opening.slice(next))
  return { matched, missed: missed.sort((a, b) => a - b), extra: extra.sort((a, b) => a - b) }
}

/** The one with the smallest rank first. */
class Heap {
  readonly items: number[] = []
  readonly #rank: (item: number) => number

  constructor(rank: (item: number) => number) {
    this.#rank = rank
  }

  get first(): number | undefined {
    return this.items[0]
  }

  push(item: number): void {
    let index = this.items.push(item) - 1
    while (index > 0) {
      const parent = (index - 1) >> 1
      if (this.#isInOrder(parent, index)) return
      this.#swap(parent, index)
      index = parent
    }
  }

  pop(): number {
    const first = this.items[0]!
    const last = this.items.pop()!
    if (this.items.length === 0) return first
    this.items[0] = last
    for (let index = 0; ; ) {
      const [left, right] = [2 * index + 1, 2 * index + 2]
      let least = index
      if (left < this.items.length && !this.#isInOrder(least, left)) least = left
      if (right < this.items.length && !this.#isInOrder(least, right)) least = right
      if (least === index) return first
      this.#swap(least, index)
      index = least
    }
  }

  #isInOrder(upper: number, lower: number): boolean {
    return this.#rank(this.items[upper]!) <= this.#rank(this.items[lower]!)
  }

  #swap(a: number, b: number): void {
    const item = this.items[a]!
    this.items[a] = this.items[b]!
    this.items[b] = item
  }
}
