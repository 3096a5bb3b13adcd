/** The published entry `cronce/node-cron`: for those who have node-cron. */
export {
  type Coordinator,
  type Decision,
  runCoordinator,
  type Verdict,
} from './node-cron/coordinator.ts'
export { type EnvCoordinatorOptions, envCoordinator } from './node-cron/coordinator-env.ts'
export type { CoordinatorOptions, OwnAppOptions } from './node-cron/coordinator-options.ts'
export type { Slot } from './node-cron/coordinator-slot.ts'
export { findToken } from './node-cron/coordinator-token.ts'
export type { SlotContext, WatchedTask } from './node-cron/coordinator-watch.ts'
export {
  createTask,
  getTask,
  getTasks,
  type NodeCron,
  nodeCron,
  // biome-ignore lint/style/noDefaultExport: it stands in for a package that has one.
  nodeCron as default,
  schedule,
  setRunCoordinator,
  setup,
  shutdown,
} from './node-cron/drop-in.ts'
export type { CronFieldError, DetailedValidation, ParsedFields } from './node-cron/expression.ts'
export { parse, validate, validateDetailed } from './node-cron/expression.ts'
export type { TaskRegistry } from './node-cron/registered-tasks.ts'
export type { SetupOptions } from './node-cron/setup.ts'
export { solvePath } from './node-cron/solve-path.ts'
export { setLogger } from './node-cron/task-logger.ts'
export type {
  Execution,
  LastRun,
  Logger,
  RunCoordinator,
  ScheduledTask,
  SkipReason,
  TaskContext,
  TaskEvent,
  TaskFn,
  TaskListener,
  TaskOptions,
} from './node-cron/task-types.ts'
