import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Bounds, Entry, History, Ledger } from '../../packages/checker/src/history.ts'
import { judge } from '../../packages/checker/src/index.ts'
import type { Verdict } from '../../packages/checker/src/verdict.ts'
import { type Connection, connect } from '../../packages/cronce/src/app/connect.ts'
import { buildHistory, struckIn } from './build-history.ts'
import { type FakeClock, prepareClock } from './clock/clock.ts'
import { type Counters, createCounters } from './counters.ts'
import { declared } from './deploy.ts'
import { FAULTS, LOOK_MS } from './faults.ts'
import { createFleet, type Fleet } from './fleet.ts'
import { releaseJobs, STEP_JOBS } from './jobs.ts'
import { NAMES, resumeAll } from './operators.ts'
import { type Random, randomFrom } from './random.ts'
import { readLedger, readSteps } from './read-ledger.ts'
import { createRecorder, type Recorder } from './recorder.ts'
import type { ChaosStore, PreparedStore } from './stores/store.ts'

/** What faults work with. */
export interface Chaos {
  readonly recorder: Recorder
  readonly fleet: Fleet
  readonly store: PreparedStore
  readonly client: Connection
  readonly leaseMs: number
  /** `null`: clocks can't be set here. */
  readonly clock: FakeClock | null
  readonly count: (what: string) => void
  /** Of some faults there is one at a time: false while there is one. */
  begin(what: string): boolean
  end(what: string): void
  /** So long, or until calm is wanted. */
  wait(ms: number): Promise<void>
  isCalm(): boolean
}

export interface ChaosOptions {
  readonly store: ChaosStore
  readonly seed: number
  readonly workers: number
  /** Of faults. It goes on for up to twice as long, until everything that it is about has happened. */
  readonly seconds: number
  readonly nodeOptions?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly progress?: (line: string) => void
}

export interface ChaosResult {
  readonly seed: number
  readonly history: History
  readonly verdict: Verdict
  /** Processes that ended by themselves. */
  readonly surprises: readonly string[]
  readonly counts: Readonly<Record<string, number>>
  /** What did not happen often enough for the verdict to mean anything. */
  readonly lacking: readonly string[]
  /** What could not be done here, and why. */
  readonly skipped: readonly string[]
  readonly folder: string
}

const LEASE_MS = 1_500
const BOUNDS: Bounds = { leaseMs: LEASE_MS, recoveryMs: 10_000, lateMs: 3_000, clockErrorMs: 25 }
/** Calm is judged, too: so long after everything must be right again. */
const TAIL_MS = 3_000
const READ_MS = 5_000
/** A look at who runs what after the last read: what that shows has been written down by now. */
const SETTLE_MS = 300

export async function runChaos(options: ChaosOptions): Promise<ChaosResult> {
  const folder = mkdtempSync(join(tmpdir(), 'cronce-chaos-'))
  const random = randomFrom(options.seed)
  const recorder = createRecorder(join(folder, 'chaos.log'))
  const clock = await prepareClock(folder)
  const setClock = 'reason' in clock ? null : clock
  const store = await options.store.prepare(folder, () => Math.floor(Date.now() + (setClock?.offset() ?? 0)))
  const epoch = Math.round((await store.now()) - recorder.now())
  const skipped = [
    ...('reason' in clock ? [`clock step: ${clock.reason}`] : []),
    ...('reason' in store.disk ? [`full disk: ${store.disk.reason}`] : []),
  ]
  const counters = createCounters()
  const client = await connect({ store: store.source, logger: false })
  const calm = new AbortController()
  const underWay = new Set<string>()
  let troubleUntil = 0
  const fleet = createFleet(recorder, {
    folder,
    slots: Array.from({ length: options.workers }, (_, index) => `w${index + 1}`),
    store: { module: store.module, url: store.url },
    leaseMs: LEASE_MS,
    random: random.fork(),
    environment: { ...setClock?.environment, ...options.environment },
    nodeOptions: options.nodeOptions ?? [],
    onEvent: counters.event,
    mayFail: () => underWay.has('full disk') || recorder.now() < troubleUntil,
  })
  const chaos: Chaos = {
    recorder,
    fleet,
    store,
    client,
    leaseMs: LEASE_MS,
    clock: setClock,
    count: counters.count,
    isCalm: () => calm.signal.aborted,
    begin(what) {
      if (underWay.has(what)) return false
      underWay.add(what)
      return true
    },
    end(what) {
      underWay.delete(what)
      // A process that was starting meanwhile may find out only now.
      if (what === 'full disk') troubleUntil = recorder.now() + 2_000
    },
    wait: (ms) => sleep(ms, undefined, { signal: calm.signal }).catch(() => {}),
  }
  const reads: Ledger[] = []
  const read = async (): Promise<void> => {
    reads.push(await readLedger(client, NAMES, recorder, store.now))
  }
  try {
    await Promise.all(releaseJobs(0).map(({ name, spec }) => declared(chaos, 0, name, { verb: 'define', spec })))
    await fleet.ready()
    const isEnough = (): boolean => {
      const faults = [...faultsOf(recorder.entries), ...struckIn(folder)]
      return lackingOf(counters, faults, options.seconds, skipped).length === 0
    }
    await makeChaos(chaos, random, options, isEnough, calm, read)
    options.progress?.('calm')
    await heal(chaos)
    await sleep(BOUNDS.recoveryMs + TAIL_MS)
    await read()
    await sleep(SETTLE_MS)
    const steps = await readSteps(client, reads.at(-1)!, STEP_JOBS)
    const rows = await store.effects()
    const entries = [...recorder.entries]
    const history = buildHistory({ folder, epoch, bounds: BOUNDS, entries, rows, steps, reads })
    const verdict = judge(history)
    const { surprises } = fleet
    const faults = faultsOf(history.entries)
    const counts = counters.total(faults)
    const lacking = lackingOf(counters, faults, options.seconds, skipped)
    return { seed: options.seed, history, verdict, surprises, counts, lacking, skipped, folder }
  } finally {
    calm.abort()
    await fleet.end()
    await client.close().catch(() => {})
    await store.close()
    setClock?.close()
  }
}

