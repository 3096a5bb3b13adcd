import type { Cast } from './draw-actions.ts'
import type { Dice } from './random.ts'
import type { Action } from './scenario.ts'

const STEPS_MS = [-3_600_000, -20_000, -700, 700, 20_000, 20_000, 60_000, 3_600_000]

/** The wall clock of a host is set while runs are open: of one process, of several that share it, or of all. */
export function drawHostSteps(dice: Dice, cast: Cast): Action[] {
  if (dice.chance(0.5)) return []
  const places = Array.from({ length: cast.nodes }, (_, place) => place)
  return Array.from({ length: dice.whole(1, 6) }, () => ({
    at: Math.floor(dice.roll() * cast.faultsMs * 0.97),
    kind: 'host-step' as const,
    nodes: dice.some(places, dice.whole(1, cast.nodes)),
    byMs: dice.pick(STEPS_MS),
  }))
}
