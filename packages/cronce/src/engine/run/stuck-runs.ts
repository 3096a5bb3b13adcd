import type { Core } from '../core.ts'
import { aboutRun, type LocalRun } from './run-table.ts'

/**
 * Tells of runs without a timeout that take suspiciously long, again and again while they do. One timer for all of them: most
 * runs end long before, and a timer of their own would cost more than they do. Until the engine stops. Never rejects.
 */
export async function watchStuck(core: Core): Promise<void> {
  const { stuckMs } = core.settings
  const told = new WeakMap<LocalRun, number>()
  while (!core.stopped.aborted) {
    const now = core.parts.clock.mono()
    // Whatever begins while we sleep is not stuck before that.
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
