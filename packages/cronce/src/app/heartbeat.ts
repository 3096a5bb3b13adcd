import { hostname } from 'node:os'
import { readDefinition } from '../client/read-definition.ts'
import type { Execution } from '../model/event.ts'
import { DETECT_JOB, HEARTBEAT_PREFIX } from '../model/exclusive-jobs.ts'
import type { Run } from '../run/run.ts'
import { listFires } from '../store/list-views.ts'
import type { Store } from '../store/store.ts'
import type { AppCore } from './app-core.ts'
import { Detector } from './detect.ts'
import type { DeclaredJob } from './job.ts'
import { lazyStore } from './lazy-store.ts'
import type { Heartbeat } from './options.ts'

/** All fleets on one store write here, whatever their namespace: that is how they find each other. */
const SHARED = 'cronce:heartbeats'

const MINUTE_MS = 60_000
/** How far back another fleet is looked for. */
const PERIODS = 3
/** Heartbeats that are read for it. */
const MOST_READ = 50

/** Where all fleets record their heartbeats. */
interface Shared<Tx> {
  readonly store: Store<Tx>
  readonly detector: Detector<Tx>
}

/** Declares the heartbeat of an app: a fire of the fleet per period, which one of its instances runs. */
export function addHeartbeat<Tx>(core: AppCore<Tx>, store: Store<Tx>, app: string, { everyMs, url }: Heartbeat): void {
  const name = HEARTBEAT_PREFIX + app
  const { definition } = readDefinition(
    'heartbeat',
    { every: everyMs, timeout: Math.max(everyMs, MINUTE_MS), misfire: 'skip' },
    {},
    'Job',
  )
  const shared = sharedStore(core, store)
  const job: DeclaredJob<Tx> = {
    name,
    definition: { ...definition, job: name },
    was: undefined,
    isOnEachHost: false,
    warnings: [],
    schema: undefined,
    defaults: {},
    handler: (run) => beat(core, shared, everyMs, run),
    isTarget: false,
    retryIf: () => false,
    watch: undefined,
    checkIn: url === null ? undefined : { url },
  }
  core.jobs.set(name, job)
}

/**
 * Opened with the first heartbeat of this process, because most processes of a fleet never write one, and kept until the app stops: each
 * call of `runDue` has an engine of its own.
 */
function sharedStore<Tx>(core: AppCore<Tx>, store: Store<Tx>): Shared<Tx> {
  const words = { message: 'This app was stopped.', hint: 'Start it again.' }
  core.heartbeats ??= lazyStore<Tx>(async () => store.inNamespace?.(SHARED) ?? core.open(SHARED), words)
  const lazy = core.heartbeats
  return { store: lazy.store, detector: new Detector({ ...core, lazy }, () => null) }
}

/** Answers which fleet it was, and the other one that writes the same heartbeat, if there is one. */
async function beat<Tx>(core: AppCore<Tx>, shared: Shared<Tx>, everyMs: number, run: Run<unknown, Tx>) {
  const { namespace } = core.resolved
  const { schedule: name, dueAt } = run.fire
  const mine = { instance: `${namespace}/${run.instance}`, host: hostname(), pid: process.pid }
  const record = `${DETECT_JOB}:${name}`
  await shared.detector.observe(record, Math.floor(everyMs / 2), false, mine)
  const windowMs = PERIODS * everyMs
  const query = { schedule: record, from: dueAt - windowMs, limit: MOST_READ, after: null }
  const { items } = await listFires(shared.store, query)
  const latest = items.map(({ dueAt: at, input }) => ({ ...(input as unknown as Omit<Execution, 'at'>), at }))
  const other = otherFleet(latest, namespace)
  if (other !== null) {
    run.log.warn(`The namespace ${namespaceOf(other)} of this store has the same heartbeat.`)
    const { instance, host, pid, at } = other
    const second = { ...mine, at: latest.find((one) => one.instance === mine.instance)?.at ?? dueAt }
    const first = { instance, host, pid, at }
    core.emit({ type: 'execution.duplicated', name, windowMs, isRefused: false, first, second })
  }
  const { name: store, epoch } = core.lazy.store.info
  return { namespace, store, epoch, other: other === null ? null : namespaceOf(other) }
}

/**
 * The latest heartbeat of another namespace that came between two of this one, so that both fleets find each other. One that ended before
 * this fleet began is not a second fleet.
 */
function otherFleet(latest: readonly Execution[], namespace: string): Execution | null {
  const own = latest.filter((one) => namespaceOf(one) === namespace)
  const earliestAt = own.length < 2 ? Number.POSITIVE_INFINITY : own.at(-1)!.at
  return latest.find((one) => namespaceOf(one) !== namespace && one.at > earliestAt) ?? null
}

/** Ids of instances have no slash. */
function namespaceOf({ instance }: Execution): string {
  return instance.slice(0, instance.lastIndexOf('/'))
}
