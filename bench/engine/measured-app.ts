import { cronce } from '../../packages/cronce/src/app/cronce.ts'
import { surround } from '../../packages/cronce/src/app/surroundings.ts'
import { type Metrics, metrics } from '../../packages/cronce/src/metrics/metrics.ts'
import { memory } from '../../packages/cronce/src/store/memory/memory.ts'
import { turn, virtualClock } from '../../packages/cronce/src/testing/virtual-clock.ts'

export interface MeasuredApp {
  /** An hour of virtual time, in which each schedule is due once. Throws unless each of these fires ran. */
  round(): Promise<void>
  measure(): Metrics
  stop(): Promise<void>
}

const HOUR_MS = 3_600_000
/** A day of virtual time has few heartbeats. */
const QUIET = { leaseMs: 6 * HOUR_MS, holdDownMs: 12 * HOUR_MS }

/** An app on the memory store in virtual time: nothing waits, so all of its CPU time is work. */
export async function measuredApp(schedules: number): Promise<MeasuredApp> {
  let runs = 0
  const clock = virtualClock(Date.UTC(2027, 0, 1, 0, 30), turn)
  const app = cronce({
    store: surround(memory({ clock }), { clock, settings: QUIET, environment: {} }),
    ...{ app: 'bench', deployment: 'one', concurrency: 1_000, signals: false, logger: false },
  })
  app.job('noop', {}, () => {
    runs++
  })
  const schedule = { job: 'noop', cron: '0 * * * *', retention: '25h', misfire: { window: '1h' } } as const
  await app.schedules.createMany(Array.from({ length: schedules }, (_, number) => [String(number), schedule] as const))
  await app.start()
  return {
    async round() {
      const before = runs
      await clock.advance(HOUR_MS)
      if (runs - before !== schedules) throw new Error(`${runs - before} of ${schedules} fires ran in a round.`)
    },
    measure: () => metrics(app),
    stop: () => app.stop(),
  }
}
