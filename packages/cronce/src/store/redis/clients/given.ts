import { shown, targetHint } from '../../store-options.ts'
import { invalid } from '../errors.ts'
import type { Connector } from './connection.ts'
import {
  type IoredisClient,
  type IoredisCluster,
  type IoredisOptions,
  ioredisClusterConnector,
  ioredisConnector,
} from './ioredis.ts'
import {
  type NodeRedisClient,
  type NodeRedisCluster,
  nodeRedisClusterConnector,
  nodeRedisConnector,
} from './node-redis.ts'

/**
 * A `Redis` or `Cluster` of ioredis, or the result of `createClient` or `createCluster` of node-redis. Connected or not. This is
 * what they have in common in all versions; which one it is shows in use.
 */
export interface Client {
  readonly duplicate: (...args: never[]) => unknown
  readonly sendCommand: (...args: never[]) => unknown
}

/** Dedicated connections with the settings of the user's client, which is not used itself. */
export function connectorLike(client: Client): Connector {
  demandClient(client)
  if (isIoredisCluster(client)) return ioredisClusterConnector(client)
  if (isIoredis(client)) return ioredisConnector(client)
  if (isNodeRedisCluster(client)) return nodeRedisClusterConnector(client)
  return nodeRedisConnector(client as NodeRedisClient)
}

export function demandClient(client: unknown): void {
  if (isIoredis(client) || isNodeRedisCluster(client) || isNodeRedis(client)) return
  const write = 'Pass a URL, a Redis or Cluster of ioredis, or a client or cluster of node-redis 5 or later.'
  throw invalid(`redis() can't reach a server through ${shown(client)}.`, targetHint(client, write))
}

/** For messages, without secrets. */
export function nameLike(client: Client): string {
  if (isIoredisCluster(client)) return `redis-cluster://${(client.startupNodes ?? []).map(nodeName).join(',')}`
  if (isIoredis(client)) {
    const { host = 'localhost', port = 6379, path, db = 0, name } = client.options
    if (typeof name === 'string') return `redis://${name} (by sentinels)`
    return typeof path === 'string' ? `redis+unix://${path}` : `redis://${host}:${port}/${db}`
  }
  if (isNodeRedis(client) && client.options !== undefined) {
    const { socket: { host = 'localhost', port = 6379, path } = {}, database = 0 } = client.options
    return typeof path === 'string' ? `redis+unix://${path}` : `redis://${host}:${port}/${database}`
  }
  return 'redis'
}

function nodeName(node: unknown): string {
  if (typeof node === 'number') return `localhost:${node}`
  if (typeof node === 'object') {
    const { host = 'localhost', port = 6379 } = node as IoredisOptions
    return `${host}:${port}`
  }
  return String(node).replace(/^[a-z]+:\/\/(?:[^@]*@)?/, '')
}

function isIoredis(client: unknown): client is IoredisClient {
  return has(client, 'duplicate', 'call', 'disconnect') && 'options' in client && 'status' in client
}

function isIoredisCluster(client: unknown): client is IoredisCluster {
  return isIoredis(client) && client.isCluster === true
}

function isNodeRedis(client: unknown): client is NodeRedisClient {
  return has(client, 'duplicate', 'sendCommand', 'destroy', 'sSubscribe', 'unref')
}

function isNodeRedisCluster(client: unknown): client is NodeRedisCluster {
  return has(client, 'duplicate', 'sendCommand', 'destroy', 'nodeClient')
}

function has(client: unknown, ...methods: string[]): client is Record<string, unknown> {
  if (typeof client !== 'object' || client === null) return false
  return methods.every((method) => typeof (client as Record<string, unknown>)[method] === 'function')
}
