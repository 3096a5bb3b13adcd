import { isatty } from 'node:tty'
import { readBoolean, readFields } from '../client/read-option.ts'
import type { Instance, StopOptions } from '../engine/instance.ts'
import { ERROR_CODES } from '../error-codes.ts'
import { CronceError } from '../errors.ts'
import { isInternal } from '../model/exclusive-jobs.ts'
import type { AppCore } from './app-core.ts'
import { pm2Warning } from './pm2.ts'
import { type StopSignal, stopOnSignals } from './signals.ts'
import { startedLine, stoppingLine } from './status-lines.ts'
import { textOf } from './text-of.ts'

/** How many runs a call of `runDue()` started, and how they ended. */
export interface RunDueSummary {
  readonly started: number
  readonly succeeded: number
  readonly failed: number
}

/** How an app starts. */
export interface StartOptions {
  /**
   * While the store can't be reached: try again until it can, or `stop()` is called, instead of rejecting. What can't pass by
   * itself (a wrong password, tables that are missing) still rejects. @default false
   */
  readonly wait?: boolean | undefined
}

/** Between two attempts to open a store that can't be reached. */
const REOPEN_MS = 2_000

/** How long an aborted run may take to notice, when the instance stops. */
export const STOP_GRACE_MS = 2_000
const LONG_MS = 3_600_000
/** Schedules that are read for the line about the start. */
const MOST_READ = 1_000
/** How long the store may take to close. */
const CLOSE_MS = 5_000

/** One call of `start()` or `runDue()`. */
interface Beginning {
  readonly by: 'start' | 'runDue'
}

export interface StartHooks {
  /** Called on SIGTERM and SIGINT. */
  readonly stop: () => Promise<void>
  /** Called once the engine has started. */
  readonly onStarted: () => void
}

/** Starts and stops the engine of one app: at most one at a time. */
export class AppLifecycle<Tx> {
  readonly #core: AppCore<Tx>
  readonly #stopOptions: StopOptions
  #engine: Instance<Tx> | null = null
  /** The call that counts. It is set before there is an engine, and cleared when everything has stopped. */
  #begun: Beginning | null = null
  #stopping: Promise<void> | null = null
  #ignoreSignals: () => void = () => {}
  #stopSignal: StopSignal | null = null
  #waiting: AbortController | null = null
  /** The instance whose start was logged. */
  #reported: string | null = null

  constructor(core: AppCore<Tx>) {
    this.#core = core
    this.#stopOptions = { drainMs: core.resolved.drainMs, graceMs: STOP_GRACE_MS }
  }

  get engine(): Instance<Tx> | null {
    return this.#engine
  }

  /** True after `start()`, not after `runDue()`. */
  get isStarted(): boolean {
    return this.#begun?.by === 'start'
  }

  demandStopped(what: string): void {
    if (this.#begun === null) return
    throw new CronceError('ALREADY_STARTED', `${what} comes too late: the app has started.`, {
      hint: 'Declare jobs and middleware before start(), and start once.',
    })
  }

  async start({ stop, onStarted }: StartHooks, options: StartOptions = {}): Promise<void> {
    if (this.#core.isDeclaring) return
    this.demandStopped('start()')
    const { wait = false } = readFields('', options, ['wait'], 'start({ wait: true })')
    const isPatient = readBoolean('wait', wait)
    const mine: Beginning = { by: 'start' }
    this.#begun = mine
    try {
      if (isPatient) this.#listen(stop)
      const created = await this.#create(mine, isPatient)
      if (created === null) return
      this.#engine = created
      if (!isPatient) this.#listen(stop)
      await created.start()
      if (this.#isStopped(mine)) return
      onStarted()
      await this.#reportStart(created)
    } catch (error) {
      // Stopped while it was starting: stop() was called on purpose, so the failure is ignored.
      if (this.#isStopped(mine)) return
      this.#ignoreSignals()
      this.#engine = null
      this.#begun = null
      throw error
    }
  }

  #listen(stop: () => Promise<void>): void {
    if (!this.#core.resolved.signals) return
    this.#ignoreSignals = stopOnSignals((signal) => {
      this.#stopSignal = signal
      return stop()
    })
  }

  /** `null`: stopped while it waited for the store. */
  async #create(mine: Beginning, isPatient: boolean): Promise<Instance<Tx> | null> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#createEngine(mine)
      } catch (error) {
        if (!isPatient || !mayPass(error)) throw error
        if (this.#isStopped(mine)) return null
        // Logged once: the store's name and the reason stay the same.
        if (attempt === 1) this.#core.logger.warn(`Waiting for the store: ${textOf(error)}`)
        this.#waiting = new AbortController()
        await this.#core.around.clock.sleep(REOPEN_MS, this.#waiting.signal)
        if (this.#isStopped(mine)) return null
      }
    }
  }

  async #reportStart({ instance }: Instance<Tx>): Promise<void> {
    const { resolved, logger, jobs, lazy, around } = this.#core
    const { purpose, clock, environment } = around
    const warning = pm2Warning(environment, resolved.drainMs)
    if (warning !== null) logger.warn(warning)
    if (resolved.logger.info === undefined) return
    const { store } = lazy
    // The app has started, even if the store does not answer this query: then the log line names no due time.
    const declared = [...jobs.values()].filter(({ name }) => !isInternal(name))
    const names = declared.map(({ name }) => name).slice(0, MOST_READ)
    const { schedules } = await store.load(names).catch(() => ({ schedules: [] }))
    const now = clock.wall()
    logger.info(startedLine({ jobs: declared, purpose, schedules, store: store.info.name, instance, now }))
    this.#reported = instance
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stop()
    return this.#stopping
  }

