import { type AddressInfo, connect, createServer } from 'node:net'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { redisCommand, redisText, type Server } from '../../../../scripts/servers/index.ts'
import { namespaceKey } from '../../src/store/redis/keys.ts'
import { redis } from '../../src/store/redis/redis.ts'
import type { Store } from '../../src/store/store.ts'
import { decideIn } from '../../src/testing/conformance/samples.ts'
import { afterwards } from './sqlite-kit.ts'

let namespaces = 0

export interface Opened {
  readonly store: Store
  readonly namespace: string
  /** What all of its keys begin with. */
  readonly key: string
}

/** Closed when the test ends, however it ends. */
export async function openAt(context: TestContext, url: string, namespace = `races-${++namespaces}`): Promise<Opened> {
  const store = (await redis(url).open({ namespace, adopt: false, production: false, warn: () => {} })) as Store
  afterwards(context, () => store.close())
  decideIn(store.info.epoch)
  return { store, namespace, key: namespaceKey('cronce', namespace) }
}

/** The next call finds that another server wrote last: as after a restart, and within that same call. */
export async function moveEpoch(server: Server, key: string): Promise<void> {
  await redisCommand(server, 'HSET', key, 'run', 'another')
}

/** A server that is found again takes a moment. */
export async function persist<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  for (let tries = 0; ; tries++) {
    try {
      return await ask()
    } catch (error) {
      if (tries === 600) throw error
      await sleep(100)
    }
  }
}

export async function until(check: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 3_000; tries++) {
    if (await check()) return
    await sleep(20)
  }
  throw new Error('waited in vain')
}

/** The commands that ask for subscribers, on every kind of server. */
export const LOOKS = ['pubsub|shardnumsub', 'pubsub|numsub', 'pubsub']

/** How often the server has done this so far, in scripts too. */
export async function callsOf(server: Server, ...commands: readonly string[]): Promise<number> {
  const text = await redisText(server, 'INFO', 'commandstats')
  const counts = commands.map((command) => {
    const line = text.split('\r\n').find((line) => line.startsWith(`cmdstat_${command}:`))
    return Number(/calls=(\d+)/.exec(line ?? '')?.[1] ?? 0)
  })
  return counts.reduce((sum, count) => sum + count, 0)
}

/** The members of a sorted set, a set, or the names in a hash. Empty: no such key. */
export async function membersOf(server: Server, key: string): Promise<string[]> {
  const type = await redisText(server, 'TYPE', key)
  if (type === 'none') return []
  const command = { zset: ['ZRANGE', key, '0', '-1'], set: ['SMEMBERS', key], hash: ['HKEYS', key] }[type]
  return (await redisCommand(server, ...command!)) as string[]
}

/** The other server has all that this one has of a namespace, as a replica would. */
export async function copyKeys(from: Server, to: Server, key: string): Promise<void> {
  const keys = ((await redisCommand(from, 'KEYS', '*')) as string[]).filter((name) => name.startsWith(key))
  await redisCommand(from, 'MIGRATE', '127.0.0.1', String(to.port), '', '0', '5000', 'COPY', 'REPLACE', 'KEYS', ...keys)
}

export interface Crossing {
  readonly url: string
  /** For new connections. Existing ones stay where they are. */
  turn(to: Server): void
}

/** An address whose connections need not all lead to the same server. */
export async function startCrossing(context: TestContext, server: Server): Promise<Crossing> {
  let { port } = server
  const crossing = createServer((client) => {
    const server = connect(port, '127.0.0.1')
    for (const socket of [client, server]) {
      socket.on('error', () => {})
      socket.on('close', () => {
        client.destroy()
        server.destroy()
      })
    }
    client.pipe(server).pipe(client)
  })
  await new Promise<void>((resolve) => crossing.listen(0, '127.0.0.1', resolve))
  afterwards(context, () => crossing.close())
  return {
    url: `redis://127.0.0.1:${(crossing.address() as AddressInfo).port}`,
    turn(to) {
      port = to.port
    },
  }
}
