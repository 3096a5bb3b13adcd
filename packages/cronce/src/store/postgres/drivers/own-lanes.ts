import { setTimeout as sleep } from 'node:timers/promises'
import { closed, isHopeless, noConnection, silent, sqlStateOf, translate } from '../errors.ts'
import { type Connect, type Connection, type Deadline, type Lanes, type Use, within } from './connection.ts'

const FIRST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 1_000

/** Resets what a user may have left on a session, except our prepared statements. */
const FORGET =
  'close all; set session authorization default; reset all; unlisten *; select pg_advisory_unlock_all(); discard temp; discard sequences'

interface Waiter {
  readonly use: Use
  readonly wake: () => void
}

/**
 * A few dedicated connections, opened when needed. Transactions never take the last one: heartbeats continue, however long users
 * keep theirs open.
 */
export class OwnLanes implements Lanes {
  readonly #name: string
  readonly #connect: Connect
  readonly #max: number
  readonly #idle: Connection[] = []
  readonly #all = new Set<Connection>()
  readonly #queue: Waiter[] = []
  readonly #inTransaction = new Set<Connection>()
  /** Users had these connections, and may have changed their settings. */
  readonly #used = new WeakSet<Connection>()
  #opening = 0
  #openingForTransaction = 0
  #isClosed = false

  constructor(name: string, connect: Connect, max: number) {
    this.#name = name
    this.#connect = connect
    this.#max = max
  }

  async take(use: Use, deadline: Deadline): Promise<Connection> {
    // Waiting callers go first. A newcomer may overtake one that was just woken, which then stays first in the queue.
    if (this.#queue.some((waiter) => waiter.use === use)) await this.#turn(use, deadline, 'last')
    while (!this.#isClosed && !this.#mayTake(use)) await this.#turn(use, deadline, 'first')
    if (this.#isClosed) throw closed(this.#name)
    const connection = this.#takeIdle(use) ?? (await this.#open(use, deadline))
    if (use === 'transaction') this.#inTransaction.add(connection)
    connection.keepsProcess(true)
    if (use === 'statement' && this.#used.delete(connection)) await this.#forget(connection, deadline)
    return connection
  }

  put(connection: Connection): void {
    if (this.#inTransaction.delete(connection)) this.#used.add(connection)
    if (connection.isOpen && !this.#isClosed) {
      connection.keepsProcess(false)
      this.#idle.push(connection)
    } else {
      this.#drop(connection)
    }
    this.#next()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const connection of this.#all) this.#drop(connection)
    for (const { wake } of this.#queue.splice(0)) wake()
  }

  #mayTake(use: Use): boolean {
    const inTransaction = this.#inTransaction.size + this.#openingForTransaction
    if (use === 'transaction' && inTransaction >= Math.max(1, this.#max - 1)) return false
    return this.#idle.length > 0 || this.#all.size + this.#opening < this.#max
  }

  #takeIdle(use: Use): Connection | undefined {
    // Reuse connections for what they served before: a connection must be reset between a transaction and our statements.
    const at = this.#idle.findLastIndex((connection) => this.#used.has(connection) === (use === 'transaction'))
    return at < 0 ? this.#idle.pop() : this.#idle.splice(at, 1)[0]
  }

  async #turn(use: Use, deadline: Deadline, place: 'first' | 'last'): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const waiter = { use, wake: resolve }
    if (place === 'first') this.#queue.unshift(waiter)
    else this.#queue.push(waiter)
    const timer = setTimeout(() => {
      this.#queue.splice(this.#queue.indexOf(waiter), 1)
      reject(noConnection(this.#name, `all ${this.#max} were in use for ${deadline.timeoutMs} ms`))
    }, deadline.leftMs())
    await promise.finally(() => clearTimeout(timer))
  }

  #next(): void {
    const at = this.#queue.findIndex(({ use }) => this.#mayTake(use))
    if (at >= 0) this.#queue.splice(at, 1)[0]!.wake()
  }

  /** Repeats for as long as the caller has time. */
  async #open(use: Use, deadline: Deadline): Promise<Connection> {
    this.#opening++
    if (use === 'transaction') this.#openingForTransaction++
    /** The last error of the server: it says more than that the time ran out during the next attempt. */
    let told: unknown
    try {
      for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(LONGEST_PAUSE_MS, 2 * pauseMs)) {
        try {
          const connection = await this.#connect(deadline.leftMs())
          return this.#welcome(connection)
        } catch (error) {
          if (sqlStateOf(error) !== null || told === undefined) told = error
          const jitteredMs = pauseMs * (0.5 + Math.random() / 2)
          if (this.#isClosed || isHopeless(error) || jitteredMs >= deadline.leftMs()) {
            throw translate(told, this.#name, 'connecting')
          }
          await sleep(jitteredMs)
        }
      }
    } finally {
      this.#opening--
      if (use === 'transaction') this.#openingForTransaction--
      // If it failed, the next caller may try.
      queueMicrotask(() => this.#next())
    }
  }

  #welcome(connection: Connection): Connection {
    if (this.#isClosed) {
      connection.destroy()
      throw closed(this.#name)
    }
    this.#all.add(connection)
    connection.onLost(() => {
      this.#drop(connection)
      this.#next()
    })
    return connection
  }

  #drop(connection: Connection): void {
    this.#all.delete(connection)
    this.#inTransaction.delete(connection)
    const at = this.#idle.indexOf(connection)
    if (at >= 0) this.#idle.splice(at, 1)
    connection.destroy()
  }

  async #forget(connection: Connection, deadline: Deadline): Promise<void> {
    try {
      await within(connection.script(FORGET), deadline.leftMs(), () => {
        throw silent(this.#name, deadline.timeoutMs, true)
      })
    } catch (error) {
      connection.destroy()
      this.put(connection)
      throw translate(error, this.#name, 'connecting')
    }
  }
}
