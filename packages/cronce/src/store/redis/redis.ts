import type { StoreSource } from '../store.ts'
import { demandOptions, optionsInvalid as invalid } from '../store-options.ts'
import { namespaceKey } from './keys.ts'
import type { WaitOptions } from './link.ts'
import { demandTarget, nameOf, openLink, type Target } from './open-link.ts'
import { checkSettings } from './settings.ts'
import { openStore } from './store.ts'

/** Options of `redis()`. */
export interface RedisOptions {
  /** What all keys begin with; the namespace follows in braces. @default 'cronce' */
  readonly prefix?: string | undefined
  /** An answer counts only when this many replicas have all that it is based on; `timeout` in milliseconds. @default none */
  readonly wait?: WaitOptions | undefined
  /** The longest that a call may take, the wait for a connection included. @default 5000 */
  readonly timeoutMs?: number | undefined
}

const NAMES = ['prefix', 'wait', 'timeoutMs'] satisfies (keyof RedisOptions)[]

const FOREIGN = { keyPrefix: 'prefix', namespace: 'prefix', commandTimeout: 'timeoutMs', replicas: 'wait' }

/**
 * A store in Redis 6.2 or later, or Valkey: by URL, or like a client that the application has (of ioredis or node-redis, also for a
 * Cluster), whose settings are taken over for two connections of our own.
 */
export function redis(target: Target, options: RedisOptions = {}): StoreSource<never> {
  demandTarget(target)
  checkOptions(options)
  const { prefix = 'cronce', wait, timeoutMs } = options
  return {
    name: nameOf(target),
    async open({ namespace, warn }) {
      const link = openLink(target, { wait, timeoutMs })
      try {
        await checkSettings(link, namespaceKey(prefix, namespace), { wait, warn })
        return await openStore(link, { namespace, prefix, waits: wait !== undefined })
      } catch (error) {
        await link.close()
        throw error
      }
    },
  }
}

function checkOptions(options: RedisOptions): void {
  demandOptions('a Redis store', options, NAMES, FOREIGN)
  const { prefix, wait, timeoutMs } = options
  if (prefix !== undefined && (typeof prefix !== 'string' || !/^[^{}\p{Cc}]+$/u.test(prefix))) {
    throw invalid(
      'The option prefix must be a text without braces and control characters.',
      "Leave it out for 'cronce'.",
    )
  }
  if (timeoutMs !== undefined && !(typeof timeoutMs === 'number' && timeoutMs >= 100)) {
    throw invalid('The option timeoutMs must be a number of milliseconds, at least 100.', 'Leave it out for 5000.')
  }
  if (wait !== undefined) checkWait(wait, timeoutMs ?? 5_000)
}

function checkWait(wait: WaitOptions, timeoutMs: number): void {
  const isSound = isCount(wait?.replicas) && isCount(wait?.timeout)
  if (!isSound)
    throw invalid(
      'The option wait must be { replicas, timeout }, both at least 1.',
      'Write wait: { replicas: 1, timeout: 1000 }.',
    )
  if (wait.timeout >= timeoutMs) {
    throw invalid(
      'The option wait.timeout must be shorter than timeoutMs, the time that a call may take.',
      `Use less than ${timeoutMs}, or a longer timeoutMs.`,
    )
  }
}

function isCount(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 1
}
