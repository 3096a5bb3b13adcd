/** One connection to one server, with any client. It is used until it is lost, and never reopens itself. */
export interface Connection {
  readonly isOpen: boolean
  /** Written at once, after all earlier commands; never written again. */
  send(command: string, args: readonly string[]): Promise<unknown>
  /** `sharded`, if the server supports it. From then on nothing else can be sent. */
  subscribe(kind: PubSub, channel: string): Promise<void>
  unsubscribe(kind: PubSub, channel: string): Promise<void>
  onMessage(listener: (channel: string, payload: string) => void): void
  /** Called once when the connection has ended, for any reason. */
  onLost(listener: () => void): void
  /** At once, even if the other end does not answer. */
  destroy(): void
}

export type PubSub = 'sharded' | 'plain'

export interface ConnectLimits {
  readonly timeoutMs: number
  /** It is no longer needed. */
  readonly signal: AbortSignal
}

/** How to open dedicated connections. They don't keep the process alive. */
export interface Connector {
  readonly isCluster: boolean
  /** Before the first connection, once: may take longer than any call is allowed to. */
  readonly load?: () => Promise<unknown>
  /** To the server that has this slot, where that matters. Fails with the client's own error. */
  connect(slot: number, limits: ConnectLimits): Promise<Connection>
}

/** Our connections notice after about 15 s that the other end is gone: this time, and ten probes of a second each. */
export const KEEP_ALIVE_MS = 5_000

/**
 * The result of `opening`, unless it takes too long or is no longer needed: then `destroy` ends it, and a later result is
 * ignored.
 */
export async function opened<Value>(
  opening: Promise<Value>,
  { timeoutMs, signal }: ConnectLimits,
  destroy: () => void,
): Promise<Value> {
  const over = Promise.withResolvers<never>()
  const giveUp = (): void => over.reject(new Error('it was closed'))
  // After a blocked event loop the answer may have arrived unread: read it before deciding.
  const timer = setTimeout(() => {
    setImmediate(() => over.reject(new Error(`no connection within ${timeoutMs} ms`)))
  }, timeoutMs)
  timer.unref()
  if (signal.aborted) giveUp()
  signal.addEventListener('abort', giveUp)
  try {
    return await Promise.race([opening, over.promise])
  } catch (error) {
    destroy()
    throw error
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', giveUp)
  }
}
