/** One connection to one server, by whatever client. It is used until it is lost, and never opens itself again. */
export interface Connection {
  readonly isOpen: boolean
  /** Written at once, behind all that were sent before; never written again. */
  send(command: string, args: readonly string[]): Promise<unknown>
  /** Where the server has it, `sharded`. From then on nothing else can be sent. */
  subscribe(kind: PubSub, channel: string): Promise<void>
  unsubscribe(kind: PubSub, channel: string): Promise<void>
  onMessage(listener: (channel: string, payload: string) => void): void
  /** Called once, when it is over, for whatever reason. */
  onLost(listener: () => void): void
  /** At once, also if the other end does not answer. */
  destroy(): void
}

export type PubSub = 'sharded' | 'plain'

export interface ConnectLimits {
  readonly timeoutMs: number
  /** It is no longer needed. */
  readonly signal: AbortSignal
}

/** How to open connections that are ours alone. They don't keep a process from ending. */
export interface Connector {
  readonly isCluster: boolean
  /** Before the first connection, once: takes as long as it takes, which on a busy machine is longer than any call may. */
  readonly load?: () => Promise<unknown>
  /** To the server that has this slot, where that makes a difference. Fails with the client's own error. */
  connect(slot: number, limits: ConnectLimits): Promise<Connection>
}

/** Our connections notice after about 15 s that the other end is gone: this, and ten probes of a second each. */
export const KEEP_ALIVE_MS = 5_000

/**
 * What `opening` comes to, unless it takes too long or is no longer needed: then `destroy` ends it. Whatever it does later
 * is ignored.
 */
export async function opened<Value>(
  opening: Promise<Value>,
  { timeoutMs, signal }: ConnectLimits,
  destroy: () => void,
): Promise<Value> {
  const over = Promise.withResolvers<never>()
  const giveUp = (): void => over.reject(new Error('it was closed'))
  // After a blocked event loop the answer may lie there unread: it is read before this is decided.
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
