/** Of all names that the library uses itself. */
export const RESERVED_PREFIX = 'cronce:'

/** Jobs that no instance declares: callers begin their runs. */
export const LOCK_JOB = 'cronce:lock'
export const LEADER_JOB = 'cronce:leader'
export const ONCE_JOB = 'cronce:once'
/** Executions of work that cronce does not schedule: they are only recorded. */
export const DETECT_JOB = 'cronce:detect'
/** The heartbeat of an app is called so, and by the name of the app: its job and its schedule. */
export const HEARTBEAT_PREFIX = 'cronce:heartbeat:'
/** Of the coordinator: node-cron runs it. */
export const SLOT_JOB = 'cronce:node-cron'
/** The schedule of a task is called so, and by the name of the task. */
export const SLOT_PREFIX = 'node-cron:'

/** Whether fires of this job are a caller's own business: it waits for them and gets their outcome. */
export function isExclusive(job: string): boolean {
  return (
    job === LOCK_JOB || job === LEADER_JOB || job === ONCE_JOB || job === DETECT_JOB || job.startsWith(HEARTBEAT_PREFIX)
  )
}

/** Whether the caller of a lock, an election, a key or node-cron executes its runs, so that no instance has to. */
export function isRunByCaller(job: string): boolean {
  return isExclusive(job) || job === SLOT_JOB
}

/** An instance that lists this name among its jobs takes part in watching its app. */
export const WATCH_JOB = 'cronce:watch'
/** One that lists this name has channels for the messages. */
export const CHANNELS_JOB = 'cronce:channels'
/** The job of schedules that hold the alerts of an app: they never run. */
export const ALERTS_JOB = 'cronce:alerts'

/** The schedule that holds the alerts of an app. */
export function alertsSchedule(app: string): string {
  return `${ALERTS_JOB}:${app}`
}

/** Whether the library keeps schedules of this job for itself: lists leave them out unless they are asked for. */
export function isInternal(job: string): boolean {
  return job.startsWith(RESERVED_PREFIX) && job !== SLOT_JOB
}
