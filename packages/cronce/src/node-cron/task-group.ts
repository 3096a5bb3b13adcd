import { type Cronce, cronce } from '../app/cronce.ts'
import { exclusivePartsOf } from '../app/exclusive.ts'
import { logEvent } from '../app/logger.ts'
import { surround, surroundingsOf } from '../app/surroundings.ts'
import { CronceError } from '../errors.ts'
import type { CronceEvent, EventOf } from '../model/event.ts'
import type { StoreSource } from '../store/store.ts'
import type { TargetRun } from '../target/target-run.ts'
import type { Setup } from './setup.ts'
import type { Task } from './task.ts'
import { sharedLogger } from './task-logger.ts'
import { scheduleOf } from './task-schedule.ts'
import type { RunCoordinator } from './task-types.ts'

/** A task in a group, by the name of its schedule and job. */
export interface Member {
  readonly id: string
  readonly task: Task
  readonly coordinator: (() => RunCoordinator) | null
  /** What the task says counts since it started; afterwards what others say counts as much. */
  readonly start: Start
}

/** One start of a task, whichever groups it is in meanwhile. */
export interface Start {
  /** Whether the store has what the task says. */
  isPut: boolean
}

export interface CrewOptions {
  readonly members: readonly Member[]
  readonly source: StoreSource
  readonly isShared: boolean
  readonly keepAlive: boolean
  readonly setup: Setup
  /** The ids of all instances of this process, which groups add theirs to. */
  readonly ownInstances: Set<string>
}

/** A handful at a time: there may be thousands, and one store. */
const AT_A_TIME = 20
const RETRY_MS = 1_000
const LONGEST_RETRY_MS = 30_000
const PRUNE_MS = 30_000
/** Missed slots that are reported one by one, the latest first: after a day's sleep a task of every second has 86,400. */
const MOST_TOLD = 100

/**
 * Tasks that were started together, as one app. An instance never changes its jobs, so a group never changes its tasks: when one of
 * them stops, the group begins nothing more, and the others go on in a new one.
 */
export class TaskGroup {
  readonly members: ReadonlyMap<string, Member>
  readonly isShared: boolean
  readonly keepAlive: boolean
  readonly #app: Cronce
  readonly #ownInstances: Set<string>
  readonly #retired = new AbortController()
  readonly #begun: Promise<void>
  #ended: Promise<void> | null = null
  #isLive = false
  #isWatching = false

