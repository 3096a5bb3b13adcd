import type { CheckIn, CheckInUrl } from '../check-in/check-in.ts'
import { inSubject } from '../client/in-subject.ts'
import type { Calendars } from '../client/read-calendar.ts'
import { readDefinition, SCHEDULE_NAMES } from '../client/read-definition.ts'
import { readOwnName } from '../client/read-name.ts'
import { isRecord, optionConflict, readChoice, readFields, show } from '../client/read-option.ts'
import { POLICY_NAMES } from '../client/read-policy.ts'
import { demandTrigger, unsetTrigger } from '../client/read-trigger.ts'
import { readHttpUrl, secretInvalid } from '../client/read-url.ts'
import type {
  NoTriggerOptions,
  PlacementOptions,
  PolicyOptions,
  RetryOptions,
  ScheduleOptions,
  TriggerOptions,
  WindowOptions,
} from '../client/schedule-options.ts'
import {
  type InferInput,
  type InferOutput,
  isStandardSchema,
  type StandardSchema,
  type Validated,
  validateInput,
} from '../client/standard-schema.ts'
import type { Job, RunHandle } from '../engine/parts.ts'
import { InputRefused } from '../engine/run/input-refused.ts'
import { Parked } from '../engine/run/parked.ts'
import { CronceError } from '../errors.ts'
import { isPromise } from '../model/is-promise.ts'
import { copyJson, type Json } from '../model/json.ts'
import type { Definition } from '../model/schedule.ts'
import type { Run } from '../run/run.ts'
import type { TargetHandler } from '../target/loaded-target.ts'
import { readTarget, TARGET_NAMES } from '../target/target.ts'
import { readWatch } from '../watch/read-watch.ts'
import type { JobWatchOptions } from '../watch/watch-options.ts'
import { createRun } from './handled-run.ts'

/** What runs, and when. Without `cron`, `every` or `at` it runs when triggered, or by schedules made at run time. */
export type JobOptions<Schema extends StandardSchema | undefined = undefined> =
  | (NoTriggerOptions & JobOnlyOptions<Schema>)
  | (ScheduledOptions & JobOnlyOptions<Schema> & NeededInput<Schema>)

/** Its trigger, if it has one. */
type ScheduledOptions = Exclude<TriggerOptions, NoTriggerOptions>

/** A schedule fires with its job's input: a schema that needs one must be given one. */
type NeededInput<Schema> = Schema extends StandardSchema
  ? Extract<InferInput<Schema>, undefined | null> extends never
    ? { readonly input: InferInput<Schema> }
    : unknown
  : unknown

/** The options of a job without its trigger. */
export interface JobOnlyOptions<Schema extends StandardSchema | undefined = undefined>
  extends Omit<PolicyOptions, 'retry'>,
    WindowOptions,
    PlacementOptions {
  /** Any Standard Schema (Zod, Valibot, ArkType …) for the input of the job's schedules. */
  readonly schema?: Schema
  /** The input of the job's own schedule. */
  readonly input?: Schema extends StandardSchema ? InferInput<Schema> : Json | undefined
  readonly retry?: number | JobRetryOptions | undefined
  /**
   * `each`: one fire per due time on every host that has a live instance with this job, each in the schedule `NAME@HOST`.
   * @default one fire per due time in the whole fleet
   */
  readonly hosts?: 'each' | undefined
  /** What the watchdog reports about its schedules, where it differs from the app's `watch`. */
  readonly watch?: JobWatchOptions | undefined
  /**
   * Where each run reports its start and its end: `{ url }` of a dead man's switch, or `sentry(Sentry, { slug })` of `cronce/check-in`.
   * A check-in that fails is logged; it never fails or delays a run.
   */
  readonly checkIn?: CheckIn | CheckInUrl | undefined
  /** The name that the job had before: it continues where that one stopped, in one step, with its pause. */
  readonly was?: string | undefined
}

/** Options of `retry` in a job, with the condition that a schedule can't have. */
export interface JobRetryOptions extends RetryOptions {
  /** Which errors are worth another run. An error with `retryable: false` never is. @default all */
  readonly if?: ((error: unknown) => boolean) | undefined
}

