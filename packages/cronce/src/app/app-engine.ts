import { hostname } from 'node:os'
import { cannotTransact } from '../client/cannot-transact.ts'
import { readName } from '../client/read-name.ts'
import { Instance } from '../engine/instance.ts'
import type { EngineParts, EngineSettings } from '../engine/parts.ts'
import type { Store } from '../store/store.ts'
import { loadHandler } from '../target/target.ts'
import { VERSION } from '../version.ts'
import type { AppCore } from './app-core.ts'
import { hashDeclarations } from './identity.ts'
import { engineJob } from './job.ts'

/** Opens the store and creates the engine that runs the jobs declared so far. */
export async function createAppEngine<Tx>(core: AppCore<Tx>): Promise<Instance<Tx>> {
  const store = await core.lazy.open()
  for (const { name, definition } of core.jobs.values()) {
    if (definition.policy.guarantee === 'exactly-once' && !store.info.transactions)
      throw cannotTransact(`Job ${JSON.stringify(name)} is exactly-once, which ${store.info.name} can't do.`)
  }
  for (const { handler, isTarget } of core.jobs.values()) if (isTarget) await loadHandler(handler)
  const settings = settingsOf(core)
  return new Instance(partsOf(core, store), settings)
}

function settingsOf<Tx>({ resolved, around, jobs }: AppCore<Tx>): EngineSettings {
  const { CRONCE_APP, CRONCE_DEPLOYMENT } = around.environment
  const appName = resolved.app ?? (CRONCE_APP ? readName('app', CRONCE_APP) : around.appName()) ?? 'default'
  const declared = [...jobs.values()].map(({ name, definition, was }) =>
    was === undefined ? { id: name, definition } : { id: name, definition, was },
  )
  const givenDeployment = resolved.deployment ?? (CRONCE_DEPLOYMENT || undefined)
  return {
    app: appName,
    deployment: givenDeployment ?? hashDeclarations(declared, [...jobs.keys()]),
    isExplicit: givenDeployment !== undefined,
    host: hostname(),
    pid: process.pid,
    version: VERSION,
    zoneData: around.zoneData,
    concurrency: resolved.concurrency,
    leaseMs: resolved.leaseMs,
    storeDeadlineMs: Math.min(10_000, resolved.leaseMs * 2),
    claimAheadMs: resolved.claimAheadMs,
    patienceMs: 250,
    probeMs: 250,
    holdDownMs: resolved.holdDownMs,
    retireAfterMs: resolved.retireAfterMs,
    stuckMs: 3_600_000,
    declared,
    ...around.settings,
  }
}

function partsOf<Tx>(core: AppCore<Tx>, store: Store<Tx>): EngineParts<Tx> {
  const { resolved, around, events, emit, meters, jobs, middleware } = core
  const { clock, random, newId, sync, told } = around
  const engineJobs = [...jobs.values()].map((job) => engineJob(job, middleware, resolved.namespace))
  return {
    store,
    clock,
    random,
    newId,
    emit,
    hears: (type) => told !== null || events.hears(type),
    meters,
    sync,
    jobs: new Map(engineJobs.map((job) => [job.name, job])),
  }
}
