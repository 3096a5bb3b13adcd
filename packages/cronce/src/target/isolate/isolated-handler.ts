import { loadedTarget, type TargetHandler } from '../loaded-target.ts'
import { type IsolateOptions, resolveTask } from './isolate-options.ts'

/** A module as the target of a job, apart from the scheduler: whatever it does, that goes on. */
export function isolatedHandler(job: string, options: IsolateOptions): TargetHandler {
  const task = resolveTask(job, options)
  return loadedTarget(async () => {
    if (task.isolate === 'thread') {
      const { runInThread } = await import('./thread.ts')
      return (run) => runInThread(task, run)
    }
    const { runInProcess } = await import('./process.ts')
    return (run) => runInProcess(task, run)
  })
}
