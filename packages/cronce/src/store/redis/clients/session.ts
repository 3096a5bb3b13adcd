import { StoreError } from '../../store-error.ts'
import { closed, replyCodeOf } from '../errors.ts'
import type { Session } from '../link.ts'
import type { Connection, ConnectLimits, PubSub } from './connection.ts'
import { greet, pause, pauseAfter, within } from './lane.ts'

type Change = 'lost' | 'back'
type Listener = (payload: string) => void

export interface SessionOptions {
  /** Name of the server, for messages. */
  readonly name: string
  readonly isCluster: boolean
  readonly timeoutMs: number
  readonly slotOf: (channel: string) => number
  readonly connect: (slot: number, limits: ConnectLimits) => Promise<Connection>
  /** Through the connection for commands, to the server that has this key. */
  readonly command: (key: string, args: readonly [string, ...string[]]) => Promise<unknown>
}

/** See `Session`. It never keeps the process alive. */
export class OwnSession implements Session {
  readonly #options: SessionOptions
  /** By slot: one, except in a cluster where callers listen to channels of several. */
  readonly #lines = new Map<number, Line>()
  readonly #changes = new Set<(change: Change) => void>()
  #kind: PubSub
  #isClosed = false

  constructor(options: SessionOptions, kind: PubSub) {
    this.#options = options
    this.#kind = kind
  }

  get publish(): 'SPUBLISH' | 'PUBLISH' {
    return this.#kind === 'sharded' ? 'SPUBLISH' : 'PUBLISH'
  }

