import { seededRandom } from '../../packages/cronce/test/virtual/world.ts'

/** Choices of one seed. */
export interface Dice {
  /** Uniform in [0, 1). */
  readonly roll: () => number
  readonly chance: (probability: number) => boolean
  /** Whole, both ends included. */
  readonly whole: (from: number, to: number) => number
  readonly pick: <Item>(items: readonly Item[]) => Item
  /** This many different items, in their original order. */
  readonly some: <Item>(items: readonly Item[], count: number) => Item[]
}

export function createDice(seed: number): Dice {
  const roll = seededRandom(seed)
  const whole = (from: number, to: number): number => from + Math.floor(roll() * (to - from + 1))
  return {
    roll,
    chance: (probability) => roll() < probability,
    whole,
    pick: (items) => items[whole(0, items.length - 1)]!,
    some(items, count) {
      const left = items.map((_, index) => index)
      while (left.length > count) left.splice(whole(0, left.length - 1), 1)
      return left.map((index) => items[index]!)
    },
  }
}

/** The same number for the same text and seed, independent of earlier calls. */
export function seedOf(seed: number, text: string): number {
  let hash = seed ^ 0x811c9dc5
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
  return (hash ^ (hash >>> 13)) >>> 0
}