  async runDue(): Promise<RunDueSummary> {
    this.demandStopped('runDue()')
    const count = { started: 0, succeeded: 0, failed: 0 }
    if (this.#core.isDeclaring) return count
    const unlisten = this.#core.events.on('*', (event) => {
      if (event.type === 'run.started') count.started++
      else if (event.type === 'run.ended' && event.outcome === 'succeeded') count.succeeded++
      else if (event.type === 'run.ended' && event.outcome === 'failed') count.failed++
    })
    const mine: Beginning = { by: 'runDue' }
    this.#begun = mine
    try {
      const created = await this.#createEngine(mine)
      if (created === null) return count
      this.#engine = created
      await created.runDue(this.#stopOptions)
    } finally {
      unlisten()
      // If it is being stopped, stop() still needs the engine, and clears both itself.
      if (!this.#isStopped(mine)) {
        this.#engine = null
        this.#begun = null
      }
    }
    return count
  }

  /** With `keepAlive: false` nothing else keeps the process from ending while a caller awaits this. */
  async keepAlive<Value>(work: () => Promise<Value>): Promise<Value> {
    const alive = this.#core.resolved.keepAlive ? undefined : setInterval(() => {}, LONG_MS)
    try {
      return await work()
    } finally {
      clearInterval(alive)
    }
  }

  /**
   * The engine is loaded here: a process that only declares jobs, or only uses the client, never needs it. The store is opened
   * first, so that stop() has something to close. `null`: stopped meanwhile.
   */
  async #createEngine(mine: Beginning): Promise<Instance<Tx> | null> {
    const [, { createAppEngine }] = await Promise.all([this.#core.lazy.open(), import('./app-engine.ts')])
    if (this.#isStopped(mine)) return null
    const created = await createAppEngine(this.#core)
    return this.#isStopped(mine) ? null : created
  }

  #isStopped(mine: Beginning): boolean {
    return this.#begun !== mine || this.#stopping !== null
  }

  async #stop(): Promise<void> {
    this.#waiting?.abort()
    const how = { drainMs: this.#stopOptions.drainMs, signal: this.#stopSignal, isTerminal: isatty(0) }
    const waitsFor = stoppingLine(this.#engine?.runningJobs ?? [], how)
    if (waitsFor !== null) this.#core.logger.info(waitsFor)
    this.#stopSignal = null
    await this.keepAlive(async () => {
      await this.#engine?.stop(this.#stopOptions)
      this.#engine = null
      await this.#reportedWithin(CLOSE_MS)
      await this.#closeWithin(CLOSE_MS)
    })
    if (this.#reported !== null) this.#core.logger.info(`Stopped: instance ${this.#reported}.`)
    this.#reported = null
    // Only now: a signal that arrives during the stop must wait for its end, and so must other apps of this process.
    this.#ignoreSignals()
    this.#begun = null
    this.#stopping = null
  }

  /** A run that has ended is not to be missed outside because its process ends as well. */
  async #reportedWithin(ms: number): Promise<void> {
    const { checkIns, around } = this.#core
    if (checkIns.size === 0) return
    const waited = new AbortController()
    await Promise.race([Promise.all(checkIns), around.clock.sleep(ms, waited.signal)])
    waited.abort()
  }

  /** A store that can't be reached must not keep the process from ending. */
  async #closeWithin(ms: number): Promise<void> {
    const { lazy, heartbeats, logger, around } = this.#core
    this.#core.heartbeats = null
    const waited = new AbortController()
    const closing = Promise.all([heartbeats?.close(), lazy.close()]).catch((error: unknown) =>
      logger.warn(`The store could not be closed: ${textOf(error)}`),
    )
    await Promise.race([closing, around.clock.sleep(ms, waited.signal)])
    waited.abort()
  }
}

/** Errors of a store that is away: the same that the CLI calls unreachable. */
function mayPass(error: unknown): boolean {
  return (
    error instanceof CronceError && ERROR_CODES[error.code].exit === UNREACHABLE && error.code !== 'STORE_FORBIDDEN'
  )
}

const UNREACHABLE = 5
