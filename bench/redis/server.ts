import { Redis } from 'ioredis'
import { startRedis } from '../../scripts/servers/index.ts'

/** When a write is on disk: each second (Redis's own default), or before it is answered. */
export type Fsync = 'everysec' | 'always'

/** A server of its own for each measurement: memory, log and counters start empty. */
export interface BenchServer {
  readonly url: string
  readonly version: string
  /** For measuring. Its commands are left out of every count. */
  readonly admin: Redis
}

export async function withServer<Value>(fsync: Fsync, work: (server: BenchServer) => Promise<Value>): Promise<Value> {
  const server = await startRedis({
    settings: {
      appendfsync: fsync,
      // The log grows and is not rewritten meanwhile: a fork in some rounds is not a property of the measured system.
      'auto-aof-rewrite-percentage': '0',
    },
  })
  const admin = new Redis(server.url)
  // A server that fails shows in the next question.
  admin.on('error', () => {})
  try {
    const version = /redis_version:(\S+)/.exec(await admin.info('server'))![1]!
    return await work({ url: server.url, version, admin })
  } finally {
    admin.disconnect()
    await server.stop()
  }
}
