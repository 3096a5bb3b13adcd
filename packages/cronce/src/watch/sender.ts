import type { Clock } from '../clock.ts'
import { gathersFor, type Message } from '../model/alert.ts'
import type { Json } from '../model/json.ts'
import { type AlertChannel, MessageRefused } from './channel.ts'
import type { AlertMessage } from './message.ts'

/** How long a channel may take for a message. One that took longer has twice as long the next time. */
const SEND_MS = 10_000
/** Longest time that a channel may take, also one that does not heed the signal: it may still deliver the message. */
const LONGEST_SEND_MS = 5 * 60_000
const FIRST_PAUSE_MS = 2_000
const LONGEST_PAUSE_MS = 5 * 60_000
/** After this time a message is given up: the alert is still listed. */
const GIVE_UP_MS = 86_400_000

export interface SenderParts {
  readonly clock: Pick<Clock, 'mono' | 'sleep'>
  /** Does the work of a key once in the fleet: `app.once`. */
  readonly once: (key: string, work: () => Promise<Json>) => Promise<Json>
  readonly render: (message: Message) => AlertMessage
  readonly warn: (message: string) => void
  /** A message has been sent or given up, or is to be tried again later. */
  readonly onChange: () => void
  readonly stopped: AbortSignal
}

/** Sends messages by one channel, in their order. A channel that fails holds up nothing but itself. */
export class Sender {
  readonly name: string
  readonly #channel: AlertChannel
  readonly #parts: SenderParts
  /** Ids of messages that this channel is done with. */
  readonly #done = new Set<string>()
  /** Rules of alerts that this channel was sent and that are not over: their end is sent to it, too. */
  readonly #open = new Set<string>()
  #failures = 0
  #patienceMs = SEND_MS
  #nextTryAt = Number.NEGATIVE_INFINITY
  #isBusy = false

  constructor(channel: AlertChannel, parts: SenderParts) {
    this.name = channel.name
    this.#channel = channel
    this.#parts = parts
  }

  isDoneWith(id: string): boolean {
    return this.#done.has(id)
  }

  /** Starts sending what is due. Answers how long there is nothing to do; never rejects. */
  send(outbox: readonly Message[], now: number): number {
    const known = new Set(outbox.map(({ id }) => id))
    for (const id of this.#done) if (!known.has(id)) this.#done.delete(id)
    const first = outbox.find(({ id }) => !this.#done.has(id))
    if (first === undefined || this.#isBusy) return Number.POSITIVE_INFINITY
    const waitMs = Math.max(gathersFor(first, now), this.#nextTryAt - this.#parts.clock.mono())
    if (waitMs > 0) return waitMs
    this.#isBusy = true
    void this.#deliver(first, now).finally(() => {
      this.#isBusy = false
      this.#parts.onChange()
    })
    return Number.POSITIVE_INFINITY
  }

  async #deliver(message: Message, now: number): Promise<void> {
    const { clock, once, warn, stopped } = this.#parts
    try {
      if (this.#wants(message)) {
        await once(`alert:${message.id}:${this.name}`, () => this.#attempt(message))
        if (message.alert !== null) this.#open.add(message.alert.rule)
      }
      if (message.alert !== null && message.kind === 'resolved') this.#open.delete(message.alert.rule)
      this.#done.add(message.id)
      this.#failures = 0
    } catch (error) {
      if (stopped.aborted) return
      const pauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(this.#failures++, 20))
      this.#nextTryAt = clock.mono() + pauseMs
      const isGivenUp = error instanceof MessageRefused || now - message.sendAt > GIVE_UP_MS
      if (isGivenUp) this.#done.add(message.id)
      const next = isGivenUp ? 'it is given up' : `the next attempt is in ${Math.round(pauseMs / 1_000)} s`
      warn(`The alert channel ${this.name} did not take a message, ${next}: ${textOf(error)}`)
    }
  }

  #wants({ alert, kind }: Message): boolean {
    if (alert === null || this.#channel.filter === undefined) return true
    // The subjects that it wanted may have recovered before the last ones.
    return (kind === 'resolved' && this.#open.has(alert.rule)) || this.#channel.filter(alert)
  }

  async #attempt(message: Message): Promise<Json> {
    const { clock, stopped, render } = this.#parts
    const patienceMs = this.#patienceMs
    const [late, ended] = [new AbortController(), new AbortController()]
    const over = AbortSignal.any([stopped, ended.signal])
    const silence = new Error(`no answer within ${patienceMs / 1_000} s`)
    void clock.sleep(patienceMs, over).then(() => {
      late.abort()
      if (!over.aborted) this.#patienceMs = Math.min(LONGEST_SEND_MS, 2 * patienceMs)
    })
    const given = clock.sleep(LONGEST_SEND_MS, over).then(() => {
      throw silence
    })
    // Only one of the two is heard.
    given.catch(() => {})
    try {
      await Promise.race([this.#channel.send(render(message), { signal: late.signal }), given])
      return null
    } catch (error) {
      throw late.signal.aborted && !(error instanceof MessageRefused) ? silence : error
    } finally {
      ended.abort()
    }
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
