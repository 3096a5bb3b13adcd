import type { Setting } from './draw-plan.ts'
import type { Dice } from './random.ts'
import type { AlertPlan } from './scenario.ts'

/** Some fleets watch themselves. By dice of its own: other draws do not depend on it. */
export function drawAlerts(dice: Dice, { kind, faultsMs }: Setting): AlertPlan | undefined {
  // A look every few seconds of some days would take too long here.
  if (kind === 'days' || dice.chance(0.8)) return undefined
  const isDown = dice.chance(0.6)
  const from = Math.floor(dice.roll() * faultsMs * 0.8)
  return {
    everyMs: dice.pick([1_000, 2_000, 5_000]),
    gatherMs: dice.pick([0, 500, 3_000]),
    takesMs: dice.pick([0, 20, 2_000]),
    down: isDown ? { from, to: from + dice.whole(1, 40) * 1_000 } : null,
  }
}