/** The type of a run's input: what the job's schema returns, or JSON. */
export type InputOf<Schema> = Schema extends StandardSchema ? InferOutput<Schema> : Json

/** What a job runs: an async or plain function of the run. */
export type Handler<Input, Tx> = (run: Run<Input, Tx>) => unknown

/** Around every run: call `next()` once, or throw. */
export type Middleware<Tx = unknown> = (run: Run<unknown, Tx>, next: () => Promise<unknown>) => Promise<unknown>

export interface DeclaredJob<Tx> {
  readonly name: string
  readonly definition: Definition
  readonly was: string | undefined
  /** True: the job has a schedule on every host. */
  readonly isOnEachHost: boolean
  readonly warnings: readonly string[]
  readonly schema: StandardSchema | undefined
  /** Defaults for the other schedules of the job. */
  readonly defaults: PolicyOptions
  readonly handler: Handler<unknown, Tx>
  /** The target is not a function of this process. */
  readonly isTarget: boolean
  readonly retryIf: (error: unknown) => boolean
  readonly watch: JobWatchOptions | undefined
  readonly checkIn: CheckIn | CheckInUrl | undefined
}

export function declareJob<Tx>(
  name: unknown,
  options: unknown,
  handler: unknown,
  calendars?: Calendars,
): DeclaredJob<Tx> {
  demandOrder(name, options, handler)
  const id = readOwnName('job', name)
  return inSubject('Job', id, () => declareNamed<Tx>(id, options, handler, calendars))
}

function declareNamed<Tx>(id: string, options: unknown, handler: unknown, calendars?: Calendars): DeclaredJob<Tx> {
  const given = readOptions(id, options)
  const target = readTarget(id, given)
  const called = handlerOf<Tx>(id, target.handler, handler)
  const { schema, retry, was, hosts, watch, checkIn, ...rest } = target.rest as JobOptions<StandardSchema>
  if (schema !== undefined && !isStandardSchema(schema)) {
    throw new CronceError('OPTION_INVALID', `The schema of job ${JSON.stringify(id)} is not a Standard Schema.`, {
      hint: 'Hand in a schema of Zod, Valibot, ArkType, or anything else with a ~standard property.',
    })
  }
  if ('job' in rest) {
    throw new CronceError('OPTION_UNKNOWN', 'There is no option "job".', {
      hint: `The job is ${JSON.stringify(id)}; more schedules for a job are made with app.schedules.create.`,
    })
  }
  if (target.handler !== null && rest.guarantee === 'exactly-once') throw notTransactional(id)
  const { if: retryIf, ...retryOptions } = typeof retry === 'object' && retry !== null ? retry : {}
  const scheduled = {
    ...rest,
    ...(retry === undefined ? {} : { retry: isRecord(retry) ? retryOptions : retry }),
  }
  readWatch(watch, 'job')
  const { definition, warnings } = readDefinition(id, scheduled as ScheduleOptions, {}, 'Job', calendars)
  const job: DeclaredJob<Tx> = {
    name: id,
    definition: { ...definition, job: id },
    was: readWas(id, was),
    isOnEachHost: hosts !== undefined && readChoice('hosts', hosts, ['each']) === 'each',
    warnings,
    schema,
    defaults: Object.fromEntries(POLICY_NAMES.map((policy) => [policy, (scheduled as PolicyOptions)[policy]])),
    handler: called,
    isTarget: target.handler !== null,
    retryIf: readRetryIf(id, retryIf),
    watch,
    checkIn: readCheckIn(checkIn),
  }
  // A rejection is reported when the app starts, which asks again.
  demandFittingInput(job)?.catch(() => {})
  return job
}

/**
 * Refuses an input that the schema does not accept: every fire of the job's own schedule would fail. Without a trigger the input may come
 * with each call. A schema that answers with a promise is asked when the app starts.
 */
export function demandFittingInput({ name, definition, schema }: DeclaredJob<never>): void | Promise<void> {
  if (schema === undefined || (definition.trigger === null && definition.input === null)) return
  const demand = (validated: Validated<unknown>): void => {
    if (!validated.ok) throw unfitInput(name, definition.input, validated.message)
  }
  const validated = validateInput(schema, definition.input)
  return isPromise(validated) ? validated.then(demand) : demand(validated)
}

