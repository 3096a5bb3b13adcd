import { setTimeout as sleep } from 'node:timers/promises'
import type { Bounds, Entry, History, Ledger } from '../../packages/checker/src/history.ts'
import type { Property, Verdict } from '../../packages/checker/src/verdict.ts'
import { lastTrouble, struckIn } from './build-history.ts'
import { isShort, type Lack } from './counters.ts'
import { declared } from './deploy.ts'
import { LOOK_MS } from './faults.ts'
import { releaseJobs } from './jobs.ts'
import { startListener } from './listener.ts'
import { troubleOf } from './network-faults.ts'
import { NAMES, resumeAll } from './operators.ts'
import { type Card, createPlan, NOT_BRIEF, type Plan } from './plan.ts'
import { randomFrom } from './random.ts'
import { SERVER_TROUBLE } from './server-faults.ts'
import { type Defined, watchDefinitions, withoutCause } from './watch-definitions.ts'
import { startWorld, type WitnessedBounds, type World, type WorldOptions } from './world.ts'

/** What faults work with. */
export interface Chaos extends World {
  readonly leaseMs: number
  /** Some faults happen one at a time: false while one is active. */
  begin(what: string): boolean
  over(what: string): void
  /** Waits this long, or until calm is requested. */
  wait(ms: number): Promise<void>
  isCalm(): boolean
}

export interface ChaosOptions extends Pick<WorldOptions, 'store' | 'seed'> {
  readonly workers: number
  /** The duration of the faults. Extended, within bounds, until everything demanded has happened. */
  readonly seconds: number
  /** Only what a verdict can't do without, for a run that has little time. */
  readonly isBrief: boolean
  /** After the last fault everything is right again within this. */
  readonly recoveryMs: number
  /** Of each process. */
  readonly leaseMs: number
  readonly progress: (line: string) => void
  /** Faults of the caller, beside the others. */
  readonly own?: readonly Card[]
}

export interface ChaosResult {
  readonly seed: number
  readonly history: History
  readonly verdict: Verdict
  /** Processes that ended by themselves; ends that a feed did not report. */
  readonly surprises: readonly string[]
  readonly counts: Readonly<Record<string, number>>
  /** What did not happen often enough for the verdict to mean anything. */
  readonly lacking: readonly string[]
  /** What could not be done here, and why. */
  readonly skipped: readonly string[]
  readonly world: Pick<World, 'keep' | 'removeFolder'>
}

const BOUNDS = { lateMs: 2_000, claimAheadMs: 300, clockErrorMs: 25, starvedMs: 500 }
/** The calm phase is judged too: this long after the last fault everything must be correct again. */
const TAIL_MS = 4_000
const BRIEF_TAIL_MS = 2_000
/** A starved machine makes it last longer, until witnesses vouch for all of it; but not for ever. */
const LONGEST_MS = 120_000
/** C6: lateness. C11: timeouts. C12: recovery. */
const TIMED: readonly Property[] = ['C6', 'C11', 'C12']
const READ_MS = 5_000
/**
 * If coverage is missing, faults continue for at most this long, or for the original duration again: less than another
 * run takes.
 */
const OVERTIME_MS = 30_000
type Span = readonly [least: number, most: number]
/** How long from one fault to the next. */
const PACE_MS: Span = [200, 1_100]
/** As many faults in less time. */
const SHORT_PACE_MS: Span = [150, 700]
/** A process that was starting while the store was away, or soon after, may find out only after that. */
const TROUBLE_MS = 6_000

export async function runChaos(options: ChaosOptions): Promise<ChaosResult> {
  const { seed, seconds, store } = options
  const bounds: WitnessedBounds = { ...BOUNDS, leaseMs: options.leaseMs, recoveryMs: options.recoveryMs }
  const slots = Array.from({ length: options.workers }, (_, index) => `w${index + 1}`)
  const world = await startWorld({
    store,
    seed,
    slots,
    bounds,
    names: NAMES,
    jobsOf: releaseJobs,
    setsClock: true,
  })
  const { recorder, counters, fleet, folder } = world
  const listener = await startListener(world.store, seed)
  const lacking = (): Lack[] => {
    const faults = [...faultsOf(recorder.entries), ...struckIn(folder)]
    const kinds = [...world.skipped.map((reason) => reason.split(':')[0]!), ...(options.isBrief ? NOT_BRIEF : [])]
    // What can't be done here is not asked for.
    return counters.lacking(faults, seconds).filter(({ name }) => !kinds.includes(name))
  }
  // Before anything has happened, so that the plan depends on nothing but the seed.
  const first = isShort(seconds) ? lacking() : []
  const calm = new AbortController()
  const watching = new AbortController()
  try {
    const chaos = chaosIn(world, options.leaseMs, calm.signal)
    await Promise.all(world.jobsOf(0).map(({ name, spec }) => declared(chaos, 0, name, { verb: 'define', spec })))
    await fleet.ready()
    const definitions = watchDefinitions(world, [world.jobsOf(0), world.jobsOf(1)], watching.signal)
    const plan = createPlan(chaos, randomFrom(seed), { isBrief: options.isBrief, first, own: options.own ?? [] })
    const reads = await makeChaos(chaos, options, plan, calm, lacking)
    options.progress('calm')
    listener.calm()
    await heal(chaos)
    await stayCalm(chaos, bounds, options.isBrief ? BRIEF_TAIL_MS : TAIL_MS)
    const { history, verdict, surprises } = await world.judge(reads)
    watching.abort()
    await definitions.ended()
    const flips = withoutCause(definitions.turns, history, fleet.releaseOf, specOf(world))
    const unreported = await listener.missing(history.reads.at(-1)!)
    const feed = { 'feed: ends': listener.reported(), 'feed: gaps': listener.gaps() }
    const counts = { ...counters.total(faultsOf(history.entries)), ...feed }
    const tooRare = lacking().map(({ words }) => words)
    const silent = listener.reported() === 0 ? ['ends that a feed reported: none'] : []
    const vacuous = [...tooRare, ...unwitnessed(verdict), ...silent]
    const wrong = [...surprises, ...unreported, ...flips]
    return { seed, history, verdict, surprises: wrong, counts, lacking: vacuous, skipped: world.skipped, world }
  } finally {
    calm.abort()
    watching.abort()
    await listener.stop()
    await world.end()
  }
}

