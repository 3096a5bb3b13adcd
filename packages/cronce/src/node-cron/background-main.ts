/** What the process of a background task runs: the function `task` of the given file. */
import type { Run } from '../run/run.ts'
import type { BackgroundOrder } from './background-order.ts'
import { loadBackgroundTask } from './load-background-task.ts'

// biome-ignore lint/style/noDefaultExport: that is what a task of ours is.
export default async function runBackgroundTask(run: Run): Promise<unknown> {
  const order = run.fire.input as BackgroundOrder
  const task = await loadBackgroundTask(order.file)
  const { id, reason, startedAt } = order.execution
  return task({
    date: new Date(order.date),
    dateLocalIso: order.dateLocalIso,
    triggeredAt: new Date(order.triggeredAt),
    task: { id: order.task.id, name: order.task.name, getPattern: () => order.task.pattern },
    execution: { id, reason, ...(startedAt === null ? {} : { startedAt: new Date(startedAt) }) },
    run,
  })
}
