import type { Action, Scenario } from './scenario.ts'
import { type Outcome, simulate } from './simulate.ts'

/** The same violation by as little as possible. Gives up when the time is up, with the best so far. */
export async function shrink(scenario: Scenario, name: string, seconds: number): Promise<Outcome> {
  const end = performance.now() + seconds * 1_000
  let best = await simulate(scenario.seed, { scenario })
  const tryThis = async (smaller: Scenario): Promise<boolean> => {
    if (performance.now() > end) return false
    const outcome = await simulate(smaller.seed, { scenario: smaller })
    if (!outcome.violations.some((violation) => violation.name === name)) return false
    best = outcome
    return true
  }
  for (let size = sizeOf(best.scenario) + 1; sizeOf(best.scenario) < size; ) {
    size = sizeOf(best.scenario)
    await withoutKinds(() => best.scenario, tryThis)
    await withoutActions(() => best.scenario, tryThis)
    await withoutNodes(() => best.scenario, tryThis)
    await withoutSchedules(() => best.scenario, tryThis)
    if (performance.now() > end) break
  }
  return best
}

type Try = (smaller: Scenario) => Promise<boolean>

function sizeOf({ actions, nodes, releases, created }: Scenario): number {
  const declared = releases.reduce((sum, { jobs }) => sum + Object.keys(jobs).length, 0)
  return actions.length + nodes.length + declared + Object.keys(created).length
}

async function withoutKinds(scenario: () => Scenario, tryThis: Try): Promise<void> {
  for (const kind of new Set(scenario().actions.map((action) => action.kind))) {
    await tryThis({ ...scenario(), actions: scenario().actions.filter((action) => action.kind !== kind) })
  }
}

/** Removes halves, quarters, … single actions, as long as the failure remains. */
async function withoutActions(scenario: () => Scenario, tryThis: Try): Promise<void> {
  for (let size = Math.ceil(scenario().actions.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let start = 0; start < scenario().actions.length; ) {
      const { actions } = scenario()
      const fewer = [...actions.slice(0, start), ...actions.slice(start + size)]
      if (!(await tryThis({ ...scenario(), actions: fewer }))) start += size
    }
  }
}

async function withoutNodes(scenario: () => Scenario, tryThis: Try): Promise<void> {
  for (;;) {
    const { nodes, actions } = scenario()
    const last = nodes.length - 1
    if (last === 0) return
    const fewer = actions.filter((action) => !isAbout(action, last))
    if (!(await tryThis({ ...scenario(), nodes: nodes.slice(0, -1), actions: fewer }))) return
  }
}

function isAbout(action: Action, node: number): boolean {
  return 'node' in action && action.node === node
}

async function withoutSchedules(scenario: () => Scenario, tryThis: Try): Promise<void> {
  const names = new Set(scenario().releases.flatMap(({ jobs }) => Object.keys(jobs)))
  for (const name of [...names, ...Object.keys(scenario().created)]) {
    const { releases, created, actions } = scenario()
    const without = <Item>(record: Readonly<Record<string, Item>>): Record<string, Item> =>
      Object.fromEntries(Object.entries(record).filter(([key]) => key !== name))
    await tryThis({
      ...scenario(),
      releases: releases.map((release) => ({ ...release, jobs: without(release.jobs) })),
      created: without(created),
      actions: actions.filter((action) => !('schedule' in action && action.schedule === name)),
    })
  }
}
