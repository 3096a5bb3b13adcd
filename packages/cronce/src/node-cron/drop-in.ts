import { BackgroundTask } from './background-task.ts'
import { type DetailedValidation, type ParsedFields, parse, validate, validateDetailed } from './expression.ts'
import { InlineTask } from './inline-task.ts'
import type { SetupOptions } from './setup.ts'
import { solvePath } from './solve-path.ts'
import type { Task } from './task.ts'
import { TaskGroups } from './task-groups.ts'
import { setLogger } from './task-logger.ts'
import { unknownOptions } from './task-schedule.ts'
import type { Logger, RunCoordinator, ScheduledTask, TaskFn, TaskOptions } from './task-types.ts'

/** node-cron's API, on cronce's engine. */
export interface NodeCron {
  /** Where tasks are kept. Before they start; without it CRONCE_STORE counts, and without that they are kept in memory. */
  setup(options: SetupOptions): void
  /** Make a task and start it. A text is the path of a file that exports `task`, relative to the calling file. */
  schedule(expression: string, func: TaskFn | string, options?: TaskOptions): ScheduledTask
  /** A task that is not started yet. */
  createTask(expression: string, func: TaskFn | string, options?: TaskOptions): ScheduledTask
  /** Whether node-cron accepts the expression. */
  validate(expression: string): boolean
  /** What is wrong with each field of an expression. */
  validateDetailed(expression: string): DetailedValidation
  /** Throws if it is none. */
  parse(expression: string): ParsedFields
  /** By id, as it changes: those that were made and not destroyed. */
  getTasks(): Map<string, ScheduledTask>
  /** The task of this id, if it was made and not destroyed. */
  getTask(taskId: string): ScheduledTask | undefined
  /** For all tasks without one of their own. `undefined`: the console again. */
  setLogger(logger: Logger | undefined): void
  /** For all `distributed` tasks without one of their own, also those that there are already. */
  setRunCoordinator(coordinator: RunCoordinator | undefined): void
  /** Stop all tasks, let runs finish for this many milliseconds, hand back the rest, and destroy all tasks. @default 5000 */
  shutdown(timeout?: number): Promise<void>
}

/** One for a process; a test makes more, which are processes to each other. */
export function makeNodeCron(): NodeCron {
  const groups = new TaskGroups()

  const makeTask = (expression: string, func: TaskFn | string, options: TaskOptions): Task => {
    parse(expression)
    if (options.distributed === true && !options.name)
      throw new Error('`distributed` requires a `name` (it forms the coordination key shared across instances).')
    const task =
      typeof func === 'function'
        ? new InlineTask(expression, func, options, groups)
        : new BackgroundTask(expression, solvePath(func), options, groups)
    for (const name of unknownOptions(options)) task.logger.warn(`There is no option ${name} of a task: it is ignored.`)
    groups.add(task)
    return task
  }

  return {
    setup: (options) => groups.setup(options),
    createTask: (expression, func, options) => makeTask(expression, func, options ?? {}),
    schedule(expression, func, options) {
      const task = makeTask(expression, func, options ?? {})
      try {
        Promise.resolve(task.start()).catch((error: unknown) => {
          task.logger.error(`Failed to start scheduled task: ${(error as Error).message}`)
        })
      } catch (error) {
        groups.tasks.delete(task.id)
        throw error
      }
      return task
    },
    ...{ validate, validateDetailed, parse, setLogger },
    getTasks: () => groups.tasks as ReadonlyMap<string, ScheduledTask> as Map<string, ScheduledTask>,
    getTask: (taskId) => groups.tasks.get(taskId),
    setRunCoordinator: (coordinator) => groups.setCoordinator(coordinator),
    shutdown: (timeout = 5_000) => groups.shutdown(timeout),
  }
}

/** The API of node-cron on cronce, as one object. */
export const nodeCron = makeNodeCron()
/** Where tasks are kept: see `NodeCron.setup`. */
export const setup = nodeCron.setup
/** Makes a task and starts it: `schedule('0 3 * * *', work, { name: 'nightly', distributed: true })`. */
export const schedule = nodeCron.schedule
/** Makes a task that is not started yet. */
export const createTask = nodeCron.createTask
/** All tasks that were made and not destroyed, by id. */
export const getTasks = nodeCron.getTasks
/** The task of this id, if it was made and not destroyed. */
export const getTask = nodeCron.getTask
/** Sets the coordinator of all `distributed` tasks without one of their own. */
export const setRunCoordinator = nodeCron.setRunCoordinator
/** Stops all tasks and lets runs finish: see `NodeCron.shutdown`. */
export const shutdown = nodeCron.shutdown
