import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ServerError } from './errors.ts'
import { type Obtain, obtain } from './obtain.ts'
import { LOOPBACK } from './ports.ts'
import { type RedisOptions, redisPlan } from './redis.ts'
import { redisCommand, redisText } from './redis-command.ts'
import { type Server, startServer } from './server.ts'
import { waitUntil } from './wait.ts'

export interface RedisReplicaOptions extends RedisOptions {
  /** Where it reaches the primary: the port of a proxy, that can cut them apart. @default the primary's own */
  readonly port?: number
}

const CONFIG = 'replica.conf'
const ONLINE_LIMIT_MS = 60_000

/** A copy of a Redis server that follows it asynchronously, and answers reads. The primary counts it when this returns. */
export async function startRedisReplica(
  primary: { readonly port: number },
  options: RedisReplicaOptions = {},
  locate: Obtain = obtain,
): Promise<Server> {
  const plan = redisPlan(options, await locate('redis'))
  const replica = await startServer({
    ...plan,
    // Whom it follows is in a file that the server itself rewrites: what it has become must outlive a restart.
    prepare: async (home) => {
      const from = `replicaof ${LOOPBACK} ${options.port ?? primary.port}\n`
      writeFileSync(join(home.directory, CONFIG), from, { mode: 0o644 })
    },
    command: async (ports, directory) => {
      const { file, args } = await plan.command(ports, directory)
      return { file, args: [join(directory, CONFIG), ...args] }
    },
  })
  try {
    await redisReplicaOnline(primary, replica)
  } catch (error) {
    await replica.stop()
    throw error
  }
  return replica
}

/**
 * Until the primary counts this replica, up to a second after the replica reports to be in sync: before that, `WAIT`
 * ignores it. And until the replica has the copy in its own log: before that, it refuses to end.
 */
export async function redisReplicaOnline(
  primary: { readonly port: number },
  replica: { readonly port: number },
): Promise<void> {
  const line = new RegExp(`^slave\\d+:.*\\bport=${replica.port},state=online`, 'm')
  // Both ends, since the primary may not have noticed that the earlier connection has ended.
  const isOnline = async () =>
    (await redisText(replica, 'INFO', 'replication')).includes('master_link_status:up') &&
    line.test(await redisText(primary, 'INFO', 'replication'))
  const hasLogged = async () =>
    !/^aof_rewrite_(in_progress|scheduled):1/m.test(await redisText(replica, 'INFO', 'persistence'))
  if (await waitUntil(async () => (await isOnline()) && (await hasLogged()), ONLINE_LIMIT_MS)) return
  throw new ServerError(
    'SERVER_UNREADY',
    `The replica on port ${replica.port} was not online in ${ONLINE_LIMIT_MS} ms.`,
  )
}

/**
 * Promotes a replica, regardless of the old primary. It accepts writes when this returns, and stays a primary over
 * restarts.
 */
export async function promoteRedis(replica: { readonly port: number }): Promise<void> {
  await redisCommand(replica, 'REPLICAOF', 'NO', 'ONE')
  await redisCommand(replica, 'CONFIG', 'REWRITE')
}
