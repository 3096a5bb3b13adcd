import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { Redis, Cluster as RedisCluster } from 'ioredis'
import { Redis as Redis5, Cluster as RedisCluster5 } from 'ioredis-5'
import { createClient, createCluster } from 'redis'
import { type RedisOptions, redisText, type Server, startRedis } from '../../../../scripts/servers/index.ts'
import type { Link } from '../../src/store/redis/link.ts'
import { type LinkOptions, openLink, type Target } from '../../src/store/redis/open-link.ts'
import { ECHO, KEY } from './redis-link-scripts.ts'
import { afterwards } from './sqlite-kit.ts'

export interface Kind {
  readonly name: string
  /** A client of the user's, which has not connected. */
  client(url: string): Target
  /** One for the cluster that has these nodes. */
  cluster(urls: readonly string[]): Target
}

export const KINDS: readonly Kind[] = [
  {
    name: 'ioredis 6',
    client: (url) => new Redis(url, { lazyConnect: true }),
    cluster: (urls) => new RedisCluster([...urls], { lazyConnect: true }),
  },
  {
    name: 'ioredis 5',
    client: (url) => new Redis5(url, { lazyConnect: true }),
    cluster: (urls) => new RedisCluster5([...urls], { lazyConnect: true }),
  },
  {
    name: 'node-redis',
    client: (url) => createClient({ url }),
    cluster: (urls) => createCluster({ rootNodes: urls.map((url) => ({ url })) }),
  },
]

export interface Linked {
  readonly kind: string
  readonly link: Link
  /** Of its own, so that all of them can be tried on one server at once. */
  readonly key: string
}

/** One link of each kind to the same place. */
export function linkEach(context: TestContext, url: string, options: Partial<LinkOptions> = {}): readonly Linked[] {
  return KINDS.map(({ name, client }) => ({
    kind: name,
    link: linkFor(context, client(url), options),
    key: `${KEY}:${name}`,
  }))
}

/** The same with each of them, at once. */
export async function withEach(links: readonly Linked[], work: (linked: Linked) => Promise<unknown>): Promise<void> {
  await Promise.all(
    links.map(async (linked) => {
      try {
        await work(linked)
      } catch (error) {
        throw new Error(`by ${linked.kind}: ${error instanceof Error ? error.message : error}`, { cause: error })
      }
    }),
  )
}

/** A server that ends with the test. */
export async function serverFor(context: TestContext, options: RedisOptions = {}): Promise<Server> {
  const server = await startRedis({ appendonly: false, ...options })
  afterwards(context, () => server.stop())
  return server
}

/** A deadline that only a call that never returns exceeds. Tests about deadlines have their own. */
const LIVENESS_MS = 60_000

/** A link that is closed with the test. Warnings fail it. */
export function linkFor(context: TestContext, target: Target, options: Partial<LinkOptions> = {}): Link {
  const link = openLink(target, { timeoutMs: LIVENESS_MS, ...options })
  afterwards(context, () => link.close())
  return link
}

export interface Fault extends Error {
  readonly code: string
  readonly notApplied?: boolean
}

/** The error that this rejects with. */
export async function failure(promise: Promise<unknown>): Promise<Fault> {
  try {
    await promise
  } catch (error) {
    assert.ok(error instanceof Error && 'code' in error)
    return error as Fault
  }
  return assert.fail('it did not fail')
}

export function assertFault(fault: Fault, code: string, notApplied: boolean): void {
  assert.deepEqual({ code: fault.code, notApplied: fault.notApplied }, { code, notApplied }, fault.message)
}

/** Until each has an answer: on a busy machine the first connection may take longer than a call may. */
export async function answerEach(links: readonly Linked[]): Promise<void> {
  await withEach(links, ({ link, key }) =>
    eventually('it has an answer', async () => {
      const answer = await link.run(ECHO, key, ['here']).catch((error: Fault) => error.code)
      return answer === 'here'
    }),
  )
}

export async function eventually(what: string, check: () => boolean | Promise<boolean>): Promise<void> {
  for (let look = 0; look < 6_000; look++) {
    if (await check()) return
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  assert.fail(`waited in vain until ${what}`)
}

/** How often the server was asked to do this. */
export async function timesCalled(server: Server, command: string): Promise<number> {
  const stats = await redisText(server, 'INFO', 'commandstats')
  return Number(new RegExp(`^cmdstat_${command.replace('|', '\\|')}:calls=(\\d+)`, 'm').exec(stats)?.[1] ?? 0)
}

/** Connections of these kinds that a server has, without the one that asks. */
export async function connectionsOf(server: Server, type: 'normal' | 'pubsub'): Promise<number> {
  const list = await redisText(server, 'CLIENT', 'LIST', 'TYPE', type)
  return list.split('\n').filter((line) => line.includes(' name=cronce ')).length
}
