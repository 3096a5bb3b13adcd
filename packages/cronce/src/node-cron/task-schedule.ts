import { POLICY_NAMES } from '../client/read-policy.ts'
import type { MisfireOptions, NewSchedule, PolicyOptions } from '../client/schedule-options.ts'
import type { Task } from './task.ts'
import type { TaskOptions } from './task-types.ts'
import type { Timing } from './timing.ts'

const DAY_MS = 86_400_000
const MINUTE_MS = 60_000
const TOLERANCE_MS = 1_000
/** node-cron looks at whole seconds. */
const SECOND_MS = 999
const MOST_AT_A_TIME = 1_000
/** Slots among which the shortest interval of a task is looked for. */
const SAMPLED_SLOTS = 100

/** The schedule of a task. */
export function scheduleOf(task: Task, job: string, isShared: boolean): NewSchedule {
  const { options, timing } = task
  const { noOverlap, maxRandomDelay } = options
  return {
    job,
    cron: timing.spec,
    overlap: noOverlap === true ? 'skip' : { kind: 'allow', limit: MOST_AT_A_TIME },
    ...(Number(maxRandomDelay) >= 1 ? { jitter: { within: Number(maxRandomDelay), kind: 'random' } } : {}),
    ...misfireOf(task, isShared),
    ...policiesOf(options),
  }
}

/** Late slots are caught up if the task is the fleet's and has no tolerance of its own; else as node-cron does. */
function misfireOf({ options, timing }: Task, isShared: boolean): { misfire?: MisfireOptions } {
  const { missedExecutionTolerance } = options
  if (isShared && missedExecutionTolerance === undefined) return {}
  const tolerance = (missedExecutionTolerance ?? TOLERANCE_MS) + SECOND_MS
  // A slot is missed once the next one has come.
  const grace = Math.min(tolerance, shortestInterval(timing) - 1)
  return { misfire: { late: 'skip', grace, window: Math.max(grace, isShared ? DAY_MS : MINUTE_MS) } }
}

/** From a fixed instant on, so that all processes come to the same definition. */
function shortestInterval({ trigger }: Timing): number {
  const slots = trigger.nextN(0, SAMPLED_SLOTS)
  return Math.min(...slots.slice(1).map((slot, index) => slot - slots[index]!))
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
