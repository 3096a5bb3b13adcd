import { hostname } from 'node:os'
import { cannotTransact } from '../client/cannot-transact.ts'
import { type Client, createClient } from '../client/client.ts'
import { readName } from '../client/read-name.ts'
import type { StandardSchema } from '../client/standard-schema.ts'
import { systemClock } from '../clock.ts'
import { describeError } from '../engine/describe-error.ts'
import { Instance, type StopOptions } from '../engine/instance.ts'
import type { EngineParts, EngineSettings } from '../engine/parts.ts'
import { CronceError } from '../errors.ts'
import type { CronceEvent, EventType } from '../model/event.ts'
import { callbackSecretOf, type Target } from '../target/target.ts'
import { readAppName } from './app-name.ts'
import { type Elections, makeElections } from './elect.ts'
import { emitter, type Listener } from './emitter.ts'
import { type ExclusiveParts, notStarted, rememberExclusiveParts } from './exclusive.ts'
import { type HandleCallbackOptions, handleCallback } from './handle-callback.ts'
import { type HandleFireOptions, handleFire } from './handle-fire.ts'
import { hashDeclarations, newId } from './identity.ts'
import {
  type DeclaredJob,
  declareJob,
  engineJob,
  type Handler,
  type InputOf,
  type JobOptions,
  type Middleware,
} from './job.ts'
import { lazyStore } from './lazy-store.ts'
import { type Locks, makeLocks } from './lock.ts'
import { guarded, logEvent } from './logger.ts'
import { makeOnce, type Once } from './once.ts'
import { storeSource } from './open-store.ts'
import { type CronceOptions, resolveOptions } from './options.ts'
import { stopOnSignals } from './signals.ts'
import { type Surroundings, surroundingsOf } from './surroundings.ts'
import { VERSION } from './version.ts'

/** An application's jobs, and the client for everything in its store. */
export interface Cronce<Tx = unknown> extends Client<Tx>, Locks, Elections, Once {
  /** Declare a job that runs by a cron expression. */
  job(name: string, cron: string, handler: Handler<null, Tx>): this
  /** Declare a job. Before `start()`. */
  job<Schema extends StandardSchema | undefined = undefined>(
    name: string,
    options: JobOptions<Schema>,
    handler: Handler<InputOf<Schema>, Tx>,
  ): this
  /** Declare a job that runs something else than a function: a file in a thread or process, a command, an HTTP endpoint. */
  job<Schema extends StandardSchema | undefined = undefined>(name: string, options: JobOptions<Schema> & Target): this
  /** Something around every run, the first one outermost. Before `start()`. */
  use(middleware: Middleware<Tx>): this
  /** Be told what happens here. `'*'` for everything. Returns how to stop. */
  on<Type extends EventType | '*'>(type: Type, listener: Listener<Type>): () => void
  /** Join the fleet and run what is due, until `stop()`. Every replica does this; each fire runs on one of them. */
  start(): Promise<void>
  /**
   * Take nothing new, let runs finish, hand back the rest, leave, close the store: STORE_CLOSED to every call until `start()` or
   * `runDue()`. Never rejects. A handler must not await it: it waits for that.
   */
  stop(): Promise<void>
  /** Without `start()`: run what is due now, wait for it, and leave. For serverless functions. */
  runDue(): Promise<RunDueSummary>
  /**
   * An external scheduler (EventBridge, Cloud Scheduler, a CronJob, Vercel) says that something is due: however often it says so
   * there is one fire. In a process that has not started, the answer comes when it has been run.
   */
  handleFire(request: Request, options?: HandleFireOptions): Promise<Response>
  /** The endpoint of an HTTP target that took its work on says how the run ended. */
  handleCallback(request: Request, options: HandleCallbackOptions): Promise<Response>
  /** This instance's id, once it has started. */
  readonly instance: string | null
  [Symbol.asyncDispose](): Promise<void>
}

export interface RunDueSummary {
  readonly started: number
  readonly succeeded: number
  readonly failed: number
}

/** How long an aborted run may take to notice, when the instance stops. */
const STOP_GRACE_MS = 2_000
const LONG_MS = 3_600_000
/** How long the store may take to close. */
const CLOSE_MS = 5_000

