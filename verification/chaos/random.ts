/** Numbers that repeat with their seed. */
export interface Random {
  /** In [0, 1). */
  next(): number
  between(low: number, high: number): number
  chance(probability: number): boolean
  pick<Item>(items: readonly Item[]): Item
  shuffle<Item>(items: readonly Item[]): Item[]
  /** Another source, that repeats with this one. */
  fork(): Random
}

export function randomFrom(seed: number): Random {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const random: Random = {
    next,
    between: (low, high) => low + next() * (high - low),
    chance: (probability) => next() < probability,
    pick: (items) => items[Math.floor(next() * items.length)]!,
    shuffle(items) {
      const left = [...items]
      return items.map(() => left.splice(Math.floor(next() * left.length), 1)[0]!)
    },
    fork: () => randomFrom(Math.floor(next() * 2 ** 32)),
  }
  return random
}

/** In [0, 1), the same for the same texts and numbers in every process. */
export function fractionOf(...parts: readonly (string | number)[]): number {
  let hash = 0x811c9dc5
  for (const character of parts.join(' ')) hash = Math.imul(hash ^ character.charCodeAt(0), 0x01000193)
  return randomFrom(hash).next()
}
