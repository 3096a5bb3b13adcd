import { hostname } from 'node:os'
import { cannotTransact } from '../client/cannot-transact.ts'
import { readName } from '../client/read-name.ts'
import { hostLabel, readLabelsText } from '../client/read-placement.ts'
import { Instance } from '../engine/instance.ts'
import type { EngineParts, EngineSettings } from '../engine/parts.ts'
import { WATCH_OF_APP } from '../model/app.ts'
import { CHANNELS_JOB, WATCH_JOB } from '../model/exclusive-jobs.ts'
import type { Json } from '../model/json.ts'
import type { Labels } from '../model/placement.ts'
import type { Store } from '../store/store.ts'
import { loadHandler } from '../target/target.ts'
import { VERSION } from '../version.ts'
import type { AppCore } from './app-core.ts'
import type { Declaration, Rehearsal } from './declaration.ts'
import { hashDeclarations } from './identity.ts'
import { type DeclaredJob, demandFittingInput, engineJob, type Middleware } from './job.ts'
import { declarations, type PlacedJobs, placeJobs } from './place-jobs.ts'

/** Opens the store and creates the engine that runs the jobs declared so far. */
export async function createAppEngine<Tx>(core: AppCore<Tx>): Promise<Instance<Tx>> {
  const store = await core.lazy.open()
  const { heartbeat } = core.resolved
  if (heartbeat !== null) (await import('./heartbeat.ts')).addHeartbeat(core, store, appNameOf(core), heartbeat)
  for (const { name, definition } of core.jobs.values()) {
    if (definition.policy.guarantee === 'exactly-once' && !store.info.transactions)
      throw cannotTransact(`Job ${JSON.stringify(name)} is exactly-once, which ${store.info.name} can't do.`)
  }
  for (const job of core.jobs.values()) await demandFittingInput(job)
  for (const { handler, isTarget } of core.jobs.values()) if (isTarget) await loadHandler(handler)
  const labels = labelsOf(core)
  const placed = placeJobs([...core.jobs.values()], labels, isPlacing(core, labels))
  return new Instance(await partsOf(core, store, placed.jobs), settingsOf(core, labels, placed))
}

/** The same without an engine: nothing is opened, loaded or asked. */
export function describeApp<Tx>(core: AppCore<Tx>): Declaration {
  const labels = labelsOf(core)
  return {
    namespace: core.resolved.namespace,
    settings: settingsOf(core, labels, placeJobs([...core.jobs.values()], labels, false)),
    open: () => core.open(core.resolved.namespace) as Promise<Store>,
    rehearse: (around) => rehearsedOn(core, around),
  }
}

function rehearsedOn<Tx>(
  core: AppCore<Tx>,
  { store, clock, labels, settings }: Rehearsal,
): ReturnType<Declaration['rehearse']> {
  const placed = placeJobs([...core.jobs.values()], labels, false)
  // Also jobs that processes with other labels run.
  const names = new Set([...placed.declared.map(({ id }) => id), ...placed.jobs.keys()])
  const jobs = [...names].map((name) => ({ name, execute: () => null, retryable: () => false }))
  const { random, newId } = core.around
  const silent = { emit: () => {}, hears: () => false, meters: [], sync: () => {} }
  const instance = new Instance(
    { store, clock, random, newId, ...silent, jobs: new Map(jobs.map((job) => [job.name, job])) },
    { ...settingsOf(core, labels, placed), duties: [], ...settings },
  )
  return { start: () => instance.start(), stop: () => instance.stop({ drainMs: 0, graceMs: 0 }) }
}

type OwnLabels = Labels & { readonly host: string }

/** Options win over the environment. */
function labelsOf<Tx>({ resolved, around }: AppCore<Tx>): OwnLabels {
  const { CRONCE_LABELS } = around.environment
  const host = around.settings.host ?? hostLabel(hostname())
  return { host, ...(CRONCE_LABELS ? readLabelsText(CRONCE_LABELS) : {}), ...resolved.labels }
}

