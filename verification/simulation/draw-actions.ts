import { SYNC_POINTS } from '../sync-points.ts'
import { drawPlan, type Setting } from './draw-plan.ts'
import type { Dice } from './random.ts'
import {
  type Action,
  type ClockAction,
  LINK_FAULTS,
  type LinkAction,
  type OperatorAction,
  type ProcessAction,
} from './scenario.ts'

/** What may be acted on. */
export interface Cast extends Setting {
  readonly nodes: number
  readonly releases: number
  /** Declared in the code, and made by an operator. */
  readonly declared: readonly string[]
  readonly created: readonly string[]
}

type Wish = ProcessAction | ClockAction | LinkAction | OperatorAction

const KINDS = [
  'crash',
  'pause',
  'block',
  'stop',
  'wall-step',
  'store-step',
  'link',
  'partition',
  'outage',
  'deaf',
  'downtime',
  'operator',
] as const
type Kind = (typeof KINDS)[number]

/** Which kinds there are differs from seed to seed: what hides behind one of them shows where that is missing. */
export function drawActions(dice: Dice, cast: Cast): Action[] {
  const kinds = KINDS.filter((kind) => dice.chance(kind === 'downtime' ? 0.25 : kind === 'operator' ? 0.7 : 0.5))
  const actions: Action[] = []
  for (const kind of kinds) {
    const most = kind === 'store-step' || kind === 'downtime' || kind === 'outage' ? 3 : kind === 'operator' ? 25 : 10
    const count = dice.whole(1, most)
    for (let index = 0; index < count; index++) {
      const at = Math.floor(dice.roll() * cast.faultsMs * 0.97)
      for (const wish of drawWishes(dice, cast, kind))
        actions.push({ at: at + (wish.kind === 'deploy' ? index : 0), ...wish })
    }
  }
  if (dice.chance(0.33)) {
    const rate = dice.pick([0.01, 0.03, 0.1])
    actions.push({ at: 0, kind: 'trouble', forMs: cast.faultsMs, rate, slowMs: dice.pick([200, SLOWEST_MS]) })
  }
  if (cast.releases > 1) actions.push(...drawDeploys(dice, cast))
  for (let reads = 0; reads < 2; reads++) {
    actions.push({ at: Math.floor(cast.faultsMs * (0.3 + 0.4 * reads + 0.1 * dice.roll())), kind: 'read' })
  }
  return actions.sort((one, other) => one.at - other.at)
}

function drawWishes(dice: Dice, cast: Cast, kind: Kind): Wish[] {
  const node = dice.whole(0, cast.nodes - 1)
  switch (kind) {
    case 'crash':
      return [drawCrash(dice, cast, node)]
    case 'pause':
      return [drawPause(dice, cast, node)]
    case 'block':
      return [{ kind: 'block', node, forMs: drawSpell(dice, cast) }]
    case 'stop':
      return [{ kind: 'stop', node, downMs: drawSpell(dice, cast) }]
    case 'wall-step':
      return [{ kind: 'wall-step', node, byMs: dice.pick([-30_000, -1_000, 1_000, 30_000, 3_600_000]) }]
    case 'store-step':
      return [{ kind: 'store-step', byMs: drawStoreStep(dice, cast) }]
    case 'downtime': {
      const downMs = cast.kind === 'days' ? dice.whole(1, 10) * 3_600_000 : dice.whole(5, 60) * 1_000
      return Array.from({ length: cast.nodes }, (_, index) =>
        dice.chance(0.5)
          ? { kind: 'crash', node: index, deliveries: null, point: null, downMs }
          : { kind: 'stop', node: index, downMs },
      )
    }
    case 'operator':
      return drawOperator(dice, cast)
    default:
      return [drawLink(dice, cast, kind, node)]
  }
}

function drawCrash(dice: Dice, cast: Cast, node: number): Wish {
  const how = dice.whole(0, 3)
  return {
    ...{ kind: 'crash', node },
    deliveries: how === 1 ? dice.whole(1, 40) : null,
    point: how >= 2 ? dice.pick(SYNC_POINTS) : null,
    downMs: dice.pick([0, 200, 2_000, cast.leaseMs, 3 * cast.leaseMs]),
  }
}

function drawPause(dice: Dice, cast: Cast, node: number): Wish {
  const how = dice.pick(['stopped', 'stopped', 'suspended'] as const)
  const isAmbush = dice.chance(0.5)
  const forMs = isAmbush ? Math.floor(cast.leaseMs * (1 + 2 * dice.roll())) : drawSpell(dice, cast)
  return { kind: 'pause', node, point: isAmbush ? dice.pick(SYNC_POINTS) : null, forMs, how }
}

/** From below the lease to well beyond it. */
function drawSpell(dice: Dice, { leaseMs }: Cast): number {
  return Math.floor(dice.pick([500, leaseMs * 0.5, leaseMs * 1.2, leaseMs * 2.5]) * (0.5 + dice.roll()))
}

