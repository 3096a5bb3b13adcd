import { randomBytes } from 'node:crypto'
import type { FeedEntry } from 'cronce'
import { refuse } from '../answer.ts'
import { counted } from '../counted.ts'
import type { Source } from '../source.ts'
import { Ring, type Told } from './ring.ts'

export interface HubSettings {
  /** Streams at a time. */
  readonly streams: number
  /** Streams at a time of one principal. */
  readonly streamsPerPrincipal: number
  /** Entries that are kept for those who come back. */
  readonly ring: number
  /** How long the feed goes on when the last one has left: most come back at once. */
  readonly lingerMs: number
  readonly heartbeatMs: number
  /** A stream ends after this number of heartbeats, so that access is decided anew: a token may have been withdrawn. */
  readonly beatsMost: number
  /** Before the feed is begun again after it broke. */
  readonly retryMs: number
  /** Told of a feed that broke. */
  readonly onError: (error: unknown) => void
}

/** A listener: called when there may be something to read, and when the stream is over. */
export interface Listener {
  ring(): void
  beat(): void
  end(): void
}

/**
 * One feed for all streams, which runs only while there is a listener. Its events go into a ring, and every listener reads
 * from there at its own speed: no listener has its own queue, and one that falls behind the ring gets a reset.
 */
export class EventHub {
  readonly #source: Source
  readonly #settings: HubSettings
  /** Each with its principal. */
  readonly #listeners = new Map<Listener, string>()
  #session: Session | null = null
  #linger: NodeJS.Timeout | null = null

  constructor(source: Source, settings: HubSettings) {
    this.#source = source
    this.#settings = settings
  }

  get beatsMost(): number {
    return this.#settings.beatsMost
  }

  get listening(): number {
    return this.#listeners.size
  }

  /** Whether a feed is being read. */
  get running(): boolean {
    return this.#session !== null
  }

  /**
   * Where to read from now on. Resolves when the feed is ready: lists that are read after that, and what follows, miss nothing.
   * `principal`: empty where the access function does not name one.
   */
  async join(listener: Listener, principal: string): Promise<Session> {
    this.#demandRoomFor(principal)
    if (this.#listeners.size >= this.#settings.streams) {
      const message = `${counted(this.#listeners.size, 'stream of events is', 'streams of events are')} open already.`
      throw refuse('STREAMS_FULL', message, 'Close one, or try again later.')
    }
    this.#listeners.set(listener, principal)
    if (this.#linger !== null) clearTimeout(this.#linger)
    this.#linger = null
    this.#session ??= this.#begin()
    const session = this.#session
    try {
      await session.begun
      return session
    } catch (error) {
      if (this.#session === session) this.#session = null
      this.leave(listener)
      throw error
    }
  }

  leave(listener: Listener): void {
    if (!this.#listeners.delete(listener) || this.#listeners.size > 0 || this.#session === null) return
    this.#linger = setTimeout(() => this.#stop(), this.#settings.lingerMs)
    this.#linger.unref()
  }

  /** End all streams and the feed. */
  close(): void {
    for (const listener of [...this.#listeners.keys()]) listener.end()
    this.#listeners.clear()
    this.#stop()
  }

  /** Callers without a principal cannot be distinguished, so only the number of all streams bounds them. */
  #demandRoomFor(principal: string): void {
    if (principal === '') return
    const open = [...this.#listeners.values()].filter((one) => one === principal).length
    if (open < this.#settings.streamsPerPrincipal) return
    const message = `You have ${counted(open, 'stream of events', 'streams of events')} open, which is the limit for one principal.`
    throw refuse('PRINCIPAL_STREAMS_FULL', message, 'Close one of your streams, or raise streamsPerPrincipal.')
  }

  #stop(): void {
    if (this.#linger !== null) clearTimeout(this.#linger)
    this.#linger = null
    this.#session?.stop()
    this.#session = null
  }

  #begin(): Session {
    const abort = new AbortController()
    const ring = new Ring(this.#settings.ring)
    const beats = setInterval(() => this.#each((listener) => listener.beat()), this.#settings.heartbeatMs)
    beats.unref()
    const begun = Promise.withResolvers<void>()
    // Listeners that wait for it hear of a failure; there may be none any more.
    begun.promise.catch(() => clearInterval(beats))
    void this.#read(ring, begun, abort.signal)
    const stop = (): void => {
      clearInterval(beats)
      abort.abort()
    }
    return { boot: randomBytes(6).toString('hex'), ring, begun: begun.promise, stop }
  }

  /** Until it is stopped, or the first feed fails before it is ready. */
  async #read(ring: Ring, begun: PromiseWithResolvers<void>, signal: AbortSignal): Promise<void> {
    const push = (entry: Told): void => {
      ring.push(entry)
      this.#each((listener) => listener.ring())
    }
    let isBegun = false
    const onReady = (): void => {
      // A later feed begins where it was made ready: ends since the one before it are missing.
      if (isBegun) push(RESET)
      isBegun = true
      begun.resolve()
    }
    while (!signal.aborted) {
      try {
        for await (const entry of this.#source.feed({ signal, onReady })) push(tell(entry))
      } catch (error) {
        if (!isBegun) return begun.reject(error)
        if (!signal.aborted) this.#settings.onError(error)
      }
      if (!signal.aborted) await pause(this.#settings.retryMs, signal)
    }
    begun.resolve()
  }

  #each(call: (listener: Listener) => void): void {
    for (const listener of [...this.#listeners.keys()]) call(listener)
  }
}

/** One life of the feed. Numbers of its events mean nothing in another one. */
export interface Session {
  readonly boot: string
  readonly ring: Ring
  readonly begun: Promise<void>
  readonly stop: () => void
}

const RESET: Told = { kind: 'reset', data: '{}', schedule: null, job: null }

function tell(entry: FeedEntry): Told {
  switch (entry.kind) {
    case 'gap':
      return { kind: 'reset', data: JSON.stringify({ at: entry.at }), schedule: null, job: null }
    case 'fire.ended': {
      const { kind, at, fire } = entry
      return { kind, data: JSON.stringify({ at, fire }), schedule: fire.schedule, job: fire.job }
    }
    case 'run.started':
    case 'run.ended': {
      // The log has a route of its own.
      const { log: _, logCut: __, ...run } = entry.run
      return {
        kind: entry.kind,
        data: JSON.stringify({ at: entry.at, run }),
        schedule: run.schedule,
        job: run.job,
      }
    }
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    timer.unref()
    signal.addEventListener('abort', done)
  })
}
