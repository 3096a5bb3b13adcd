/** Seeded, so that every child draws the same expressions and instants (mulberry32). */
export interface Random {
  /** A whole number in [from, to]. */
  int(from: number, to: number): number
  pick<T>(values: readonly T[]): T
}

export function seeded(seed: number): Random {
  let state = seed | 0
  const unit = () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
  const int = (from: number, to: number) => from + Math.floor(unit() * (to - from + 1))
  return { int, pick: (values) => values[int(0, values.length - 1)]! }
}
