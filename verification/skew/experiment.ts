import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startRedis } from '../../scripts/servers/index.ts'
import type { Message, Order, System } from './order.ts'

export interface Trial {
  /** One clock is so far behind, one is right, one is so far ahead: the outer two are twice as far apart. */
  readonly skewMs: number
  /** The number of slots to examine. */
  readonly seconds: number
  /** Side by side: on the same machine, at the same time, each with three processes of its own. */
  readonly systems: readonly System[]
}

export interface Tally {
  readonly system: System
  readonly slots: number
  readonly runs: number
  /** Runs of a slot beyond its first. */
  readonly duplicates: number
  /** Slots without a run. */
  readonly missed: number
  /** Runs before their time, by the clock that is right. */
  readonly early: number
}

const SECOND_MS = 1_000
/** After the last slot: for a process that is behind, and for a machine that is busy. */
const LATEST_MS = 3_000
const READY_MS = 180_000
const CATCH_UP_MS = 60_000
const COMPILED = join(import.meta.dirname, '../../node_modules/.cache/cronce-processes')

/** Three processes whose clocks differ, a task of five milliseconds every second, a real Redis. */
export async function runTrial({ skewMs, seconds, systems }: Trial): Promise<Tally[]> {
  const fleets = await Promise.all(systems.map((system) => Fleet.start(system, skewMs)))
  try {
    // The first second of which all clocks agree that it is to come.
    const from = Math.ceil((Date.now() + skewMs) / SECOND_MS) * SECOND_MS
    const until = from + seconds * SECOND_MS
    await sleep(until + skewMs + LATEST_MS - Date.now())
    // A job that is late is caught up with; node-cron never runs what it missed.
    await Promise.all(fleets.map((fleet) => fleet.catchesUp(from, until)))
    return fleets.map((fleet) => fleet.count(from, until))
  } finally {
    await Promise.all(fleets.map((fleet) => fleet.stop()))
  }
}

interface Run {
  readonly slot: number
  readonly isEarly: boolean
}

class Fleet {
  readonly #system: System
  readonly #stops: (() => Promise<unknown>)[] = []
  readonly #runs: Run[] = []

  constructor(system: System) {
    this.#system = system
  }

  static async start(system: System, skewMs: number): Promise<Fleet> {
    const fleet = new Fleet(system)
    try {
      const server = await startRedis()
      fleet.#stops.push(() => server.stop())
      await Promise.all([-skewMs, 0, skewMs].map((offsetMs) => fleet.#fork({ system, redis: server.url }, offsetMs)))
      return fleet
    } catch (error) {
      await fleet.stop()
      throw error
    }
  }

  async #fork(order: Order, offsetMs: number): Promise<void> {
    const child = fork(join(import.meta.dirname, 'worker.ts'), [JSON.stringify(order)], {
      env: { ...process.env, NODE_COMPILE_CACHE: COMPILED, SKEW_MS: String(offsetMs) },
      execArgv: ['--import', join(import.meta.dirname, 'shift-date.ts')],
    })
    const ended = once(child, 'exit')
    this.#stops.unshift(() => {
      child.kill('SIGKILL')
      return ended
    })
    child.on('message', (message: Message) => {
      // Heard a little after it began, so what is early by this is early.
      if (message.type === 'run') this.#runs.push({ slot: message.slot, isEarly: Date.now() < message.slot })
    })
    await ready(child)
  }

  async catchesUp(from: number, until: number): Promise<void> {
    const end = performance.now() + CATCH_UP_MS
    while (this.#system === 'jobs' && this.count(from, until).missed > 0 && performance.now() < end) await sleep(50)
  }

  count(from: number, until: number): Tally {
    const runs = this.#runs.filter(({ slot }) => slot >= from && slot < until)
    const ran = new Set(runs.map(({ slot }) => slot)).size
    const slots = (until - from) / SECOND_MS
    return {
      ...{ system: this.#system, slots, runs: runs.length },
      ...{ duplicates: runs.length - ran, missed: slots - ran },
      early: runs.filter(({ isEarly }) => isEarly).length,
    }
  }

  /** Processes before their server. */
  async stop(): Promise<void> {
    const stops = this.#stops.splice(0)
    const server = stops.pop()
    await Promise.all(stops.map((stop) => stop()))
    await server?.()
  }
}

async function ready(child: ChildProcess): Promise<void> {
  const tooLong = AbortSignal.timeout(READY_MS)
  for (;;) {
    const [message] = (await Promise.race([
      once(child, 'message', { signal: tooLong }),
      once(child, 'exit', { signal: tooLong }).then(([code]) => Promise.reject(new Error(`a process ended: ${code}`))),
    ])) as [Message]
    if (message.type === 'ready') return
  }
}
