import {
  asksCoordinator,
  patternOf,
  type RegisteredTask,
  registeredTasks,
  type TaskRegistry,
} from './registered-tasks.ts'

/** Tasks beyond this are only counted. */
const MOST_NAMED = 20

/** A sentence about the tasks that run in every process, since they do not ask a coordinator; `null`: there are none. */
export function undistributedWords(registry: TaskRegistry): string | null {
  const tasks = registeredTasks(registry).filter(
    (task) => asksCoordinator(task) === false && task.options?.distributed !== false,
  )
  if (tasks.length === 0) return null
  const named = tasks.slice(0, MOST_NAMED)
  const more = tasks.length > MOST_NAMED ? ` and ${tasks.length - MOST_NAMED} more` : ''
  const groups = Map.groupBy(named, (task) => (isUnnamed(task) ? patternOf(task) : task.id))
  const names = [...groups.values()].map(([task, ...others]) => nameOf(task!, others.length + 1))
  const count = tasks.length === 1 ? '1 task of node-cron runs' : `${tasks.length} tasks of node-cron run`
  // node-cron keeps the options of background tasks only, so `distributed: false` of a function can't be told from no option.
  return `${count} in every process, without asking the coordinator: ${names.join(', ')}${more}. Add { name, distributed: true } to the options of those that should run once; ignore this for those that say distributed: false.`
}

/** Without a name of its own, node-cron calls a task by its id. */
export function isUnnamed(task: RegisteredTask): boolean {
  return task.name === task.id
}

function nameOf(task: RegisteredTask, count: number): string {
  const unnamed = count === 1 ? 'a task without a name' : `${count} tasks without a name`
  return `${isUnnamed(task) ? unnamed : String(task.name)} (${patternOf(task)})`
}
