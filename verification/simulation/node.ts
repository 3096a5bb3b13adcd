import type { AlertMessage } from '../../packages/cronce/src/alerts.ts'
import { type Cronce, cronce } from '../../packages/cronce/src/app/cronce.ts'
import { surround } from '../../packages/cronce/src/app/surroundings.ts'
import type { SyncPoint } from '../../packages/cronce/src/engine/parts.ts'
import type { CronceEvent } from '../../packages/cronce/src/model/event.ts'
import type { MemoryTransaction } from '../../packages/cronce/src/store/memory/transaction.ts'
import type { Store, StoreSource } from '../../packages/cronce/src/store/store.ts'
import { createLink, type Link } from '../../packages/cronce/test/virtual/link.ts'
import { createProcess, never, type Process } from '../../packages/cronce/test/virtual/process.ts'
import type { World } from '../../packages/cronce/test/virtual/world.ts'
import { storeDeadlineOf } from './bounds.ts'
import { type Disturbance, disturb } from './disturb.ts'
import { handle, type SomeRun, type Workplace } from './handle.ts'
import { optionsOf } from './plan-options.ts'
import { createDice, seedOf } from './random.ts'
import { DEFAULT_APP, type Labels, type NodePlan, type Release, type Scenario } from './scenario.ts'

export type Tx = MemoryTransaction

/** One process, from its start to its end. */
export interface Node {
  readonly name: string
  readonly release: Release
  readonly labels: Labels
  readonly process: Process
  readonly app: Cronce<Tx>
  readonly link: Link
  readonly disturbances: Set<Disturbance>
  /** Peers take it for dead, although it lives. */
  isSessionLost: boolean
}

/** Some jobs count as waits for work elsewhere, whose runs are handed back as soon as their instance stops. */
function isWait(job: string): boolean {
  return job.length % 3 === 0
}

/** What happens to a process that gets there. */
export type Ambush = ReadonlyMap<SyncPoint, () => void>

export interface NodeParts {
  readonly world: World
  readonly scenario: Scenario
  readonly open: (who: string) => Promise<Store<Tx>>
  readonly place: Omit<Workplace, 'node' | 'process' | 'scenario'>
  readonly told: (node: string, event: CronceEvent) => void
  /** The receiver of alerts has taken a message. */
  readonly received: (message: AlertMessage, node: string) => void
  /** Whether the store takes the process of this instance for dead. */
  readonly isGone: (instance: string) => boolean
}

const AROUND = { production: false, environment: {}, appName: () => undefined, zoneData: '2027a' }

export function createNode(parts: NodeParts, name: string, plan: NodePlan, release: Release, ambush: Ambush): Node {
  const { world, scenario, place } = parts
  const dice = createDice(seedOf(scenario.seed, name))
  const process = createProcess(world, scenario.epoch, plan)
  const link = createLink(world, process)
  const { claimAheadMs = 0 } = scenario
  if (claimAheadMs > 0) link.probe = (instances) => instances.filter(parts.isGone)
  const { disturbances } = disturb(link, createDice(seedOf(scenario.seed, `${name} link`)), scenario.latencyMs, place)
  const sync = (point: SyncPoint): Promise<void> | void => {
    ambush.get(point)?.()
    if (process.state === 'crashed') return never()
    if (process.state === 'paused') return process.delivered()
  }
  const source: StoreSource<Tx> = { name: 'memory', open: async () => link.store(await parts.open(name)) }
  const { clock } = process
  const { everyMs: watchMs } = scenario.alerts ?? {}
  const settings = {
    ...{ storeDeadlineMs: storeDeadlineOf(scenario), host: name, pid: 1 },
    ...(watchMs === undefined ? {} : { watchMs }),
  }
  const surroundings = { ...AROUND, clock, random: dice.roll, newId: idsFrom(name), settings, sync }
  const app = cronce<Tx>({
    ...{
      logger: false,
      signals: false,
      app: release.app ?? DEFAULT_APP,
      concurrency: plan.concurrency,
      claimAhead: claimAheadMs,
      settleDelay: scenario.settleDelayMs ?? 0,
      labels: plan.labels,
    },
    deployment: release.isImplicit === true ? undefined : release.id,
    alerts: alertsOf(parts, name, process),
    ...{ lease: scenario.leaseMs, holdDown: scenario.holdDownMs, drain: scenario.drainMs },
    store: surround(source, { ...surroundings, told: (event) => parts.told(name, event) }),
  })
  const workplace: Workplace = { ...place, scenario, node: name, process }
  for (const [job, declared] of Object.entries(release.jobs)) {
    const { was, on, isOnEachHost } = declared
    const place = { on, hosts: isOnEachHost === true ? ('each' as const) : undefined }
    const work = (run: SomeRun): unknown => handle(workplace, run)
    app.job(job, { ...optionsOf(declared), was, ...place }, Object.assign(work, { waits: isWait(job) }))
  }
  return {
    name,
    release,
    labels: plan.labels ?? { host: name },
    process,
    app,
    link,
    disturbances,
    isSessionLost: false,
  }
}

/**
 * One channel, to a receiver that may be down or slow. A process that has ended by then does not learn that its message
 * was accepted.
 */
function alertsOf({ world, scenario, received, place }: NodeParts, name: string, process: Process) {
  const { alerts } = scenario
  if (alerts === undefined) return undefined
  const { gatherMs: gather, takesMs, down } = alerts
  const send = async (message: AlertMessage): Promise<void> => {
    if (process.state === 'crashed') return never()
    await world.after(takesMs)
    const now = world.now()
    if (down !== null && now >= down.from && now < down.to) {
      place.count('alert receiver down')
      throw new Error('down')
    }
    received(message, name)
    await process.delivered()
  }
  return { channels: [send], gather }
}

/** A client of an operator, over a connection that may fail like any other. Never crashes, and runs nothing. */
export function createOperator(parts: NodeParts, name: string, latencyMs: number): Node {
  const { world, scenario, place } = parts
  const process = createProcess(world, scenario.epoch)
  const link = createLink(world, process)
  const dice = createDice(seedOf(scenario.seed, name))
  const { disturbances } = disturb(link, dice, latencyMs, place)
  const source: StoreSource<Tx> = { name: 'memory', open: async () => link.store(await parts.open(name)) }
  const app = cronce<Tx>({
    ...{ logger: false, signals: false },
    store: surround(source, { ...AROUND, clock: process.clock, random: dice.roll, newId: idsFrom(name) }),
  })
  return {
    name,
    release: { id: '', jobs: {} },
    labels: { host: name },
    process,
    app,
    link,
    disturbances,
    isSessionLost: false,
  }
}

function idsFrom(name: string): () => string {
  let count = 0
  return () => `${name}-${++count}`
}
