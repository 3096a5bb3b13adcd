import type { Entry, History } from '../../packages/checker/src/history.ts'
import { judge } from '../../packages/checker/src/judge.ts'
import { hashData } from '../../packages/cronce/src/store/memory/hash.ts'
import { act } from './act.ts'
import { boundsOf } from './bounds.ts'
import { drawScenario } from './draw-scenario.ts'
import { hashText } from './hash-text.ts'
import type { Finding } from './invariants/report.ts'
import type { Scenario } from './scenario.ts'
import { createSetup, type Setup } from './setup.ts'

export interface SimulateOptions {
  /** Instead of the one that the seed draws. */
  readonly scenario?: Scenario | undefined
  /** Go on when an invariant is violated. Else that ends it, and the history is not judged. */
  readonly goOn?: boolean | undefined
  /** Of the history and of all that is in the store. Takes a while. @default false */
  readonly hash?: boolean | undefined
}

export interface Outcome {
  readonly seed: number
  readonly scenario: Scenario
  readonly history: History
  readonly violations: readonly Finding[]
  readonly counters: Readonly<Record<string, number>>
  /** The history and the final state of the store; empty unless requested. */
  readonly hash: string
  readonly events: number
  /** Instants that were decided about, and wishes of operators: run, skipped or missed. */
  readonly fires: number
  readonly simulatedMs: number
}

/** The real engine and client on the real store in memory, in a world whose time and luck come from one seed. */
export async function simulate(seed: number, options: SimulateOptions = {}): Promise<Outcome> {
  const scenario = options.scenario ?? drawScenario(seed)
  const setup = createSetup(scenario)
  const { stackTraceLimit } = Error
  // Errors are recorded; their stack traces would differ between runs.
  Error.stackTraceLimit = 0
  let entries: Entry[]
  try {
    entries = await play(setup, scenario, options.goOn === true)
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
  const history: History = {
    format: 1,
    epoch: scenario.epoch,
    bounds: boundsOf(scenario),
    entries,
    reads: setup.acting.reads,
    owners: setup.owners,
  }
  const { findings, counters, world, source } = setup
  if (findings.length === 0 || options.goOn === true) {
    for (const { property, message } of judge(history).violations) findings.push({ name: property, message })
  }
  return {
    ...{ seed, scenario, history, violations: findings, hash: '' },
    ...(options.hash === true ? { hash: hashText(JSON.stringify(history)) + hashData(source.data) } : {}),
    counters: Object.fromEntries([...counters].sort(([one], [other]) => (one < other ? -1 : 1))),
    events: world.happened,
    fires: counters.get('fire') ?? 0,
    simulatedMs: world.now(),
  }
}

/**
 * Faults, then healing, then a calm phase, then a last read, then all nodes leave. Returns what was seen until that
 * read.
 */
async function play(setup: Setup, scenario: Scenario, goOn: boolean): Promise<Entry[]> {
  const { world, acting, stage, heal, findings } = setup
  for (const place of scenario.nodes.keys()) world.at(0, () => stage.start(place))
  for (const [schedule, plan] of Object.entries(scenario.created)) {
    world.at(1_000, () => act(acting, { at: 1_000, kind: 'op-define', schedule, how: 'create', plan }))
  }
  for (const action of scenario.actions) world.at(action.at, () => act(acting, action))
  world.at(scenario.faultsMs, heal)
  const end = scenario.faultsMs + scenario.calmMs
  const sliceMs = Math.ceil(end / 50)
  const isOver = (): boolean => findings.length > 0 && !goOn
  while (world.now() < end && !isOver()) await world.advance(Math.min(sliceMs, end - world.now()))
  acting.reads.push(await world.until(acting.read(), 1_000))
  for (const feed of setup.feeds) feed.finish()
  const live = setup.stage.nodes.filter((node) => node !== null)
  if (!isOver()) {
    setup.apps.finish(live)
    setup.places.finish(live)
    setup.activity.finish()
    setup.alerts.finish()
  }
  const entries = setup.entries()
  if (!isOver()) await leave(setup, scenario)
  return entries
}

/** All nodes are asked to stop, and leave nothing behind. */
async function leave({ world, stage, report, observed }: Setup, scenario: Scenario): Promise<void> {
  await world.until(stage.awake())
  const longestMs = A_LONG_STOP_MS + scenario.drainMs
  const left = await world.until(stage.leave(), longestMs).catch(() => null)
  if (left === null) report('L3 drain', `not all came to their end within ${longestMs} ms`)
  await world.advance(LONGEST_HANDLER_MS)
  for (const { name, process } of left ?? []) {
    if (process.sleeping > 0) report('L6 leak', `${name} has stopped, and ${process.sleeping} of its timers have not`)
  }
  observed.finish()
}

/** Beyond the drain: grace, farewell, and closing the store. */
const A_LONG_STOP_MS = 60_000
/** The longest time for which a handler that ignores its signal runs. */
const LONGEST_HANDLER_MS = 3_600_000
