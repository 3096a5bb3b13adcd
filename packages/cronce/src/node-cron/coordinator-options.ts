import type { CronceOptions } from '../app/options.ts'
import { optionInvalid, readChoice, readDuration, readFields } from '../client/read-option.ts'
import type { Duration } from '../client/schedule-options.ts'
import type { TaskRegistry } from './registered-tasks.ts'

/** Options of `runCoordinator()`. */
export interface CoordinatorOptions {
  /**
   * How long `shouldRun` may take, 50 ms to 2 s. Later it throws, and node-cron skips the slot with the reason
   * `coordinator-error`: without a bound a store that hangs would keep a task with `noOverlap` from ever running again.
   * @default 800
   */
  readonly timeout?: Duration | undefined
  /**
   * How long to wait for a slot that is still ahead by the store's clock, because this machine's clock is fast; 0 to 3 s.
   * A slot that is further ahead is refused: FIRE_EARLY.
   * @default '3s'
   */
  readonly ahead?: Duration | undefined
  /**
   * `fleet`: a slot is skipped while another one of the same name runs, in whatever process. `allow`: as node-cron does, whose
   * `noOverlap` looks at its own process only.
   * @default 'allow'
   */
  readonly overlap?: 'allow' | 'fleet' | undefined
  /**
   * How long a run may take, 1 s to 30 d. node-cron does not always say that one has ended (a task that is stopped in its random
   * delay, a background process that dies): so much later it counts as failed.
   * @default '1d'
   */
  readonly longest?: Duration | undefined
  /**
   * node-cron itself (its default export). With it, failures of all `distributed` tasks are on record, as with `watch`; `cronce list`
   * shows when they are due next; and tasks that are not `distributed`, and so run in every process, are named in a warning when the
   * first slot is asked for. @default none
   */
  readonly cron?: TaskRegistry | undefined
}

/** Where the coordinator is to open the store itself. */
export type OwnAppOptions = Pick<
  CronceOptions,
  'namespace' | 'lease' | 'drain' | 'signals' | 'keepAlive' | 'logger' | 'adopt'
>

export interface ResolvedCoordinatorOptions {
  readonly timeoutMs: number
  readonly aheadMs: number
  readonly isExclusive: boolean
  readonly longestMs: number
  readonly cron: TaskRegistry | null
  readonly ownApp: OwnAppOptions
}

const OWN_APP = ['namespace', 'lease', 'drain', 'signals', 'keepAlive', 'logger', 'adopt'] as const
const NAMES = ['timeout', 'ahead', 'overlap', 'longest', 'cron'] as const
const DAY_MS = 86_400_000

/** `opensStore`: else it uses an app that has options of its own. */
export function resolveCoordinatorOptions(options: unknown, opensStore: boolean): ResolvedCoordinatorOptions {
  const names = opensStore ? [...NAMES, ...OWN_APP] : NAMES
  const { timeout, ahead, overlap, longest, cron, ...ownApp } = readFields(
    '',
    options ?? {},
    names,
    "{ overlap: 'fleet' }",
  )
  return {
    timeoutMs: readDuration('timeout', timeout ?? 800, { min: 50, max: 2_000, usual: 800 }),
    // The process of a background task waits for five seconds, for all of it together.
    aheadMs: readDuration('ahead', ahead ?? 3_000, { min: 0, max: 3_000, usual: 3_000 }),
    isExclusive: readChoice('overlap', overlap ?? 'allow', ['allow', 'fleet']) === 'fleet',
    longestMs: readDuration('longest', longest ?? DAY_MS, { min: 1_000, max: 30 * DAY_MS, usual: DAY_MS }),
    cron: cron === undefined ? null : readRegistry(cron),
    ownApp: ownApp as OwnAppOptions,
  }
}

function readRegistry(cron: unknown): TaskRegistry {
  if (typeof cron === 'object' && cron !== null && 'getTasks' in cron && typeof cron.getTasks === 'function') {
    return cron as TaskRegistry
  }
  throw optionInvalid('cron', cron, 'node-cron itself', "Write import cron from 'node-cron' and { cron }.")
}
