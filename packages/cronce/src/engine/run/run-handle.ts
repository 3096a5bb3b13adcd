import { CronceError } from '../../errors.ts'
import type { Json } from '../../model/json.ts'
import { LIMITS } from '../../model/limits.ts'
import type { FireKey, LogLine } from '../../model/record.ts'
import { refusalIn, refusedResult } from '../../model/step-result.ts'
import type { StartedRun } from '../../policy/decision.ts'
import type { StepOptions } from '../../run/run.ts'
import type { StepAnswer, StepCommand } from '../../store/store.ts'
import { kindOf, shellWord } from '../../words.ts'
import type { Core } from '../core.ts'
import { demandTrust, fenced } from '../fleet/trust.ts'
import type { RunHandle, RunLease } from '../parts.ts'
import { wasForgotten } from '../restore/forgotten-run.ts'
import { callStore, persist } from '../store-calls.ts'
import type { NoteKeeper } from './notes.ts'
import type { LocalRun } from './run-table.ts'
import { toExactJson } from './to-json.ts'
import { transact } from './transact.ts'

export function runHandle<Tx>(core: Core<Tx>, run: LocalRun, notes: NoteKeeper): RunHandle<Tx> {
  return new HandleOfRun(core, run, notes)
}

class HandleOfRun<Tx> implements RunHandle<Tx> {
  readonly started: StartedRun
  readonly #core: Core<Tx>
  readonly #run: LocalRun
  readonly #notes: NoteKeeper
  /** Created on first use, like the signal: most runs need neither. */
  #steps: Map<string, Promise<Json>> | undefined

  constructor(core: Core<Tx>, run: LocalRun, notes: NoteKeeper) {
    this.started = run.started
    this.#core = core
    this.#run = run
    this.#notes = notes
  }

  get signal(): AbortSignal {
    return this.#run.signal
  }

