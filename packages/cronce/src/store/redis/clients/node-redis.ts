import {
  type Connection,
  type ConnectLimits,
  type Connector,
  KEEP_ALIVE_MS,
  opened,
  type PubSub,
} from './connection.ts'

/** The parts of the result of `createClient` of node-redis that cronce uses. */
export interface NodeRedisClient {
  readonly isOpen: boolean
  readonly isReady: boolean
  readonly options?: NodeRedisOptions | undefined
  duplicate(options?: object): NodeRedisClient
  connect(): Promise<unknown>
  destroy(): void
  unref(): void
  sendCommand(args: readonly string[]): Promise<unknown>
  subscribe(channel: string, listener: Listener): Promise<unknown>
  unsubscribe(channel: string): Promise<unknown>
  sSubscribe(channel: string, listener: Listener): Promise<unknown>
  sUnsubscribe(channel: string): Promise<unknown>
  on(event: string, listener: (...args: never[]) => void): unknown
}

export interface NodeRedisOptions {
  readonly url?: string | undefined
  readonly name?: string | undefined
  readonly database?: number | undefined
  readonly socket?:
    | {
        readonly host?: string | undefined
        readonly port?: number | undefined
        readonly path?: string | undefined
        readonly tls?: boolean | undefined
      }
    | undefined
}

/** The result of `createCluster` of node-redis. */
export interface NodeRedisCluster {
  /** For each slot its servers. */
  readonly slots: readonly ({ readonly master: NodeRedisNode } | undefined)[]
  duplicate(options?: object): NodeRedisCluster
  connect(): Promise<unknown>
  destroy(): void
  nodeClient(node: NodeRedisNode): Promise<NodeRedisClient>
  on(event: string, listener: (...args: never[]) => void): unknown
}

export interface NodeRedisNode {
  readonly client?: NodeRedisClient | undefined
}

type Listener = (message: string, channel: string) => void

/** Features that the user's client has for its user, and ours must not have. */
const OURS = {
  RESP: 2,
  commandOptions: { timeout: undefined, typeMapping: undefined },
  disableOfflineQueue: true,
  commandsQueueMaxLength: undefined,
  clientSideCache: undefined,
  emitInvalidate: undefined,
  maintNotifications: 'disabled',
  keyPrefix: undefined,
  readonly: false,
  pingInterval: undefined,
  disableClientInfo: true,
} as const

export function nodeRedisConnector(client: NodeRedisClient): Connector {
  return { isCluster: false, connect: (_slot, limits) => connectLike(client, limits) }
}

/** As with ioredis: the cluster client tells which server has the slot, and sends nothing else. */
export function nodeRedisClusterConnector(cluster: NodeRedisCluster): Connector {
  return {
    isCluster: true,
    async connect(slot, limits) {
      const finder = cluster.duplicate({
        RESP: 2,
        minimizeConnections: true,
        useReplicas: false,
        clientSideCache: undefined,
        keyPrefix: undefined,
      })
      let cause: unknown
      finder.on('error', (error: unknown) => {
        cause ??= error
      })
      try {
        await opened(finder.connect(), limits, () => {})
        const node = finder.slots[slot]?.master
        if (node === undefined) throw new Error(`CLUSTERDOWN no server has slot ${slot}`)
        const connecting = finder.nodeClient(node)
        connecting.catch(() => {})
        return await connectLike(node.client ?? (await opened(connecting, limits, () => {})), limits)
      } catch (error) {
        throw cause ?? error
      } finally {
        tryTo(() => finder.destroy())
      }
    },
  }
}

async function connectLike(model: NodeRedisClient, limits: ConnectLimits): Promise<Connection> {
  const client = model.duplicate({
    ...OURS,
    name: model.options?.name ?? 'cronce',
    socket: {
      ...model.options?.socket,
      reconnectStrategy: false,
      connectTimeout: limits.timeoutMs,
      socketTimeout: undefined,
      keepAlive: true,
      keepAliveInitialDelay: KEEP_ALIVE_MS,
      noDelay: true,
    },
  })
  const connection = new NodeRedisConnection(client)
  client.unref()
  try {
    await opened(client.connect(), limits, () => connection.destroy())
  } catch (error) {
    throw connection.firstError ?? error
  }
  return connection
}

class NodeRedisConnection implements Connection {
  readonly #client: NodeRedisClient
  readonly #messages: ((channel: string, payload: string) => void)[] = []
  readonly #lost: (() => void)[] = []
  /** The same for all, so that a channel subscribed to twice delivers once. */
  readonly #hear: Listener = (payload, channel) => {
    for (const listener of this.#messages) listener(channel, payload)
  }
  #isOver = false
  firstError: unknown

  constructor(client: NodeRedisClient) {
    this.#client = client
    // An error without a listener would end the process.
    client.on('error', (error: unknown) => {
      this.firstError ??= error
      this.destroy()
    })
    client.on('end', () => this.destroy())
    // The slot of a channel has moved to another server.
    client.on('sharded-channel-moved', () => this.destroy())
  }

  get isOpen(): boolean {
    return !this.#isOver && this.#client.isReady
  }

  send(command: string, args: readonly string[]): Promise<unknown> {
    return this.#client.sendCommand([command, ...args])
  }

  async subscribe(kind: PubSub, channel: string): Promise<void> {
    const hear = this.#hear
    await (kind === 'sharded' ? this.#client.sSubscribe(channel, hear) : this.#client.subscribe(channel, hear))
  }

  async unsubscribe(kind: PubSub, channel: string): Promise<void> {
    await (kind === 'sharded' ? this.#client.sUnsubscribe(channel) : this.#client.unsubscribe(channel))
  }

  onMessage(listener: (channel: string, payload: string) => void): void {
    this.#messages.push(listener)
  }

  onLost(listener: () => void): void {
    this.#lost.push(listener)
  }

  destroy(): void {
    if (this.#isOver) return
    this.#isOver = true
    // It is about to reject the waiting calls, if something failed.
    process.nextTick(() => tryTo(() => this.#client.destroy()))
    for (const listener of this.#lost) listener()
  }
}

/** Some versions throw if it has already ended. */
function tryTo(end: () => void): void {
  try {
    end()
  } catch {
    // Then it has ended.
  }
}
