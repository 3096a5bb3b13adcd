import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { type Cronce, CronceError, type CronceOptions, cronce, type ErrorCode, type Run } from 'cronce'
import { execApp, expectedInput, isOfExec } from 'cronce/internal'
import { EXIT, exitCodeOf } from '../../exit-code.ts'
import { formatUtc } from '../../format.ts'
import { type CommandRunner, commandRunner } from './exec-command.ts'
import { exitOf, signalOf } from './exec-exit.ts'
import type { ExecPlan } from './exec-plan.ts'
import { demandDue, demandNear, findDue } from './find-due.ts'
import { inTime } from './in-time.ts'
import { standBy } from './stand-by.ts'

export interface ExecParts {
  readonly plan: ExecPlan
  readonly store: NonNullable<CronceOptions['store']>
  readonly namespace: string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal: AbortSignal
  /** About the fire, for the reader of the crontab's mail. */
  readonly say: (text: string) => void
  /** What went wrong; always written. */
  readonly complain: (text: string) => void
  /** What the library warns of. */
  readonly warn: (text: string) => void
}

/** Until then the store has to answer: a command that waits for hours to be allowed to run helps no one. */
const STORE_MS = 30_000
const PAUSE_MS = 500
/** That of an app, unless told. */
const LEASE_MS = 15_000

/** Run the command if this process is the one that gets the fire. Returns the exit code. */
export async function execFire(parts: ExecParts): Promise<number> {
  const { plan, signal, say, complain } = parts
  const runner = commandRunner(plan, {
    giveBack: () => void app.stop(),
    onStart: ({ attempt, fire }) => {
      if (attempt > 1) say(`${plan.name} (due ${formatUtc(fire.dueAt)}) is run here, attempt ${attempt}.`)
    },
  })
  let app = makeApp(parts, runner.run, '')
  const forward = (): void => void runner.forward(signalOf(signal.reason))
  signal.addEventListener('abort', forward, { once: true })
  try {
    const { CRONCE_K8S_JOB: job } = parts.env
    demandDue({ ...plan, job })
    // Before joining, which makes the schedule: a call that is refused leaves nothing behind.
    const dueAt = await inTime(STORE_MS, askDue(app, parts), signal)
    if (await inTime(STORE_MS, hasOtherRule(app, plan), signal)) {
      // Also a line that goes back to what it was before: as a deployment that comes back it would be outranked.
      await app.stop()
      app = makeApp(parts, runner.run, `-${Date.now().toString(36)}`)
    }
    await deliver(app, dueAt, parts, runner)
    const { name, wait, lease: leaseMs = LEASE_MS } = plan
    await standBy({ app, runner, name, dueAt, wait, leaseMs, signal, say, complain })
    // Of several, ours; else what was left to us by others.
    const own = runner.runs.findLast((run) => run.dueAt === dueAt) ?? runner.runs.at(-1)
    if (own === undefined) {
      signal.throwIfAborted()
      return EXIT.ok
    }
    const { code, words } = exitOf(own)
    if (words !== null) complain(words)
    return code
  } catch (error) {
    if (runner.runs.length > 0 || !(error instanceof CronceError)) throw error
    throw new CronceError(error.code, `${error.message} The command was not run.`, { hint: error.hint, cause: error })
  } finally {
    // What was left to us runs to its end, however our own ended.
    await runner.idle()
    await app.stop()
    signal.removeEventListener('abort', forward)
  }
}

/** `version`: behind the id of its deployment. */
function makeApp({ plan, store, namespace, warn }: ExecParts, handler: (run: Run) => unknown, version: string): Cronce {
  const input = expectedInput(plan.expected?.toJSON() ?? null)
  const options = input === undefined ? plan.policy : { ...plan.policy, input }
  const app = cronce({
    store,
    namespace,
    app: execApp(plan.name),
    // A line in a crontab that was changed is another version of it, so that its flags count.
    deployment: `exec-${createHash('sha256').update(JSON.stringify(options)).digest('hex').slice(0, 12)}${version}`,
    // One command at a time: they share the streams.
    concurrency: 1,
    lease: plan.lease,
    // It is stopped when nothing runs, or to give back what was ended.
    drain: 0,
    signals: false,
    logger: { error: warn, warn },
  })
  return app.job(plan.name, options, handler)
}

/** Say which fire is due, and join. What others have left open may begin to run here. */
async function deliver(app: Cronce, dueAt: number, parts: ExecParts, runner: CommandRunner): Promise<void> {
  const { plan, signal } = parts
  const refusals: CronceError[] = []
  const unlisten = app.on('schedule.refused', ({ code, message }) => {
    refusals.push(
      new CronceError(code as ErrorCode, message, { hint: 'Choose another --name: this one is not for exec.' }),
    )
  })
  await inTime(STORE_MS, app.start(), signal)
  unlisten()
  if (refusals[0] !== undefined) throw refusals[0]
  if (await isDelivered(app, dueAt, parts, runner)) return
  // Only a schedule with a trigger answers so, and such a one would have been refused.
  throw new CronceError('SCHEDULE_NAME_TAKEN', `${plan.name} has a trigger of its own.`, {
    hint: 'Choose another --name: this one is not for exec.',
  })
}

/**
 * Its due time is the identity of a fire: to deliver it again makes no second one, so an answer that was lost is asked for again.
 * No other host may come with this fire. False: the schedule comes to it by itself.
 */
async function isDelivered(
  app: Cronce,
  dueAt: number,
  { plan, signal }: ExecParts,
  runner: CommandRunner,
): Promise<boolean> {
  const giveUpAt = performance.now() + STORE_MS
  for (;;) {
    const leftMs = Math.max(giveUpAt - performance.now(), 1)
    try {
      return (await inTime(leftMs, app.schedules.deliver(plan.name, { dueAt }), signal)).fire !== null
    } catch (error) {
      // It has been, and only its answer was lost.
      if (runner.runs.some((run) => run.dueAt === dueAt)) return true
      if (!isPassing(error) || performance.now() + PAUSE_MS >= giveUpAt) throw error
      await sleep(PAUSE_MS, undefined, { signal }).catch(() => {})
    }
  }
}

function isPassing(error: unknown): boolean {
  return error instanceof CronceError && (error.code === 'CONTENTION' || exitCodeOf(error) === EXIT.unreachable)
}

async function askDue(app: Cronce, { plan, env: { CRONCE_K8S_JOB: job } }: ExecParts): Promise<number> {
  const { now } = await app.store.check()
  const dueAt = findDue({ ...plan, job }, now)
  if (!(await isOnRecord(app, plan.name, dueAt))) demandNear(dueAt, now)
  return dueAt
}

/** Whether the schedule is there, and its calls are expected by another rule. */
async function hasOtherRule(app: Cronce, { name, expected }: ExecPlan): Promise<boolean> {
  const known = await app.schedules.find(name)
  return (
    known !== null &&
    isOfExec(known) &&
    !isDeepStrictEqual(known.input, expectedInput(expected?.toJSON() ?? null) ?? null)
  )
}

/** What is on record is not run again, however long ago it was: that is the answer. */
async function isOnRecord(app: Cronce, schedule: string, dueAt: number): Promise<boolean> {
  try {
    await app.fires.get({ schedule, dueAt })
    return true
  } catch (error) {
    if (error instanceof CronceError && error.code.endsWith('_NOT_FOUND')) return false
    throw error
  }
}
