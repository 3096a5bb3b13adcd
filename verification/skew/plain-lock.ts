import type { Redis } from 'ioredis'
import type { RunCoordinator } from 'node-cron'

const DELETE_MINE = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0"

/**
 * What most people have, and what node-cron's own coordinator for Redis does: a lock on the slot with a random token, which expires, and
 * which its holder frees when the run has ended.
 */
export function plainLock(client: Redis): RunCoordinator {
  const tokens = new Map<string, string>()
  return {
    async shouldRun(key, ttlMs) {
      const token = crypto.randomUUID()
      const answer = await client.set(`lock:${key}`, token, 'PX', ttlMs, 'NX')
      if (answer !== 'OK') return false
      tokens.set(key, token)
      return true
    },
    async onComplete(key) {
      const token = tokens.get(key)
      tokens.delete(key)
      if (token !== undefined) await client.eval(DELETE_MINE, 1, `lock:${key}`, token)
    },
  }
}
