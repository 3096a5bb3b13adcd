import type { Setting } from './draw-plan.ts'
import type { Dice } from './random.ts'
import { type FeedPlan, LINK_FAULTS } from './scenario.ts'

/** Feeds that begin anywhere in the trouble. By dice of its own: other draws do not depend on it. */
export function drawFeeds(dice: Dice, { kind, faultsMs }: Setting): FeedPlan[] {
  // Every look costs time here, too.
  if (dice.chance(kind === 'days' ? 0.8 : 0.5)) return []
  return Array.from(
    { length: kind === 'days' ? 1 : dice.whole(1, 2) },
    (): FeedPlan => ({
      at: Math.floor(dice.roll() * faultsMs * 0.9),
      intervalMs: kind === 'days' ? 60_000 : dice.pick([500, 1_000, 1_000, 5_000]),
      fault: dice.pick(LINK_FAULTS),
      rate: dice.pick([0, 0.02, 0.1, 0.3, 0.5]),
      slowMs: dice.pick([200, 3_000, 12_000]),
    }),
  )
}
