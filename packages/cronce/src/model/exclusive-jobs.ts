/** Of all names that the library uses itself. */
export const RESERVED_PREFIX = 'cronce:'

/** Jobs that no instance declares: callers begin their runs. */
export const LOCK_JOB = 'cronce:lock'
export const LEADER_JOB = 'cronce:leader'
export const ONCE_JOB = 'cronce:once'
/** Of the coordinator: node-cron runs it. */
export const SLOT_JOB = 'cronce:node-cron'
/** The schedule of a task is called so, and by the name of the task. */
export const SLOT_PREFIX = 'node-cron:'

/** Whether a caller waits for runs of this job and gets their outcome. */
export function isExclusive(job: string): boolean {
  return job === LOCK_JOB || job === LEADER_JOB || job === ONCE_JOB
}

/** Whether the caller of a lock, an election, a key or node-cron executes its runs, so that no instance has to. */
export function isRunByCaller(job: string): boolean {
  return isExclusive(job) || job === SLOT_JOB
}

/** An instance that lists this name among its jobs takes part in watching its app. */
export const WATCH_JOB = 'cronce:watch'
/** The job of schedules that hold the alerts of an app: they never run. */
export const ALERTS_JOB = 'cronce:alerts'

/** The schedule that holds the alerts of an app. */
export function alertsSchedule(app: string): string {
  return `${ALERTS_JOB}:${app}`
}

/** Whether it is the library's own and of no interest in lists. */
export function isInternal(job: string): boolean {
  return isExclusive(job) || job === ALERTS_JOB
}
