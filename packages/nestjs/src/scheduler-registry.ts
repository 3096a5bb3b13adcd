import { type Cronce as App, CronceError, type NewSchedule, type ScheduleView } from 'cronce'

/** How a schedule is due: `cron`, `interval` (`every`) or `timeout` (`at`). */
export type SchedulerType = 'cron' | 'interval' | 'timeout'

const KINDS = { cron: 'cron', interval: 'every', timeout: 'at' } as const

/**
 * The methods of the `SchedulerRegistry` of `@nestjs/schedule`, for the schedules of the fleet. They ask the store, so they are async; and
 * a schedule names a job in the code instead of having a callback of its own. Everything else is in `app.schedules`.
 */
export class SchedulerRegistry {
  readonly #app: App

  constructor(app: App) {
    this.#app = app
  }

  async doesExist(type: SchedulerType, name: string): Promise<boolean> {
    const found = await this.#app.schedules.find(name)
    return found?.trigger?.kind === KINDS[type]
  }

  /** SCHEDULE_NOT_FOUND if there is none. */
  async getCronJob(name: string): Promise<CronJob> {
    return new CronJob(this.#app, await this.#get('cron', name))
  }

  async getCronJobs(): Promise<Map<string, CronJob>> {
    const found = await this.#list('cron')
    return new Map(found.map((schedule) => [schedule.name, new CronJob(this.#app, schedule)]))
  }

  /** SCHEDULE_EXISTS if there is one. `app.schedules.put()` replaces it. */
  async addCronJob(name: string, options: NewSchedule & { readonly cron: unknown }): Promise<void> {
    await this.#app.schedules.create(name, options)
  }

  /** A schedule that the code declares is refused with SCHEDULE_IN_CODE. */
  async deleteCronJob(name: string): Promise<void> {
    await this.#delete('cron', name)
  }

  async getIntervals(): Promise<string[]> {
    return (await this.#list('interval')).map(({ name }) => name)
  }

  /** SCHEDULE_EXISTS if there is one. */
  async addInterval(name: string, options: NewSchedule & { readonly every: unknown }): Promise<void> {
    await this.#app.schedules.create(name, options)
  }

  async deleteInterval(name: string): Promise<void> {
    await this.#delete('interval', name)
  }

  async getTimeouts(): Promise<string[]> {
    return (await this.#list('timeout')).map(({ name }) => name)
  }

  /** SCHEDULE_EXISTS if there is one. It is removed when its fire has ended. */
  async addTimeout(name: string, options: NewSchedule & { readonly at: unknown }): Promise<void> {
    await this.#app.schedules.create(name, options)
  }

  async deleteTimeout(name: string): Promise<void> {
    await this.#delete('timeout', name)
  }

  async #list(type: SchedulerType): Promise<readonly ScheduleView[]> {
    const found: ScheduleView[] = []
    for await (const schedule of this.#app.schedules.all())
      if (schedule.trigger?.kind === KINDS[type]) found.push(schedule)
    return found
  }

  async #get(type: SchedulerType, name: string): Promise<ScheduleView> {
    const found = await this.#app.schedules.get(name)
    if (found.trigger?.kind === KINDS[type]) return found
    throw new CronceError(
      'SCHEDULE_NOT_FOUND',
      `Schedule ${JSON.stringify(name)} has another trigger than ${KINDS[type]}.`,
      {
        hint: 'Use app.schedules, which has all schedules.',
      },
    )
  }

  async #delete(type: SchedulerType, name: string): Promise<void> {
    await this.#get(type, name)
    await this.#app.schedules.remove(name)
  }
}

/** A schedule with the methods of a `CronJob`. They hold for the fleet, not for this process. */
export class CronJob {
  readonly #app: App
  /** As it was when it was read. */
  readonly schedule: ScheduleView

  constructor(app: App, schedule: ScheduleView) {
    this.#app = app
    this.schedule = schedule
  }

  /** Ends a pause. */
  async start(): Promise<void> {
    await this.#app.schedules.resume(this.schedule.name)
  }

  /** Pauses it, until `start()`. */
  async stop(): Promise<void> {
    await this.#app.schedules.pause(this.schedule.name)
  }

  /** Runs it now, in one of the processes. */
  async fireOnTick(): Promise<void> {
    await this.#app.schedules.trigger(this.schedule.name)
  }

  /** `null`: never again. */
  nextDate(): Date | null {
    return dateOf(this.schedule.nextAt)
  }

  /** The due time of the latest fire that ran to its end. */
  lastDate(): Date | null {
    return dateOf(this.schedule.last.dueAt)
  }
}

function dateOf(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms)
}
