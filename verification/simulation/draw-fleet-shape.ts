import { createDice, type Dice, seedOf } from './random.ts'
import type { Action, Plan, Release, Scenario } from './scenario.ts'

/** Every instance has it: schedules that an operator makes are of this job. */
export const SHARED = 'shared'

/**
 * In some scenarios not all processes declare the same: web and worker processes of one release, the same without deployment ids, and
 * scripts without jobs that come and go. Drawn by dice of its own, so that the rest of a scenario stays what its seed draws.
 */
export function withFleetShape(scenario: Scenario): Scenario {
  const dice = createDice(seedOf(scenario.seed, 'fleet shape'))
  const isFit = scenario.kind === 'seconds' && scenario.nodes.length > 1
  if (!isFit || !dice.chance(0.3)) return scenario
  const isImplicit = dice.chance(0.5)
  const named = isImplicit ? { ...scenario, releases: scenario.releases.map(withoutId) } : scenario
  const shaped = scenario.releases.length === 1 && dice.chance(0.6) ? withRoles(dice, named) : named
  return dice.chance(0.5) ? withScripts(dice, shaped) : shaped
}

const withoutId = (release: Release): Release => ({ ...release, isImplicit: true })

/** Each node is web or worker, and both have at least one node. */
function withRoles(dice: Dice, scenario: Scenario): Scenario {
  const [release] = scenario.releases
  const names = Object.keys(release!.jobs).filter((name) => name !== SHARED)
  const half = dice.whole(0, names.length)
  const jobsOf = (chosen: readonly string[]): Record<string, Plan> =>
    Object.fromEntries(
      [...chosen, SHARED].flatMap((name) => (release!.jobs[name] ? [[name, release!.jobs[name]]] : [])),
    )
  const web: Release = { ...release!, jobs: jobsOf(names.slice(0, half)) }
  const worker: Release = { ...release!, jobs: jobsOf(names.slice(half)) }
  const nodes = scenario.nodes.map((node, place) => ({
    ...node,
    release: place === 0 ? 0 : place === 1 ? 1 : dice.whole(0, 1),
  }))
  // The second release is another role, not a later one.
  const actions = scenario.actions.filter(({ kind }) => kind !== 'deploy' && kind !== 'op-activate')
  return { ...scenario, nodes, releases: [web, worker], actions }
}

/** A script replaces the last node for a while, with an id of its own. */
function withScripts(dice: Dice, scenario: Scenario): Scenario {
  const script: Release = { id: 'script', jobs: {}, isImplicit: dice.chance(0.5) }
  const release = scenario.releases.length
  const node = scenario.nodes.length - 1
  const back = scenario.nodes[node]!.release ?? 0
  const at = Math.floor(scenario.faultsMs * (0.1 + 0.5 * dice.roll()))
  const swaps: Action[] = [
    { at, kind: 'deploy', node, release, downMs: 0 },
    { at: at + dice.whole(1, 30) * 1_000, kind: 'deploy', node, release: back, downMs: dice.pick([0, 500]) },
  ]
  const actions = [...scenario.actions, ...swaps.filter((swap) => swap.at < scenario.faultsMs)]
  // The last one comes back as what it was, also if faults end before.
  const isBack = swaps[1]!.at < scenario.faultsMs
  if (!isBack) return scenario
  return {
    ...scenario,
    releases: [...scenario.releases, script],
    actions: actions.sort((one, other) => one.at - other.at),
  }
}
