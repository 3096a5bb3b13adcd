import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { redis } from '../../../packages/cronce/src/redis.ts'
import { obtain, redisCommand, redisText, type Server, startRedis } from '../../../scripts/servers/index.ts'
import { type FakeClock, prepareClock } from '../clock/clock.ts'
import type { ChaosStore, PreparedStore, ServerEnd, ServerTrick, ServerUnderChaos, StoreModule } from './store.ts'

interface RedisChaosOptions {
  readonly name: string
  /** Every write goes to a log that outlives the process. */
  readonly appendonly?: boolean
}

export function redisChaos({ name, appendonly = true }: RedisChaosOptions): ChaosStore {
  return {
    name,
    mounts: false,
    transacts: false,
    async prepare(folder, { setsClock }): Promise<PreparedStore> {
      const clock = setsClock ? await serverClock(folder) : { reason: 'not wanted' }
      const server = await startRedis({ appendonly }, (program) =>
        'reason' in clock ? obtain(program) : wrapped(program, folder, clock),
      )
      const store = storeAt(server.url)
      return {
        ...store,
        network: { host: '127.0.0.1', port: server.port, urlBy: redisUrl },
        server: underChaos(server, clock),
        async close() {
          await store.close()
          await server.stop()
          if (!('reason' in clock)) clock.close()
        },
      }
    },
  }
}

/** What is the same wherever it is. */
export function storeAt(url: string) {
  // One connection for all looks at its clock: what comes before the answer must take as long as what comes after.
  const user = new Redis(url)
  user.on('error', () => {})
  return {
    module: import.meta.filename,
    url,
    source: source(url),
    now: async () => {
      const [seconds, microseconds] = await user.time()
      return Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000)
    },
    probe: () => user.incr('chaos:probes'),
    clock: 'own',
    isFree: () => true,
    disk: { reason: 'the server has it' },
    // This store has no transactions that include the user's data.
    effects: async () => [],
    close: async () => user.disconnect(),
  } as const satisfies Partial<PreparedStore>
}

export function redisUrl(port: number): string {
  return `redis://127.0.0.1:${port}`
}

/** Longer than any delay of a busy machine, and short enough that a lost answer does not block its caller for long. */
const TIMEOUT_MS = 3_000

export const source: StoreModule['source'] = (url) => redis(url, { timeoutMs: TIMEOUT_MS })

export const isOneWriter: StoreModule['isOneWriter'] = false

export const insert: StoreModule['insert'] = () => {
  throw new Error('a store without transactions has no user who writes in one')
}

/** Where programs of another account find it. */
function openFolder(folder: string): string {
  const path = join(folder, 'server')
  mkdirSync(path, { recursive: true })
  chmodSync(folder, 0o711)
  chmodSync(path, 0o755)
  return path
}

/** Redis hangs under libfaketime. */
async function serverClock(folder: string): Promise<FakeClock | { readonly reason: string }> {
  const clock = await prepareClock(openFolder(folder))
  if ('reason' in clock || clock.kind === 'shim') return clock
  clock.close()
  return { reason: 'setting the clock of a Redis server takes a C compiler' }
}

/** The program with another clock: servers are started with an environment of their own, so it is set from inside. */
async function wrapped(program: Parameters<typeof obtain>[0], folder: string, clock: FakeClock): Promise<string> {
  const path = join(openFolder(folder), program)
  const environment = Object.entries(clock.environment).map(([name, value]) => `${name}='${value}'`)
  writeFileSync(path, `#!/bin/sh\n${environment.join(' ')} exec '${await obtain(program)}' "$@"\n`, { mode: 0o755 })
  return path
}

/** It has no handler for SIGQUIT, and ends without writing anything. */
const SIGNALS: Readonly<Record<ServerEnd, NodeJS.Signals>> = { fast: 'SIGTERM', immediate: 'SIGQUIT', crash: 'SIGKILL' }

function underChaos(server: Server, clock: ServerUnderChaos['clock']): ServerUnderChaos {
  return {
    async restart(end, downMs) {
      await server.halt(SIGNALS[end])
      await sleep(downMs)
      await server.restart()
    },
    disconnect: (share) => disconnectClients(server, share),
    clock,
    tricks: tricksOf(server),
  }
}

export async function disconnectClients(server: { readonly port: number }, share: number): Promise<number> {
  const lines = (await redisText(server, 'CLIENT', 'LIST')).trim().split('\n')
  const ids = lines.filter((line) => !line.includes('cmd=client|list')).map((line) => /^id=(\d+)/.exec(line)![1]!)
  const some = ids.filter(() => Math.random() < share)
  const ended = some.map((id) => redisCommand(server, 'CLIENT', 'KILL', 'ID', id))
  return (await Promise.all(ended)).filter((count) => count === 1).length
}

const FORGET_MS = 100

function tricksOf(server: Server): readonly ServerTrick[] {
  return [
    {
      // The server delays all answers. Commands that were sent meanwhile are executed late, unless their sender has
      // disconnected.
      name: 'clients paused',
      async play(ms, wait) {
        await redisCommand(server, 'CLIENT', 'PAUSE', String(Math.round(ms)), 'ALL')
        await wait(ms)
        // This command waits for the end of the pause like any other.
        await redisCommand(server, 'PING')
      },
    },
    {
      name: 'writers paused',
      async play(ms, wait) {
        await redisCommand(server, 'CLIENT', 'PAUSE', String(Math.round(ms)), 'WRITE')
        await wait(ms)
        await redisCommand(server, 'CLIENT', 'UNPAUSE')
      },
    },
    {
      name: 'scripts forgotten',
      async play(ms, wait) {
        for (let passed = 0; passed < ms; passed += FORGET_MS) {
          await redisCommand(server, 'SCRIPT', 'FLUSH', 'SYNC')
          await wait(FORGET_MS)
        }
      },
    },
    {
      name: 'memory full',
      async play(ms, wait) {
        await redisCommand(server, 'CONFIG', 'SET', 'maxmemory', '1')
        await wait(ms)
        await redisCommand(server, 'CONFIG', 'SET', 'maxmemory', '0')
      },
    },
    {
      // Lasts beyond the deadline of every call, so requests are executed after their callers have given up.
      name: 'frozen server',
      async play(ms, wait) {
        process.kill(server.pid, 'SIGSTOP')
        await wait(ms * FROZEN)
        process.kill(server.pid, 'SIGCONT')
      },
    },
    {
      name: 'log rewritten',
      async play() {
        await redisCommand(server, 'BGREWRITEAOF')
      },
    },
  ]
}

/** How much longer than others, so that some outlast the deadline of a call. */
const FROZEN = 1.2
