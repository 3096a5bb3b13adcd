import { loadIfInstalled } from '../../load-if-installed.ts'
import { StoreError } from '../../store-error.ts'
import type { Address } from './address.ts'
import type { Connector } from './connection.ts'
import { type IoredisClient, type IoredisCluster, ioredisClusterConnector, ioredisConnector } from './ioredis.ts'
import {
  type NodeRedisClient,
  type NodeRedisCluster,
  nodeRedisClusterConnector,
  nodeRedisConnector,
} from './node-redis.ts'

/** How to connect to this address, with the installed client. */
export function connectorFor(address: Address): Connector {
  let loaded: Promise<Connector> | undefined
  const load = (): Promise<Connector> => {
    loaded ??= loadFor(address)
    return loaded
  }
  return {
    isCluster: address.isCluster,
    load,
    connect: async (slot, limits) => (await load()).connect(slot, limits),
  }
}

async function loadFor(address: Address): Promise<Connector> {
  const ioredis = await loadIfInstalled(() => import('ioredis'), 'ioredis')
  if (ioredis !== null) return withIoredis(ioredis.default as unknown as IoredisClass, address)
  const redis = await loadIfInstalled(() => import('redis'), 'redis')
  if (redis !== null) return withNodeRedis(redis as unknown as NodeRedis, address)
  throw new StoreError('STORE_DRIVER_MISSING', 'There is no client for Redis.', {
    hint: 'Run npm install ioredis.',
  })
}

interface IoredisClass {
  new (options: object): IoredisClient
  readonly Cluster: new (nodes: readonly object[], options: object) => IoredisCluster
}

/** The object that is created here never connects: it only provides the settings. */
function withIoredis(Redis: IoredisClass, address: Address): Connector {
  const { username, password, isEncrypted, database: db, path } = address
  const options = { username, password, lazyConnect: true, ...(isEncrypted && { tls: {} }) }
  if (address.isCluster) {
    return ioredisClusterConnector(new Redis.Cluster(address.nodes, { lazyConnect: true, redisOptions: options }))
  }
  const where = path === undefined ? address.nodes[0] : { path }
  return ioredisConnector(new Redis({ ...options, ...where, db }))
}

interface NodeRedis {
  createClient(options: object): NodeRedisClient
  createCluster(options: object): NodeRedisCluster
}

function withNodeRedis(redis: NodeRedis, address: Address): Connector {
  const { username, password, isEncrypted: tls, database, path } = address
  const who = { ...(username !== undefined && { username }), ...(password !== undefined && { password }) }
  if (address.isCluster) {
    const rootNodes = address.nodes.map((socket) => ({ socket }))
    return nodeRedisClusterConnector(redis.createCluster({ rootNodes, defaults: { ...who, socket: { tls } } }))
  }
  const where = path === undefined ? { ...address.nodes[0], tls } : { path }
  return nodeRedisConnector(redis.createClient({ ...who, database, socket: where }))
}
