import type { TriggerData } from '../trigger/trigger.ts'
import type { WatchedTask } from './coordinator-watch.ts'
import { timingOf } from './timing.ts'

/** node-cron itself, as far as it matters here: its default export is one. */
export interface TaskRegistry {
  getTasks(): ReadonlyMap<string, unknown>
}

/** A task of node-cron's, with the fields of both of its kinds that the coordinator reads. */
export interface RegisteredTask extends WatchedTask {
  readonly id?: unknown
  readonly timezone?: unknown
  /** Only a background task keeps its options. */
  readonly options?: { readonly timezone?: unknown; readonly distributed?: unknown } | undefined
  readonly getPattern?: (() => unknown) | undefined
  readonly getStatus?: (() => unknown) | undefined
}

export function registeredTasks(registry: TaskRegistry): readonly RegisteredTask[] {
  return [...registry.getTasks().values()].filter(isTask)
}

function isTask(task: unknown): task is RegisteredTask {
  return typeof task === 'object' && task !== null && 'on' in task && typeof task.on === 'function'
}

/**
 * Whether a task is `distributed`. node-cron does not say, so its fields are read: an inline task has a runner with the coordinator, a
 * background task has it itself. `null`: this version has neither.
 */
export function asksCoordinator(task: RegisteredTask): boolean | null {
  const { runner } = task as { readonly runner?: unknown }
  const holder = typeof runner === 'object' && runner !== null ? runner : task
  if (!('runCoordinator' in holder)) return null
  return holder.runCoordinator !== undefined
}

/** Whether node-cron will ask for its slots: it is started, and has a name of its own. */
export function isExpected(task: RegisteredTask): boolean {
  const status = task.getStatus?.()
  return asksCoordinator(task) === true && task.name !== task.id && status !== 'stopped' && status !== 'destroyed'
}

/** A task never changes its expression, and is asked about for every slot. */
const rules = new WeakMap<RegisteredTask, TriggerData | null>()

/** When node-cron will ask for slots of the task; `null`: it is not known. */
export function ruleOf(task: RegisteredTask): TriggerData | null {
  const known = rules.get(task)
  if (known !== undefined) return known
  const rule = readRule(task)
  rules.set(task, rule)
  return rule
}

function readRule(task: RegisteredTask): TriggerData | null {
  const timezone = task.timezone ?? task.options?.timezone
  try {
    return timingOf(patternOf(task), typeof timezone === 'string' ? timezone : undefined).trigger.toJSON()
  } catch {
    // An expression that only another version of node-cron knows.
    return null
  }
}

export function patternOf(task: RegisteredTask): string {
  return typeof task.getPattern === 'function' ? String(task.getPattern()) : ''
}