/** Schedules that are created at run time may belong to its labels. A process without labels skips that lookup. */
function isPlacing<Tx>({ jobs }: AppCore<Tx>, labels: OwnLabels): boolean {
  const usesLabels = ({ definition, isOnEachHost }: DeclaredJob<Tx>): boolean =>
    isOnEachHost || definition.on !== undefined
  return Object.keys(labels).length > 1 || [...jobs.values()].some(usesLabels)
}

function appNameOf<Tx>({ resolved, around }: AppCore<Tx>): string {
  const { CRONCE_APP } = around.environment
  return resolved.app ?? (CRONCE_APP ? readName('app', CRONCE_APP) : around.appName()) ?? 'default'
}

function settingsOf<Tx>(
  core: AppCore<Tx>,
  labels: OwnLabels,
  { declared, families }: Pick<PlacedJobs<never>, 'declared' | 'families'>,
): EngineSettings {
  const { resolved, around, jobs } = core
  const { CRONCE_DEPLOYMENT } = around.environment
  const all = [...jobs.values()]
  const ofApp = resolved.watch?.given
  const watch = { ...watchOf(all), ...(ofApp === undefined ? {} : { [WATCH_OF_APP]: ofApp }) }
  const givenDeployment = resolved.deployment ?? (CRONCE_DEPLOYMENT || undefined)
  return {
    app: appNameOf(core),
    deployment: givenDeployment ?? hashDeclarations(declarations(all), [...jobs.keys()], watchOf(all)),
    isExplicit: givenDeployment !== undefined,
    host: labels.host,
    labels,
    pid: process.pid,
    version: VERSION,
    zoneData: around.zoneData,
    concurrency: resolved.concurrency,
    leaseMs: resolved.leaseMs,
    storeDeadlineMs: Math.min(10_000, resolved.leaseMs * 2),
    claimAheadMs: resolved.claimAheadMs,
    settleDelayMs: resolved.settleDelayMs,
    patienceMs: 250,
    probeMs: 250,
    holdDownMs: resolved.holdDownMs,
    retireAfterMs: resolved.retireAfterMs,
    stuckMs: 3_600_000,
    duties: dutiesOf(resolved.watch),
    watchMs: 60_000,
    declared,
    families,
    watch,
    ...around.settings,
  }
}

/** The option `watch` of the jobs that have one, as plain data. */
function watchOf<Tx>(jobs: readonly DeclaredJob<Tx>[]): Readonly<Record<string, Json>> {
  const watched = jobs.filter(({ watch }) => watch !== undefined)
  return Object.fromEntries(watched.map(({ name, watch }) => [name, JSON.parse(JSON.stringify(watch)) as Json]))
}

function dutiesOf(watch: AppCore<never>['resolved']['watch']): readonly string[] {
  if (watch === null) return []
  return watch.alerts.channels.length === 0 ? [WATCH_JOB] : [WATCH_JOB, CHANNELS_JOB]
}

/** Around all runs, and around those of this job. */
async function middlewareFor<Tx>(core: AppCore<Tx>, { name, checkIn }: DeclaredJob<Tx>): Promise<Middleware<Tx>[]> {
  if (checkIn === undefined) return core.middleware
  const { checkInAround } = await import('./check-in-around.ts')
  return [checkInAround(core, name, checkIn), ...core.middleware]
}

async function partsOf<Tx>(
  core: AppCore<Tx>,
  store: Store<Tx>,
  jobs: ReadonlyMap<string, DeclaredJob<Tx>>,
): Promise<EngineParts<Tx>> {
  const { resolved, around, events, emit, meters } = core
  const { clock, random, newId, sync, told } = around
  const engineJobs = await Promise.all(
    [...jobs].map(async ([name, job]) => engineJob(name, job, await middlewareFor(core, job), resolved.namespace)),
  )
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