function unfitInput(name: string, input: Json, problem: string): CronceError {
  const job = JSON.stringify(name)
  return input === null
    ? new CronceError('INPUT_INVALID', `Job ${job} has no input, which its schema needs for every fire: ${problem}.`, {
        hint: 'Add input: { … } beside schema, or let the schema accept null.',
      })
    : new CronceError('INPUT_INVALID', `The input of job ${job} does not fit its schema: ${problem}.`, {
        hint: 'Change input, or widen the schema.',
      })
}

/** `app.job(handler)` and `app.job(name, handler)`: other schedulers take fewer arguments, or another order. */
function demandOrder(name: unknown, options: unknown, handler: unknown): void {
  if (isRecord(name)) {
    throw new CronceError('NAME_INVALID', "A job's name can't be an object: the name is the first argument.", {
      hint: "Write app.job('report', { cron: '0 3 * * *' }, async (run) => { … }).",
    })
  }
  if (typeof options !== 'function') return
  const isExpression = typeof name === 'string' && /^\S+(\s+\S+){4,6}$/.test(name.trim())
  const job = typeof name === 'string' && !isExpression ? show(name) : "'report'"
  const when = isExpression ? show(name) : typeof handler === 'string' ? show(handler) : "'0 3 * * *'"
  throw new CronceError(
    'OPTION_INVALID',
    `Job ${show(name)} was given a function where its schedule is expected${isExpression ? ', and an expression as its name' : ''}.`,
    { hint: `Write app.job(${job}, ${when}, async (run) => { … }), or {} instead of an expression for no schedule.` },
  )
}

/** `job` is listed here so that it is refused with its own explanation. */
const JOB_NAMES: readonly string[] = [...SCHEDULE_NAMES, 'schema', 'was', 'hosts', 'watch', 'checkIn', ...TARGET_NAMES]

/** Refuses unknown options first: a misspelled `command` would only be reported as a missing handler. */
function readOptions(job: string, options: unknown): Readonly<Record<string, unknown>> {
  if (options === undefined) throw unsetTrigger('cron', 'write {} for a job without a schedule')
  const given: unknown = typeof options === 'string' ? { cron: options } : options
  if (isRecord(given)) {
    readFields('', given, JOB_NAMES, "{ cron: '0 3 * * *' }")
    demandTrigger(given)
    return given
  }
  throw new CronceError(
    'OPTION_INVALID',
    `The options of job ${JSON.stringify(job)} can't be ${show(given)}: expected an expression or an object.`,
    {
      hint: "Write '0 3 * * *' or { cron: '0 3 * * *' }. More schedules for the job are made with app.schedules.create.",
    },
  )
}

function readWas(id: string, was: unknown): string | undefined {
  if (was === undefined) return undefined
  const name = readOwnName('job', was)
  if (name !== id) return name
  throw optionConflict(
    `Job ${JSON.stringify(id)} can't have been itself before.`,
    'Write the old name, or leave out was.',
  )
}

/** Declarations are refused at once; a schedule that another process created for the job is refused when it runs. */
export function notTransactional(job: string): CronceError {
  const error = optionConflict(
    `Job ${JSON.stringify(job)} can't be exactly-once, which only a function can be: its transaction is of this process.`,
    "Leave out guarantee: 'exactly-once', or write a function that calls run.transaction.",
  )
  return Object.assign(error, { retryable: false })
}

/** A job runs one thing: a function, or a target. */
function handlerOf<Tx>(job: string, target: TargetHandler | null, handler: unknown): Handler<unknown, Tx> {
  const isFunction = typeof handler === 'function'
  if (isFunction && target === null) return handler as Handler<unknown, Tx>
  if (target !== null && handler === undefined) return target as unknown as Handler<unknown, Tx>
  if (target !== null) {
    throw optionConflict(`Job ${JSON.stringify(job)} has a target and a handler.`, 'Leave out one of them.')
  }
  if (handler !== undefined) {
    const isPromise = typeof (handler as { then?: unknown } | null)?.then === 'function'
    const found = isPromise ? 'a promise' : show(handler)
    throw new CronceError(
      'HANDLER_MISSING',
      `The handler of job ${JSON.stringify(job)} must be a function, but is ${found}.`,
      {
        hint: isPromise ? 'Pass the function itself, without calling it.' : handlerHint(handler),
      },
    )
  }
  throw new CronceError('HANDLER_MISSING', `Job ${JSON.stringify(job)} has no handler.`, {
    hint: `Write app.job(${JSON.stringify(job)}, '0 3 * * *', async (run) => { … }), or give it a file, a command or http.`,
  })
}

