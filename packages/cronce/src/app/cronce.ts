import { type Client, createClient } from '../client/client.ts'
import type { AnyInputs, IfKnown } from '../client/inputs.ts'
import type { ClientParts } from '../client/parts.ts'
import { show } from '../client/read-option.ts'
import type { InferInput, StandardSchema } from '../client/standard-schema.ts'
import { systemClock } from '../clock.ts'
import { didYouMean } from '../did-you-mean.ts'
import { CronceError } from '../errors.ts'
import { type CronceEvent, EVENT_TYPES, type EventType } from '../model/event.ts'
import type { Json } from '../model/json.ts'
import { plainJob } from '../model/placement.ts'
import type { Store } from '../store/store.ts'
import { StoreError } from '../store/store-error.ts'
import { callbackSecretOf, type Target } from '../target/target.ts'
import type { AppCore } from './app-core.ts'
import { readAppName } from './app-name.ts'
import { appWatch } from './app-watch.ts'
import { atEntry } from './at-entry.ts'
import { isDeclaring, rememberDeclaration } from './declaration.ts'
import type { DetectOptions, Detector } from './detect.ts'
import { type Elections, makeElections } from './elect.ts'
import { emitter, type Listener } from './emitter.ts'
import { type ExclusiveParts, notStarted, rememberExclusiveParts } from './exclusive.ts'
import { type Gauges, rememberGauges } from './gauges.ts'
import { type HandleCallbackOptions, handleCallback } from './handle-callback.ts'
import { type HandleFireOptions, handleFire } from './handle-fire.ts'
import { newId } from './identity.ts'
import { type DeclaredJob, declareJob, type Handler, type InputOf, type JobOptions, type Middleware } from './job.ts'
import { lazyStore } from './lazy-store.ts'
import { AppLifecycle, type RunDueSummary, type StartOptions } from './lifecycle.ts'
import { type Locks, makeLocks } from './lock.ts'
import { guarded, logEvent } from './logger.ts'
import { makeOnce, type Once } from './once.ts'
import { storeSource } from './open-store.ts'
import { type CronceOptions, resolveOptions } from './options.ts'
import { withPm2Hint } from './pm2.ts'
import { type Surroundings, surroundingsOf } from './surroundings.ts'
import { textOf } from './text-of.ts'

/** The inputs of an app that has this job as well. A name that the compiler does not know is left out. */
export type WithJob<Inputs, Name extends string, Schema> = string extends Name
  ? Inputs
  : IfKnown<Inputs, Inputs, unknown> & Readonly<Record<Name, Schema extends StandardSchema ? InferInput<Schema> : Json>>

/**
 * An application's jobs, and the client for everything in its store. `Inputs`: the input type of each job. `job()` returns the
 * app with one more job in its type, so that schedules created through it are checked.
 */
