import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Session } from './database.ts'
import { type Connect, type Connection, within } from './drivers/connection.ts'
import { backendPid } from './drivers/driver.ts'
import { silent, sqlStateOf } from './errors.ts'

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5_000
/** A server that has not noticed the end of our last session still holds its locks. */
const HOLD_AGAIN_MS = 500
/** Networks drop idle connections silently. Between two of these probes, the system's keep-alive does the job. */
const PING_MS = 10 * 60_000
const SELF_TEST_MS = 1_000

/**
 * One wait for a lock. Notifications arrive only between waits, and the vacuum horizon of the database stands still during one.
 * Below the server's deadlock_timeout: it would take two instances that wait for each other for a deadlock, fail one of them, and
 * log it.
 */
const WAIT_MS = 500

/**
 * The session is idle for hours, and waits for longer than a strict role may allow a statement. Not every server knows the first
 * setting.
 */
const UNLIMITED = [
  "select set_config(name, '0', false) from pg_settings where name = 'idle_session_timeout'",
  'set statement_timeout = 0',
]

export interface SessionOptions {
  /** Name of the database, for messages. */
  readonly name: string
  readonly connect: Connect
  readonly timeoutMs: number
  /** Notify on a channel, by another connection. */
  readonly notify: (channel: string) => Promise<unknown>
  /** A pooler is in between: the session cannot work here, and has ended. */
  readonly onPooled: () => void
}

type Change = 'lost' | 'back'

/** See `Session`. It never keeps the process alive. */
export class OwnSession implements Session {
  readonly #options: SessionOptions
  readonly #channels = new Map<string, Set<(payload: string) => void>>()
  readonly #listeners = new Set<(change: Change) => void>()
  readonly #wanted = new Set<bigint>()
  readonly #ending = new AbortController()
  /** Resolves when the first attempt to open it has ended. */
  readonly opened: Promise<void>
  #connection: Connection | null = null
  #last: Promise<unknown> = Promise.resolve()
  /** State of the current connection. */
  #held = new Set<bigint>()
  #seen = new Set<bigint>()
  #turn = 0
  #isHoldingAgain = false
  #isPooled = false

  constructor(options: SessionOptions) {
    this.#options = options
    const { promise, resolve } = Promise.withResolvers<void>()
    this.opened = promise
    void this.#live(resolve)
  }

  /** Known once `opened` has resolved. */
  get isPooled(): boolean {
    return this.#isPooled
  }

  async listen(channel: string, onNotify: (payload: string) => void): Promise<() => void> {
    const listener = (payload: string): void => onNotify(payload)
    const listeners = this.#channels.get(channel) ?? new Set()
    this.#channels.set(channel, listeners.add(listener))
    if (listeners.size === 1) await this.#tryTo((connection) => connection.script(`listen ${quote(channel)}`))
    return () => {
      if (!listeners.delete(listener) || listeners.size > 0) return
      this.#channels.delete(channel)
      void this.#tryTo((connection) => connection.script(`unlisten ${quote(channel)}`))
    }
  }

  async hold(lock: bigint): Promise<void> {
    this.#wanted.add(lock)
    await this.#tryTo((connection) => this.#takeLocks(connection))
  }

