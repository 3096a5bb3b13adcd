import { isDeepStrictEqual } from 'node:util'
import type { Entry, Ledger, Ownership } from '../../packages/checker/src/history.ts'
import { memory } from '../../packages/cronce/src/store/memory/memory.ts'
import { createWorld } from '../../packages/cronce/test/virtual/world.ts'
import type { Acting } from './act.ts'
import { countEvent } from './count-events.ts'
import { transactingIn, type Workplace } from './handle.ts'
import { checkFenced } from './invariants/check-runs.ts'
import { judgeActivity } from './invariants/judge-activity.ts'
import { judgeAlerts } from './invariants/judge-alerts.ts'
import { judgeApps } from './invariants/judge-apps.ts'
import { judgeFeeds } from './invariants/judge-feeds.ts'
import { judgePlaces } from './invariants/judge-places.ts'
import type { Step } from './invariants/mirror.ts'
import { observeStore, type Watcher } from './invariants/observe-store.ts'
import type { Finding, Report } from './invariants/report.ts'
import { listenTo } from './listen.ts'
import { createOperator, type NodeParts } from './node.ts'
import { readLedger } from './read-ledger.ts'
import { createRecorder } from './recorder.ts'
import type { Scenario } from './scenario.ts'
import { createSpells } from './spells.ts'
import { createStage } from './stage.ts'
import { createWeather } from './weather.ts'
import { witness } from './witness.ts'

export type Setup = ReturnType<typeof createSetup>

const OPENING = { namespace: 'default', adopt: false, production: false, warn: () => {} }

/** A world for a scenario: a store that is looked at, the stage for its nodes, an operator, and all that is written down. */
export function createSetup(scenario: Scenario) {
  const world = createWorld()
  let stepped = 0
  let isHealed = false
  const storeNow = (): number => scenario.epoch + Math.floor(world.now()) + stepped
  const source = memory({ clock: { wall: storeNow } })
  const counters = new Map<string, number>()
  const count = (what: string): void => void counters.set(what, (counters.get(what) ?? 0) + 1)
  const findings: Finding[] = []
  const report: Report = (name, message) => void findings.push({ name, message })
  const recorder = createRecorder(world)
  const apps = judgeApps({
    ...{ scenario, storeNow, worldNow: world.now, report, count },
    data: () => source.data.namespaces.get('default')!,
    releaseOf: (name) => releaseOf(name),
  })
  const places = judgePlaces({
    ...{ scenario, storeNow, report, count },
    data: () => source.data.namespaces.get('default')!,
    nodeOf: (name) => stage.all.find((node) => node.name === name),
  })
  const owners: Ownership[] = []
  const started: Workplace['started'] = (run, node) => {
    apps.started(run, node)
    places.started(run, node)
    observed.started(run)
  }
  const place = workplaceFor(scenario, { recorder, count, report, started })
  const seen = witness(place, (name) => releaseOf(name))
  const feedJudge = judgeFeeds(world.now, report)
  const activity = judgeActivity(report, count)
  const alerts = judgeAlerts({ data: () => source.data.namespaces.get('default')!, report, count })
  const watcher: Watcher = {
    ...seen,
    membersChanged: apps.sampled,
    logged: activity.sent,
    changed(step) {
      seen.changed(step)
      apps.changed(step)
      places.changed(step)
      noteOwner(owners, step, world.now())
      feedJudge.changed(step)
      alerts.changed(step)
    },
  }
  const { holdDownMs } = scenario
  const observed = observeStore({
    ...{ source, storeNow, worldNow: world.now, holdDownMs, report, watcher },
    claimAheadMs: scenario.claimAheadMs ?? 0,
  })
  const parts: NodeParts = {
    ...{ world, scenario, place },
    open: async (who) => observed.watch(await source.open(OPENING), who),
    told(_, event) {
      countEvent(event, count)
      if (event.type === 'run.fenced') checkFenced(event, source.data.namespaces.get('default')!, report)
    },
    received: alerts.received,
    isGone(instance) {
      const node = stage.all.find(({ name }) => name === instance.slice(0, instance.lastIndexOf('-')))
      return node !== undefined && (node.process.state === 'crashed' || node.isSessionLost)
    },
  }
  const operator = createOperator(parts, 'operator', scenario.latencyMs)
  const colleague = createOperator(parts, 'colleague', scenario.latencyMs)
  const reader = createOperator(parts, 'reader', 0)
  const feeds = (scenario.feeds ?? []).map((plan, index) => {
    const name = `listener-${index + 1}`
    const node = createOperator(parts, name, scenario.latencyMs)
    const { fault, rate, slowMs } = plan
    if (rate > 0) node.disturbances.add({ fault, rate, slowMs })
    const listening = listenTo(node, plan, { world, witness: feedJudge.listen(name), count })
    world.at(plan.at, listening.begin)
    return listening
  })
  const spells = createSpells(world)
  const stage = createStage(parts, spells)
  const people = [colleague, ...feeds.map(({ node }) => node)]
  const weather = createWeather(stage, { operator, others: people }, spells, recorder)
  const releaseOf = (name: string) => stage.all.find((node) => node.name === name)?.release
  const acting: Acting = {
    ...{ world, scenario, stage, weather, reads: [] as Ledger[] },
    desk: { operator, recorder, storeNow, count, activity },
    colleague: { operator: colleague, recorder, storeNow, count, activity },
    stepStore: (ms) => {
      stepped += ms
    },
    read: () => readLedger(reader.app, world.now, storeNow()),
    isHealed: () => isHealed,
  }
  const heal = (): void => {
    isHealed = true
    for (const { node } of feeds) node.disturbances.clear()
    stage.heal()
  }
  /** So far. Transactions that never were committed left nothing. */
  const entries = (): Entry[] => {
    for (const [key, { run, node, told }] of place.attempted) {
      const isThere = source.data.effects.has(key)
      if (!isThere) recorder.effect(run, node, 'transaction', 'row', false)
      if (told !== null && (told === 'committed') !== isThere) report('S6 transaction', `${key} was told to be ${told}`)
    }
    return recorder.entries()
  }
  return {
    world,
    source,
    counters,
    findings,
    report,
    observed,
    feeds,
    stage,
    acting,
    heal,
    entries,
    owners,
    apps,
    places,
    activity,
    alerts,
  }
}

function noteOwner(owners: Ownership[], { before, after }: Step, at: number): void {
  if (after === undefined || (before !== undefined && isDeepStrictEqual(before.source, after.source))) return
  owners.push({ at, schedule: after.id, app: after.source.kind === 'code' ? after.source.app : null })
}

function workplaceFor(
  scenario: Scenario,
  tools: Pick<Workplace, 'recorder' | 'count' | 'report' | 'started'>,
): NodeParts['place'] {
  return {
    ...tools,
    transacting: transactingIn(scenario),
    resource: new Map(),
    attempted: new Map(),
    lost: new Set(),
    finished: new Map(),
    stopping: new Set(),
  }
}