export function removeFolder({ folder }: Pick<ChaosResult, 'folder'>): void {
  rmSync(folder, { recursive: true, force: true })
}

/** A fault every now and then, several at a time, until the time is up and everything has happened that has to. */
async function makeChaos(
  chaos: Chaos,
  random: Random,
  { seconds, progress }: ChaosOptions,
  isEnough: () => boolean,
  calm: AbortController,
  read: () => Promise<void>,
): Promise<void> {
  const cards = FAULTS.flatMap(([name, count, fault]) => Array.from({ length: count }, () => ({ name, fault })))
  const pending = new Set<Promise<void>>()
  const { recorder, fleet } = chaos
  fleet.restartMs = () => random.next() * 1_000
  const beganAt = recorder.now()
  let deck: typeof cards = []
  let readAt = beganAt + READ_MS
  for (;;) {
    const passed = recorder.now() - beganAt
    if (passed > seconds * 2_000) break
    if (passed > seconds * 1_000 && isEnough()) break
    await sleep(random.between(200, 1_100))
    if (deck.length === 0) deck = random.shuffle(cards)
    const { name, fault } = deck.pop()!
    progress?.(`${(passed / 1_000).toFixed(1).padStart(6)} s  ${name}`)
    const doing = fault(chaos, random.fork()).finally(() => pending.delete(doing))
    pending.add(doing)
    if (recorder.now() < readAt) continue
    readAt = recorder.now() + READ_MS
    // The store may be full or locked just now; then there is nothing to read.
    await read().catch((error: Error) => recorder.log(`no read: ${error.message}`))
  }
  calm.abort()
  await Promise.all(pending)
}

function faultsOf(entries: readonly Entry[]): string[] {
  return entries.flatMap((entry) => (entry.kind === 'fault' ? [entry.fault] : []))
}

/** What can't be done here is not asked for. */
function lackingOf(
  counters: Counters,
  faults: readonly string[],
  seconds: number,
  skipped: readonly string[],
): string[] {
  const kinds = skipped.map((reason) => reason.split(':')[0]!)
  return counters.lacking(faults, seconds).filter((line) => !kinds.some((kind) => line.startsWith(kind)))
}

/** Everything that was done is undone, and all processes are there. */
async function heal(chaos: Chaos): Promise<void> {
  const { fleet, recorder } = chaos
  fleet.restartMs = () => 0
  for (const slot of fleet.slots) {
    slot.send({ type: 'ambush', ambush: null })
    slot.send({ type: 'lossy', rate: 0 })
    slot.signal('SIGCONT')
  }
  await fleet.ready()
  while (!(await resumeAll(chaos))) await sleep(LOOK_MS)
  recorder.log('calm')
}
