import { hostname } from 'node:os'
import { readCommand } from '../client/read-command.ts'
import { readName } from '../client/read-name.ts'
import { optionInvalid, readChoice, readDuration } from '../client/read-option.ts'
import type { Duration } from '../client/schedule-options.ts'
import type { Execution } from '../model/event.ts'
import { DETECT_JOB } from '../model/exclusive-jobs.ts'
import { LIMITS } from '../model/limits.ts'
import type { ScheduleState } from '../model/schedule.ts'
import type { Context } from '../policy/decision.ts'
import { define } from '../policy/operate/define.ts'
import { type Detected, detectDefinition, detectExecution } from '../policy/operate/detect.ts'
import { listFires } from '../store/list-views.ts'
import type { AppCore } from './app-core.ts'
import { textOf } from './text-of.ts'

/** Options of `app.detect()`. */
export interface DetectOptions {
  /** Executions that begin within this time after the first one are duplicates of it: 1 s to 1 d. */
  readonly window: Duration
  /** `refuse`: a duplicate is not executed. @default 'report' */
  readonly action?: 'report' | 'refuse' | undefined
}

/** A schedule as this process has written or read it last, and when, by the clock that counts while a machine is suspended. */
interface Known {
  readonly state: ScheduleState
  readonly now: number
  readonly epoch: number
  readonly bootAt: number
}

const TRIES = 20
/** How long a finished execution waits for the store, which must not hold up the work of others. */
const PATIENCE_MS = 5_000
const DAY_MS = 86_400_000

/** Notices executions of one name in several processes. Needs no instance, so it works without `start()`. */
export class Detector<Tx> {
  readonly #core: AppCore<Tx>
  readonly #instance: () => string | null
  readonly #ownId: string
  readonly #known = new Map<string, Known>()

  constructor(core: AppCore<Tx>, instance: () => string | null) {
    this.#core = core
    this.#instance = instance
    this.#ownId = core.around.newId()
  }

  async detect<Value>(name: unknown, options: unknown, work: () => Value | Promise<Value>): Promise<Value | undefined> {
    const { window, action = 'report' } = readCommand(options, ['window', 'action'])
    const windowMs = readDuration('window', window, { min: 1_000, max: DAY_MS })
    const isRefused = readChoice('action', action, ['report', 'refuse']) === 'refuse'
    if (typeof work !== 'function') {
      throw optionInvalid('work', work, 'a function', "Write app.detect('nightly', { window: '10m' }, () => …).")
    }
    const checked = this.#check(readName('name', name, LIMITS.name - DETECT_JOB.length - 1), windowMs, isRefused)
    if (isRefused) return (await checked) ? undefined : work()
    try {
      return await work()
    } finally {
      const over = new AbortController()
      await Promise.race([checked, this.#core.around.clock.sleep(PATIENCE_MS, over.signal)])
      over.abort()
    }
  }

  /** Whether it is a duplicate. If the store does not tell, it is none: what is executed here has been executed before cronce came. */
  async #check(name: string, windowMs: number, isRefused: boolean): Promise<boolean> {
    const by = { instance: this.#instance() ?? this.#ownId, host: hostname(), pid: process.pid }
    try {
      const found = await this.observe(`${DETECT_JOB}:${name}`, windowMs, isRefused, by)
      if (found !== null) this.#core.emit({ type: 'execution.duplicated', name, windowMs, isRefused, ...found })
      return found !== null
    } catch (error) {
      this.#core.logger.warn(`Whether ${name} is executed twice is not known this time: ${textOf(error)}`)
      return false
    }
  }

  /** Records an execution in this schedule. `null`: it is the only one of its window. Throws when the store does. */
  async observe(
    schedule: string,
    windowMs: number,
    isRefused: boolean,
    by: Omit<Execution, 'at'>,
  ): Promise<{ readonly first: Execution; readonly second: Execution } | null> {
    const { at, firstAt } = await this.#record(schedule, windowMs, isRefused, by)
    if (firstAt === null) return null
    return { first: { ...(await this.#find(schedule, firstAt)), at: firstAt }, second: { ...by, at } }
  }

  async #record(id: string, windowMs: number, isRefused: boolean, by: Omit<Execution, 'at'>): Promise<Detected> {
    const { lazy, around } = this.#core
    const execution = { ...by, id: around.newId(), windowMs, isRefused }
    for (let tries = 0; tries < TRIES; tries++) {
      const isFresh = !this.#known.has(id)
      const known = this.#known.get(id) ?? (await this.#load(id))
      if (known === null) continue
      const detected = detectExecution(known.state, execution, this.#contextAt(known))
      this.#known.delete(id)
      // A duplicate is found by what the store says now, and not by what this process remembers.
      if (detected.firstAt !== null && !isFresh) continue
      const { change } = detected.decision
      const { now, results } = await lazy.store.apply([change])
      if (results[0]!.kind !== 'applied') continue
      if (change.state !== null) {
        this.#known.set(id, { state: change.state, now, epoch: known.epoch, bootAt: around.clock.boot() })
      }
      return detected
    }
    throw new Error(`other processes kept changing ${id}`)
  }

  /** `null`: it was made, or was being made by another process. */
  async #load(id: string): Promise<Known | null> {
    const { lazy, around } = this.#core
    const { now, epoch, schedules } = await lazy.store.load([id])
    const known = { now, epoch, bootAt: around.clock.boot() }
    if (schedules[0] !== undefined) return { ...known, state: schedules[0] }
    const wanted = { definition: detectDefinition(), source: { kind: 'client' } } as const
    const made = define(null, id, wanted, { now, epoch, zoneData: around.zoneData, random: around.random })
    if (made !== null && 'change' in made) await lazy.store.apply([made.change])
    return null
  }

  #contextAt({ now, epoch, bootAt }: Known): Context {
    const { zoneData, random, clock } = this.#core.around
    return { now: now + Math.round(clock.boot() - bootAt), epoch, zoneData, random }
  }

  /** Where the execution that began then is. */
  async #find(schedule: string, at: number): Promise<Omit<Execution, 'at'>> {
    const query = { schedule, from: at, to: at + 1, outcome: 'succeeded', limit: 1, after: null } as const
    const { items } = await listFires(this.#core.lazy.store, query)
    const { instance, host, pid } = (items[0]?.input ?? {}) as Partial<Execution>
    return { instance: instance ?? 'unknown', host: host ?? 'unknown', pid: pid ?? 0 }
  }
}
