import type { Spec } from '../../packages/checker/src/history.ts'
import { createDice, type Dice, seedOf } from './random.ts'
import type { Action, Plan, Scenario, Work } from './scenario.ts'

/** The job that takes the room. */
export const HOG = 'hog'

/**
 * In some scenarios there is little room for long: nodes run one or two fires at a time, and now and then long work takes all of it, or
 * uses up the group's limit. Drawn by dice of its own, so that the rest of a scenario stays what its seed draws.
 */
export function withLittleRoom(scenario: Scenario): Scenario {
  const dice = createDice(seedOf(scenario.seed, 'little room'))
  if (scenario.kind !== 'seconds' || !dice.chance(0.2)) return scenario
  const nodes = scenario.nodes.map((node) => ({ ...node, concurrency: dice.whole(1, 2) }))
  const room = nodes.reduce((sum, { concurrency }) => sum + concurrency, 0)
  const plan = drawHog(dice, scenario)
  return {
    ...scenario,
    nodes,
    releases: scenario.releases.map((release) => ({ ...release, jobs: { ...release.jobs, [HOG]: plan } })),
    work: { ...scenario.work, [HOG]: drawLongWork(dice) },
    actions: [...scenario.actions, ...drawRushes(dice, scenario, room)].sort((one, other) => one.at - other.at),
  }
}

/** A plan of the scenario without what would keep it from running for long, and without instants of its own. */
function drawHog(dice: Dice, { releases }: Scenario): Plan {
  const plans = Object.values(releases[0]!.jobs)
  const group = plans.find(({ spec }) => spec.group !== null)?.spec.group ?? null
  const spec: Spec = {
    ...plans[0]!.spec,
    ...{ job: HOG, trigger: null, start: null, end: null, limit: null, guarantee: 'at-least-once', jitterMs: 0 },
    ...{ overlap: { kind: 'allow', limit: 20 }, timeout: { runMs: null, graceMs: 2_000 } },
    ...{ retry: { attempts: 0, crashes: 1, deadlineMs: null }, jobLimit: null, pauseAfter: null },
    group: dice.chance(0.5) ? group : null,
  }
  return { ...plans[0]!, spec }
}

function drawLongWork(dice: Dice): Work {
  const leastMs = dice.whole(10, 20) * 1_000
  return {
    ...{ leastMs, mostMs: leastMs + dice.whole(5, 20) * 1_000 },
    ...{ throws: 0, fatal: 0, ignoresSignal: 0, blocks: 0, blockMs: 0, steps: 0, transacts: 0, tells: 0 },
  }
}

/** As many triggers as there is room for, all at once, a few times. */
function drawRushes(dice: Dice, { faultsMs }: Scenario, room: number): Action[] {
  return Array.from({ length: dice.whole(1, 2) }, () => Math.floor(dice.roll() * faultsMs * 0.6)).flatMap((at) =>
    Array.from({ length: room }, (_, index): Action => {
      return { at: at + 20 * index, kind: 'op-trigger', schedule: HOG, dedupe: null, overlap: 'ignore' }
    }),
  )
}
