import type { SyncPoint } from '../../packages/cronce/src/engine/parts.ts'
import { createDice, type Dice, seedOf } from './random.ts'
import type { Action, Scenario } from './scenario.ts'

/** Rates of clocks that the engine allows for. */
const RATES = [1, 1, 0.9998, 1.0002]
/** Where a run is claimed and has not started. */
const POINTS: readonly SyncPoint[] = ['run:starting', 'run:due', 'run:due']

/**
 * In half of the scenarios the store notices processes that are gone, and fires are claimed ahead of their due time. Between claim and
 * start, processes crash, are paused or taken for gone, and the clock of the store is set. Drawn by dice of its own, so that the rest of
 * a scenario stays what its seed draws.
 */
export function withClaimAhead(scenario: Scenario): Scenario {
  const dice = createDice(seedOf(scenario.seed, 'claim ahead'))
  if (scenario.kind !== 'seconds' || !dice.chance(0.5)) return scenario
  const claimAheadMs = Math.min(dice.pick([100, 300, 300, 300, 200, 50]), scenario.leaseMs / 4)
  // What one host can do wrong to the store's clock is drawn elsewhere; clocks that run wrong by more than the bound are no fair game.
  const nodes = scenario.nodes.map((node) => ({ ...node, rate: dice.pick(RATES) }))
  const faults = Array.from({ length: dice.whole(2, 10) }, () => drawFault(dice, scenario))
  const actions = [...scenario.actions, ...faults].sort((one, other) => one.at - other.at)
  return { ...scenario, claimAheadMs, nodes, actions }
}

/** A suspension that is shorter than the engine notices moves the times that it writes by as much. */
const NOTICED_MS = 100

function howLong(dice: Dice, forMs: number): 'stopped' | 'suspended' {
  const how = dice.pick(['stopped', 'suspended'] as const)
  return forMs > NOTICED_MS ? how : 'stopped'
}

function drawFault(dice: Dice, { nodes, faultsMs, leaseMs }: Scenario): Action {
  const at = Math.floor(dice.roll() * faultsMs * 0.97)
  const node = dice.whole(0, nodes.length - 1)
  const forMs = dice.pick([50, 150, 300, 600, 2_000, leaseMs * 1.5])
  switch (dice.whole(1, 5)) {
    case 1:
      return { at, kind: 'crash', node, deliveries: null, point: dice.pick(POINTS), downMs: dice.whole(0, 5) * 1_000 }
    case 2:
      return { at, kind: 'pause', node, point: dice.pick(POINTS), forMs, how: howLong(dice, forMs) }
    case 3:
      return { at, kind: 'store-step', byMs: dice.pick([-2_000, -300, -80, 80, 300, 2_000]) }
    default:
      return { at, kind: 'session-lost', node, forMs, isTold: dice.chance(0.5) }
  }
}
