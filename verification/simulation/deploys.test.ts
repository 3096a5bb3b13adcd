import assert from 'node:assert/strict'
import { test } from 'node:test'
import { boundsOf, ownershipMsOf } from './bounds.ts'
import { SWEEP } from './draw-places.ts'
import type { Action, Plan, Release, Scenario, Work } from './scenario.ts'
import { simulate } from './simulate.ts'

/** Deploys as they happen, each in a small world with latencies, judged by the checker and the invariants of the store. */

const SECOND = 1_000
const HOLD_DOWN_MS = 5 * SECOND

function plan(job: string, everyMs: number): Plan {
  return {
    spec: {
      ...{ job, trigger: { kind: 'every', everyMs, anchor: 0 }, start: null, end: null, limit: null },
      ...{ guarantee: 'at-least-once', overlap: { kind: 'skip', limit: 1 }, jitterMs: 0 },
      misfire: { graceMs: 10_000, late: 'latest', limit: 3, windowMs: 86_400_000 },
      retry: { attempts: 0, crashes: 3, deadlineMs: null },
      timeout: { runMs: null, graceMs: 10_000 },
      ...{ keepMs: 172_800_000, keepCount: 0, jobLimit: null, group: null, pauseAfter: null },
    },
    ...{ jitterKind: 'fixed', backoffMs: 1_000, unknownStep: 'fail', count: 1_000 },
  }
}

const WORK: Work = {
  ...{ leastMs: 10, mostMs: 200, throws: 0, fatal: 0, ignoresSignal: 0, blocks: 0, blockMs: 0 },
  ...{ steps: 0, transacts: 0, tells: 0 },
}

const release = (id: string, jobs: Record<string, number>, isImplicit = false): Release => ({
  ...{ id, isImplicit },
  jobs: Object.fromEntries(Object.entries(jobs).map(([name, everyMs]) => [name, plan(name, everyMs)])),
})

function world(
  seed: number,
  releases: readonly Release[],
  first: readonly number[],
  actions: readonly Action[],
): Scenario {
  const names = new Set(releases.flatMap(({ jobs }) => Object.keys(jobs)))
  const scenario: Scenario = {
    ...{ format: 1, seed, kind: 'seconds', epoch: Date.UTC(2027, 0, 1), leaseMs: 3_000, holdDownMs: HOLD_DOWN_MS },
    ...{ drainMs: 1_000, latencyMs: 10, releases, created: {}, faultsMs: 90 * SECOND, calmMs: 0, actions },
    nodes: first.map((start) => ({ skewMs: 0, concurrency: 10, rate: 1, release: start })),
    work: Object.fromEntries([...names].map((name) => [name, WORK])),
  }
  const hasApps = new Set(releases.map(({ app }) => app)).size > 1
  const settlesMs = hasApps ? ownershipMsOf(scenario) : boundsOf(scenario).recoveryMs
  return { ...scenario, calmMs: settlesMs + 20 * SECOND }
}

const deploy = (atSeconds: number, node: number, to: number, downMs = 0): Action => ({
  ...{ at: atSeconds * SECOND, kind: 'deploy', node, release: to, downMs },
})
const crash = (atSeconds: number, node: number, downMs: number): Action => ({
  ...{ at: atSeconds * SECOND, kind: 'crash', node, deliveries: null, point: null, downMs },
})

const vanish = (atSeconds: number, node: number, how: 'stop' | 'crash'): Action => ({
  ...{ at: atSeconds * SECOND, kind: 'vanish', node, how },
})
const appear = (atSeconds: number, node: number, to: number): Action => ({
  ...{ at: atSeconds * SECOND, kind: 'appear', node, release: to },
})
const inApp = (app: string, one: Release): Release => ({ ...one, app })

/** The shop drops `bill`, and the mailer declares it. */
const MOVE = [
  inApp('shop', release('v1', { bill: 1_000, page: 1_000 })),
  inApp('shop', release('v2', { page: 1_000 })),
  inApp('mailer', release('v1', { mail: 1_000 })),
  inApp('mailer', release('v2', { mail: 1_000, bill: 1_500 })),
]
/** Two apps declare `bill`, each in its own way. */
const RIVALS = [
  inApp('shop', release('v1', { bill: 1_000, page: 1_000 })),
  inApp('mailer', release('v1', { bill: 1_500, mail: 1_000 })),
]

/** The job `sweep` on each host, or once for all of them. */
const sweeping = (id: string, isOnEachHost: boolean, isImplicit: boolean): Release => ({
  ...{ id, isImplicit },
  jobs: { [SWEEP]: { ...plan(SWEEP, 1_000), isOnEachHost }, mail: plan('mail', 1_000) },
})

