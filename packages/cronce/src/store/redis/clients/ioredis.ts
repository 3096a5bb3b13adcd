import {
  type Connection,
  type ConnectLimits,
  type Connector,
  KEEP_ALIVE_MS,
  opened,
  type PubSub,
} from './connection.ts'

/** The parts of a `Redis` of ioredis that cronce uses. */
export interface IoredisClient {
  readonly status: string
  readonly options: IoredisOptions
  readonly isCluster?: boolean
  /** Undocumented: the socket. */
  readonly stream?: {
    readonly writable?: boolean
    unref?(): unknown
    destroy?(): unknown
    cork?(): unknown
    uncork?(): unknown
  } | null
  duplicate(options?: object): IoredisClient
  connect(): Promise<unknown>
  disconnect(): void
  call(command: string, ...args: unknown[]): Promise<unknown>
  subscribe(channel: string): Promise<unknown>
  unsubscribe(channel: string): Promise<unknown>
  ssubscribe(channel: string): Promise<unknown>
  sunsubscribe(channel: string): Promise<unknown>
  on(event: string, listener: (...args: never[]) => void): unknown
}

export interface IoredisOptions {
  readonly host?: string | undefined
  readonly port?: number | undefined
  readonly path?: string | undefined
  readonly db?: number | undefined
  readonly connectionName?: string | null | undefined
  /** Name of the primary, with sentinels. */
  readonly name?: string | null | undefined
}

/** A `Cluster` of ioredis. */
export interface IoredisCluster {
  readonly status: string
  readonly isCluster: boolean
  readonly startupNodes?: readonly unknown[]
  /** For each slot the addresses of its servers, the primary first. */
  readonly slots?: readonly (readonly string[] | undefined)[]
  duplicate(nodes: readonly unknown[], options?: object): IoredisCluster
  connect(): Promise<unknown>
  disconnect(): void
  nodes(role?: 'all' | 'master' | 'slave'): IoredisClient[]
  on(event: string, listener: (...args: never[]) => void): unknown
}

/** Features that the user's client has for its user, and ours must not have. */
const OURS = {
  lazyConnect: true,
  retryStrategy: null,
  reconnectOnError: null,
  sentinelRetryStrategy: null,
  failoverDetector: false,
  enableOfflineQueue: false,
  enableReadyCheck: false,
  enableAutoPipelining: false,
  autoResubscribe: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: null,
  commandTimeout: undefined,
  socketTimeout: undefined,
  blockingTimeout: undefined,
  keyPrefix: '',
  readOnly: false,
  role: 'master',
  stringNumbers: false,
  monitor: false,
  scripts: undefined,
  himportFieldsets: undefined,
  showFriendlyErrorStack: false,
  protocol: 2,
  replyMapping: 'legacy',
  keepAlive: KEEP_ALIVE_MS,
  noDelay: true,
  disableClientInfo: true,
} as const

export function ioredisConnector(client: IoredisClient): Connector {
  return { isCluster: false, connect: (_slot, limits) => connectLike(client, limits) }
}

/**
 * All keys of a namespace are in one slot, and so on one server: the cluster client only tells us which. Its own commands are
 * sent again when a connection is lost, which cronce must avoid.
 */
export function ioredisClusterConnector(cluster: IoredisCluster): Connector {
  return {
    isCluster: true,
    async connect(slot, limits) {
      const finder = cluster.duplicate(startupNodesOf(cluster), {
        lazyConnect: true,
        enableReadyCheck: false,
        clusterRetryStrategy: null,
        shardedSubscribers: false,
        slotsRefreshInterval: undefined,
        slotsRefreshTimeout: Math.min(1_000, limits.timeoutMs / 2),
        scaleReads: 'master',
        scripts: undefined,
        himportFieldsets: undefined,
      })
      let cause: unknown
      finder.on('error', (error: { lastNodeError?: unknown }) => {
        cause ??= error.lastNodeError ?? error
      })
      try {
        await opened(finder.connect(), limits, () => {})
        const address = finder.slots?.[slot]?.[0]
        const node = finder.nodes('master').find(({ options }) => `${options.host}:${options.port}` === address)
        if (node === undefined) throw new Error(`CLUSTERDOWN no server has slot ${slot}`)
        return await connectLike(node, limits)
      } catch (error) {
        throw cause ?? error
      } finally {
        finder.disconnect()
      }
    },
  }
}

/** Also nodes that it has discovered since: the first ones may be gone. */
function startupNodesOf(cluster: IoredisCluster): readonly unknown[] {
  const found = cluster.nodes('all').map(({ options: { host, port } }) => ({ host, port }))
  return [...(cluster.startupNodes ?? []), ...found]
}

async function connectLike(model: IoredisClient, limits: ConnectLimits): Promise<Connection> {
  const client = model.duplicate({
    ...OURS,
    connectTimeout: limits.timeoutMs,
    connectionName: model.options.connectionName ?? 'cronce',
  })
  const connection = new IoredisConnection(client)
  try {
    await opened(client.connect(), limits, () => connection.destroy())
  } catch (error) {
    throw connection.firstError ?? error
  }
  // It reports ready even if it could not select its database.
  if (connection.firstError !== undefined) {
    connection.destroy()
    throw connection.firstError
  }
  client.stream?.unref?.()
  return connection
}

class IoredisConnection implements Connection {
  readonly #client: IoredisClient
  #isOver = false
  #isCorked = false
  firstError: unknown

  constructor(client: IoredisClient) {
    this.#client = client
    // ioredis prints an error without a listener to the console.
    client.on('error', (error: unknown) => {
      this.firstError ??= error
      // It may have lost count of its answers.
      if (client.status === 'ready') this.destroy()
    })
    client.on('end', () => {
      this.#isOver = true
    })
    // The slot of a channel has moved to another server.
    client.on('moved', () => this.destroy())
  }

  get isOpen(): boolean {
    const { status, stream } = this.#client
    return !this.#isOver && status === 'ready' && stream?.writable !== false
  }

  send(command: string, args: readonly string[]): Promise<unknown> {
    if (!this.#isCorked) this.#cork()
    return this.#client.call(command, args)
  }

  /** Commands that are sent together are written together. */
  #cork(): void {
    const { stream } = this.#client
    if (stream?.cork === undefined) return
    this.#isCorked = true
    stream.cork()
    process.nextTick(() => {
      this.#isCorked = false
      stream.uncork?.()
    })
  }

  async subscribe(kind: PubSub, channel: string): Promise<void> {
    await (kind === 'sharded' ? this.#client.ssubscribe(channel) : this.#client.subscribe(channel))
  }

  async unsubscribe(kind: PubSub, channel: string): Promise<void> {
    await (kind === 'sharded' ? this.#client.sunsubscribe(channel) : this.#client.unsubscribe(channel))
  }

  onMessage(listener: (channel: string, payload: string) => void): void {
    this.#client.on('message', listener)
    this.#client.on('smessage', listener)
  }

  onLost(listener: () => void): void {
    this.#client.on('end', listener)
  }

  destroy(): void {
    if (this.#isOver) return
    this.#isOver = true
    // By default it waits for the other end, for seconds.
    this.#client.disconnect()
    this.#client.stream?.destroy?.()
  }
}
