import type { Store } from 'cronce'
import type { Declaration } from 'cronce/internal'
import { memory } from 'cronce/memory'
import { virtualClock } from 'cronce/testing'
import type { AppRecord, InstanceRecord, ScheduleState, StoreCopy } from './copy-store.ts'

/** What the store would contain. */
export interface Rehearsed {
  /** When the first process of the release has started. */
  readonly deployed: ReadonlyMap<string, ScheduleState>
  /** When no older process is left and the hold-down has passed. */
  readonly settled: ReadonlyMap<string, ScheduleState>
  /** The record of the app when the first process of the release has started. */
  readonly app: AppRecord
  readonly holdDownMs: number
}

type OwnLabels = Readonly<Record<string, string>> & { readonly host: string }

const HOUR_MS = 3_600_000
/** A heartbeat is most of what happens in a hold-down. */
const LEASE_MS = 15_000
const LEASES_IN_HOLD_DOWN = 4
/** Older processes stay until they are told to leave. */
const LONG_LEASE_MS = 1_000 * HOUR_MS
const MOST_HOSTS = 50

/**
 * Deploys the release on a copy of the store, in memory and in virtual time: the engine itself decides what becomes of each schedule. Its
 * handlers do nothing. Then the older processes leave, and the hold-down passes.
 */
export async function rehearse(
  declarations: readonly Declaration[],
  copy: StoreCopy,
  deployment: string | undefined,
): Promise<Rehearsed> {
  const [{ namespace, settings }] = declarations as readonly [Declaration, ...Declaration[]]
  const clock = virtualClock(copy.now)
  const store = await memory({ clock }).open({ namespace, adopt: false, production: false, warn: () => {} })
  await seed(store as Store, copy)
  const named = deployment === undefined ? {} : { deployment, isExplicit: true }
  const { holdDownMs } = settings
  const leaseMs = Math.max(LEASE_MS, holdDownMs / LEASES_IN_HOLD_DOWN)
  const own = { app: copy.app, leaseMs, ...named }
  const started: ReturnType<Declaration['rehearse']>[] = []
  try {
    for (const declaration of declarations) {
      for (const labels of placesOf(declaration, copy)) {
        const settings = { ...own, labels, host: labels.host }
        const instance = declaration.rehearse({ store: store as Store, clock, labels, settings })
        started.push(instance)
        await instance.start()
      }
    }
    const deployed = await statesIn(store as Store, copy.app, copy)
    const { app } = await store.loadApp(copy.app)
    const older = copy.instances.filter((instance) => instance.app === copy.app)
    for (const instance of older) await store.beat(beatOf(instance, 'left'))
    await clock.advance(0)
    // It sees that they are gone, waits for the hold-down, and looks again.
    await clock.advance(2 * (holdDownMs + leaseMs) + started.length * leaseMs)
    const settled = await statesIn(store as Store, copy.app, copy)
    return { deployed, settled, app: app ?? noRecord(copy.app), holdDownMs }
  } finally {
    const stopping = Promise.all(started.map((instance) => instance.stop()))
    await clock.advance(leaseMs)
    await stopping
  }
}

/** As of now, without what is open: that does not change what is due. Nothing wakes an instance but its own declarations. */
async function seed(store: Store, { apps, schedules, instances }: StoreCopy): Promise<void> {
  for (const record of apps.values()) await store.saveApp({ ...record, version: 1 })
  const { epoch } = store.info
  const changes = [...schedules.values()].map((state) => ({
    ...{ id: state.id, version: 0, epoch, notBefore: null, trim: null },
    ...{ creates: [], reopens: [], history: [], rewrites: [], limits: [] },
    state: { ...state, version: 1, open: [], backfills: [], wakeAt: null },
  }))
  await store.apply(changes)
  for (const instance of instances) await store.beat({ ...beatOf(instance, 'live'), join: true })
}

function beatOf(instance: InstanceRecord, state: 'live' | 'left') {
  const { renewals: _, renewedAt: __, expired: ___, drain: ____, startedAt: _____, endedAt: ______, ...own } = instance
  return { instance: { ...own, state, running: 0 }, join: false, leaseMs: LONG_LEASE_MS, wake: true }
}

/** A job of each host is declared on each host: on those where the app lives now, or had such a job. */
function placesOf({ settings }: Declaration, copy: StoreCopy): readonly OwnLabels[] {
  const own: OwnLabels = { ...settings.labels, host: settings.host }
  if (settings.families.length === 0) return [own]
  const live = copy.instances
    .filter(({ app }) => app === copy.app)
    .map(({ host, labels }): OwnLabels => ({ ...labels, host }))
  const had = [...copy.schedules.values()].flatMap(({ retiredAt, definition }) =>
    retiredAt === null ? (definition.on?.['host'] ?? []).map((host): OwnLabels => ({ host })) : [],
  )
  const byHost = new Map([...had, ...live].map((labels) => [labels.host, labels]))
  return byHost.size === 0 ? [own] : [...byHost.values()].slice(0, MOST_HOSTS)
}

async function statesIn(store: Store, app: string, copy: StoreCopy): Promise<ReadonlyMap<string, ScheduleState>> {
  const { items } = await store.listSchedules({ app, after: null, limit: Number.MAX_SAFE_INTEGER })
  const { schedules } = await store.load([...copy.schedules.keys()])
  return new Map([...schedules, ...items].map((state) => [state.id, state]))
}

function noRecord(name: string): AppRecord {
  return {
    ...{ name, version: 0, active: null, activated: null, deployments: [], retired: [] },
    ...{ tidiedFor: null, refused: [] },
  }
}