export function cronce<Tx = unknown>(options: CronceOptions<Tx>): Cronce<Tx> {
  const resolved = resolveOptions(options)
  const source = storeSource(options.store)
  const around = { ...ownSurroundings(resolved.keepAlive), ...surroundingsOf(source) }
  const logger = guarded(resolved.logger)
  const events = emitter((error, event) => logger.error(`A listener of ${event.type} threw: ${textOf(error)}`))
  const jobs = new Map<string, DeclaredJob<Tx>>()
  const middleware: Middleware<Tx>[] = []
  let engine: Instance<Tx> | null = null
  /** Of the call of `start()` or `runDue()` that counts; also when there is no engine yet, and until all is stopped. */
  let begun: { readonly by: 'start' | 'runDue' } | null = null
  let stopping: Promise<void> | null = null
  const stopOptions: StopOptions = { drainMs: resolved.drainMs, graceMs: STOP_GRACE_MS }
  let ignoreSignals: () => void = () => {}

  const emit = (event: CronceEvent): void => {
    logEvent(logger, event)
    around.told?.(event)
    events.emit(event)
  }
  const lazy = lazyStore<Tx>(
    () =>
      source.open({
        namespace: resolved.namespace,
        adopt: resolved.adopt,
        production: around.production,
        warn: (code, message) => logger.warn(`${message} (${code})`),
      }),
    { message: 'This app was stopped.', hint: 'Start it again, or look at the store by connect().' },
  )
  const client = createClient<Tx>({
    store: lazy.store,
    context: () => ({
      zoneData: around.zoneData,
      clock: around.clock,
      random: around.random,
      newId: around.newId,
    }),
    emit,
    applied: (decision) => engine?.learned(decision),
    inputSchemaOf: (job) => jobs.get(job)?.schema,
    defaultsOf: (job) => jobs.get(job)?.defaults,
  })

  const createOne = async (): Promise<Instance<Tx>> => {
    const store = await lazy.open()
    for (const { name, definition } of jobs.values()) {
      if (definition.policy.guarantee === 'exactly-once' && !store.info.transactions)
        throw cannotTransact(`Job ${JSON.stringify(name)} is exactly-once, which ${store.info.name} can't do.`)
    }
    const { CRONCE_APP, CRONCE_DEPLOYMENT } = around.environment
    const appName = resolved.app ?? (CRONCE_APP ? readName('app', CRONCE_APP) : around.appName()) ?? 'default'
    const declared = [...jobs.values()].map(({ name, definition, was }) =>
      was === undefined ? { id: name, definition } : { id: name, definition, was },
    )
    const givenDeployment = resolved.deployment ?? (CRONCE_DEPLOYMENT || undefined)
    const settings: EngineSettings = {
      app: appName,
      deployment: givenDeployment ?? hashDeclarations(declared, [...jobs.keys()]),
      isExplicit: givenDeployment !== undefined,
      host: hostname(),
      pid: process.pid,
      version: VERSION,
      zoneData: around.zoneData,
      concurrency: resolved.concurrency,
      leaseMs: resolved.leaseMs,
      storeDeadlineMs: Math.min(10_000, resolved.leaseMs * 2),
      patienceMs: 250,
      probeMs: 250,
      holdDownMs: resolved.holdDownMs,
      retireAfterMs: resolved.retireAfterMs,
      stuckMs: 3_600_000,
      declared,
      ...around.settings,
    }
    const engineJobs = [...jobs.values()].map((job) => engineJob(job, middleware, resolved.namespace))
    const { clock, random, sync, told } = around
    const parts: EngineParts<Tx> = {
      store,
      clock,
      random,
      newId: around.newId,
      emit,
      hears: (type) => told !== null || events.hears(type),
      sync,
      jobs: new Map(engineJobs.map((job) => [job.name, job])),
    }
    return new Instance(parts, settings)
  }

  /** With `keepAlive: false` nothing else keeps the process from ending while a caller awaits this. */
  const keepAlive = async <Value>(work: () => Promise<Value>): Promise<Value> => {
    const alive = resolved.keepAlive ? undefined : setInterval(() => {}, LONG_MS)
    try {
      return await work()
    } finally {
      clearInterval(alive)
    }
  }

  const exclusiveParts: ExclusiveParts<Tx> = {
    engine() {
      if (engine === null || begun?.by !== 'start') throw notStarted('A lock, an election, a key or a coordinator')
      return engine
    },
    mono: () => around.clock.mono(),
    keepAlive,
    sleep: (ms, signal) => around.clock.sleep(ms, signal),
    pause: (ms, signal) => around.clock.pause(ms, signal),
    pulseMs: around.pulseMs,
    random: around.random,
    newId: around.newId,
    logger,
  }
  const elections = makeElections(exclusiveParts, logger, () => engine !== null && begun?.by === 'start')

  const demandStopped = (what: string): void => {
    if (begun === null) return
    throw new CronceError('ALREADY_STARTED', `${what} comes too late: the app has started.`, {
      hint: 'Declare jobs and middleware before start(), and start once.',
    })
  }

  /** A store that can't be reached must not keep the process from ending. */
  const closeWithin = async (ms: number): Promise<void> => {
    const waited = new AbortController()
    const closing = lazy
      .close()
      .catch((error: unknown) => logger.warn(`The store could not be closed: ${textOf(error)}`))
    await Promise.race([closing, around.clock.sleep(ms, waited.signal)])
    waited.abort()
  }

  const stop = async (): Promise<void> => {
    await keepAlive(async () => {
      await engine?.stop(stopOptions)
      engine = null
      await closeWithin(CLOSE_MS)
    })
    // Not before: a signal that comes while others stop us must wait for that, and so must other apps in this process.
    ignoreSignals()
    begun = null
    stopping = null
  }

  const app: Cronce<Tx> = {
    ...client,
    ...makeLocks(exclusiveParts),
    ...makeOnce(exclusiveParts, lazy.store),
    elect: elections.elect,
    isLeader: elections.isLeader,
    job(name: string, jobOptions: unknown, handler?: unknown) {
      demandStopped('job()')
      const job = declareJob<Tx>(name, jobOptions, handler)
      if (jobs.has(job.name)) {
        throw new CronceError('JOB_EXISTS', `Job ${JSON.stringify(job.name)} is declared twice.`, {
          hint: 'Give the second one another name; more schedules for one job are made with app.schedules.create.',
        })
      }
      for (const warning of job.warnings) logger.warn(`${job.name}: ${warning}`)
      jobs.set(job.name, job)
      return app
    },
    use(around) {
      demandStopped('use()')
      middleware.push(around)
      return app
    },
    on: (type, listener) => events.on(type, listener),
    async start() {
      demandStopped('start()')
      const mine = { by: 'start' } as const
      begun = mine
      const isStopped = (): boolean => begun !== mine || stopping !== null
      try {
        const created = await createOne()
        // Stopped while the store was being opened.
        if (isStopped()) return
        engine = created
        if (resolved.signals) ignoreSignals = stopOnSignals(() => app.stop())
        await created.start()
        if (!isStopped()) elections.begin()
      } catch (error) {
        // Stopped while it was starting: then that is all there is to say.
        if (isStopped()) return
        ignoreSignals()
        engine = null
        begun = null
        throw error
      }
    },
    stop() {
      stopping ??= stop()
      return stopping
    },
    async runDue() {
      demandStopped('runDue()')
      const count = { started: 0, succeeded: 0, failed: 0 }
      const unlisten = events.on('*', (event) => {
        if (event.type === 'run.started') count.started++
        else if (event.type === 'run.ended' && event.outcome === 'succeeded') count.succeeded++
        else if (event.type === 'run.ended' && event.outcome === 'failed') count.failed++
      })
      const mine = { by: 'runDue' } as const
      begun = mine
      const isStopped = (): boolean => begun !== mine || stopping !== null
      try {
        const created = await createOne()
        if (isStopped()) return count
        engine = created
        await created.runDue(stopOptions)
      } finally {
        unlisten()
        // Else whoever stops it is not done yet.
        if (!isStopped()) {
          engine = null
          begun = null
        }
      }
      return count
    },
    handleFire: (request, fireOptions) =>
      handleFire(
        { client, isStarted: () => begun?.by === 'start', runDue: () => app.runDue(), clock: around.clock, logger },
        request,
        fireOptions,
      ),
    handleCallback: (request, callbackOptions) =>
      handleCallback(client, request, callbackOptions, {
        namespace: resolved.namespace,
        secretOf: (job) => callbackSecretOf(jobs.get(job)?.handler),
        logger,
      }),
    get instance() {
      return engine?.instance ?? null
    },
    [Symbol.asyncDispose]: () => app.stop(),
  }
  rememberExclusiveParts(app, exclusiveParts)
  return app
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
    pulseMs: 100,
    sync: () => {},
    told: null,
  }
}

/** Whatever was thrown: it may be nothing that can be made a text of. */
function textOf(error: unknown): string {
  const { name, message } = describeError(error)
  return `${name}: ${message}`
}
