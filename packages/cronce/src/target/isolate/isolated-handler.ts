import type { TargetRun } from '../target-run.ts'
import { type IsolateOptions, resolveTask } from './isolate-options.ts'
import { runInProcess } from './process.ts'
import { runInThread } from './thread.ts'

/** A module as the target of a job, apart from the scheduler: whatever it does, that goes on. */
export function isolatedHandler(job: string, options: IsolateOptions): (run: TargetRun) => Promise<unknown> {
  const task = resolveTask(job, options)
  return task.isolate === 'thread' ? (run) => runInThread(task, run) : (run) => runInProcess(task, run)
}
