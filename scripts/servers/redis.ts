import { join } from 'node:path'
import { type Obtain, obtain } from './obtain.ts'
import { LOOPBACK } from './ports.ts'
import { probe } from './probe.ts'
import { type Server, type ServerPlan, startServer } from './server.ts'

export interface RedisOptions {
  /** Log and sync every write before it is acknowledged, so that data survives `kill()`. @default true */
  readonly appendonly?: boolean
  /** Further settings, for example `{ maxmemory: '64mb' }`. */
  readonly settings?: Readonly<Record<string, string>>
}

/** A Redis server without a password. */
export async function startRedis(options: RedisOptions = {}, locate: Obtain = obtain): Promise<Server> {
  return startServer(redisPlan(options, await locate('redis')))
}

export function redisPlan(options: RedisOptions, file: string): ServerPlan {
  const { appendonly = true, settings = {} } = options
  const socket = (directory: string) => join(directory, 'redis.sock')
  return {
    name: 'redis',
    portCount: 1,
    endSignal: 'SIGKILL', // It has nothing to hand back to the system, and its data goes anyway.
    restartSignal: 'SIGTERM',
    prepare: async () => {},
    command: async ([port], directory) => {
      const all = {
        bind: LOOPBACK,
        port: String(port),
        unixsocket: socket(directory),
        dir: directory,
        appendonly: appendonly ? 'yes' : 'no',
        // With `everysec`, Redis acknowledges writes that it has not written to the log while an earlier sync is slow.
        appendfsync: 'always',
        // The log of writes is what keeps data here. Snapshots besides it only fork at odd moments.
        save: '',
        // Replicas get their copy at once, instead of after five seconds in which others might ask for one, too.
        'repl-diskless-sync-delay': '0',
        ...settings,
      }
      return { file, args: Object.entries(all).flatMap(([name, value]) => [`--${name}`, value]) }
    },
    // Only this server can be on this socket, and a server that did not get its TCP port does not open it.
    isReady: (_ports, directory) => probe({ path: socket(directory) }, 'PING\r\n', judgePing),
    url: (port) => `redis://${LOOPBACK}:${port}`,
  }
}

/** Anything but PONG is an error, such as -LOADING while it still reads its data. */
function judgePing(reply: Buffer): boolean | undefined {
  return reply.includes('\r\n') ? reply.toString() === '+PONG\r\n' : undefined
}
