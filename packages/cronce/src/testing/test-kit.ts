import { type Cronce, cronce } from '../app/cronce.ts'
import type { CronceOptions } from '../app/options.ts'
import { surround } from '../app/surroundings.ts'
import type { Duration } from '../client/schedule-options.ts'
import { parseDuration } from '../duration.ts'
import { CronceError } from '../errors.ts'
import type { CronceEvent } from '../model/event.ts'
import { LEADER_JOB } from '../model/exclusive-jobs.ts'
import { type MemorySource, memory } from '../store/memory/memory.ts'
import type { MemoryTransaction } from '../store/memory/transaction.ts'
import { at } from '../trigger/at.ts'
import { turn, type VirtualClock, virtualClock } from './virtual-clock.ts'

/** Schedules without waiting: a memory store, and a clock that the test moves. */
export interface TestKit {
  /** Hand it to your own code: whatever `cronce({ store })` is made with it lives in virtual time. */
  readonly store: MemorySource
  readonly clock: VirtualClock
  /** An app on this store; or make your own. Several are several instances of a fleet. */
  app(options?: Omit<CronceOptions<MemoryTransaction>, 'store'>): Cronce<MemoryTransaction>
  /** Epoch milliseconds of now. */
  now(): number
  /** Let time pass, and everything that becomes due run, in its order. 0: only what is due now. */
  advance(duration: Duration): Promise<void>
  /** Let time pass until then: a Date, epoch milliseconds, or an ISO text with a zone. */
  advanceTo(instant: Date | number | string): Promise<void>
  /** What happened so far in all apps on this store. */
  readonly events: readonly CronceEvent[]
}

/** Options of `testKit()`. */
export interface TestKitOptions {
  /** When the test begins. @default 2027-01-01T00:00:00Z, a Friday */
  readonly now?: Date | number | string | undefined
  /** How long a handler that waits for something real (a file, a socket) is waited for in all, in ms. @default 1000 */
  readonly patience?: number | undefined
}

const FIRST_DAY = Date.UTC(2027, 0, 1)
const HOUR_MS = 3_600_000

/** Renewing leases every few seconds is most of what an idle week would consist of, and no process can die here. */
const QUIET = { leaseMs: 6 * HOUR_MS, holdDownMs: 12 * HOUR_MS }

/**
 * Apps on a store in memory and a clock that moves when told, for tests that do not wait.
 *
 * @example
 * const kit = testKit({ now: '2027-03-19T12:00:00Z' })
 * const app = kit.app().job('newsletter', { cron: '0 9 * * MON' }, () => {})
 * await app.start()
 * await kit.advance('14d')
 */
export function testKit({ now = FIRST_DAY, patience = 1_000 }: TestKitOptions = {}): TestKit {
  /** How long each run has been waited for. */
  const running = new Map<string, number>()
  const events: CronceEvent[] = []
  const clock = virtualClock(at(now).at, () => settled(running, patience))
  const told = (event: CronceEvent): void => {
    events.push(event)
    // A leader's term only ends with its app.
    if (event.type === 'run.started' && event.job !== LEADER_JOB) running.set(`${event.token} ${event.schedule}`, 0)
    else if (event.type === 'run.ended' || event.type === 'run.fenced')
      running.delete(`${event.token} ${event.schedule}`)
  }
  const own = { production: false, environment: {}, appName: () => undefined }
  const around = { clock, told, settings: QUIET, pulseMs: HOUR_MS, ...own }
  const store = surround(memory({ clock }), around)
  return {
    store,
    clock,
    events,
    app(options = {}) {
      return cronce({ logger: false, signals: false, ...options, store })
    },
    now: () => clock.wall(),
    async advance(duration) {
      const ms = duration === 0 ? 0 : parseDuration(duration)
      if (ms === null) throw badDuration(duration)
      await clock.advance(ms)
    },
    async advanceTo(instant) {
      const until = at(instant).at
      if (until < clock.wall()) throw intoThePast(until)
      await clock.advance(until - clock.wall())
    },
  }
}

/**
 * Until nothing runs that may still be waited for. A run is waited for as long as patience lasts, all in all: one that takes
 * longer waits for virtual time, most likely, and that must go on.
 */
async function settled(running: Map<string, number>, patience: number): Promise<void> {
  await turn()
  for (let before = performance.now(); [...running.values()].some((waited) => waited < patience); ) {
    await turn()
    const now = performance.now()
    for (const [run, waited] of running) running.set(run, waited + now - before)
    before = now
  }
}

function badDuration(duration: Duration): CronceError {
  return new CronceError('DURATION_INVALID', `${JSON.stringify(duration)} is not a duration.`, {
    hint: "Write advance('1d'), advance('90m'), or milliseconds.",
  })
}

function intoThePast(instant: number): CronceError {
  const shown = new Date(instant).toISOString()
  return new CronceError('INSTANT_PAST', `${shown} lies before the test's now: time only goes on.`, {
    hint: 'Begin the test earlier: testKit({ now }).',
  })
}
