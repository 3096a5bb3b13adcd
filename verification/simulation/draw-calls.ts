import type { Cast } from './draw-actions.ts'
import type { Dice } from './random.ts'
import type { Action } from './scenario.ts'

/** Processes that only call `runDue`, beside those that stay; some are killed. By dice of its own: other draws do not depend on it. */
export function drawCalls(dice: Dice, cast: Cast): Action[] {
  if (!dice.chance(0.35)) return []
  return Array.from({ length: dice.whole(2, 12) }, (): Action => {
    const killedAfterMs = dice.chance(0.35) ? dice.pick([0, 20, 200, 2_000]) : null
    const at = Math.floor(dice.roll() * cast.faultsMs * 0.97)
    return { at, kind: 'call', node: dice.whole(0, cast.nodes - 1), killedAfterMs }
  })
}
