import type { CheckIn, CheckInEnd, CheckInUrl } from '../check-in/check-in.ts'
import { Ping } from '../check-in/ping.ts'
import { Parked } from '../engine/run/parked.ts'
import type { AppCore } from './app-core.ts'
import type { Middleware } from './job.ts'
import { textOf } from './text-of.ts'

/** Reports the start and the end of each run, beside it: no run waits for that, and no error of it reaches a run. */
export function checkInAround<Tx>(core: AppCore<Tx>, job: string, given: CheckIn | CheckInUrl): Middleware<Tx> {
  const { clock } = core.around
  const checkIn = 'url' in given ? new Ping(given.url, (ms) => clock.sleep(ms)) : given
  const guarded = async (tell: () => unknown): Promise<void> => {
    try {
      await tell()
    } catch (error) {
      core.logger.warn(`The check-in of job ${JSON.stringify(job)} failed: ${textOf(error)}`)
    }
  }
  return async (run, next) => {
    const { fire, attempt, token, instance } = run
    const { schedule, dueAt } = fire
    const about = { job, schedule, dueAt, attempt, token, instance }
    const from = clock.mono()
    const started = guarded(() => checkIn.started(about))
    const report = (outcome: CheckInEnd['outcome'], error: unknown = null): void => {
      const message = error === null ? null : error instanceof Error ? error.message : String(error)
      const end = { outcome, durationMs: clock.mono() - from, error: message }
      const ended = started.then(() => guarded(() => checkIn.ended(about, end)))
      core.checkIns.add(ended)
      void ended.finally(() => core.checkIns.delete(ended))
    }
    try {
      const value = await next()
      // Its work goes on elsewhere, and so does its check-in.
      if (!(value instanceof Parked)) report('succeeded')
      return value
    } catch (error) {
      report(isInterrupted(run.signal) ? 'interrupted' : 'failed', error)
      throw error
    }
  }
}

/** The run ends because its instance does: the fire may be run again elsewhere. */
function isInterrupted({ aborted, reason }: AbortSignal): boolean {
  const { code } = (reason ?? {}) as { readonly code?: unknown }
  return aborted && (code === 'RUN_STOPPED' || code === 'LEASE_LOST')
}
