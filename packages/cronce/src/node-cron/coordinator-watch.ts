import type { SlotKey } from './coordinator-key.ts'

/** What node-cron hands to the function of a task, as far as it matters here. */
export interface SlotContext {
  /** The slot. */
  readonly date: Date | string
  readonly task?: { readonly name?: string | undefined } | undefined
  readonly execution?: { readonly error?: unknown } | undefined
  readonly error?: unknown
}

/** A task of node-cron's, as far as it matters here. */
export interface WatchedTask {
  readonly name?: string | undefined
  on(event: 'execution:failed' | 'task:failed', listener: (context: SlotContext) => void): void
}

/** `null`: it has no name, so it is not coordinated. */
export function slotOfContext({ date, task }: SlotContext): SlotKey | null {
  const dueAt = new Date(date).getTime()
  return task?.name === undefined || Number.isNaN(dueAt) ? null : { name: task.name, dueAt }
}
