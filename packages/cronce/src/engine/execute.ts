import { CronceError } from '../errors.ts'
import type { Json } from '../model/json.ts'
import { type Ending, ending } from '../model/outcome.ts'
import type { StartedRun } from '../policy/decision.ts'
import type { Settlement } from '../policy/settle.ts'
import type { Core } from './core.ts'
import { cutText, describeError } from './describe-error.ts'
import type { NoteKeeper } from './notes.ts'
import { RESULT_LIMIT, runHandle } from './run-handle.ts'
import type { AbortReason, LocalRun } from './run-table.ts'
import type { Settler } from './settle.ts'
import { toJson } from './to-json.ts'

/** How a handler ended, as seen from here. `gave-up`: it ignored its signal, and may still be at it. */
type Ended =
  | { readonly kind: 'returned'; readonly value: unknown }
  | { readonly kind: 'threw'; readonly error: unknown }
  | { readonly kind: 'gave-up' }

interface Local extends LocalRun {
  aborted: { readonly reason: AbortReason; readonly detail: string | null } | null
  readonly givenUp: Promise<Ended>
}

/** The whole life of a run on this instance, from the applied claim to the acknowledged settlement. Never rejects. */
export async function execute<Tx>(
  core: Core<Tx>,
  started: StartedRun,
  settler: Settler,
  notes: NoteKeeper,
): Promise<void> {
  const done = new AbortController()
  const run = localRun(core as Core, started, done.signal)
  core.runs.add(run)
  try {
    await core.parts.sync('run:starting')
    const job = core.parts.jobs.get(started.record.job)
    // Right before it starts: the claim's answer may have taken longer than the lease.
    if (job === undefined || core.stopping || !core.lease.trusted() || core.instance !== run.instance) {
      await settler.add(started.record.schedule, handBack(started.record.token, 'not-started'))
      return
    }
    watchTimeout(core as Core, run, done.signal)
    watchStuck(core as Core, run, done.signal)
    const handler = callHandler(() => job.execute(runHandle(core, run, notes)))
    const ended = await Promise.race([handler, run.givenUp])
    done.abort()
    await core.parts.sync('run:returned')
    await notes.flush(run)
    if (run.settling) return
    run.settling = true
    if (ended.kind === 'gave-up') tellAbout(core as Core, run, 'run.overran')
    const settlement = settlementOf(run, ended, job.retryable)
    const result = await settler.add(started.record.schedule, settlement)
    if (result === 'stale') tellFenced(core as Core, run)
  } finally {
    done.abort()
    core.runs.remove(run)
    if (started.record.slots.length > 0) core.fullUntil.clear()
    core.claimAlarm.ring()
  }
}

function localRun(core: Core, started: StartedRun, done: AbortSignal): Local {
  const controller = new AbortController()
  const { promise, resolve } = Promise.withResolvers<Ended>()
  const run: Local = {
    started,
    instance: core.instance,
    begunAt: core.parts.clock.mono(),
    signal: controller.signal,
    settling: false,
    aborted: null,
    givenUp: promise,
    abort(reason, detail) {
      if (run.aborted !== null) return
      run.aborted = { reason, detail }
      controller.abort(abortError(reason, detail))
      // Nobody awaits it: sleeps never reject. A run that has ended by then is given up without effect.
      void core.parts.clock.sleep(started.policy.timeout.graceMs, done).then(() => run.giveUp())
    },
    giveUp: () => resolve({ kind: 'gave-up' }),
  }
  return run
}

/** Anything that comes out of user code becomes a value. */
async function callHandler(call: () => Promise<unknown>): Promise<Ended> {
  try {
    return { kind: 'returned', value: await call() }
  } catch (error) {
    return { kind: 'threw', error }
  }
}

const ABORTS: Record<AbortReason, readonly [code: string, message: string]> = {
  timeout: ['RUN_TIMEOUT', 'The run took longer than its timeout.'],
  'cancelled-by-operator': ['RUN_CANCELLED', 'An operator cancelled the run.'],
  replaced: ['RUN_REPLACED', 'A newer fire takes the place of this one.'],
  stopping: ['RUN_STOPPED', 'The instance stops; the fire will be run by another one.'],
  'lease-lost': ['LEASE_LOST', 'The lease can not be trusted any more: another instance may run this fire.'],
  fenced: ['RUN_FENCED', 'The run was overtaken: its token is no longer current.'],
}

