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

/** A logger that keeps its lines. */
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

/** node-cron has no context to show where a background task has no process. */
function described(event: string, task: ScheduledTask, context: TaskContext | undefined): string {
  const { reason, execution } = context ?? {}
  const more = [reason, execution?.reason, execution?.error?.message].filter((word) => word !== undefined)
  return [event, task.getStatus(), ...more].join(' ')
}

const LIMIT_MS = 120_000

export async function until(isSo: () => boolean | Promise<boolean>, what = 'it'): Promise<void> {
  const end = performance.now() + LIMIT_MS
  while (!(await isSo())) {
    if (performance.now() > end) assert.fail(`waited for ${LIMIT_MS} ms until ${what} was so`)
    await sleep(10)
  }
}

/**
 * Slots of a second that have passed, as another task of the same package saw them. Everything that belongs to a slot
 * has happened by the next.
 */
export async function slotsPass(api: Pick<Api, 'createTask'>, count: number): Promise<void> {
  let slots = 0
  const tick = (): void => void slots++
  const clock = api.createTask('* * * * * *', tick, { logger: recording() })
  clock.on('execution:missed', tick)
  void clock.start()
  await until(() => slots >= count, `${count} slots have come`)
  void clock.destroy()
}

const LOOK_MS = 20
/** node-cron takes a slot for missed when it is a second late. */
const STARVED_MS = 250
/** A slot takes several turns of the event loop: each may be short, and all of them too long. */
const LEAST_LOOKS_PER_SECOND = 15
const MOST_TRIES = 40

/**
 * The script's answer in a try in which this process was never starved and the clock was not set. A starved process
 * misses slots, with both packages, and proves nothing about either.
 */
export async function whileHealthy<Answer>(script: () => Promise<Answer>): Promise<Answer> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    let lookedAt = performance.now()
    let isStarved = false
    const beganAt = lookedAt
    let looks: number[] = []
    const offset = Date.now() - lookedAt
    const look = (): void => {
      const now = performance.now()
      isStarved ||= now - lookedAt > STARVED_MS || Math.abs(Date.now() - now - offset) > STARVED_MS
      lookedAt = now
      looks = [...looks.filter((at) => at > now - 1_000), now]
      isStarved ||= now - beganAt > 1_000 && looks.length < LEAST_LOOKS_PER_SECOND
    }
    const witness = setInterval(look, LOOK_MS)
    try {
      const answer = await script()
      look()
      if (!isStarved) return answer
    } finally {
      clearInterval(witness)
    }
  }
  return assert.fail(`this process was starved in each of ${MOST_TRIES} tries`)
}
