import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger, NodeCron, ScheduledTask, TaskContext, TaskEvent } from '../../src/node-cron.ts'

/** What both packages have. */
export type Api = Omit<NodeCron, 'setup'>

export const EVENTS: readonly TaskEvent[] = [
  ...(['task:started', 'task:stopped', 'task:destroyed', 'task:failed'] as const),
  ...(['execution:started', 'execution:finished', 'execution:failed', 'execution:missed'] as const),
  ...(['execution:overlap', 'execution:maxReached', 'execution:skipped'] as const),
]

export interface Recording extends Logger {
  readonly told: string[]
}

/** A logger that keeps what it is told. */
export function recording(): Recording {
  const told: string[] = []
  const keep = (level: string) => (message: string | Error) => {
    told.push(`${level} ${message instanceof Error ? message.message : message}`)
  }
  return { told, info: keep('info'), warn: keep('warn'), error: keep('error'), debug: keep('debug') }
}

/** Every event of the task from now on, with the status that it has then. */
export function follow(task: ScheduledTask, events: readonly TaskEvent[] = EVENTS): string[] {
  const seen: string[] = []
  for (const event of events) task.on(event, (context) => void seen.push(described(event, task, context)))
  return seen
}

/** node-cron has no context to tell where a background task has no process. */
function described(event: string, task: ScheduledTask, context: TaskContext | undefined): string {
  const { reason, execution } = context ?? {}
  const more = [reason, execution?.reason, execution?.error?.message].filter((word) => word !== undefined)
  return [event, task.getStatus(), ...more].join(' ')
}

export async function until(isSo: () => boolean | Promise<boolean>, what = 'it'): Promise<void> {
  for (let tries = 0; tries < 1_500; tries++) {
    if (await isSo()) return
    await sleep(10)
  }
  assert.fail(`waited for 15 s until ${what} was so`)
}

/** So that a slot does not fall between two steps of a test that must see none. */
export async function afterSlot(): Promise<void> {
  const late = Date.now() % 1_000
  if (late > 300) await sleep(1_050 - late)
}
