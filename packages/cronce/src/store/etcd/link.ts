import { setTimeout as sleep } from 'node:timers/promises'
import type { ConnectionOptions } from 'node:tls'
import type { User } from '../kv/address.ts'
import { type Call, CallLost, Connection } from './connection.ts'
import { closed, isTokenInvalid, isUnavailable, translate } from './errors.ts'
import { LOG_IN, type Method } from './messages.ts'
import { decode, encode, type Message } from './protobuf.ts'

export interface Target {
  readonly name: string
  /** Origins of the members, for example `http://127.0.0.1:2379`. */
  readonly endpoints: readonly string[]
  readonly tls: ConnectionOptions
  readonly user: User | null
  readonly timeoutMs: number
}

/** Between two rounds of all members, none of which answered. */
const PAUSE_MS = 50

/** A cluster: one member at a time, and the next one when that gives no answer. */
export class Link {
  readonly target: Target
  readonly #connections: readonly Connection[]
  #current: number
  #token: Promise<string> | null = null
  #isClosed = false

  constructor(target: Target) {
    this.target = target
    this.#connections = target.endpoints.map((endpoint) => new Connection(endpoint, target.tls))
    // Each process prefers another member, so that they share the load.
    this.#current = Math.floor(Math.random() * target.endpoints.length)
  }

  /** The member that is asked next. */
  get endpoint(): string {
    return this.target.endpoints[this.#current]!
  }

  /**
   * A request that certainly was not carried out, or that only reads, goes to the next member until the time is up. For any other
   * the outcome is unknown: it is never sent twice.
   */
  async call<Answer>(method: Method, message: Message): Promise<Answer> {
    const { timeoutMs, endpoints } = this.target
    const deadline = performance.now() + timeoutMs
    const body = encode(message, method.asks)
    // A member that is frozen must leave time for another one.
    const eachMs = endpoints.length === 1 ? timeoutMs : timeoutMs / 2
    for (let failures = 0; ; ) {
      const left = deadline - performance.now()
      try {
        return decode(await this.#callOnce(method, body, Math.max(1, Math.min(left, eachMs))), method.answers)
      } catch (error) {
        const mayRepeat = method.isRead || (error instanceof CallLost && error.progress === 'connecting')
        if (this.#isClosed || !isUnavailable(error) || !mayRepeat) throw error
        if (++failures % endpoints.length === 0) await sleep(PAUSE_MS)
        if (performance.now() >= deadline || (failures >= endpoints.length && isRefused(error))) throw error
      }
    }
  }

  async stream(
    method: Method,
    message: Message,
    onMessage: (bytes: Buffer) => void,
    onEnd: (error: Error) => void,
  ): Promise<() => void> {
    const { timeoutMs } = this.target
    const login = this.#logIn(timeoutMs)
    const call = { path: method.path, body: encode(message, method.asks), token: await login }
    const from = this.#current
    const end = (error: Error): void => {
      if (isUnavailable(error)) this.#leave(from)
      if (isTokenInvalid(error)) this.#forget(login)
      onEnd(error)
    }
    try {
      return await this.#connections[from]!.stream(call, timeoutMs, onMessage, end)
    } catch (error) {
      if (isUnavailable(error)) this.#leave(from)
      throw error
    }
  }

  /** The error in words of the store. */
  translate(error: unknown, notApplied: boolean | null = null): Error {
    return translate(error, this.target.name, notApplied)
  }

  close(): void {
    this.#isClosed = true
    for (const connection of this.#connections) connection.close()
  }

  async #callOnce({ path }: Method, body: Buffer, timeoutMs: number): Promise<Buffer> {
    const deadline = performance.now() + timeoutMs
    const login = this.#logIn(timeoutMs)
    const token = await login
    const from = this.#current
    try {
      return await this.#send(from, { path, body, token }, deadline)
    } catch (error) {
      if (isUnavailable(error)) this.#leave(from)
      if (!isTokenInvalid(error)) throw error
      this.#forget(login)
      return this.#send(from, { path, body, token: await this.#logIn(deadline - performance.now()) }, deadline)
    }
  }

  async #send(member: number, call: Call, deadline: number): Promise<Buffer> {
    if (this.#isClosed) throw closed(this.target.name)
    const left = deadline - performance.now()
    if (left <= 0) throw new CallLost('connecting', `no answer within ${this.target.timeoutMs} ms`)
    return this.#connections[member]!.call(call, left)
  }

  /** Calls share one login, which takes the server much work. */
  #logIn(timeoutMs: number): Promise<string> | null {
    const { user } = this.target
    if (user === null) return null
    if (this.#token === null) {
      const login = this.#askToken({ ...user }, performance.now() + timeoutMs)
      login.catch(() => this.#forget(login))
      this.#token = login
    }
    return this.#token
  }

  /** The token is no good. Another call may have asked for the next one. */
  #forget(login: Promise<string> | null): void {
    if (this.#token === login) this.#token = null
  }

  async #askToken(user: Message, deadline: number): Promise<string> {
    const from = this.#current
    const call = { path: LOG_IN.path, body: encode(user, LOG_IN.asks), token: null }
    try {
      return decode<{ token: string }>(await this.#send(from, call, deadline), LOG_IN.answers).token
    } catch (error) {
      if (isUnavailable(error)) this.#leave(from)
      // The request itself has not been sent.
      if (error instanceof CallLost) throw new CallLost('connecting', error.message, error)
      throw error
    }
  }

  /** Of several calls that fail at once, one moves on. */
  #leave(member: number): void {
    if (this.#current !== member || this.#connections.length === 1) return
    this.#current = (member + 1) % this.#connections.length
    this.#connections[member]!.endStreams('another member is asked')
  }
}

/** Nothing listens there: to wait would not help soon. */
function isRefused(error: unknown): boolean {
  return error instanceof CallLost && (error.cause as NodeJS.ErrnoException | undefined)?.code === 'ECONNREFUSED'
}
