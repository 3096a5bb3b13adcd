import type { World } from '../../packages/cronce/test/virtual/world.ts'

/** Things that last for a while, and end early when all is to be well. */
export interface Spells {
  /** Calls `end` once: after `forMs`, or with all others. */
  last(forMs: number, end: () => void): void
  endAll(): void
}

export function createSpells(world: World): Spells {
  const ends = new Set<() => void>()
  return {
    last(forMs, end) {
      const once = (): void => {
        if (ends.delete(once)) end()
      }
      ends.add(once)
      world.at(world.now() + forMs, once)
    },
    endAll() {
      for (const end of [...ends]) end()
    },
  }
}
