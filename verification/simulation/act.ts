import type { Ledger } from '../../packages/checker/src/history.ts'
import type { World } from '../../packages/cronce/test/virtual/world.ts'
import { type Desk, operate } from './operate.ts'
import { type Action, DEFAULT_APP, type Scenario } from './scenario.ts'
import type { Stage } from './stage.ts'
import type { Weather } from './weather.ts'

export interface Acting {
  readonly world: World
  readonly scenario: Scenario
  readonly stage: Stage
  readonly weather: Weather
  readonly desk: Desk
  /** Of a second operator. */
  readonly colleague: Desk
  readonly stepStore: (ms: number) => void
  readonly read: () => Promise<Ledger>
  readonly reads: Ledger[]
  readonly isHealed: () => boolean
}

/** Do it now. */
export function act(acting: Acting, action: Action): void {
  const { stage, weather, desk, scenario } = acting
  const { recorder, count } = desk
  switch (action.kind) {
    case 'crash':
      if (action.point !== null) stage.crashAt(action.node, action.point, action.downMs)
      else if (action.deliveries !== null) stage.crashLater(action.node, action.deliveries, action.downMs)
      else stage.crash(action.node, action.downMs)
      break
    case 'pause':
      if (action.point === null) stage.pause(action.node, action.forMs, action.how)
      else stage.pauseAt(action.node, action.point, action.forMs, action.how)
      break
    case 'block':
      stage.pause(action.node, action.forMs, 'stopped')
      break
    case 'stop':
      stage.stop(action.node, action.downMs)
      break
    case 'deploy':
      stage.setRelease(action.node, action.release)
      stage.stop(action.node, action.downMs)
      break
    case 'vanish':
      stage.vanish(action.node, action.how)
      break
    case 'appear':
      stage.appear(action.node, action.release)
      break
    case 'session-lost':
      stage.loseSession(action.node, action.forMs, action.isTold)
      break
    case 'call':
      stage.call(action.node, action.killedAfterMs)
      break
    case 'wall-step':
      stage.stepWall(action.node, action.byMs)
      break
    case 'host-step':
      for (const node of action.nodes) stage.stepWall(node, action.byMs)
      count('wall clock of a host stepped')
      break
    case 'store-step':
      recorder.fault('store-step', null, { sparesRuns: true })
      recorder.clock(action.byMs)
      acting.stepStore(action.byMs)
      count(action.byMs < 0 ? 'store clock stepped back' : 'store clock stepped ahead')
      break
    case 'link':
      weather.disturb(action.node, action, action.forMs)
      break
    case 'partition':
      weather.disturb(action.node, { fault: action.fault, rate: 1, slowMs: 0 }, action.forMs)
      break
    case 'outage':
      count('outage')
      weather.disturb(null, { fault: action.fault, rate: 1, slowMs: 0 }, action.forMs)
      break
    case 'trouble':
      weather.disturb(null, { fault: 'trouble', rate: action.rate, slowMs: action.slowMs }, action.forMs)
      break
    case 'deaf':
      count('deaf')
      weather.deafen(action.node, action.forMs)
      break
    case 'op-drain':
      void drain(acting, action.node, action.forMs)
      break
    case 'op-activate': {
      const { app = DEFAULT_APP, id } = scenario.releases[action.release]!
      void desk.operator.app.deployments.activate(app, id).catch(() => {})
      break
    }
    case 'read':
      void acting.read().then((ledger) => acting.reads.push(ledger))
      break
    default:
      if (action.by === 'colleague') count('simultaneous')
      void operate(action.by === 'colleague' ? acting.colleague : desk, action)
  }
}

/** The operator undoes it, unless the process has ended by then. */
async function drain({ world, stage, desk, isHealed }: Acting, place: number, forMs: number): Promise<void> {
  const node = stage.nodes[place]
  const id = node?.app.instance
  if (!node || !id) return
  const end = desk.recorder.fault('drain', node.name, { until: Number.MAX_SAFE_INTEGER })
  desk.count('drain')
  const { instances } = desk.operator.app
  // Its answer may be lost, and then it never comes.
  await Promise.race([instances.drain(id, true).catch(() => {}), world.after(5_000)])
  const until = world.now() + forMs
  while (world.now() < until && !isHealed()) await world.after(Math.min(1_000, until - world.now()))
  // Repeated until it succeeds: a drained instance is not a fault that ends by itself.
  for (let tries = 0; tries < 1_000 && node.process.state !== 'crashed'; tries++) {
    const isBack = await Promise.race([
      instances.drain(id, false).then(
        () => true,
        (error: unknown) => (error as { code?: string }).code === 'INSTANCE_NOT_FOUND',
      ),
      world.after(5_000),
    ])
    if (isBack) break
  }
  end()
}