function drawStoreStep(dice: Dice, { kind, leaseMs }: Cast): number {
  const unit = kind === 'days' ? 60_000 : 1_000
  return dice.pick([-1, -20, 1, 30, 600, Math.ceil(leaseMs / unit) * 2]) * unit
}

/** One way: beyond every deadline. */
export const SLOWEST_MS = 12_000

function drawLink(dice: Dice, cast: Cast, kind: 'link' | 'partition' | 'outage' | 'deaf', node: number): Wish {
  const forMs = drawSpell(dice, cast)
  const silent = dice.pick(['request-lost', 'answer-lost', 'throws'] as const)
  if (kind === 'deaf') return { kind, node, forMs: 3 * forMs }
  if (kind === 'partition') return { kind, node, forMs, fault: silent }
  if (kind === 'outage') return { kind, forMs, fault: silent }
  const whose = dice.chance(0.2) ? -1 : node
  const slowMs = dice.pick([200, 3_000, SLOWEST_MS])
  return {
    ...{ kind, node: whose, forMs: 4 * forMs, fault: dice.pick(LINK_FAULTS) },
    ...{ rate: dice.pick([0.02, 0.1, 0.3]), slowMs },
  }
}

const MISSED = ['skip', 'latest', 'all'] as const

function drawOperator(dice: Dice, cast: Cast): Wish[] {
  const schedule = dice.pick([...cast.declared, ...cast.created])
  const which = dice.whole(0, 9)
  // What was seen may have passed when it is asked for.
  const thinkMs = dice.chance(0.5) ? dice.whole(1, 5_000) : 0
  const unit = cast.kind === 'days' ? 3_600_000 : 10_000
  switch (dice.whole(0, 11)) {
    case 0:
    case 1:
      return [
        {
          ...{ kind: 'op-pause', schedule, missed: dice.pick(MISSED) },
          untilMs: dice.chance(0.5) ? dice.whole(1, 6) * unit : null,
        },
      ]
    case 2:
    case 3:
      return [{ kind: 'op-resume', schedule, missed: dice.pick(MISSED) }]
    case 4:
    case 5:
      return [
        {
          ...{ kind: 'op-trigger', schedule, dedupe: dice.chance(0.5) ? `key-${dice.whole(1, 2)}` : null },
          overlap: dice.pick(['honour', 'honour', 'ignore']),
        },
      ]
    case 6:
      return [
        {
          ...{ kind: 'op-backfill', schedule, fromMsAgo: dice.whole(2, 12) * unit, toMsAgo: dice.whole(0, 4) * unit },
          force: dice.chance(0.3),
        },
      ]
    case 7:
      return [{ kind: 'op-skip-next', schedule, thinkMs }]
    case 8:
      return [{ kind: 'op-cancel', schedule, which, what: dice.pick(['fire', 'run']), thinkMs }]
    case 9:
      return [{ kind: 'op-retry', schedule, which, force: dice.chance(0.4) }]
    case 10:
      return [{ kind: 'op-drain', node: dice.whole(0, cast.nodes - 1), forMs: dice.whole(1, 5) * unit }]
    default:
      return [drawChange(dice, cast)]
  }
}

function drawChange(dice: Dice, cast: Cast): Wish {
  if (cast.created.length === 0) return { kind: 'op-resume', schedule: cast.declared[0]!, missed: 'skip' }
  const schedule = dice.pick(cast.created)
  if (dice.chance(0.3)) return { kind: 'op-remove', schedule }
  const plan = drawPlan(dice, cast, 'shared', false)
  return { kind: 'op-define', schedule, how: dice.pick(['create', 'put', 'replace']), plan }
}

/** One node after the other gets the next release; perhaps one comes back with the old one; perhaps all go back. */
function drawDeploys(dice: Dice, cast: Cast): Action[] {
  const actions: Action[] = []
  const gap = cast.kind === 'days' ? 120_000 : 3_000
  let at = Math.floor(cast.faultsMs * (0.2 + 0.3 * dice.roll()))
  for (let node = 0; node < cast.nodes; node++, at += gap) {
    actions.push({ at, kind: 'deploy', node, release: 1, downMs: dice.pick([0, 500, gap]) })
  }
  const after = at + Math.floor(cast.faultsMs * 0.2 * dice.roll())
  if (dice.chance(0.4)) actions.push({ at: after, kind: 'deploy', node: 0, release: 0, downMs: 0 })
  if (dice.chance(0.2)) actions.push({ at: after, kind: 'op-activate', release: dice.whole(0, 1) })
  if (dice.chance(0.5)) {
    for (let node = 0; node < cast.nodes; node++) {
      actions.push({ at: after + gap * (node + 2), kind: 'deploy', node, release: dice.pick([1, 0]), downMs: 0 })
    }
  }
  return actions.filter((action) => action.at < cast.faultsMs)
}