  async listen(channel: string, onMessage: Listener): Promise<() => void> {
    if (this.#isClosed) throw closed(this.#options.name, true)
    return this.#lineOf(channel).listen(channel, onMessage)
  }

  isListening(): boolean {
    if (this.#isClosed) return false
    for (const line of this.#lines.values()) if (!line.isListening()) return false
    return true
  }

  onChange(listener: (change: Change) => void): () => void {
    const own = (change: Change): void => listener(change)
    this.#changes.add(own)
    return () => this.#changes.delete(own)
  }

  async listeners(channels: readonly string[]): Promise<readonly number[]> {
    const { isCluster, command, slotOf } = this.#options
    // Each server of a cluster counts only its own connections, and any of them may be used to listen.
    if (isCluster && this.#kind === 'plain') return channels.map(() => -1)
    const counts = new Map<string, number>()
    const bySlot = Map.groupBy(channels, slotOf)
    const subcommand = this.#kind === 'sharded' ? 'SHARDNUMSUB' : 'NUMSUB'
    await Promise.all(
      [...bySlot.values()].map(async (group) => {
        const answer = (await command(group[0]!, ['pubsub', subcommand, ...group])) as readonly unknown[]
        for (let at = 0; at + 1 < answer.length; at += 2) counts.set(String(answer[at]), Number(answer[at + 1]))
      }),
    )
    return channels.map((channel) => counts.get(channel) ?? 0)
  }

  /** The server is not the wanted one: look for another. */
  reset(): void {
    for (const line of this.#lines.values()) line.reset()
  }

  close(): void {
    this.#isClosed = true
    this.#changes.clear()
    for (const line of this.#lines.values()) line.close()
  }

  #lineOf(channel: string): Line {
    const { connect, slotOf, timeoutMs } = this.#options
    const slot = slotOf(channel)
    const known = this.#lines.get(slot)
    if (known !== undefined) return known
    const line = new Line({
      timeoutMs,
      connect: (limits) => connect(slot, limits),
      onKind: (kind) => {
        this.#kind = kind
      },
      onChange: (change) => {
        for (const listener of this.#changes) call(() => listener(change))
      },
    })
    this.#lines.set(slot, line)
    return line
  }
}

/** Whether this server has sharded channels, which stay on the server of their key. Redis has them since 7.0. */
export async function pubSubOf(ask: (args: readonly [string, ...string[]]) => Promise<unknown>): Promise<PubSub> {
  try {
    const known = (await ask(['command', 'INFO', 'ssubscribe'])) as readonly unknown[]
    return Array.isArray(known[0]) && known[0].length > 0 ? 'sharded' : 'plain'
  } catch (error) {
    const reply = error instanceof StoreError ? error.cause : error
    if (!/^(?:NOPERM|ERR)$/.test(replyCodeOf(reply) ?? '')) throw error
    return 'plain'
  }
}

interface LineOptions {
  readonly timeoutMs: number
  readonly connect: (limits: ConnectLimits) => Promise<Connection>
  readonly onKind: (kind: PubSub) => void
  readonly onChange: (change: Change) => void
}

/** One connection that listens. */
class Line {
  readonly #options: LineOptions
  readonly #channels = new Map<string, Set<Listener>>()
  readonly #ending = new AbortController()
  readonly #tried = Promise.withResolvers<void>()
  /** Channels of the current connection. */
  #subscribed = new Set<string>()
  #kind: PubSub = 'plain'
  #connection: Connection | null = null
  #last: Promise<void> = Promise.resolve()

  constructor(options: LineOptions) {
    this.#options = options
    void this.#live()
  }

  async listen(channel: string, onMessage: Listener): Promise<() => void> {
    const listener: Listener = (payload) => onMessage(payload)
    const listeners = this.#channels.get(channel) ?? new Set()
    this.#channels.set(channel, listeners.add(listener))
    await keepingProcess(this.#tried.promise)
    if (this.#connection !== null) await this.#reconcile(this.#connection).catch(() => {})
    return () => {
      if (!listeners.delete(listener) || listeners.size > 0) return
      this.#channels.delete(channel)
      if (this.#connection !== null) this.#reconcile(this.#connection).catch(() => {})
    }
  }

  isListening(): boolean {
    if (!this.#connection?.isOpen) return false
    for (const channel of this.#channels.keys()) if (!this.#subscribed.has(channel)) return false
    return true
  }

  reset(): void {
    this.#connection?.destroy()
  }

  close(): void {
    this.#ending.abort()
    this.#connection?.destroy()
  }

  async #live(): Promise<void> {
    const { signal } = this.#ending
    let awaySince: number | null = null
    while (!signal.aborted) {
      try {
        const connection = await this.#open()
        const lost = new Promise<void>((resolve) => connection.onLost(resolve))
        if (awaySince !== null) this.#options.onChange('back')
        awaySince = null
        this.#tried.resolve()
        if (connection.isOpen) await lost
        this.#connection = null
        if (!signal.aborted) this.#options.onChange('lost')
      } catch {
        // Any failure: due times and heartbeats are enough until it works.
      }
      this.#tried.resolve()
      awaySince ??= performance.now()
      await pause(pauseAfter(performance.now() - awaySince), signal)
    }
    this.#tried.resolve()
  }

  async #open(): Promise<Connection> {
    const { connect, onKind, timeoutMs } = this.#options
    const limits = { timeoutMs, signal: this.#ending.signal }
    const connection = await connect(limits)
    try {
      await greet(connection, limits)
      this.#kind = await this.#within(
        pubSubOf(([command, ...args]) => connection.send(command, args)),
        connection,
      )
      onKind(this.#kind)
      connection.onMessage((channel, payload) => {
        for (const listener of this.#channels.get(channel) ?? []) call(() => listener(payload))
      })
      this.#subscribed = new Set()
      await this.#reconcile(connection)
      if (this.#ending.signal.aborted || !connection.isOpen) throw new Error('it is over already')
    } catch (error) {
      connection.destroy()
      throw error
    }
    this.#connection = connection
    return connection
  }

  /**
   * Subscribe to exactly the channels that have a listener. One after the other: a client that is asked for a channel while it
   * unsubscribes from it assumes that it is subscribed.
   */
  #reconcile(connection: Connection): Promise<void> {
    const turn = this.#last.then(() => this.#subscribe(connection))
    this.#last = turn.catch(() => connection.destroy())
    return turn
  }

  async #subscribe(connection: Connection): Promise<void> {
    const subscribed = this.#subscribed
    for (;;) {
      const missing = [...this.#channels.keys()].filter((channel) => !subscribed.has(channel))
      const unwanted = [...subscribed].filter((channel) => !this.#channels.has(channel))
      if (missing.length + unwanted.length === 0) return
      for (const channel of unwanted) subscribed.delete(channel)
      const changes = [
        ...missing.map((channel) => connection.subscribe(this.#kind, channel)),
        ...unwanted.map((channel) => connection.unsubscribe(this.#kind, channel)),
      ]
      await this.#within(Promise.all(changes), connection)
      for (const channel of missing) subscribed.add(channel)
    }
  }

  #within<Value>(promise: Promise<Value>, connection: Connection): Promise<Value> {
    return within(promise, this.#options.timeoutMs, () => {
      connection.destroy()
      return new Error('no answer')
    })
  }
}

/** Connections don't keep the process alive, but waiting for the first one does: the process may have nothing else to do. */
async function keepingProcess(promise: Promise<void>): Promise<void> {
  const timer = setInterval(() => {}, 60_000)
  await promise
  clearInterval(timer)
}

/** An error of a listener must not end the session, or the process. */
function call(listener: () => void): void {
  try {
    listener()
  } catch {
    // The listener was called nevertheless.
  }
}
