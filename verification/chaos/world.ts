import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Bounds, History, Ledger } from '../../packages/checker/src/history.ts'
import { judge } from '../../packages/checker/src/index.ts'
import { starvationIn } from '../../packages/checker/src/starvation.ts'
import type { Verdict } from '../../packages/checker/src/verdict.ts'
import { type Connection, connect } from '../../packages/cronce/src/app/connect.ts'
import type { CronceEvent, EventType } from '../../packages/cronce/src/model/event.ts'
import { buildHistory } from './build-history.ts'
import { type FakeClock, prepareClock } from './clock/clock.ts'
import { type Counters, createCounters } from './counters.ts'
import { createFleet, type Fleet, type FleetOptions, type Surprise } from './fleet.ts'
import { type ChaosJob, withoutTransactions } from './jobs.ts'
import { startProxy } from './proxy.ts'
import { type Random, randomFrom } from './random.ts'
import { readLedger, readSteps } from './read-ledger.ts'
import { createRecorder, type Recorder } from './recorder.ts'
import type { ChaosStore, PreparedStore } from './stores/store.ts'
import { watchStore } from './vigil.ts'

/** Processes, their store, and all that is known about them from outside. */
export interface World {
  readonly folder: string
  readonly recorder: Recorder
  readonly counters: Counters
  /** That all processes have, where they share it. `null`: clocks can't be set here. */
  readonly clock: FakeClock | null
  readonly store: PreparedStore
  readonly client: Connection
  readonly fleet: Fleet
  /** What can't be done here, and why. */
  readonly skipped: readonly string[]
  /** What each release declares on this store. */
  readonly jobsOf: (release: number) => readonly ChaosJob[]
  /** What users write can be part of the store's own transactions. */
  readonly transacts: boolean
  read(): Promise<Ledger>
  /** All witnesses have written down what they vouch for up to now. */
  heard(): Promise<void>
  /** Stops all processes for good, reads the store a last time, and judges the run. */
  judge(earlier: readonly Ledger[]): Promise<Judgement>
  /** Everything goes, but for the folder. */
  end(): Promise<void>
  /** What all wrote down, for people. */
  keep(folder: string, history: History, verdict: Verdict): void
  removeFolder(): void
}

/** Time is real here, so that a machine may be too busy for us. */
export type WitnessedBounds = Bounds & { readonly starvedMs: number }

export interface Judgement {
  readonly history: History
  readonly verdict: Verdict
  /** Processes that ended by themselves, but for those that could not start because something was starved. */
  readonly surprises: readonly string[]
}

export interface WorldOptions
  extends Pick<FleetOptions, 'jobsOf' | 'ambush'>,
    Partial<Pick<FleetOptions, 'environment' | 'nodeOptions'>> {
  /** Names of places for processes. */
  readonly slots: readonly string[]
  readonly store: ChaosStore
  readonly seed: number
  readonly bounds: WitnessedBounds
  /** Names that schedules may have had. */
  readonly names: readonly string[]
  readonly setsClock: boolean
  /** Called with every event that a process emits. */
  readonly onEvent?: (event: CronceEvent, node: string) => void
}