  constructor({ members, source, isShared, keepAlive, setup, ownInstances }: CrewOptions) {
    this.members = new Map(members.map((member) => [member.id, member]))
    this.isShared = isShared
    this.keepAlive = keepAlive
    this.#ownInstances = ownInstances
    this.#app = cronce({
      store: undeclared(source),
      ...{ namespace: setup.namespace, concurrency: setup.concurrency, adopt: setup.adopt, keepAlive },
      // No other process waits for a schedule of this process.
      lease: isShared ? setup.leaseMs : '10m',
      ...{ app: 'cronce/node-cron', deployment: 'drop-in', drain: '1d', signals: false, logger: false },
    })
    this.#app.on('*', (event) => this.#told(event))
    for (const { id, task, coordinator } of members)
      this.#app.job(id, {}, (run) => task.runSlot(run as TargetRun, coordinator?.() ?? null))
    this.#begun = this.#begin()
  }

  /** Begin nothing more, from now on. What runs goes on. */
  retire(): void {
    if (this.#ended !== null) return
    this.#retired.abort()
    const stopping = this.#app.stop()
    // What was on its way may have opened the store again.
    this.#ended = Promise.all([this.#begun, stopping]).then(() => this.#app.stop())
  }

  /** What the tasks are called whose runs go on, one entry for each run. */
  get running(): readonly string[] {
    try {
      const ids = exclusivePartsOf(this.#app)!.engine().runningJobs
      return ids
        .flatMap((id) => this.members.get(id)?.task ?? [])
        .map(({ options, describedName }) => options.name || describedName)
    } catch {
      // It has not started, or has ended.
      return []
    }
  }

  /** Once it is retired, and all that it ran has ended. Never rejects. */
  get ended(): Promise<void> {
    return this.#ended ?? Promise.resolve()
  }

  /** Of a group that is retired: abort what still runs, hand back what has not ended after the grace period, and leave. */
  async cut(graceMs: number): Promise<void> {
    try {
      await exclusivePartsOf(this.#app)?.engine().stop({ drainMs: 0, graceMs })
    } catch {
      // It had not started, or has ended.
    }
  }

  /** Tell members of slots that other processes run. */
  watchOthers(): void {
    if (!this.isShared || this.#isWatching || !this.#isLive) return
    this.#isWatching = true
    void this.#watch()
  }

  /** Remove a schedule that will not be used again. */
  async forget(id: string): Promise<void> {
    try {
      await this.#app.schedules.remove(id, { force: true })
    } catch {
      // It belongs to this process, and is in no other's way.
    } finally {
      if (this.#ended !== null) await this.#app.stop()
    }
  }

  /** A task has used up `maxExecutions`: unless a peer still runs it, its schedule ends after this slot, and is finished. */
  async endSchedule(task: Task, lastSlot: Date): Promise<void> {
    const [id] = [...this.members].find(([, member]) => member.task === task) ?? ['']
    try {
      const instances = await this.#app.instances.list()
      const peers = instances.filter(({ id: peer, state }) => state === 'live' && !this.#ownInstances.has(peer))
      if (peers.some(({ jobs }) => jobs.includes(id))) return
      const end = new Date(lastSlot.getTime() + 1)
      await this.#app.schedules.put(id, { ...scheduleOf(task, id, this.isShared), end })
    } catch (error) {
      sharedLogger.warn(`${id} has run as often as maxExecutions says, but is not on record as finished: ${error}`)
    }
  }

  async #begin(): Promise<void> {
    // Not at once: the caller that makes it has not finished.
    await Promise.resolve()
    for (let failures = 0; !this.#isRetired; failures++) {
      try {
        await this.#declare()
        if (this.#isRetired) return
        await this.#app.start()
        this.#isLive = !this.#isRetired
        if (!this.isShared) this.#keepShort()
        if ([...this.members.values()].some(({ task }) => task.isListenedTo('execution:skipped'))) this.watchOthers()
        return
      } catch (error) {
        const waitMs = Math.min(LONGEST_RETRY_MS, RETRY_MS * 2 ** failures)
        sharedLogger.error(`Tasks can't be started yet; next try in ${waitMs / 1_000} s.`, error as Error)
        await this.#wait(waitMs)
      }
    }
  }

  /** An instance with a lease this long would rarely prune. */
  #keepShort(): void {
    const timer = setInterval(() => void this.#app.fires.prune().catch(() => {}), PRUNE_MS)
    timer.unref()
    this.#retired.signal.addEventListener('abort', () => clearInterval(timer), { once: true })
  }

  get #isRetired(): boolean {
    return this.#retired.signal.aborted
  }

  async #declare(): Promise<void> {
    const members = [...this.members.values()]
    for (let start = 0; start < members.length && !this.#isRetired; start += AT_A_TIME)
      await Promise.all(members.slice(start, start + AT_A_TIME).map((member) => this.#put(member)))
  }

  /** Once for each start. A group that follows another one only makes what is gone: a newer release may have said more since. */
  async #put({ id, task, start }: Member): Promise<void> {
    try {
      if (start.isPut && (await this.#app.schedules.find(id)) !== null) return
      await this.#app.schedules[start.isPut ? 'create' : 'put'](id, scheduleOf(task, id, this.isShared))
      start.isPut = true
    } catch (error) {
      // Another process has made it meanwhile.
      if (start.isPut && error instanceof CronceError && error.code === 'SCHEDULE_EXISTS') return
      if (!isRefusal(error)) throw error
      task.failed(error)
    }
  }

  async #wait(ms: number): Promise<void> {
    const waited = Promise.withResolvers<void>()
    const timer = setTimeout(waited.resolve, ms)
    if (!this.keepAlive) timer.unref()
    this.#retired.signal.addEventListener('abort', () => waited.resolve(), { once: true })
    await waited.promise
    clearTimeout(timer)
  }

  async #watch(): Promise<void> {
    try {
      for await (const entry of this.#app.feed({ signal: this.#retired.signal })) {
        if (entry.kind !== 'run.started' || this.#isRetired) continue
        const { schedule, instance, attempt, dueAt, nonce } = entry.run
        if (attempt > 1 || nonce !== '' || this.#ownInstances.has(instance)) continue
        this.members.get(schedule)?.task.skipped(new Date(dueAt), 'not-elected')
      }
    } catch (error) {
      if (!this.#isRetired) sharedLogger.error('Slots that other processes run are not told any more.', error as Error)
    }
  }

  #told(event: CronceEvent): void {
    switch (event.type) {
      case 'instance.joined':
        this.#ownInstances.add(event.instance)
        break
      case 'instance.fenced':
        this.#ownInstances.add(event.successor)
        break
      case 'fire.missed':
        for (const date of this.#slotsOf(event)) this.members.get(event.schedule)?.task.missed(date)
        return
      case 'fire.skipped':
        for (const date of this.#slotsOf(event)) this.#tellSkipped(event, date)
        return
      case 'run.ended':
        // Its task has told what it threw.
        if (event.reason === 'error') return
    }
    logEvent({ error: (text) => sharedLogger.error(text), warn: (text) => sharedLogger.warn(text) }, event)
  }

  #tellSkipped({ schedule, reason }: EventOf<'fire.missed' | 'fire.skipped'>, date: Date): void {
    const { task } = this.members.get(schedule) ?? {}
    if (reason === 'overlap') task?.overlapped(date)
    else if (reason === 'paused' || reason === 'skipped-by-operator' || reason === 'queue-full')
      task?.skipped(date, 'not-elected', reason)
  }

  #slotsOf({ schedule, dueAt, untilAt, count }: EventOf<'fire.missed' | 'fire.skipped'>): Date[] {
    const timing = this.members.get(schedule)?.task.timing
    if (timing === undefined || count === 1) return [new Date(dueAt)]
    const slots: Date[] = []
    let at: number | null = untilAt
    for (; at !== null && at >= dueAt && slots.length < MOST_TOLD; at = timing.trigger.prev(at))
      slots.push(new Date(at))
    return slots.reverse()
  }
}

/** The name is taken, or an option is invalid: a retry would not help. */
function isRefusal(error: unknown): error is CronceError {
  return error instanceof CronceError && !error.code.startsWith('STORE_') && error.code !== 'CONTENTION'
}

/**
 * The same store, for an app that has jobs but declares no schedules: those of tasks come and go at any time, and what one process
 * does not have may be another one's.
 */
function undeclared(source: StoreSource): StoreSource {
  const given = surroundingsOf(source)
  const own: StoreSource = {
    name: source.name,
    open: (options) => source.open({ ...options, warn: (code, message) => sharedLogger.warn(`${message} (${code})`) }),
  }
  return surround(own, { ...given, settings: { ...given.settings, declared: [] } })
}
