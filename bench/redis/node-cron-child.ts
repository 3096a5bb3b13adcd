// node-cron's own coordination, on Redis: a key per job and instant, set by the first and freed at the end, as its coordinator for Redis does it.
import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { type RunCoordinator, schedule } from 'node-cron'
import { setupOf } from '../shared/answering.ts'
import { serveNodeCron } from '../shared/node-cron-instance.ts'

const { url } = setupOf()
const redis = new Redis(url, { lazyConnect: true })
redis.on('error', () => {})
redis.defineCommand('free', {
  numberOfKeys: 1,
  lua: "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0",
})
const held = new Map<string, string>()
let underWay = 0

const runCoordinator: RunCoordinator = {
  async shouldRun(key, ttlMs) {
    underWay++
    const token = randomUUID()
    const isMine = (await redis.set(keyOf(key), token, 'PX', ttlMs, 'NX')) === 'OK'
    if (isMine) held.set(key, token)
    else underWay--
    return isMine
  },
  async onComplete(key) {
    const token = held.get(key)
    if (token === undefined) return
    held.delete(key)
    await (redis as unknown as { free(key: string, token: string): Promise<number> }).free(keyOf(key), token)
    underWay--
  },
}

serveNodeCron({
  connect: () => redis.connect(),
  schedule: (number, run) =>
    schedule('* * * * * *', ({ date }) => run(date.getTime()), {
      name: String(number),
      distributed: true,
      runCoordinator,
    }),
  underWay: () => underWay,
  close: () => redis.disconnect(),
})

function keyOf(key: string): string {
  return `node-cron:lock:${key}`
}