/** A rolling update that changes whether `sweep` is a job of each host, and a rollback. */
function reshaped(seed: number, isImplicit = false): Scenario {
  const releases = [sweeping('v1', true, isImplicit), sweeping('v2', false, isImplicit)]
  const up = [0, 1, 2].map((node) => deploy(15 + node, node, 1))
  const down = [0, 1, 2].map((node) => deploy(50 + node, node, 0))
  const scenario = world(seed, releases, [0, 0, 0], [...up, ...down])
  const nodes = scenario.nodes.map((node, place) => ({ ...node, labels: { host: `h${(place % 2) + 1}` } }))
  const work = { ...scenario.work, [`${SWEEP}@h1`]: WORK, [`${SWEEP}@h2`]: WORK }
  return { ...scenario, nodes, work, calmMs: ownershipMsOf(scenario) + 20 * SECOND }
}

const v1 = release('v1', { bill: 1_000, mail: 2_000 })
const v2 = release('v2', { bill: 1_500, news: 2_000 })

const SITUATIONS: Readonly<Record<string, (seed: number) => Scenario>> = {
  'a rolling update': (seed) =>
    world(seed, [v1, v2], [0, 0, 0], [deploy(20, 0, 1), deploy(25, 1, 1), deploy(30, 2, 1)]),
  'a rollback': (seed) =>
    world(seed, [v1, v2], [0, 0], [deploy(15, 0, 1), deploy(17, 1, 1), deploy(45, 0, 0), deploy(47, 1, 0)]),
  'blue-green, and back by an operator': (seed) =>
    world(seed, [v1, v2], [0, 0], [deploy(20, 1, 1), { at: 40 * SECOND, kind: 'op-activate', release: 0 }]),
  'a release that crashes in a loop': (seed) =>
    world(seed, [v1, v2], [0, 0], [deploy(20, 1, 1), ...[22, 25, 28, 31, 34, 37, 40].map((at) => crash(at, 1, 500))]),
  'web and worker with one id': (seed) =>
    world(
      seed,
      [release('v1', { web: 1_000 }), release('v1', { worker: 1_000 })],
      [0, 1],
      [crash(20, 1, 15_000), crash(50, 0, 15_000)],
    ),
  'web and worker without ids': (seed) =>
    world(
      seed,
      [release('web', { web: 1_000 }, true), release('worker', { worker: 1_000 }, true)],
      [0, 1],
      [crash(20, 1, 15_000), crash(50, 0, 15_000)],
    ),
  'two services with one name': (seed) =>
    world(
      seed,
      [release('billing-1', { bill: 1_000 }), release('web-7', { page: 1_000 })],
      [0, 1],
      [crash(30, 0, 500)],
    ),
  'scripts without jobs': (seed) =>
    world(
      seed,
      [v1, release('script', {})],
      [0, 0],
      [deploy(20, 1, 1), deploy(40, 1, 0), deploy(50, 1, 1), deploy(70, 1, 0)],
    ),
  'a job that moves to another app, dropped first': (seed) =>
    world(seed, MOVE, [0, 2], [deploy(20, 0, 1), deploy(30, 1, 3)]),
  'a job that moves to another app, declared first': (seed) =>
    world(seed, MOVE, [0, 2], [deploy(20, 1, 3), deploy(30, 0, 1)]),
  'an app that is gone for good': (seed) => world(seed, RIVALS, [0, 1, 1], [vanish(20, 0, 'crash')]),
  'an app that comes back before the hold-down is over': (seed) =>
    world(seed, RIVALS, [0, 1, 1], [vanish(20, 0, 'stop'), appear(24, 0, 0)]),
  'an app that comes back after the hold-down': (seed) =>
    world(
      seed,
      RIVALS,
      [0, 1, 1],
      [vanish(20, 0, 'crash'), appear(45, 0, 0), vanish(60, 1, 'stop'), vanish(60, 2, 'stop')],
    ),
  "a job that loses hosts: 'each', and gets it back in a rollback": (seed) => reshaped(seed),
  'the same without ids': (seed) => reshaped(seed, true),
  'a renamed job': (seed) =>
    world(seed, [v1, release('v2', { invoice: 1_000, mail: 2_000 })], [0, 0], [deploy(20, 0, 1), deploy(25, 1, 1)]),
}

for (const [name, draw] of Object.entries(SITUATIONS)) {
  test(`${name} keeps every promise`, async () => {
    for (const seed of [1, 2]) {
      const { violations, fires } = await simulate(seed, { scenario: draw(seed) })
      assert.deepEqual(violations, [])
      assert.ok(fires > 0)
    }
  })
}