export async function startWorld(options: WorldOptions): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'cronce-chaos-'))
  const recorder = createRecorder(join(folder, 'chaos.log'))
  const prepared = options.setsClock ? await prepareClock(folder) : { reason: 'not wanted' }
  const clock = 'reason' in prepared ? null : prepared
  const { transacts } = options.store
  const jobsOf: World['jobsOf'] = (release) =>
    transacts ? options.jobsOf(release) : withoutTransactions(options.jobsOf(release))
  const { starvedMs } = options.bounds
  const wall = (): number => Math.floor(Date.now() + (clock?.offset() ?? 0))
  const store = await options.store.prepare(folder, { wall, setsClock: options.setsClock })
  const random = randomFrom(options.seed)
  const { epoch, errorMs } = await measureEpoch(store, recorder)
  const bounds: Bounds = {
    ...options.bounds,
    clockErrorMs: Math.max(options.bounds.clockErrorMs, errorMs, store.clockErrorMs ?? 0),
    clockLagMs: store.clockLagMs ?? 0,
  }
  const watching = new AbortController()
  const storeVigil = watchStore(store, recorder, { starvedMs, epoch, signal: watching.signal })
  const counters = createCounters({ network: store.network !== null, server: store.server })
  const client = await connect({ store: store.source, logger: false })
  const { network } = store
  const slots = await Promise.all(
    options.slots.map(async (name) => ({
      name,
      proxy: network === null ? null : await startProxy(network),
      clock: store.clock === 'host' || clock === null ? clock : await skewedClock(join(folder, name), random),
    })),
  )
  const fleet = createFleet(recorder, {
    ...options,
    jobsOf,
    folder,
    slots,
    module: store.module,
    urlBy: (proxy) => (network === null || proxy === null ? store.url : network.urlBy(proxy.port)),
    leaseMs: bounds.leaseMs,
    starvedMs,
    random,
    environment: options.environment ?? {},
    nodeOptions: options.nodeOptions ?? [],
    onEvent(event, node) {
      counters.event(event)
      if (LOGGED.has(event.type)) recorder.log(`${node} tells ${JSON.stringify(event)}`)
      options.onEvent?.(event, node)
    },
  })
  const heard = async (): Promise<void> => {
    await fleet.heard()
    storeVigil.flush()
  }
  const read = (): Promise<Ledger> => readLedger(client, options.names, recorder, store.now)
  return {
    folder,
    recorder,
    counters,
    clock,
    store,
    client,
    fleet,
    skipped: [
      ...('reason' in prepared ? [`clock step: ${prepared.reason}`] : []),
      ...('reason' in store.disk ? [`full disk: ${store.disk.reason}`] : []),
      ...(store.server !== null && 'reason' in store.server.clock
        ? [`store clock step: ${store.server.clock.reason}`]
        : []),
      ...(transacts ? [] : ['stop in a transaction: the store has none']),
    ],
    jobsOf,
    transacts,
    read,
    heard,
    async judge(earlier) {
      await heard()
      await fleet.freeze()
      const last = await read()
      const steps = await readSteps(client, last, jobsOf(0))
      const rows = await store.effects()
      const reads = [...earlier, last]
      storeVigil.flush()
      const history = buildHistory({ folder, epoch, bounds, ...recorder, rows, steps, reads })
      return { history, verdict: judge(history), surprises: surprisesIn(history, fleet.surprises) }
    },
    async end() {
      watching.abort()
      await fleet.end()
      // The result of an unfinished action does not matter any more.
      await client.close().catch(() => {})
      await Promise.all(slots.map(({ proxy }) => proxy?.close()))
      await store.close()
      for (const own of new Set([clock, ...slots.map((slot) => slot.clock)])) own?.close()
    },
    keep(kept, history, verdict) {
      mkdirSync(kept, { recursive: true })
      const isWritten = (path: string): boolean => !path.endsWith('disk')
      cpSync(folder, kept, { recursive: true, filter: isWritten })
      writeFileSync(join(kept, 'history.json'), JSON.stringify(history))
      writeFileSync(join(kept, 'verdict.json'), JSON.stringify(verdict, null, 2))
    },
    removeFolder: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** What people want to know first when something went wrong. */
const LOGGED: ReadonlySet<string> = new Set<EventType>([
  'instance.joined',
  'instance.died',
  'instance.fenced',
  'instance.left',
  'lease.lost',
  'lease.regained',
  'run.lost',
  'run.fenced',
  'run.retried',
  'store.rolledBack',
])

/** No two processes agree on what time it is. */
const SKEW_MS = 30_000

async function skewedClock(folder: string, random: Random): Promise<FakeClock | null> {
  const byMs = Math.round(random.between(-SKEW_MS, SKEW_MS))
  mkdirSync(folder, { recursive: true })
  const prepared = await prepareClock(folder)
  if ('reason' in prepared) return null
  prepared.step(byMs)
  return prepared
}

/** A process that never became ready, while itself or the store was starved, proves nothing. */
function surprisesIn({ entries, bounds, reads }: History, surprises: readonly Surprise[]): string[] {
  const starved = starvationIn(entries, bounds, reads.at(-1)!.at)
  return surprises
    .filter(({ node, wasReady, startedAt, endedAt }) => {
      const isStarved = starved.some(
        (gap) => (gap.node === null || gap.node === node) && gap.at <= endedAt && gap.until >= startedAt,
      )
      return wasReady || !isStarved
    })
    .map(({ words }) => words)
}

const SAMPLES = 20
/** For rounding, and for what the two clocks drift apart during a run. */
const DRIFT_MS = 10

/**
 * What the store's clock showed at time 0, and how far that may be off: of several looks at both clocks, the one that took the
 * least time.
 */
async function measureEpoch(
  store: PreparedStore,
  recorder: Recorder,
): Promise<{ readonly epoch: number; readonly errorMs: number }> {
  let best = { epoch: 0, tookMs: Number.POSITIVE_INFINITY }
  for (let sample = 0; sample < SAMPLES; sample++) {
    const before = recorder.now()
    const storeAt = await store.now()
    const after = recorder.now()
    if (after - before < best.tookMs) best = { epoch: storeAt - (before + after) / 2, tookMs: after - before }
  }
  return { epoch: Math.round(best.epoch), errorMs: Math.ceil(best.tookMs / 2) + DRIFT_MS }
}
