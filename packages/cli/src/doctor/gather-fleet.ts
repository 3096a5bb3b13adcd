import type { Client, DeploymentsView, InstanceView, RunView, ScheduleView } from 'cronce'
import { CronceError } from 'cronce/cron'
import { dueSince, isOfExec, needsInstance, recordedThresholds, THRESHOLDS, type Thresholds } from 'cronce/internal'
import { inParallel } from '../in-parallel.ts'
import { CALL_GRACE_MS, expectedRule, withExpectedRule } from '../service/exec/expected-rule.ts'
import type { FleetFacts, RunFact, ScheduleFact } from './facts.ts'
import { Problems } from './gather-problems.ts'

/** Beyond this it is a sample: what is wrong with many schedules is wrong with some of these. */
const MOST_SCHEDULES = 10_000
const MOST_RUNS = 1_000
/** Whose schedules are looked at one by one, for their timeouts. */
const MOST_OLD_RUNS = 200
/** Whose latest fires are looked for, since a call seems to be missing. */
const MOST_CALLED = 200
const MOST_APPS = 20
/** Fires that failed lately, and how far back: among them, those with a step of unknown outcome. */
const MOST_FAILED = 500
const UNKNOWN_STEP_MS = 7 * 86_400_000
const AT_A_TIME = 4
/** A run that young is not stuck, whatever its timeout. */
const YOUNG_MS = 60_000

export async function gatherFleet(client: Client, onProgress: (schedules: number) => void): Promise<FleetFacts> {
  const { now } = await client.store.check()
  const instances = await client.instances.list()
  const deployments = await deploymentsOf(client, instances)
  const thresholds = new Map(deployments.map((view) => [view.app, recordedThresholds(view)]))
  const thresholdsOf = ({ app, job }: Pick<ScheduleView, 'app' | 'job'>): Thresholds =>
    thresholds.get(app ?? instances.find(({ jobs }) => jobs.includes(job))?.app ?? '')?.of(job) ?? THRESHOLDS
  const problems = await Problems.gather(client, { now, instances, thresholdsOf })
  const sample = await schedulesOf(client, now, (view, count) => {
    problems.look(view)
    onProgress(count)
  })
  await problems.lookClosely()
  const { items, next } = await client.runs.list({ outcome: 'open', limit: MOST_RUNS })
  return {
    now,
    instances,
    deployments,
    thresholds: new Map([...thresholds].map(([app, { ofApp }]) => [app, ofApp])),
    schedules: sample.schedules.map((schedule) => ({ ...schedule, problems: problems.of(schedule.name) })),
    internal: problems.internal,
    isSample: sample.isSample,
    runs: await runFacts(client, items, sample.schedules, now),
    isRunSample: next !== null,
    unknownSteps: await unknownStepsOf(client, now),
  }
}

async function unknownStepsOf(client: Client, now: number): Promise<FleetFacts['unknownSteps']> {
  const { items } = await client.fires.list({ outcome: 'failed', from: now - UNKNOWN_STEP_MS, limit: MOST_FAILED })
  return items.filter(({ reason }) => reason === 'step-unknown')
}

/** When a call of `cronce exec`, or a question of node-cron, was expected that has not come. */
function missingSince(view: ScheduleView, latestDueAt: number | null, now: number): number | null {
  if (view.state !== 'active' || expectedRule(view) === null) return null
  const { nextAt } = withExpectedRule(view, latestDueAt)
  return nextAt !== null && nextAt < now - CALL_GRACE_MS ? nextAt : null
}

/** The due time of the latest fire that a call has delivered, however it ended. */
async function latestCall(client: Client, { name }: ScheduleView): Promise<number | null> {
  const { items } = await client.fires.list({ schedule: name, nonce: '', limit: 1 })
  return items[0]?.dueAt ?? null
}

async function schedulesOf(
  client: Client,
  now: number,
  onView: (view: ScheduleView, count: number) => void,
): Promise<{ readonly schedules: readonly ScheduleFact[]; readonly isSample: boolean }> {
  const schedules: ScheduleFact[] = []
  let asked = 0
  for await (const view of client.schedules.all()) {
    if (schedules.length === MOST_SCHEDULES) return { schedules, isSample: true }
    const isMissing = asked < MOST_CALLED && missingSince(view, view.last.dueAt, now) !== null
    if (isMissing) asked++
    const callMissingAt = isMissing ? missingSince(view, await latestCall(client, view), now) : null
    schedules.push({ ...scheduleFact(view), callMissingAt })
    onView(view, schedules.length)
  }
  return { schedules, isSample: false }
}

export function scheduleFact(view: ScheduleView): ScheduleFact {
  const { name, job, on, app, state, nextAt, policy, failedInRow, pause } = view
  const waiting = view.open.filter((fire) => fire.state === 'waiting' && fire.attempt === 0)
  const running = view.open
    .flatMap(({ state: now, token, startedAt }) =>
      (now === 'running' || now === 'cancelling') && token !== null && startedAt !== null ? [{ token, startedAt }] : [],
    )
    .sort((one, other) => one.startedAt - other.startedAt)
  return {
    name,
    job,
    on,
    app,
    state,
    nextAt,
    dueSince: dueSince(view),
    needsInstance: needsInstance(view),
    isExec: isOfExec(view),
    timeoutMs: policy.timeout.runMs,
    failedInRow,
    pause: pause === null ? null : { at: pause.at, untilAt: pause.untilAt, author: pause.author },
    oldestRun: running[0] ?? null,
    problems: [],
    callMissingAt: null,
    waitingSince: waiting.length === 0 ? null : Math.min(...waiting.map(({ readyAt }) => readyAt)),
  }
}

async function deploymentsOf(client: Client, instances: readonly InstanceView[]): Promise<readonly DeploymentsView[]> {
  const apps = [...new Set(instances.filter(({ state }) => state === 'live').map(({ app }) => app))]
  const found = await inParallel(apps.slice(0, MOST_APPS), AT_A_TIME, async (app) => {
    try {
      return await client.deployments.get(app)
    } catch (error) {
      if (error instanceof CronceError && error.code === 'APP_NOT_FOUND') return null
      throw error
    }
  })
  return found.filter((view) => view !== null)
}

async function runFacts(
  client: Client,
  runs: readonly RunView[],
  schedules: readonly ScheduleFact[],
  now: number,
): Promise<readonly RunFact[]> {
  const known = new Map(schedules.map((schedule) => [schedule.name, schedule]))
  const old = [...runs]
    .filter(({ startedAt }) => now - startedAt > YOUNG_MS)
    .reverse()
    .slice(0, MOST_OLD_RUNS)
  const names = [...new Set(old.map(({ schedule }) => schedule))]
  const views = await inParallel(names, AT_A_TIME, (name) => client.schedules.find(name))
  const graces = new Map(views.filter((view) => view !== null).map((view) => [view.name, view.policy.timeout]))
  return runs.map(({ schedule, job, token, instance, startedAt }) => {
    const timeout = graces.get(schedule)
    return {
      schedule,
      job,
      token,
      instance,
      startedAt,
      timeoutMs: timeout === undefined ? (known.get(schedule)?.timeoutMs ?? null) : timeout.runMs,
      graceMs: timeout?.graceMs ?? 0,
    }
  })
}