  async release(lock: bigint): Promise<void> {
    this.#wanted.delete(lock)
    if (!this.#held.delete(lock)) return
    await this.#tryTo((connection) => connection.script(`select pg_advisory_unlock(${lock})`))
  }

  isHolding(): boolean {
    return this.#connection?.isOpen === true && [...this.#wanted].every((lock) => this.#held.has(lock))
  }

  async freed(locks: readonly bigint[], waitMs: number): Promise<readonly bigint[]> {
    const asked = locks.filter((lock) => !this.#wanted.has(lock))
    const endsAt = performance.now() + waitMs
    const unseen = asked.filter((lock) => !this.#seen.has(lock))
    if (unseen.length > 0) await this.#findFree(unseen)
    for (;;) {
      const seen = asked.filter((lock) => this.#seen.has(lock))
      if (seen.length === 0 || !this.#connection?.isOpen) return []
      const leftMs = endsAt - performance.now()
      if (leftMs < 1) return this.#findFree(seen)
      const watched = seen[this.#turn++ % seen.length]!
      if (await this.#waitFor(watched, Math.min(leftMs, WAIT_MS))) return this.#findFree(seen)
    }
  }

  onChange(listener: (change: Change) => void): () => void {
    const own = (change: Change): void => listener(change)
    this.#listeners.add(own)
    return () => this.#listeners.delete(own)
  }

  /** Also during a wait. */
  close(): void {
    this.#ending.abort()
    this.#listeners.clear()
    this.#connection?.destroy()
  }

  async #live(onTried: () => void): Promise<void> {
    const { signal } = this.#ending
    let isFirst = true
    for (let failures = 0; !signal.aborted && !this.#isPooled; ) {
      try {
        const connection = await this.#open()
        failures = 0
        const lost = new Promise<void>((resolve) => connection.onLost(resolve))
        if (!isFirst) this.#tell('back')
        isFirst = false
        onTried()
        await this.#pingUntil(lost, connection)
        this.#connection = null
        if (!signal.aborted) this.#tell('lost')
      } catch {
        // Any failure: leases are enough until the session works again.
        failures++
      }
      onTried()
      const pauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(failures, 10))
      await sleep(pauseMs * (0.5 + Math.random() / 2), undefined, { ref: false, signal }).catch(() => {})
    }
  }

  async #open(): Promise<Connection> {
    const connection = await this.#options.connect(this.#options.timeoutMs)
    try {
      connection.keepsProcess(false)
      connection.onNotify((channel, payload) => {
        for (const listener of this.#channels.get(channel) ?? []) call(() => listener(payload))
      })
      const pid = await this.#within(backendPid(connection), connection)
      // A pooler reports a process id other than the server's. In session mode it still works: one server connection per client.
      if (pid !== connection.pid && !(await this.#hearsItself(connection))) {
        this.#isPooled = true
        this.#options.onPooled()
        throw new Error('a pooler stands in between')
      }
      const channels = [...this.#channels.keys()].map((channel) => `listen ${quote(channel)}`)
      await this.#within(connection.script([...UNLIMITED, ...channels].join(';')), connection)
      this.#held = new Set()
      this.#seen = new Set()
      await this.#within(this.#takeLocks(connection), connection)
      if (this.#ending.signal.aborted || !connection.isOpen) throw new Error('it is over already')
    } catch (error) {
      connection.destroy()
      throw error
    }
    this.#connection = connection
    return connection
  }

  /** In transaction mode an idle client has no server connection, so it cannot receive notifications. */
  async #hearsItself(connection: Connection): Promise<boolean> {
    const channel = `cronce_test_${randomUUID().replaceAll('-', '')}`
    await this.#within(connection.script(`listen ${channel}`), connection)
    const heard = new Promise<boolean>((resolve) => {
      connection.onNotify((name) => name === channel && resolve(true))
    })
    await this.#options.notify(channel)
    const hasHeard = await within(heard, SELF_TEST_MS, () => false)
    await this.#within(connection.script(`unlisten ${channel}`), connection)
    return hasHeard
  }

  async #pingUntil(lost: Promise<void>, connection: Connection): Promise<void> {
    let isLost = false
    const over = lost.then(() => {
      isLost = true
    })
    while (!isLost) {
      const pause = new AbortController()
      await Promise.race([over, sleep(PING_MS, undefined, { ref: false, signal: pause.signal }).catch(() => {})])
      pause.abort()
      if (!isLost) await this.#tryTo(() => connection.script('select 1'))
    }
  }

  async #takeLocks(connection: Connection): Promise<void> {
    for (const lock of this.#wanted) {
      if (this.#held.has(lock)) continue
      const [row] = await connection.script(`select pg_try_advisory_lock(${lock})::text as answer`)
      if (row?.answer !== 'true') void this.#holdAgain()
      else if (this.#wanted.has(lock)) this.#held.add(lock)
      else await connection.script(`select pg_advisory_unlock(${lock})`)
    }
  }

  async #holdAgain(): Promise<void> {
    if (this.#isHoldingAgain) return
    this.#isHoldingAgain = true
    await sleep(HOLD_AGAIN_MS, undefined, { ref: false, signal: this.#ending.signal }).catch(() => {})
    this.#isHoldingAgain = false
    if (!this.isHolding()) await this.#tryTo((connection) => this.#takeLocks(connection))
  }

  /** The locks that were held before and are free now. Uses shared locks, so that two peers do not mistake each other for the holder. */
  async #findFree(locks: readonly bigint[]): Promise<readonly bigint[]> {
    const isFree = 'case when pg_try_advisory_lock_shared(k) then pg_advisory_unlock_shared(k) else false end'
    const list = `array[${locks.join(',')}]::bigint[]`
    const sql = `select coalesce(string_agg(k::text, ','), '') as answer from unnest(${list}) k where ${isFree}`
    const rows = await this.#tryTo((connection) => connection.script(sql))
    if (rows === null) return []
    const free = new Set(String(rows[0]?.answer).split(','))
    const freed = locks.filter((lock) => free.has(String(lock)) && this.#seen.has(lock))
    for (const lock of locks) if (!free.has(String(lock))) this.#seen.add(lock)
    return freed
  }

  /** True: it became free. */
  async #waitFor(lock: bigint, waitMs: number): Promise<boolean> {
    // In one message they are one transaction, and the setting ends with it.
    const sql = `select set_config('lock_timeout', '${Math.ceil(waitMs)}ms', true); select pg_advisory_lock_shared(${lock}); select pg_advisory_unlock_shared(${lock})`
    return (await this.#tryTo((connection) => connection.script(sql))) !== null
  }

  /** `null`: it failed, or there is no session. Calls run one after the other. */
  #tryTo<Value>(work: (connection: Connection) => Promise<Value>): Promise<Value | null> {
    const turn = this.#last.then(async () => {
      const connection = this.#connection
      if (!connection?.isOpen) return null
      try {
        return await this.#within(work(connection), connection)
      } catch (error) {
        // The only expected error is that a lock is not available.
        if (!/^(?:55P03|40P01)$/.test(sqlStateOf(error) ?? '')) connection.destroy()
        return null
      }
    })
    this.#last = turn
    return turn
  }

  #within<Value>(promise: Promise<Value>, connection: Connection): Promise<Value> {
    const { name, timeoutMs } = this.#options
    return within(promise, timeoutMs, () => {
      connection.destroy()
      throw silent(name, timeoutMs, true)
    })
  }

  #tell(change: Change): void {
    for (const listener of this.#listeners) call(() => listener(change))
  }
}

/** An error of a listener must not end the session, or the process. */
function call(listener: () => void): void {
  try {
    listener()
  } catch {
    // The session does not depend on its listeners.
  }
}

function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