export interface Cronce<Tx = unknown, Inputs = AnyInputs> extends Client<Tx, Inputs>, Locks, Elections, Once {
  /** Declare a job that runs by a cron expression. */
  job<Name extends string>(
    name: Name,
    cron: string,
    handler: Handler<null, Tx>,
  ): Cronce<Tx, WithJob<Inputs, Name, undefined>>
  /** Declare a job. Before `start()`. */
  job<Schema extends StandardSchema | undefined = undefined, Name extends string = string>(
    name: Name,
    options: JobOptions<Schema>,
    handler: Handler<InputOf<Schema>, Tx>,
  ): Cronce<Tx, WithJob<Inputs, Name, Schema>>
  /** Declare a job that runs something other than a function: a file in a thread or process, a command, an HTTP endpoint. */
  job<Schema extends StandardSchema | undefined = undefined, Name extends string = string>(
    name: Name,
    options: JobOptions<Schema> & Target,
  ): Cronce<Tx, WithJob<Inputs, Name, Schema>>
  /** Wrap every run; the first middleware is the outermost. Call before `start()`. */
  use(middleware: Middleware<Tx>): this
  /** Listen to the events of this process; `'*'`: all of them. Returns a function that stops listening. */
  on<Type extends EventType | '*'>(type: Type, listener: Listener<Type>): () => void
  /**
   * Join the fleet and run what is due, until `stop()`. Every replica does this; each fire runs on one of them.
   *
   * @example
   * await app.start({ wait: true }) // also if the database comes up after this process
   */
  start(options?: StartOptions): Promise<void>
  /**
   * Claim nothing new, let runs finish, hand back the rest, leave the fleet, close the store. Until `start()` or `runDue()`,
   * calls are refused with STORE_CLOSED. Never rejects. A handler must not await it, because it waits for the handler.
   */
  stop(): Promise<void>
  /** Without `start()`: run what is due now, wait for it, and leave. For serverless functions. */
  runDue(): Promise<RunDueSummary>
  /**
   * Accepts a delivery of an external scheduler (EventBridge, Cloud Scheduler, a CronJob, Vercel): repeated deliveries make one
   * fire. In a process that has not started, the answer comes when the fire has run.
   */
  handleFire(request: Request, options?: HandleFireOptions): Promise<Response>
  /** Accepts the outcome of a run from the endpoint of an HTTP target with a call-back. */
  handleCallback(request: Request, options: HandleCallbackOptions): Promise<Response>
  /**
   * Wrap work that cronce does not schedule, such as a job of another scheduler, in every process that executes it. If it begins again
   * within the window, in any process, that is reported, or (`refuse`) the second one is not executed and `undefined` is the answer.
   * Works without `start()`. If the store does not answer, the work is executed all the same.
   */
  detect<Value>(name: string, options: DetectOptions, work: () => Value | Promise<Value>): Promise<Value | undefined>
  /** This instance's id, once it has started. */
  readonly instance: string | null
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Creates an app: declare its jobs, then start it in every process. Each fire runs in one of them.
 *
 * @example
 * const app = cronce({ store: 'sqlite:./cronce.db' })
 * app.job('report', { cron: '0 3 * * *', tz: 'Europe/London' }, async (run) => send({ signal: run.signal }))
 * await app.start()
 */
export function cronce<Tx = unknown>(options: CronceOptions<Tx>): Cronce<Tx> {
  const core = atEntry(() => coreOf(options))
  const { resolved, around, logger, events, jobs, middleware, lazy } = core
  const lifecycle = new AppLifecycle(core)
  const clientParts = clientPartsOf(core, lifecycle)
  const client = createClient<Tx>(clientParts)
  const exclusiveParts = exclusivePartsFor(core, lifecycle)
  const keys = makeOnce(exclusiveParts, lazy.store)
  const watch = appWatch({ core, lifecycle, keys, client: clientParts })
  const elections = makeElections(exclusiveParts, logger, () => lifecycle.engine !== null && lifecycle.isStarted)

  const onStarted = (): void => {
    elections.begin()
    watch.begin()
  }
  const app: Cronce<Tx> = {
    ...client,
    ...makeLocks(exclusiveParts),
    ...keys,
    elect: elections.elect,
    isLeader: elections.isLeader,
    job(name: string, jobOptions: unknown, handler?: unknown) {
      return atEntry(() => {
        lifecycle.demandStopped(`job(${show(name)})`)
        addJob(core, declareJob<Tx>(name, jobOptions, handler, resolved.calendars))
        return app
      })
    },
    use(around) {
      lifecycle.demandStopped('use()')
      demandFunction('The middleware', around, 'app.use(async (run, next) => next())')
      middleware.push(around)
      return app
    },
    on(type, listener) {
      demandEvent(type)
      demandFunction(`The listener of ${type}`, listener, `app.on('${type}', (event) => { … })`)
      return events.on(type, listener)
    },
    start: (startOptions) => lifecycle.start({ stop: () => app.stop(), onStarted }, startOptions),
    stop() {
      watch.end()
      return lifecycle.stop()
    },
    runDue: () => lifecycle.runDue(),
    handleFire: (request, fireOptions) =>
      handleFire(
        { client, isStarted: () => lifecycle.isStarted, runDue: () => app.runDue(), clock: around.clock, logger },
        request,
        fireOptions,
      ),
    handleCallback: (request, callbackOptions) =>
      handleCallback(client, request, callbackOptions, {
        namespace: resolved.namespace,
        secretOf: (job) => callbackSecretOf(findJob(jobs, job)?.handler),
        logger,
      }),
    detect: lazyDetect(core, () => app.instance),
    get instance() {
      return lifecycle.engine?.instance ?? null
    },
    [Symbol.asyncDispose]: () => app.stop(),
  }
  rememberExclusiveParts(app, exclusiveParts)
  rememberDeclaration(app, async () => (await import('./app-engine.ts')).describeApp(core))
  rememberGauges(app, gaugesFor(core, lifecycle))
  return app
}

function gaugesFor<Tx>({ meters, events, jobs }: AppCore<Tx>, lifecycle: AppLifecycle<Tx>): Gauges {
  const plainName = (job: string): string => (jobs.has(job) ? job : plainJob(job))
  return { meters, observe: events.observe, load: () => lifecycle.engine?.load ?? null, plainName }
}

/** Loads the code that detects duplicates when it is first called. */
function lazyDetect<Tx>(core: AppCore<Tx>, instance: () => string | null): Cronce<Tx>['detect'] {
  let detector: Promise<Detector<Tx>> | null = null
  return async (name, options, work) => {
    detector ??= import('./detect.ts').then(({ Detector }) => new Detector(core, instance))
    return (await detector).detect(name, options, work)
  }
}

function coreOf<Tx>(options: CronceOptions<Tx>): AppCore<Tx> {
  const resolved = resolveOptions(options)
  const source = storeSource(options.store)
  const around = { ...ownSurroundings(resolved.keepAlive), ...surroundingsOf(source) }
  const logger = guarded(resolved.logger)
  for (const warning of resolved.warnings) logger.warn(warning)
  const events = emitter((error, event) => logger.error(`A listener of ${event.type} threw: ${textOf(error)}`))
  const emit = (emitted: CronceEvent): void => {
    const event = withPm2Hint(emitted, around.environment)
    logEvent(logger, event)
    around.told?.(event)
    events.emit(event)
  }
  const storeWarnings = new Map<string, string>()
  const open = (namespace: string): Promise<Store<Tx>> =>
    source.open({
      namespace,
      adopt: resolved.adopt,
      production: around.production,
      warn(code, message) {
        storeWarnings.set(code, message)
        logger.warn(`${message} (${code})`)
      },
    })
  const lazy = lazyStore<Tx>(isDeclaring() ? onlyDeclares : () => open(resolved.namespace), {
    message: 'This app was stopped.',
    hint: 'Start it again, or look at the store by connect().',
  })
  return {
    isDeclaring: isDeclaring(),
    resolved,
    around,
    logger,
    events,
    emit,
    meters: [],
    storeWarnings,
    lazy,
    open,
    heartbeats: null,
    jobs: new Map(),
    middleware: [],
    checkIns: new Set(),
  }
}

async function onlyDeclares(): Promise<never> {
  throw new StoreError('STORE_CLOSED', 'This app was loaded to say what it declares, and may not use its store.', {
    hint: 'Call the store after start(), and not while the module is loaded.',
  })
}

function clientPartsOf<Tx>(
  { resolved, lazy, around, emit, jobs, logger }: AppCore<Tx>,
  lifecycle: AppLifecycle<Tx>,
): ClientParts<Tx> {
  return {
    store: lazy.store,
    context: () => ({
      zoneData: around.zoneData,
      clock: around.clock,
      random: around.random,
      newId: around.newId,
    }),
    emit,
    applied: (decision) => lifecycle.engine?.learned(decision),
    keepActivityMs: resolved.keepActivityMs,
    jobNames: () => [...jobs.keys()],
    warn: (message) => logger.warn(message),
    inputSchemaOf: (job) => findJob(jobs, job)?.schema,
    defaultsOf: (job) => findJob(jobs, job)?.defaults,
    calendars: resolved.calendars,
  }
}

/** Also by the name that the job has on one host or under one label. */
function findJob<Tx>(jobs: AppCore<Tx>['jobs'], name: string): DeclaredJob<Tx> | undefined {
  return jobs.get(name) ?? jobs.get(plainJob(name))
}

function exclusivePartsFor<Tx>({ around, logger }: AppCore<Tx>, lifecycle: AppLifecycle<Tx>): ExclusiveParts<Tx> {
  return {
    engine() {
      const { engine } = lifecycle
      if (engine === null || !lifecycle.isStarted) throw notStarted('A lock, an election, a key or a coordinator')
      return engine
    },
    mono: () => around.clock.mono(),
    keepAlive: (work) => lifecycle.keepAlive(work),
    sleep: (ms, signal) => around.clock.sleep(ms, signal),
    pause: (ms, signal) => around.clock.pause(ms, signal),
    pulseMs: around.pulseMs,
    random: around.random,
    newId: around.newId,
    logger,
  }
}

function addJob<Tx>({ jobs, logger }: AppCore<Tx>, job: DeclaredJob<Tx>): void {
  if (jobs.has(job.name)) {
    throw new CronceError('JOB_EXISTS', `Job ${JSON.stringify(job.name)} is declared twice.`, {
      hint: 'Give the second one another name; more schedules for one job are made with app.schedules.create.',
    })
  }
  for (const warning of job.warnings) logger.warn(`Job ${JSON.stringify(job.name)}: ${warning}`)
  jobs.set(job.name, job)
}

function demandFunction(what: string, given: unknown, sample: string): void {
  if (typeof given === 'function') return
  throw new CronceError('OPTION_INVALID', `${what} must be a function, but is ${show(given)}.`, {
    hint: `Write ${sample}.`,
  })
}

/** A listener of an event that does not exist would never be called. */
function demandEvent(type: unknown): void {
  if (type === '*' || EVENT_TYPES.some((known) => known === type)) return
  const meant = typeof type === 'string' ? (endMeant(type) ?? didYouMean(type, EVENT_TYPES)) : undefined
  throw new CronceError('OPTION_INVALID', `There is no event ${show(type)}.`, {
    hint: meant === undefined ? `Events are *, ${EVENT_TYPES.join(', ')}.` : `Did you mean ${meant}?`,
  })
}

/** Other libraries have an event for each outcome: `completed`, `job.failed`, `task:success`. */
function endMeant(type: string): EventType | undefined {
  const word =
    /^(?:(?:job|task|run|execution)s?[.:\-_ ])?(complete[d]?|success|succeeded|fail|failed|failure|error|finished|done|ended?)$/i
  return word.test(type) ? 'run.ended' : undefined
}

function ownSurroundings(keepAlive: boolean): Surroundings {
  const { NODE_ENV } = process.env
  const { tz = '' } = process.versions
  return {
    clock: systemClock({ keepAlive }),
    random: Math.random,
    newId,
    zoneData: tz,
    production: NODE_ENV === 'production',
    environment: process.env,
    appName: readAppName,
    settings: {},
    purpose: null,
    pulseMs: 100,
    sync: () => {},
    told: null,
  }
}
