import type { TargetRun } from '../target-run.ts'
import { type IsolateOptions, resolveTask } from './isolate-options.ts'

/** A module as the target of a job, apart from the scheduler: whatever it does, that goes on. */
export function isolatedHandler(job: string, options: IsolateOptions): (run: TargetRun) => Promise<unknown> {
  const task = resolveTask(job, options)
  // Loaded by the first run, as of every target.
  return task.isolate === 'thread'
    ? async (run) => (await import('./thread.ts')).runInThread(task, run)
    : async (run) => (await import('./process.ts')).runInProcess(task, run)
}