function handlerHint(handler: unknown): string {
  const isFile = typeof handler === 'string' && /^\.{0,2}\/|\.[cm]?[jt]s$/.test(handler)
  return isFile
    ? `Write the file into the options, and no handler: { cron: '0 3 * * *', file: ${show(handler)} }.`
    : 'Write async (run) => { … } as the last argument.'
}

const CHECK_IN_HINT =
  "Write checkIn: { url: 'https://hc-ping.com/…' }, or sentry(Sentry, { slug: 'billing' }) of cronce/check-in."

function readCheckIn(given: unknown): CheckIn | CheckInUrl | undefined {
  if (given === undefined) return undefined
  if (isRecord(given) && 'url' in given) {
    const { url } = readFields('checkIn', given, ['url'], '{ url }')
    return { url: readHttpUrl('checkIn.url', url, CHECK_IN_HINT) }
  }
  const { started, ended } = (given ?? {}) as Partial<CheckIn>
  if (typeof started === 'function' && typeof ended === 'function') return given as CheckIn
  throw secretInvalid('checkIn', given, 'an object with url, or with the methods started and ended', CHECK_IN_HINT)
}

function readRetryIf(job: string, retryIf: unknown): (error: unknown) => boolean {
  if (retryIf !== undefined && typeof retryIf !== 'function') {
    throw new CronceError('OPTION_INVALID', `The option retry.if of job ${JSON.stringify(job)} must be a function.`, {
      hint: 'Write retry: { attempts: 3, if: (error) => error.code !== 404 }.',
    })
  }
  const wanted = (retryIf ?? (() => true)) as (error: unknown) => boolean
  return (error) => (error as { retryable?: unknown } | null | undefined)?.retryable !== false && wanted(error)
}

/** The job as the engine sees it: validates the input, wraps the middleware around the handler. */
export function engineJob<Tx>(
  name: string,
  job: DeclaredJob<Tx>,
  middleware: readonly Middleware<Tx>[],
  namespace: string,
): Job<Tx> {
  return {
    name,
    retryable: job.retryIf,
    waits: (job.handler as { readonly waits?: unknown }).waits === true,
    execute(handle: RunHandle<Tx>) {
      if (job.schema !== undefined || job.isTarget || middleware.length > 0)
        return executeAround(job, middleware, namespace, handle)
      return noteParked(handle, job.handler(createRun(handle, copyJson(handle.started.input), namespace)))
    },
  }
}

async function executeAround<Tx>(
  job: DeclaredJob<Tx>,
  middleware: readonly Middleware<Tx>[],
  namespace: string,
  handle: RunHandle<Tx>,
): Promise<unknown> {
  const { input, policy } = handle.started
  if (job.isTarget && policy.guarantee === 'exactly-once') throw notTransactional(job.name)
  const read = job.schema === undefined ? copyJson(input) : await readInput(job.name, job.schema, input)
  const run = createRun(handle, read, namespace)
  const call = async (): Promise<unknown> => noteParked(handle, job.handler(run))
  const chain = middleware.reduceRight<() => Promise<unknown>>((next, around) => async () => around(run, next), call)
  return chain()
}

/**
 * Middleware may replace the value, but not the fact that the work continues elsewhere. A handler that returns nothing, or no
 * promise, has ended.
 */
function noteParked<Tx>(handle: RunHandle<Tx>, value: unknown): unknown {
  if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return value
  return Promise.resolve(value).then((returned) => {
    if (returned instanceof Parked) handle.park(returned.parkMs)
    return returned
  })
}

/** Validated when it was stored, and again here: the schema may have changed since. */
async function readInput(job: string, schema: StandardSchema, input: Json): Promise<unknown> {
  const validated = await validateInput(schema, input)
  if (validated.ok) return validated.value
  throw new InputRefused(job, validated.message)
}
