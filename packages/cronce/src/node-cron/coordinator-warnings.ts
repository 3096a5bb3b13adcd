import type { ExclusiveParts } from '../app/exclusive.ts'
import type { Client } from '../client/client.ts'
import { describeError } from '../engine/describe-error.ts'
import { CronceError } from '../errors.ts'
import type { SlotKey } from './coordinator-key.ts'
import type { TaskRegistry } from './registered-tasks.ts'
import { undistributedWords } from './undistributed.ts'

/** What the owner of the tasks should know, told once in a while. */
export interface Warnings {
  /** All tasks of this process should have been made by now. */
  looked(): void
  /** A task of this process has asked whether to run it. */
  asked(key: SlotKey): void
  notStarted(error: unknown): void
}

/** A clock that differs more makes slots late, or makes their processes wait. */
const OFFSET_MS = 100
const LOOK_MS = 600_000
/** How many names are remembered; a process with more tasks warns less often. */
const NAMES = 10_000

export function coordinatorWarnings(
  { store }: Pick<Client, 'store'>,
  { logger, mono }: ExclusiveParts,
  cron: TaskRegistry | null,
): Warnings {
  let hasListed = false
  /** By name: the slot that was asked for last. */
  const last = new Map<string, number>()
  const doubled = new Set<string>()
  let lookedAt = Number.NEGATIVE_INFINITY

  const lookAtClock = async (): Promise<void> => {
    const { offsetMs, latencyMs } = await store.check()
    if (Math.abs(offsetMs) - latencyMs / 2 <= OFFSET_MS) return
    const how = offsetMs > 0 ? 'ahead of the store: its slots wait' : 'behind the store: its slots come late'
    logger.warn(`This machine's clock is ${Math.abs(offsetMs)} ms ${how}. Let NTP set it.`)
  }

  const remember = ({ name, dueAt }: SlotKey): void => {
    last.delete(name)
    last.set(name, dueAt)
    if (last.size > NAMES) for (const oldest of last.keys()) return void last.delete(oldest)
  }

  /** Once: the tasks of a process are made when it starts, and by the first slot all are there. */
  const listUndistributed = (): void => {
    if (hasListed || cron === null) return
    hasListed = true
    const words = undistributedWords(cron)
    if (words !== null) logger.warn(words)
  }

  return {
    looked: listUndistributed,
    asked(key) {
      const { name } = key
      listUndistributed()
      if (last.get(name) === key.dueAt && !doubled.has(name)) {
        doubled.add(name)
        logger.warn(`Two tasks of this process are named ${JSON.stringify(name)}: only one of them runs. Rename one.`)
      }
      remember(key)
      if (mono() - lookedAt < LOOK_MS) return
      lookedAt = mono()
      // The calls that need the store report that it does not answer.
      lookAtClock().catch(() => {})
    },
    notStarted(error) {
      const hint = error instanceof CronceError && error.hint !== undefined ? ` ${error.hint}` : ''
      logger.error(
        `The coordinator could not be started, so no distributed task runs here: ${describeError(error).message}${hint}`,
      )
    },
  }
}
