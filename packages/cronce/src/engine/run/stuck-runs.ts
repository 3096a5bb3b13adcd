import type { Core } from '../core.ts'
import { aboutRun, type LocalRun } from './run-table.ts'

/**
 * Reports runs without a timeout that take suspiciously long, repeatedly. One timer for all runs: most end long before, and a
 * timer per run would cost more than they do. Until the engine stops. Never rejects.
 */
export async function watchStuck(core: Core): Promise<void> {
  const { stuckMs } = core.settings
  const told = new WeakMap<LocalRun, number>()
  while (!core.stopped.aborted) {
    const now = core.parts.clock.mono()
    // A run that starts during the sleep is not stuck before the next check.
    let nextAt = now + stuckMs
    for (const run of core.runs.all()) {
      // A leader has nothing to finish.
      if (run.ended || run.exclusive === 'term' || run.started.policy.timeout.runMs !== null) continue
      const since = told.get(run) ?? run.begunAt
      if (since + stuckMs > now) nextAt = Math.min(nextAt, since + stuckMs)
      else {
        told.set(run, now)
        tell(core, run, now - run.begunAt)
      }
    }
    await core.parts.clock.sleep(nextAt - now, core.stopped)
  }
}

function tell(core: Core, run: LocalRun, runningMs: number): void {
  core.parts.emit({ type: 'run.stuck', ...aboutRun(run), runningMs: Math.round(runningMs) })
}
