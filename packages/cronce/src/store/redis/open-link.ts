import { setTimeout as sleep } from 'node:timers/promises'
import { nameOfUrl } from '../name-of-url.ts'
import { StoreError } from '../store-error.ts'
import { parseAddress } from './clients/address.ts'
import type { Connector } from './clients/connection.ts'
import { type Client, connectorLike, demandClient, nameLike } from './clients/given.ts'
import { Lane, pauseAfter, within } from './clients/lane.ts'
import { connectorFor } from './clients/load.ts'
import { OwnSession, pubSubOf } from './clients/session.ts'
import { slotOf } from './clients/slot.ts'
import type { Wire } from './clients/wire.ts'
import { closed, isElsewhere, notReplicated, replyCodeOf, silent, translate, unreachable } from './errors.ts'
import { neverKey } from './keys.ts'
import type { Link, Script, Session, WaitOptions } from './link.ts'

const DEFAULT_TIMEOUT_MS = 5_000

/** How often a call follows a slot to another server, or reloads a flushed script, before it fails. */
const MOST_TRIES = 5

/** A call that got a connection this late is not sent, so that it is certain that nothing was written. */
const TOO_LATE = 0.1

/** A URL, or a client of ioredis or node-redis. */
export type Target = string | Client

export interface LinkOptions {
  /** The longest that any call may take, the wait for a connection included, that for replicas not. @default 5000 */
  readonly timeoutMs?: number | undefined
  /** Answers count only once this many replicas have the write. */
  readonly wait?: WaitOptions | undefined
}

/** Does not connect yet. */
export function openLink(target: Target, options: LinkOptions): Link {
  const connector = typeof target === 'string' ? connectorFor(parseAddress(target)) : connectorLike(target)
  return new ClientLink(nameOf(target), connector, options)
}

/** Refuses at once what is not a way to a server. */
export function demandTarget(target: Target): void {
  if (typeof target === 'string' && target !== '') parseAddress(target)
  else demandClient(target)
}

/** Its address for messages, without user, password and options, which may be secrets. */
export function nameOf(target: Target): string {
  if (typeof target !== 'string') return nameLike(target)
  return nameOfUrl(target) ?? 'redis'
}

class ClientLink implements Link {
  readonly name: string
  readonly #connector: Connector
  readonly #timeoutMs: number
  readonly #wait: WaitOptions | undefined
  /** By slot: one, except in a cluster where callers use keys of several. */
  readonly #lanes = new Map<number, Lane>()
  #session: Promise<OwnSession> | undefined
  #isLoaded = false
  #isClosed = false

  constructor(name: string, connector: Connector, { timeoutMs = DEFAULT_TIMEOUT_MS, wait }: LinkOptions) {
    this.name = name
    this.#connector = connector
    this.#timeoutMs = timeoutMs
    this.#wait = wait
  }

  async run(script: Script, key: string, args: readonly string[]): Promise<string | readonly string[]> {
    const lane = this.#laneOf(this.#slotOf(key))
    const answer = await this.#exchange(lane, 'evalsha', [script.sha, '2', key, neverKey(key)].concat(args), script)
    if (typeof answer === 'string' || Array.isArray(answer)) return answer
    throw new StoreError('STORE_FAILED', `The script ${script.name} answered no text.`, {
      hint: 'Report this: it should not happen.',
      notApplied: false,
    })
  }

  async command(key: string, [command, ...args]: readonly [string, ...string[]]): Promise<unknown> {
    return this.#exchange(this.#laneOf(this.#slotOf(key)), command, args, null)
  }

