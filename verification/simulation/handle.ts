import type { RunOfFire } from '../../packages/checker/src/history.ts'
import type { Run } from '../../packages/cronce/src/run/run.ts'
import type { MemoryTransaction } from '../../packages/cronce/src/store/memory/transaction.ts'
import { never, type Process } from '../../packages/cronce/test/virtual/process.ts'
import type { Report } from './invariants/report.ts'
import { createDice, type Dice, seedOf } from './random.ts'
import type { Recorder } from './recorder.ts'
import type { Scenario, Work } from './scenario.ts'

/** What a handler needs besides its run. */
export interface Workplace {
  readonly scenario: Scenario
  readonly node: string
  readonly process: Process
  readonly recorder: Recorder
  /** Outside of everything: takes a mark unless it has seen a higher token for the fire. */
  readonly resource: Map<string, bigint>
  /** Transactions whose work was done, by effect key. The final state of the store shows their outcome. */
  readonly attempted: Map<string, Attempted>
  /** Tokens of runs whose transactions were not answered. */
  readonly lost: Set<string>
  /** By process and schedule, when a handler returned or threw last. */
  readonly finished: Map<string, number>
  /** Schedules whose handlers end with a transaction. */
  readonly transacting: ReadonlySet<string>
  /** Names of nodes that were asked to stop. */
  readonly stopping: Set<string>
  /** The judge of the apps receives every handler call. */
  readonly started: (run: RunOfFire, node: string) => void
  readonly count: (what: string) => void
  readonly report: Report
}

interface Attempted {
  readonly run: RunOfFire
  readonly node: string
  /** The result that the handler received. `null`: none, or not a certain one. */
  told: 'committed' | 'rolled-back' | null
}

export type SomeRun = Run<unknown, MemoryTransaction>

/** The handler of every schedule. Its behavior depends only on the seed, the fire and the attempt. */
export async function handle(place: Workplace, run: SomeRun): Promise<unknown> {
  const { schedule, dueAt, nonce } = run.fire
  const seen: RunOfFire = { schedule, dueAt, nonce, attempt: run.attempt, token: String(run.token) }
  const { process, recorder, node } = place
  recorder.start(seen, node)
  place.started(seen, node)
  if (place.stopping.has(node)) place.report('L3 drain', `${node} was asked to stop, and started ${effectKey(seen)}`)
  try {
    const value = await work(place, run, seen)
    if (isGone(process)) return never()
    recorder.finish(seen, node, 'returned')
    countGathered(place, schedule)
    return value
  } catch (error) {
    if (isGone(process)) return never()
    recorder.finish(seen, node, 'threw')
    countGathered(place, schedule)
    throw error
  }
}

/** One write has one end of each schedule: a second one that is gathered with it waits for the next. */
function countGathered({ scenario, process, node, finished, count }: Workplace, schedule: string): void {
  const key = `${node} ${schedule}`
  const now = process.clock.mono()
  const before = finished.get(key)
  finished.set(key, now)
  if (before !== undefined && now - before < (scenario.settleDelayMs ?? 0)) count('two ends of a schedule gathered')
}

/** Crashed in the very moment: what is still on its way in here has not happened. */
function isGone({ state }: Process): boolean {
  return state === 'crashed'
}

async function work(place: Workplace, run: SomeRun, seen: RunOfFire): Promise<unknown> {
  const { scenario, process } = place
  const { schedule, dueAt, nonce } = run.fire
  const dice = createDice(seedOf(scenario.seed, `${schedule} ${dueAt} ${nonce} ${run.attempt}`))
  const plan = scenario.work[schedule]!
  if (dice.chance(plan.tells)) tell(run)
  for (let step = 1; step <= plan.steps; step++) await doStep(place, run, plan, dice, `step-${step}`)
  await sleep(place, run, plan, dice)
  if (dice.chance(plan.blocks)) {
    const ms = dice.whole(1, plan.blockMs)
    const end = place.recorder.fault('block', place.node)
    place.count('blocked')
    await process.block(ms)
    end()
  }
  mark(place, run, seen)
  if (dice.chance(plan.throws))
    throw Object.assign(new Error('It went wrong.'), { retryable: !dice.chance(plan.fatal) })
  if (place.transacting.has(schedule) || dice.chance(plan.transacts)) await transact(place, run, seen)
  return dice.whole(0, 9)
}

/** Those that are exactly-once at some time. */
export function transactingIn({ releases, created, actions }: Scenario): Set<string> {
  const plans = [...releases.flatMap(({ jobs }) => Object.entries(jobs)), ...Object.entries(created)]
  for (const action of actions) if (action.kind === 'op-define') plans.push([action.schedule, action.plan])
  return new Set(plans.filter(([, { spec }]) => spec.guarantee === 'exactly-once').map(([name]) => name))
}

function tell(run: SomeRun): void {
  run.progress(0.5, 'half of it')
  run.log('so far, so good')
}

async function doStep(place: Workplace, run: SomeRun, plan: Work, dice: Dice, step: string): Promise<void> {
  const ms = dice.whole(0, Math.ceil(plan.mostMs / 2))
  await run.once(step, async () => {
    await place.process.clock.sleep(ms)
    return step
  })
}

async function sleep({ process }: Workplace, { signal }: SomeRun, plan: Work, dice: Dice): Promise<void> {
  const ms = dice.whole(plan.leastMs, plan.mostMs)
  if (dice.chance(plan.ignoresSignal)) return process.clock.sleep(ms)
  await process.clock.sleep(ms, signal)
  if (signal.aborted) throw signal.reason
}

function mark({ resource, recorder, node }: Workplace, run: SomeRun, seen: RunOfFire): void {
  const fire = `${seen.schedule} ${seen.dueAt} ${seen.nonce}`
  const accepted = run.token >= (resource.get(fire) ?? 0n)
  if (accepted) resource.set(fire, run.token)
  // Each attempt may leave its own: only an order of them is promised.
  recorder.effect(seen, node, 'fenced', `resource-${seen.attempt}`, accepted)
}

async function transact(place: Workplace, run: SomeRun, seen: RunOfFire): Promise<void> {
  const { attempted, node, lost, count, stopping } = place
  const key = effectKey(seen)
  const attempt: Attempted = { run: seen, node, told: null }
  try {
    await run.transaction((tx) => {
      attempted.set(key, attempt)
      tx.set(key, seen.attempt)
    })
    attempt.told = 'committed'
  } catch (error) {
    // A process that is being stopped may not have found out.
    if (!stopping.has(node)) attempt.told = 'rolled-back'
    throw error
  }
  if (lost.has(seen.token)) count('transaction resolved')
}

/** A row for each run that got there: if two of a fire are committed, both show. */
export function effectKey({ schedule, dueAt, nonce, token }: RunOfFire): string {
  return `${schedule} ${dueAt} ${nonce} ${token}`
}
