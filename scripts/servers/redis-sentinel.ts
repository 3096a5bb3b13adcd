import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ServerError } from './errors.ts'
import { type Obtain, obtain } from './obtain.ts'
import { LOOPBACK } from './ports.ts'
import { redisPlan } from './redis.ts'
import { redisCommand } from './redis-command.ts'
import { type Server, startServer } from './server.ts'
import { waitUntil } from './wait.ts'

export interface RedisSentinelOptions {
  /** What clients call the primary, whichever server it is. @default 'primary' */
  readonly name?: string
  /** How long a primary must be silent to be replaced. @default 1000 */
  readonly downAfterMs?: number
  /** How many replicas it has to have found before this returns. @default 1 */
  readonly replicas?: number
}

const CONFIG = 'sentinel.conf'
const FOUND_LIMIT_MS = 60_000

/** A Sentinel, which replaces a primary that is silent by one of its replicas. It decides alone, so there is never a quarrel. */
export async function startRedisSentinel(
  primary: { readonly port: number },
  options: RedisSentinelOptions = {},
  locate: Obtain = obtain,
): Promise<Server> {
  const { name = 'primary', downAfterMs = 1_000, replicas = 1 } = options
  const plan = redisPlan({}, await locate('redis'))
  const sentinel = await startServer({
    ...plan,
    prepare: async (home) => {
      const file = join(home.directory, CONFIG)
      const lines = [
        `sentinel monitor ${name} ${LOOPBACK} ${primary.port} 1`,
        `sentinel down-after-milliseconds ${name} ${downAfterMs}`,
        `sentinel failover-timeout ${name} 10000`,
      ]
      writeFileSync(file, `${lines.join('\n')}\n`)
      // The sentinel stores its state in this file, and refuses a file that it cannot write. It may run as another
      // user.
      chmodSync(file, 0o666)
    },
    command: async ([port], directory) => {
      const { file } = await plan.command([port!], directory)
      const settings = { bind: LOOPBACK, port: `${port}`, dir: directory, unixsocket: join(directory, 'redis.sock') }
      const args = Object.entries(settings).flatMap(([setting, value]) => [`--${setting}`, value])
      return { file, args: [join(directory, CONFIG), '--sentinel', ...args] }
    },
  })
  const hasFound = async () => {
    const found = await redisCommand(sentinel, 'SENTINEL', 'REPLICAS', name)
    return Array.isArray(found) && found.length >= replicas
  }
  if (await waitUntil(hasFound, FOUND_LIMIT_MS)) return sentinel
  await sentinel.stop()
  throw new ServerError('SERVER_UNREADY', `The sentinel did not find ${replicas} replicas in ${FOUND_LIMIT_MS} ms.`)
}

/** The port of the server that the Sentinel sends clients to. */
export async function redisPrimaryPort(sentinel: { readonly port: number }, name = 'primary'): Promise<number> {
  const address = await redisCommand(sentinel, 'SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name)
  return Array.isArray(address) ? Number(address[1]) : 0
}