  session(): Promise<Session> {
    if (this.#isClosed) return Promise.reject(closed(this.name, true))
    this.#session ??= this.#openSession()
    return this.#session
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const lane of this.#lanes.values()) lane.close()
    // If it is being opened, it failed when its lane was closed.
    const session = await this.#session?.catch(() => undefined)
    session?.close()
  }

  async #exchange(lane: Lane, command: string, args: readonly string[], script: Script | null): Promise<unknown> {
    if (!this.#isLoaded) await this.#loadClient()
    const endsAt = performance.now() + this.#timeoutMs
    for (let tries = 1; ; tries++) {
      const wire = lane.open ?? (await this.#openedInTime(lane, endsAt))
      const number = wire.sent + 1
      wire.enter()
      try {
        return await this.#answer(wire, command, args, script, endsAt)
      } catch (error) {
        if (lane.isClosed) throw closed(this.name, false)
        if (isElsewhere(error)) this.#lookElsewhere(lane, wire)
        const reply = replyCodeOf(error)
        const mayTry = tries < MOST_TRIES && performance.now() < endsAt
        if (reply === 'NOSCRIPT' && script !== null && mayTry) await this.#load(wire, script, number, endsAt)
        else if (reply === 'MOVED' && this.#connector.isCluster) await this.#follow(error, tries, mayTry)
        else throw translate(error, this.name, 'sent')
      } finally {
        wire.leave()
      }
    }
  }

  async #loadClient(): Promise<void> {
    try {
      await this.#connector.load?.()
    } catch (error) {
      throw translate(error, this.name, 'connecting')
    }
    this.#isLoaded = true
  }

  async #openedInTime(lane: Lane, endsAt: number): Promise<Wire> {
    const wire = await lane.opened(endsAt)
    if (endsAt - performance.now() > this.#timeoutMs * TOO_LATE) return wire
    throw unreachable(this.name, undefined, this.#timeoutMs)
  }

  #answer(
    wire: Wire,
    command: string,
    args: readonly string[],
    script: Script | null,
    endsAt: number,
  ): Promise<unknown> {
    const wait = script === null ? undefined : this.#wait
    const answer = wire.send(command, args)
    if (wait === undefined) return this.#inTime(answer, wire, endsAt, false)
    // Behind the `wait` of another call, which may take as long.
    return this.#inTime(this.#acknowledged(wire, answer, wait), wire, endsAt + 2 * wait.timeout, false)
  }

  async #acknowledged(wire: Wire, answer: Promise<unknown>, wait: WaitOptions): Promise<unknown> {
    const acknowledged = wire.acknowledged(wait).catch((error: unknown) => error)
    const answered = await answer
    const replicas = await acknowledged
    if (typeof replicas !== 'number') throw notReplicated(this.name, wait.replicas, null, replicas)
    if (replicas < wait.replicas) throw notReplicated(this.name, wait.replicas, replicas)
    return answered
  }

  /** Only a new connection shows whether the server still answers. */
  #inTime<Value>(answer: Promise<Value>, wire: Wire, endsAt: number, notApplied: boolean): Promise<Value> {
    return within(answer, Math.max(0, endsAt - performance.now()), () => {
      wire.connection.destroy()
      return silent(this.name, this.#timeoutMs, notApplied)
    })
  }

  async #load(wire: Wire, script: Script, number: number, endsAt: number): Promise<void> {
    try {
      await this.#inTime(wire.load(script, number), wire, endsAt, true)
    } catch (error) {
      throw translate(error, this.name, 'connecting')
    }
  }

  async #follow(error: unknown, tries: number, mayTry: boolean): Promise<void> {
    if (!mayTry) {
      const cause = new Error('its slot is on its way to another server', { cause: error })
      throw translate(cause, this.name, 'connecting')
    }
    // The server that was asked may not know about the move yet.
    if (tries > 1) await sleep(pauseAfter(0))
  }

  /** Subscribe at the server where messages are published. */
  #lookElsewhere(lane: Lane, wire: Wire): void {
    if (!lane.retire(wire)) return
    this.#session?.then(
      (session) => session.reset(),
      () => {},
    )
  }

  async #openSession(): Promise<OwnSession> {
    try {
      const [lane = this.#laneOf(0)] = this.#lanes.values()
      const kind = await pubSubOf(([command, ...args]) => this.#exchange(lane, command, args, null))
      if (this.#isClosed) throw closed(this.name, true)
      return new OwnSession(
        {
          name: this.name,
          isCluster: this.#connector.isCluster,
          timeoutMs: this.#timeoutMs,
          slotOf: (channel) => this.#slotOf(channel),
          connect: (slot, limits) => this.#connector.connect(slot, limits),
          command: (key, args) => this.command(key, args),
        },
        kind,
      )
    } catch (error) {
      this.#session = undefined
      throw error
    }
  }

  #slotOf(key: string): number {
    return this.#connector.isCluster ? slotOf(key) : 0
  }

  #laneOf(slot: number): Lane {
    const known = this.#lanes.get(slot)
    if (known !== undefined) return known
    if (this.#isClosed) throw closed(this.name, true)
    const lane = new Lane({
      name: this.name,
      timeoutMs: this.#timeoutMs,
      connect: (limits) => this.#connector.connect(slot, limits),
    })
    this.#lanes.set(slot, lane)
    return lane
  }
}