function abortError(reason: AbortReason, detail: string | null): CronceError {
  const [code, message] = ABORTS[reason]
  return new CronceError(code, detail === null ? message : `${message} ${detail}`, {
    hint: 'Pass run.signal on, and stop when it is aborted.',
  })
}

// Not awaited by anybody: sleeps never reject, and they end with the run.
function watchTimeout(core: Core, run: Local, done: AbortSignal): void {
  const { runMs } = run.started.policy.timeout
  if (runMs === null) return
  void core.parts.clock.sleep(runMs, done).then(() => {
    if (!done.aborted) run.abort('timeout', null)
  })
}

function watchStuck(core: Core, run: Local, done: AbortSignal): void {
  if (run.started.policy.timeout.runMs !== null) return
  const watch = async (): Promise<void> => {
    while (!done.aborted) {
      await core.parts.clock.sleep(core.settings.stuckMs, done)
      if (!done.aborted) tellAbout(core, run, 'run.stuck')
    }
  }
  void watch()
}

function settlementOf(run: Local, ended: Ended, retryable: (error: unknown) => boolean): Settlement {
  const { token } = run.started.record
  if (ended.kind === 'returned') {
    const result = toJson(ended.value, RESULT_LIMIT)
    // An output, so it is cut with a mark rather than refused.
    const kept: Json = result.kind === 'json' ? result.json : `[cut: ${cutText(result.problem, 200)}]`
    return { token, ending: ending('completed'), error: null, result: kept, retryable: false, handBack: null }
  }
  const error = ended.kind === 'threw' ? ended.error : run.signal.reason
  const record = describeError(error)
  switch (run.aborted?.reason) {
    case 'stopping':
    case 'lease-lost':
    case 'fenced':
      return { ...handBack(token, 'started'), error: record }
    case 'timeout':
      return {
        token,
        ending: ending('timeout', record.message),
        error: record,
        result: null,
        retryable: true,
        handBack: null,
      }
    case 'cancelled-by-operator':
    case 'replaced':
      // The request stands in the schedule; the decision finds it there.
      return {
        token,
        ending: ending('error', record.message),
        error: record,
        result: null,
        retryable: false,
        handBack: null,
      }
    case undefined: {
      const how = endingOf(record.code, record.message)
      const again = how.reason === 'error' && isRetryable(error, retryable)
      return { token, ending: how, error: record, result: null, retryable: again, handBack: null }
    }
  }
}

function endingOf(code: string | null, message: string): Ending {
  if (code === 'STEP_UNKNOWN') return ending('step-unknown', message)
  if (code === 'INPUT_INVALID') return ending('input-invalid', message)
  return ending('error', message)
}

function isRetryable(error: unknown, retryable: (error: unknown) => boolean): boolean {
  try {
    return retryable(error)
  } catch {
    // A filter that throws has not said no.
    return true
  }
}

function handBack(token: string, started: 'started' | 'not-started'): Settlement {
  return { token, ending: ending('handed-back'), error: null, result: null, retryable: false, handBack: started }
}

function tellAbout(core: Core, run: LocalRun, type: 'run.overran' | 'run.stuck'): void {
  const { schedule, job, dueAt, nonce, token, attempt, instance } = run.started.record
  const about = { schedule, job, dueAt, nonce, token, attempt, instance }
  if (type === 'run.overran') core.parts.emit({ type, ...about })
  else core.parts.emit({ type, ...about, runningMs: Math.round(core.parts.clock.mono() - run.begunAt) })
}

function tellFenced(core: Core, run: LocalRun): void {
  const { schedule, job, dueAt, nonce, token, attempt, instance } = run.started.record
  core.parts.emit({ type: 'run.fenced', refused: 'settle', schedule, job, dueAt, nonce, token, attempt, instance })
}
