import { POLICY_NAMES } from '../client/read-policy.ts'
import type { MisfireOptions, NewSchedule, PolicyOptions } from '../client/schedule-options.ts'
import type { Task } from './task.ts'
import type { TaskOptions } from './task-types.ts'

const DAY_MS = 86_400_000
const MINUTE_MS = 60_000
const TOLERANCE_MS = 1_000
/** node-cron looks at whole seconds. */
const SECOND_MS = 999
const MOST_AT_A_TIME = 1_000

/** The schedule of a task. */
export function scheduleOf(task: Task, job: string, isShared: boolean): NewSchedule {
  const { options, timing } = task
  const { noOverlap, maxRandomDelay } = options
  return {
    job,
    cron: timing.spec,
    overlap: noOverlap === true ? 'skip' : { kind: 'allow', limit: MOST_AT_A_TIME },
    ...(Number(maxRandomDelay) >= 1 ? { jitter: { within: Number(maxRandomDelay), kind: 'random' } } : {}),
    ...misfireOf(options, isShared),
    ...policiesOf(options),
  }
}

/** What is late is caught up if the task is the fleet's, unless it says how late it may be; else as node-cron does. */
function misfireOf({ missedExecutionTolerance }: TaskOptions, isShared: boolean): { misfire?: MisfireOptions } {
  if (isShared && missedExecutionTolerance === undefined) return {}
  const grace = (missedExecutionTolerance ?? TOLERANCE_MS) + SECOND_MS
  return { misfire: { late: 'skip', grace, window: Math.max(grace, isShared ? DAY_MS : MINUTE_MS) } }
}

function policiesOf(options: TaskOptions): PolicyOptions {
  const given = POLICY_NAMES.map((name) => [name, (options as PolicyOptions)[name]] as const)
  return Object.fromEntries(
    given.filter(([name, value]) => value !== undefined && name !== 'overlap' && name !== 'jitter'),
  )
}

const NAMES: ReadonlySet<string> = new Set<string>([
  ...POLICY_NAMES.filter((name) => name !== 'overlap' && name !== 'jitter'),
  ...['timezone', 'name', 'noOverlap', 'distributed', 'runCoordinator', 'distributedLease', 'maxExecutions'],
  ...['maxRandomDelay', 'logger', 'suppressMissedWarning', 'missedExecutionTolerance', 'executeTimeout'],
  ...['startTimeout', 'unref'],
  // Of node-cron 3; 4 does not mind them either.
  ...['scheduled', 'recoverMissedExecutions', 'runOnInit'],
])

export function unknownOptions(options: TaskOptions): readonly string[] {
  return Object.keys(options).filter((name) => !NAMES.has(name))
}
