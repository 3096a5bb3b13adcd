import { boundsOf } from './bounds.ts'
import { drawActions, SLOWEST_MS } from './draw-actions.ts'
import { drawAlerts } from './draw-alerts.ts'
import { withApps } from './draw-apps.ts'
import { withCalendars } from './draw-calendars.ts'
import { drawCalls } from './draw-calls.ts'
import { withClaimAhead } from './draw-claim-ahead.ts'
import { drawFeeds } from './draw-feeds.ts'
import { withFleetShape } from './draw-fleet-shape.ts'
import { drawHostSteps } from './draw-host-steps.ts'
import { withLittleRoom } from './draw-little-room.ts'
import { withPlaces } from './draw-places.ts'
import { drawPlan, drawWork, type Setting, ZONE_CHANGES } from './draw-plan.ts'
import { drawSimultaneous } from './draw-simultaneous.ts'
import { createDice, type Dice, seedOf } from './random.ts'
import type { Plan, Release, Scenario, Work } from './scenario.ts'

const DAY = 86_400_000

/** One scenario in this many is about days, time zones and retention; the others are about seconds. */
const DAYS_ONE_IN = 6

export function drawScenario(seed: number): Scenario {
  const dice = createDice(Math.imul(seed, 0x9e3779b1))
  const kind = dice.whole(1, DAYS_ONE_IN) === 1 ? 'days' : 'seconds'
  const change = dice.pick(ZONE_CHANGES)
  const leaseMs = kind === 'days' ? 600_000 : dice.pick([3_000, 3_000, 5_000, 5_000, 15_000])
  const setting: Setting = {
    kind,
    leaseMs,
    epoch:
      change.day -
      (kind === 'days' ? dice.whole(12, 36) * 3_600_000 : dice.whole(0, 20) * 3_600_000 + dice.whole(0, 999)),
    faultsMs: kind === 'days' ? dice.whole(48, 84) * 3_600_000 : dice.whole(50, 150) * 1_000,
    zones: [change.tz, change.tz, dice.pick(ZONE_CHANGES).tz],
    groupLimit: dice.whole(1, 3),
  }
  const declared = Array.from({ length: dice.whole(1, 6) }, (_, index) => `s${index + 1}`)
  const created = Array.from({ length: dice.whole(0, 2) }, (_, index) => `c${index + 1}`)
  const releases = drawReleases(dice, setting, declared)
  // With its own dice, so that earlier seeds still draw the same scenario.
  const size = createDice(seedOf(seed, 'concurrency'))
  const isNarrow = size.chance(0.25)
  const nodes = Array.from({ length: dice.whole(1, 5) }, () => ({
    concurrency: isNarrow ? size.whole(1, 4) : 50,
    skewMs: dice.pick([0, 0, 50, -400, 60_000, -60_000, 3_600_000]),
    // Heartbeats are rare in scenarios of days. A larger drift between two of them than a real clock has would be
    // unfair.
    rate: kind === 'days' ? dice.pick([1, 1, 0.9998, 1.0002]) : dice.pick([1, 1, 1, 0.95, 1.05]),
  }))
  const cast = { ...setting, nodes: nodes.length, releases: releases.length, declared, created }
  const scenario: Scenario = {
    ...{ format: 1, seed, kind, epoch: setting.epoch, leaseMs, faultsMs: setting.faultsMs },
    holdDownMs: kind === 'days' ? 4 * leaseMs : dice.pick([5_000, 20_000]),
    drainMs: dice.pick([0, 1_000, 10_000]),
    latencyMs: dice.pick([2, 10, 50]),
    ...{ nodes, releases },
    created: Object.fromEntries(
      created.map((name): [string, Plan] => [name, drawPlan(dice, setting, 'shared', false)]),
    ),
    work: Object.fromEntries(
      [...declared, ...created, 'added', 'shared'].map((name): [string, Work] => [name, drawWork(dice, setting)]),
    ),
    calmMs: 0,
    actions: [
      ...drawActions(dice, cast),
      ...drawSimultaneous(createDice(seedOf(seed, 'simultaneous')), cast),
      ...drawHostSteps(createDice(seedOf(seed, 'host steps')), cast),
      ...drawCalls(createDice(seedOf(seed, 'calls')), cast),
    ].sort((one, other) => one.at - other.at),
    feeds: drawFeeds(createDice(seedOf(seed, 'feeds')), setting),
    alerts: drawAlerts(createDice(seedOf(seed, 'alerts')), setting),
  }
  const drawn = withSettleDelay(
    withClaimAhead(withApps(withPlaces(withFleetShape(withLittleRoom({ ...scenario, calmMs: calmMsOf(scenario) }))))),
  )
  return withCalendars(drawn)
}

/** In a quarter of the scenarios settlements are gathered. Drawn by dice of its own, so that the rest stays what its seed draws. */
function withSettleDelay(scenario: Scenario): Scenario {
  const dice = createDice(seedOf(scenario.seed, 'settle delay'))
  return dice.chance(0.25) ? { ...scenario, settleDelayMs: dice.pick([10, 25, 25, 100, 1_000]) } : scenario
}

/** Long enough to be well again, and for some fires after that. */
function calmMsOf(scenario: Scenario): number {
  return boundsOf(scenario).recoveryMs + 2 * SLOWEST_MS + (scenario.kind === 'days' ? DAY / 4 : 20_000)
}

/** The second release, if any, changes one schedule, gives one up, and adds one. */
function drawReleases(dice: Dice, setting: Setting, declared: readonly string[]): Release[] {
  const shared = { ...drawPlan(dice, setting, 'shared', true) }
  const onDemand: Plan = { ...shared, spec: { ...shared.spec, trigger: null, start: null, end: null, limit: null } }
  const jobs = Object.fromEntries(declared.map((name): [string, Plan] => [name, drawPlan(dice, setting, name, true)]))
  const first: Release = { id: 'v1', jobs: { ...jobs, shared: onDemand } }
  if (dice.chance(0.6)) return [first]
  const changed = dice.pick(declared)
  const gone = dice.chance(0.5) ? dice.pick(declared) : null
  const kept = Object.entries(first.jobs).filter(([name]) => name !== gone)
  const next = kept.map(([name, plan]): [string, Plan] => [
    name,
    name === changed ? drawPlan(dice, setting, name, true) : plan,
  ])
  if (dice.chance(0.5)) next.push(['added', drawPlan(dice, setting, 'added', true)])
  return [first, { id: 'v2', jobs: Object.fromEntries(next) }]
}
