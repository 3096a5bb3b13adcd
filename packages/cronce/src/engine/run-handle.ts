import { CronceError } from '../errors.ts'
import { ending } from '../model/outcome.ts'
import { type Decision, STALE } from '../policy/decision.ts'
import { type Settlement, settle } from '../policy/settle.ts'
import type { StepAnswer, StepCommand } from '../store/store.ts'
import type { Core } from './core.ts'
import type { NoteKeeper } from './notes.ts'
import type { RunHandle, StepOptions } from './parts.ts'
import { resolveTransaction } from './resolve-transaction.ts'
import type { LocalRun } from './run-table.ts'
import { persist } from './store-calls.ts'
import { toJson } from './to-json.ts'

export const STEP_RESULT_LIMIT = 65_536
export const RESULT_LIMIT = 16_384

export function runHandle<Tx>(core: Core<Tx>, run: LocalRun, notes: NoteKeeper): RunHandle<Tx> {
  const steps = new Map<string, Promise<unknown>>()
  return {
    started: run.started,
    signal: run.signal,
    once(step, work, options = {}) {
      // The same step twice at the same time is the same step.
      const known = steps.get(step) as ReturnType<typeof doStep<Awaited<ReturnType<typeof work>>>> | undefined
      if (known !== undefined) return known
      const doing = doStep(core as Core, run, step, work, options).finally(() => steps.delete(step))
      steps.set(step, doing)
      return doing
    },
    transaction: (work) => transact(core, run, work),
    progress: (fraction, message) => notes.progress(run, fraction, message),
    log: (level, message) => notes.log(run, level, message),
  }
}

async function doStep<Value>(
  core: Core,
  run: LocalRun,
  step: string,
  work: () => Value | Promise<Value>,
  { rerun }: StepOptions,
): Promise<Value> {
  const { schedule, dueAt, nonce, token } = run.started.record
  const about = { fire: { schedule, dueAt, nonce }, step, token }
  demandTrust(core, run, 'once')
  const begun = await send(core, run, {
    kind: 'begin',
    ...about,
    rerun: rerun ?? run.started.policy.unknownStep === 'rerun',
  })
  if (begun.kind === 'done') return begun.result as Value
  if (begun.kind === 'unknown') throw stepUnknown(step, begun.token)
  // `duplicate`: this same run began it in a request whose answer was lost.
  if (begun.kind !== 'applied' && begun.kind !== 'duplicate') throw fenced(core, run, 'once')
  // The answer may have taken long: what begins now must begin under a lease.
  demandTrust(core, run, 'once')
  let value: Value
  try {
    value = await work()
  } catch (error) {
    await send(core, run, { kind: 'end', ...about, failed: true, result: null })
    throw error
  }
  const result = toJson(value, STEP_RESULT_LIMIT)
  const kept = result.kind === 'json' ? result.json : null
  const ended = await send(core, run, { kind: 'end', ...about, failed: false, result: kept })
  if (ended.kind !== 'applied' && ended.kind !== 'duplicate') throw fenced(core, run, 'once')
  if (result.kind !== 'json') throw resultRefused(step, result.problem)
  return result.json as Value
}

async function send(core: Core, run: LocalRun, command: StepCommand): Promise<StepAnswer> {
  await core.parts.sync('step:sent')
  const ask = (): Promise<StepAnswer> => core.parts.store.step(command)
  // An end is truth, whoever holds the lease by now; a beginning is only wanted while the run is.
  const giveUp = (): boolean => core.stopped.aborted || (command.kind === 'begin' && run.signal.aborted)
  const answer = await persist(core, `once (${command.kind})`, ask, giveUp)
  await core.parts.sync('step:answered')
  return answer
}

async function transact<Tx, Value>(
  core: Core<Tx>,
  run: LocalRun,
  work: (tx: Tx) => Value | Promise<Value>,
): Promise<Value> {
  if (run.settling) {
    throw new CronceError('TRANSACTION_REPEATED', 'This run has had its transaction.', {
      hint: 'Call run.transaction once, at the end of the handler: it settles the fire.',
    })
  }
  demandTrust(core, run, 'transaction')
  const { schedule, token } = run.started.record
  const doing: { settled: Decision | null; value: Value | null; thrown: boolean } = {
    settled: null,
    value: null,
    thrown: false,
  }
  run.settling = true
  try {
    await core.parts.sync('transaction:sent')
    const answer = await core.parts.store.transact<Value>({
      schedule,
      token,
      work: noticingThrows(work, () => {
        doing.thrown = true
      }),
      settle(state, now, value) {
        const decision = core.lease.trusted() ? settle(state, succeeded(token, value), core.context(now)) : STALE
        if (decision === STALE) return null
        doing.settled = decision
        doing.value = value
        return decision.change
      },
    })
    if (answer.kind === 'stale') throw fenced(core as Core, run, 'transaction')
  } catch (error) {
    // What the work throws is rolled back for certain. What the store throws may mean that nobody knows.
    const isOpen = !doing.thrown && doing.settled !== null
    if (!isOpen || !(await resolveTransaction(core as Core, run, error))) {
      run.settling = false
      throw error
    }
  }
  for (const event of doing.settled?.events ?? []) core.parts.emit(event)
  return doing.value as Value
}

function succeeded(token: string, value: unknown): Settlement {
  const result = toJson(value, RESULT_LIMIT)
  const kept = result.kind === 'json' ? result.json : null
  return { token, ending: ending('completed'), error: null, result: kept, retryable: false, handBack: null }
}

/** Synchronous work stays synchronous: some stores can't have it otherwise. */
function noticingThrows<Tx, Value>(
  work: (tx: Tx) => Value | Promise<Value>,
  notice: () => void,
): (tx: Tx) => Value | Promise<Value> {
  return (tx) => {
    try {
      const value = work(tx)
      if (!(value instanceof Promise)) return value
      return value.catch((error: unknown) => {
        notice()
        throw error
      })
    } catch (error) {
      notice()
      throw error
    }
  }
}

function demandTrust<Tx>(core: Core<Tx>, run: LocalRun, wanted: 'once' | 'transaction'): void {
  if (run.signal.aborted) throw run.signal.reason
  if (core.instance === run.instance && core.lease.trusted()) return
  run.abort('lease-lost', null)
  throw new CronceError(
    'LEASE_LOST',
    `The lease of this run can not be trusted any more, so ${wanted} was not begun.`,
    {
      hint: 'Stop working; the fire will be run again, or is being run by another instance.',
    },
  )
}

function fenced(core: Core, run: LocalRun, refused: 'once' | 'transaction'): CronceError {
  const { schedule, job, dueAt, nonce, token, attempt, instance } = run.started.record
  core.parts.emit({ type: 'run.fenced', refused, schedule, job, dueAt, nonce, token, attempt, instance })
  run.abort('fenced', null)
  return new CronceError('RUN_FENCED', `This run was overtaken: its token ${token} is no longer current.`, {
    hint: 'Stop working. Another run of the fire has begun, or it was cancelled.',
  })
}

function stepUnknown(step: string, token: string): CronceError {
  return new CronceError(
    'STEP_UNKNOWN',
    `Nobody knows how step '${step}' ended: run ${token} began it and never said.`,
    {
      hint: "Find out whether it happened, then resolve the step, or allow unknownStep: 'rerun' if it may happen twice.",
    },
  )
}

function resultRefused(step: string, problem: string): CronceError {
  return new CronceError('STEP_RESULT_INVALID', `The result of step '${step}' can not be kept: ${problem}.`, {
    hint: 'The step is on record as done, with null as its result. Return a small JSON value from it.',
  })
}