  get lease(): RunLease {
    return leaseOf(this.#core as Core, this.#run)
  }

  once(step: string, work: () => unknown, options: StepOptions = {}): Promise<Json> {
    // Concurrent calls with the same step share one execution.
    this.#steps ??= new Map()
    const known = this.#steps.get(step)
    if (known !== undefined) return known
    const doing = doStep(this.#core as Core, this.#run, step, work, options).finally(() => this.#steps?.delete(step))
    this.#steps.set(step, doing)
    return doing
  }

  transaction<Value>(work: (tx: Tx) => Value | Promise<Value>): Promise<Value> {
    return transact(this.#core, this.#run, this.#notes, work)
  }

  progress(fraction: number, message: string | null): void {
    this.#notes.progress(this.#run, fraction, message)
  }

  log(level: LogLine['level'], message: string): void {
    this.#notes.log(this.#run, level, message)
  }

  park(ms: number): void {
    this.#run.parkMs = ms
  }
}

function leaseOf(core: Core, run: LocalRun): RunLease {
  return {
    left: () => core.lease.left(),
    // A lease that this process renewed under a later id does not cover this run.
    onChange: (tell) => core.lease.onChange(() => (core.fleet.instance === run.instance ? tell() : undefined)),
    lost: () => run.abort('lease-lost', 'What it ran was ended, since no news of the lease came in time.'),
  }
}

async function doStep(
  core: Core,
  run: LocalRun,
  step: string,
  work: () => unknown,
  { rerun }: StepOptions,
): Promise<Json> {
  const { schedule, dueAt, nonce, token } = run.started.record
  const about = { fire: { schedule, dueAt, nonce }, step, token }
  if (!isStepName(step)) throw stepNameInvalid(step)
  await demandTrust(core, run, 'once')
  const begun = await send(core, run, {
    kind: 'begin',
    ...about,
    rerun: rerun ?? run.started.policy.unknownStep === 'rerun',
  })
  if (begun.kind === 'done') return keptResult(step, begun.result)
  if (begun.kind === 'unknown') throw stepUnknown(about.fire, step, begun.token)
  // `duplicate`: this same run started the step in a request whose answer was lost.
  if (begun.kind !== 'applied' && begun.kind !== 'duplicate') throw fenced(core, run, 'once')
  // The answer may have taken long: work must start under a valid lease.
  await demandTrust(core, run, 'once')
  run.doing ??= new Set()
  run.doing.add(step)
  let value: unknown
  try {
    value = await work()
  } catch (error) {
    await send(core, run, { kind: 'end', ...about, failed: true, result: null })
    throw error
  }
  const result = toExactJson(value, LIMITS.stepResult)
  const kept = result.kind === 'json' ? result.json : refusedResult(result.problem)
  const ended = await send(core, run, { kind: 'end', ...about, failed: false, result: kept })
  if (ended.kind !== 'applied' && ended.kind !== 'duplicate') throw fenced(core, run, 'once')
  return keptResult(step, kept)
}

/** The same outcome for the run that did the step and for later runs: a result, or the error about a refused result. */
function keptResult(step: string, result: Json): Json {
  const problem = refusalIn(result)
  if (problem === null) return result
  throw new ResultRefused(`step '${step}'`, problem)
}

/** Records begun steps again after the store lost writes: if this process dies in one, a later run must get STEP_UNKNOWN. */
export async function beginAgain(core: Core): Promise<void> {
  for (const run of core.runs.all()) {
    const { schedule, dueAt, nonce, token } = run.started.record
    const fire = { schedule, dueAt, nonce }
    for (const step of run.doing ?? []) {
      const begin = { kind: 'begin', fire, step, token, rerun: false } as const
      await callStore(core, 'restore (step)', () => core.parts.store.step(begin))
    }
  }
}

async function send(core: Core, run: LocalRun, command: StepCommand): Promise<StepAnswer> {
  // First of all: ending a step implies that it had begun.
  if (command.kind === 'end') run.doing?.delete(command.step)
  await core.parts.sync('step:sent')
  const ask = (): Promise<StepAnswer> => core.parts.store.step(command)
  // The end of a step is recorded even if the lease is lost by now; its start only while the run is current.
  const giveUp = (): boolean => core.stopped.aborted || (command.kind === 'begin' && run.signal.aborted)
  let answer = await persist(core, `once (${command.kind})`, ask, giveUp)
  const isRefused = answer.kind === 'stale' || answer.kind === 'not-found'
  const isForgotten = isRefused && (await wasForgotten(core, command.fire.schedule))
  // The store had acknowledged the beginning of this step. If it does not know the step now, it has lost writes.
  if (command.kind === 'end' && (isForgotten || answer.kind === 'not-found')) {
    const { fire, step, token } = command
    const begin = { kind: 'begin', fire, step, token, rerun: false } as const
    await persist(core, 'once (begin again)', () => core.parts.store.step(begin), giveUp)
    answer = await persist(core, 'once (end)', ask, giveUp)
  } else if (isForgotten) answer = await persist(core, 'once (begin)', ask, giveUp)
  await core.parts.sync('step:answered')
  return answer
}

/** Lone surrogates all become the same character when they are written, and not every store accepts control characters. */
function isStepName(step: unknown): step is string {
  if (typeof step !== 'string' || step === '' || step.length > LIMITS.step) return false
  return step.isWellFormed() && !/\p{Cc}/u.test(step)
}

function stepNameInvalid(step: unknown): CronceError {
  const what = typeof step === 'string' ? JSON.stringify(step.slice(0, LIMITS.step)) : kindOf(step)
  return new CronceError(
    'STEP_INVALID',
    `A step needs a name of 1 to ${LIMITS.step} characters, without control characters, not ${what}.`,
    {
      hint: "Write run.once('charge', () => …), with a name that no other step of the job has.",
    },
  )
}

/** The commands are in the message, because lists show only the message of an error. */
function stepUnknown({ schedule, dueAt, nonce }: FireKey, step: string, token: string): CronceError {
  const name = shellWord(schedule)
  const fire = nonce === '' ? new Date(dueAt).toISOString() : shellWord(nonce)
  return new CronceError(
    'STEP_UNKNOWN',
    `It is not known how step '${step}' ended: run ${token} began it and did not end it. Find out, then write ` +
      `cronce step resolve ${name} ${shellWord(step)} ${fire} --failed (or --result JSON), then cronce retry ${name} ${fire}.`,
    { hint: "If the step may happen twice, allow unknownStep: 'rerun'." },
  )
}

/** A step or a key of `app.once` returned a value that cannot be stored. */
export class ResultRefused extends CronceError {
  readonly problem: string

  /** `what`: the step or the key, for people. */
  constructor(what: string, problem: string) {
    super('STEP_RESULT_INVALID', `The result of ${what} cannot be stored: ${problem}.`, {
      hint: 'It is on record as done, without its result, and does not run again. Return a small value of plain JSON data: a date as date.toISOString(), a map as Object.fromEntries(map).',
    })
    this.problem = problem
  }
}
