import http from 'node:http'
import https from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ConnectionOptions } from 'node:tls'
import type { ServerClock } from '../kv/server-clock.ts'
import { StoreError } from '../store-error.ts'
import { CallLost } from './connection.ts'

/** Below this, four requests a while are enough to keep it. */
const SHARP_MS = 10
/** Above this, requests follow each other until one falls together with a change of the second. */
export const BLURRED_MS = 150
const NEXT_ASK_MS = 4
const KEEP_MS = 10_000
const TIMEOUT_MS = 2_000
/** Where, within the time in which the second may change, requests arrive: they divide it into five parts. */
const PARTS = [-0.3, -0.1, 0.1, 0.3]

/** Asks a member for its time, by the `Date` of its HTTP answers, as long as a store is open. */
export class ClockKeeper {
  readonly clock: ServerClock
  readonly #endpoint: () => string
  readonly #tls: ConnectionOptions
  readonly #name: string
  readonly #agents: readonly [http.Agent, https.Agent]
  readonly #stop = new AbortController()
  #loop: Promise<void> | null = null

  constructor(name: string, clock: ServerClock, endpoint: () => string, tls: ConnectionOptions) {
    this.clock = clock
    this.#name = name
    this.#endpoint = endpoint
    this.#tls = tls
    this.#agents = [new http.Agent({ keepAlive: true }), new https.Agent({ keepAlive: true })]
  }

  start(): void {
    this.#loop ??= this.#keep().catch(() => {})
  }

  /** Resolves when the clock is known well, after this time at the latest. */
  async isSharp(mostMs: number): Promise<void> {
    const deadline = performance.now() + mostMs
    while (this.clock.width > SHARP_MS && performance.now() < deadline && !this.#stop.signal.aborted) {
      await sleep(NEXT_ASK_MS)
    }
  }

  close(): void {
    this.#stop.abort()
    for (const agent of this.#agents) agent.destroy()
  }

  /** One answer: the clock is known to the second from here on. */
  async ask({ keepsRunning = true } = {}): Promise<void> {
    const sentAt = performance.now()
    const date = await this.#askDate(keepsRunning)
    this.clock.observe(date, sentAt, performance.now())
  }

  async #keep(): Promise<void> {
    for (;;) {
      try {
        await this.#sharpen()
        await this.#sleep(KEEP_MS)
        await this.#askAround()
      } catch {
        // The member is away: the bounds widen until one answers.
        await this.#sleep(SHARP_MS * 10)
      }
    }
  }

  async #sharpen(): Promise<void> {
    while (this.clock.width > SHARP_MS) {
      if (this.clock.width > BLURRED_MS) {
        await this.#look()
        await this.#sleep(NEXT_ASK_MS)
      } else await this.#askAround()
    }
  }

  /** Requests that divide the time in which the second can change. */
  async #askAround(): Promise<void> {
    const { width } = this.clock
    const middle = this.clock.nextSecond()
    await Promise.all(
      PARTS.map(async (part) => {
        await this.#sleep(middle + part * width - performance.now())
        await this.#look()
      }),
    )
  }

  /** No process waits for these. */
  async #look(): Promise<void> {
    await this.ask({ keepsRunning: false })
  }

  async #sleep(ms: number): Promise<void> {
    await sleep(Math.max(0, ms), undefined, { ref: false, signal: this.#stop.signal })
  }

  #askDate(keepsRunning: boolean): Promise<number> {
    const url = new URL('/version', this.#endpoint())
    const isSecure = url.protocol === 'https:'
    return new Promise((resolve, reject) => {
      const request = isSecure
        ? https.request(url, { ...this.#tls, agent: this.#agents[1], timeout: TIMEOUT_MS })
        : http.request(url, { agent: this.#agents[0], timeout: TIMEOUT_MS })
      if (!keepsRunning) request.on('socket', (socket) => socket.unref())
      request.on('timeout', () => request.destroy(new Error(`no answer within ${TIMEOUT_MS} ms`)))
      request.on('error', (error) => reject(new CallLost('connecting', error.message, error)))
      request.on('response', (response) => {
        const date = Date.parse(response.headers.date ?? '')
        response.resume()
        if (Number.isNaN(date)) reject(this.#dateless())
        else resolve(date)
      })
      request.end()
    })
  }

  #dateless(): StoreError {
    return new StoreError('STORE_UNSUPPORTED', `${this.#name} does not tell its time: its answers have no Date.`, {
      hint: 'Connect to etcd itself: a proxy in between may remove the header.',
    })
  }
}
