/** node-cron itself, as far as it matters here: its default export is one. */
export interface TaskRegistry {
  getTasks(): ReadonlyMap<string, unknown>
}

/** Tasks beyond this are only counted. */
const MOST_NAMED = 20

/** A sentence about the tasks that run in every process, since they do not ask a coordinator; `null`: there are none. */
export function undistributedWords(registry: TaskRegistry): string | null {
  const tasks = [...registry.getTasks().values()].filter((task) => asksCoordinator(task) === false)
  if (tasks.length === 0) return null
  const names = tasks.slice(0, MOST_NAMED).map(nameOf)
  const more = tasks.length > MOST_NAMED ? ` and ${tasks.length - MOST_NAMED} more` : ''
  const count = tasks.length === 1 ? '1 task of node-cron runs' : `${tasks.length} tasks of node-cron run`
  return `${count} in every process, without asking the coordinator: ${names.join(', ')}${more}. Add { name, distributed: true } to the options of those that should run once.`
}

/**
 * Whether a task is `distributed`. node-cron does not say, so its fields are read: an inline task has a runner with the coordinator, a
 * background task has it itself. `null`: this version has neither.
 */
function asksCoordinator(task: unknown): boolean | null {
  if (typeof task !== 'object' || task === null) return null
  const { runner } = task as { readonly runner?: unknown }
  const holder = typeof runner === 'object' && runner !== null ? runner : task
  if (!('runCoordinator' in holder)) return null
  return holder.runCoordinator !== undefined
}

function nameOf(task: unknown): string {
  const { id, name, getPattern } = task as { id?: unknown; name?: unknown; getPattern?: () => unknown }
  const pattern = typeof getPattern === 'function' ? String(getPattern.call(task)) : ''
  // Without a name of its own, node-cron calls a task by its id.
  return `${name === id ? 'a task without a name' : String(name)} (${pattern})`
}