function specOf({ jobsOf }: World): (release: number, schedule: string) => Defined {
  const specs = [0, 1].map((release) => new Map(jobsOf(release).map(({ name, spec }) => [name, spec])))
  return (release, schedule) => specs[release % specs.length]!.get(schedule) ?? null
}

/**
 * Rules about elapsed time that a healthy run can judge and this run could not, because witnesses covered too little of
 * it.
 */
function unwitnessed({ counts }: Verdict): string[] {
  return TIMED.filter((property) => counts.timed[property] === undefined).map(
    (property) => `witnessed time for ${property}: none`,
  )
}

function faultsOf(entries: readonly Entry[]): string[] {
  return entries.flatMap((entry) => (entry.kind === 'fault' ? [entry.fault] : []))
}

function chaosIn(world: World, leaseMs: number, calm: AbortSignal): Chaos {
  const underWay = new Set<string>()
  const { recorder, fleet } = world
  const overAt = new Map<string, number>()
  const isOver = (what: string, startedAt: number): boolean => {
    const at = overAt.get(what)
    return at === undefined || at < Math.min(startedAt, recorder.now() - TROUBLE_MS)
  }
  fleet.mayFail = (place, startedAt) =>
    ['full disk', SERVER_TROUBLE, troubleOf(place)].some((what) => underWay.has(what) || !isOver(what, startedAt))
  return {
    ...world,
    leaseMs,
    begin(what) {
      if (underWay.has(what)) return false
      underWay.add(what)
      return true
    },
    over(what) {
      underWay.delete(what)
      overAt.set(what, recorder.now())
    },
    wait: (ms) => sleep(ms, undefined, { signal: calm }).catch(() => {}),
    isCalm: () => calm.aborted,
  }
}

/** A fault every now and then, several at a time, until the time is up and everything has happened that has to. */
async function makeChaos(
  chaos: Chaos,
  { seed, seconds, progress }: ChaosOptions,
  plan: Plan,
  calm: AbortController,
  lacking: () => readonly Lack[],
): Promise<Ledger[]> {
  const { recorder, fleet } = chaos
  const random = randomFrom(seed)
  const reads: Ledger[] = []
  const pending = new Map<Promise<void>, string>()
  const beganAt = recorder.now()
  const endAt = beganAt + seconds * 1_000
  const latestAt = endAt + Math.max(seconds * 1_000, OVERTIME_MS)
  const pace = isShort(seconds) ? SHORT_PACE_MS : PACE_MS
  let readAt = beganAt + READ_MS
  let reading: Promise<void> | undefined
  // Sequential reads while faults are active. If the store is full or locked, the read is skipped.
  const look = async (): Promise<void> => {
    const read = await chaos.read().catch((error: Error) => recorder.log(`no read: ${error.message}`))
    if (read !== undefined) reads.push(read)
    readAt = recorder.now() + READ_MS
  }
  fleet.restartMs = () => random.next() * 1_000
  for (;;) {
    await sleep(random.between(...pace))
    const now = recorder.now()
    const lacks = now < endAt ? null : lacking()
    if (now > latestAt || lacks?.length === 0) break
    const card = lacks === null ? plan.next() : plan.toward(lacks, new Set(pending.values()))
    if (card === undefined) continue
    progress(`${((now - beganAt) / 1_000).toFixed(1).padStart(6)} s  ${card.name}`)
    const doing = card.fault(chaos, random.fork()).finally(() => pending.delete(doing))
    pending.set(doing, card.name)
    if (recorder.now() < readAt) continue
    readAt = Number.POSITIVE_INFINITY
    reading = look()
  }
  calm.abort()
  await Promise.all([...pending.keys(), reading])
  return reads
}

/** Everything that was done is undone, and all processes are there. */
async function heal(chaos: Chaos): Promise<void> {
  const { fleet, recorder } = chaos
  fleet.restartMs = () => 0
  for (const slot of fleet.slots) {
    slot.send({ type: 'ambush', ambush: null })
    slot.send({ type: 'lossy', rate: 0 })
    slot.send({ type: 'stop-writing', wanted: false })
    slot.signal('SIGCONT')
  }
  await fleet.ready()
  while (!(await resumeAll(chaos))) await sleep(LOOK_MS)
  recorder.log('calm')
}

/** Until nothing has been wrong for as long as recovery takes, and for as long again as is judged; witnesses vouch for all of it. */
async function stayCalm({ fleet, recorder, folder, heard }: Chaos, bounds: Bounds, tailMs: number): Promise<void> {
  const beganAt = recorder.now()
  const ms = bounds.recoveryMs + tailMs
  for (let calmSince = beganAt; recorder.now() < Math.min(calmSince + ms, beganAt + LONGEST_MS); ) {
    // A busy process may have received the order not to stop itself too late.
    for (const slot of fleet.slots) if (slot.isStopped()) slot.signal('SIGCONT')
    await sleep(LOOK_MS * 25)
    await heard()
    calmSince = Math.max(calmSince, lastTrouble(folder, recorder.entries, bounds, recorder.now()))
  }
}
