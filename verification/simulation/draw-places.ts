import { boundsOf, ownershipMsOf } from './bounds.ts'
import { SHARED } from './draw-fleet-shape.ts'
import { HOG } from './draw-little-room.ts'
import { drawPlan, drawWork, type Setting } from './draw-plan.ts'
import { createDice, type Dice, seedOf } from './random.ts'
import type { Action, NodePlan, Plan, Release, Scenario } from './scenario.ts'

/** The job that fires on each host. */
export const SWEEP = 'sweep'

/** With longer leases it takes minutes until a host counts as dead. */
const LONGEST_LEASE_MS = 5_000

const ROLES = ['web', 'db']

/** What an operator may want of the schedule of one host. */
const ASKED = ['op-pause', 'op-resume', 'op-trigger', 'op-backfill', 'op-skip-next', 'op-cancel', 'op-retry']

/**
 * In some scenarios processes have labels and share hosts: some jobs belong to a label, one fires on each host, and hosts disappear and
 * come back. Drawn by dice of its own, so that the rest of a scenario stays what its seed draws.
 */
export function withPlaces(scenario: Scenario): Scenario {
  const dice = createDice(seedOf(scenario.seed, 'places'))
  const isFit = scenario.kind === 'seconds' && scenario.nodes.length > 1 && scenario.leaseMs <= LONGEST_LEASE_MS
  if (!isFit || !dice.chance(0.2)) return scenario
  const hosts = dice.whole(2, scenario.nodes.length)
  const nodes = scenario.nodes.map((node, place) => ({
    ...node,
    labels: { host: `h${(place < hosts ? place : dice.whole(0, hosts - 1)) + 1}`, role: dice.pick(ROLES) },
  }))
  const sweep = drawSweep(dice, scenario)
  const names = new Set(scenario.releases.flatMap(({ jobs }) => Object.keys(jobs)))
  const placed = new Map(
    [...names].flatMap((name) => (isPlaced(dice, name) ? [[name, dice.pick(ROLES)] as const] : [])),
  )
  const hasAll = dice.chance(0.7)
  const forms = drawForms(scenario)
  const releases = scenario.releases.map((release, index): Release => {
    const isScript = Object.keys(release.jobs).length === 0
    const jobs = Object.entries(release.jobs).map(([name, plan]): [string, Plan] => {
      const role = placed.get(name)
      return [name, role === undefined ? plan : { ...plan, on: { role: [role] } }]
    })
    const hasSweep = !isScript && (hasAll || index !== 1)
    const formed = forms.once === index ? { ...sweep, isOnEachHost: false } : sweep
    return { ...release, jobs: Object.fromEntries([...jobs, ...(hasSweep ? [[SWEEP, formed] as const] : [])]) }
  })
  const schedules = [...new Set(nodes.map(({ labels }) => `${SWEEP}@${labels.host}`))]
  const shaped: Scenario = {
    ...{ ...scenario, nodes, releases },
    work: {
      ...scenario.work,
      ...Object.fromEntries(schedules.map((name) => [name, drawWork(dice, settingOf(scenario))])),
      ...(forms.once === null ? {} : { [SWEEP]: drawWork(forms.dice, settingOf(scenario)) }),
    },
    actions: [...scenario.actions, ...askedOf(dice, scenario, schedules), ...leave(dice, scenario, nodes)]
      .filter(({ at }) => at < scenario.faultsMs)
      .sort((one, other) => one.at - other.at),
  }
  return { ...shaped, calmMs: Math.max(shaped.calmMs, ownershipMsOf(shaped) + boundsOf(shaped).lateMs) }
}

/** Which release has the job once for all hosts. Releases of one id would have it in two forms. */
function drawForms({ seed, releases }: Scenario): { readonly dice: Dice; readonly once: number | null } {
  const dice = createDice(seedOf(seed, 'forms'))
  const isFit = releases.length > 1 && new Set(releases.map(({ id }) => id)).size === releases.length
  return { dice, once: isFit && dice.chance(0.5) ? dice.whole(0, 1) : null }
}

function isPlaced(dice: Dice, name: string): boolean {
  return name !== SHARED && name !== HOG && dice.chance(0.4)
}

function settingOf({ kind, epoch, faultsMs, leaseMs }: Scenario): Setting {
  return { kind, epoch, faultsMs, leaseMs, zones: ['UTC'], groupLimit: 2 }
}

/** Without limits, which are those of one host then, and without transactions, which are known by the name of the job. */
function drawSweep(dice: Dice, scenario: Scenario): Plan {
  const plan = drawPlan(dice, settingOf(scenario), SWEEP, true)
  const guarantee = plan.spec.guarantee === 'exactly-once' ? 'at-least-once' : plan.spec.guarantee
  const trigger = plan.spec.trigger ?? { kind: 'every', everyMs: 1_000, anchor: 0 }
  const spec = { ...plan.spec, trigger, guarantee, group: null, jobLimit: null }
  const on = dice.chance(0.3) ? { on: { role: [dice.pick(ROLES)] } } : {}
  return { ...plan, spec, isOnEachHost: true, ...on }
}

/** Some of what operators ask of other schedules is asked of those of hosts as well. */
function askedOf(dice: Dice, { actions }: Scenario, schedules: readonly string[]): readonly Action[] {
  return actions.flatMap((action): Action[] => {
    if (!ASKED.includes(action.kind) || !dice.chance(0.3)) return []
    return [{ ...action, schedule: dice.pick(schedules) } as Action]
  })
}

/** All processes of a host end, and mostly come back. Processes of another host stay. */
function leave(dice: Dice, { faultsMs, holdDownMs }: Scenario, nodes: readonly NodePlan[]): readonly Action[] {
  if (dice.chance(0.3)) return []
  const host = dice.pick(nodes).labels!.host
  const places = nodes.flatMap(({ labels }, place) => (labels!.host === host ? [place] : []))
  if (places.length === nodes.length) return []
  const at = Math.floor(faultsMs * (0.1 + 0.5 * dice.roll()))
  const backAt = dice.chance(0.75) ? at + Math.floor(holdDownMs * dice.pick([0.5, 1.5, 3])) + 20_000 : null
  return places.flatMap((node): Action[] => {
    const vanish: Action = { at, kind: 'vanish', node, how: dice.pick(['stop', 'crash']) }
    return backAt === null
      ? [vanish]
      : [vanish, { at: backAt, kind: 'appear', node, release: nodes[node]!.release ?? 0 }]
  })
}
