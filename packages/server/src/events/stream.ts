import { hidePayloads, redactPayloads } from '../hide-payloads.ts'
import type { Seal } from '../seal.ts'
import type { EventHub, Listener, Session } from './hub.ts'
import type { Told } from './ring.ts'

export interface StreamOptions {
  readonly lastEventId: string | null
  readonly schedule: string | undefined
  readonly job: string | undefined
  /** Who opens it; empty where the access function does not say. */
  readonly principal: string
  readonly signal: AbortSignal
  /** Which schedules the reader sees; `null`: all of them. */
  readonly isVisible: ((schedule: string) => boolean) | null
  /** Seals the ids, which count hidden events, too; `null`: the reader sees all schedules. */
  readonly seal: Seal | null
  /** The reader may see inputs and results. */
  readonly hasPayloads: boolean
  /** Names of fields of inputs and results that it may not. */
  readonly redact: ReadonlySet<string>
}

/** After this many heartbeats in a row that the reader has not read, the stream ends. */
const MAX_UNREAD_BEATS = 4
/** Characters in one piece of what is sent. */
const CHUNK = 65_536

/**
 * The events as a `text/event-stream`. Begins with `ready`, or with `reset` if the events since the last one have been dropped.
 * Both say where the stream stands, so that a client can resume a stream that breaks off.
 */
export async function openStream(hub: EventHub, options: StreamOptions): Promise<Response> {
  const stream = new EventStream(hub, options)
  await stream.open()
  return new Response(stream.body, {
    headers: {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
    },
  })
}

/** One reader of the events: joins the hub, and leaves it when the reader is gone or too slow. */
class EventStream implements Listener {
  readonly body: ReadableStream<Uint8Array>
  readonly #hub: EventHub
  readonly #options: StreamOptions
  readonly #encoder = new TextEncoder()
  #controller!: ReadableStreamDefaultController<Uint8Array>
  #session: Session | null = null
  /** The number of the next event to send. */
  #position = 0
  /** Heartbeats in a row that found no room. */
  #unreadBeats = 0
  #beats = 0
  #isOver = false

  constructor(hub: EventHub, options: StreamOptions) {
    this.#hub = hub
    this.#options = options
    this.body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller
        },
        pull: () => this.ring(),
        cancel: () => this.end(),
      },
      { highWaterMark: 1 },
    )
  }

  async open(): Promise<void> {
    const { principal, signal, lastEventId: given, seal } = this.#options
    const session = await this.#hub.join(this, principal)
    this.#session = session
    if (signal.aborted) this.end()
    else signal.addEventListener('abort', this.end)
    const lastEventId = given === null || seal === null ? given : seal.open('event', given)
    const resumed = positionOf(lastEventId, session)
    this.#position = resumed ?? session.ring.end
    if (this.#isOver) return
    const kind = given === null || resumed !== null ? 'ready' : 'reset'
    this.#send(`retry: 3000\n${eventText(kind, this.#id(session), '{}')}`)
  }

  /** Sends as much as there is room for. The rest stays in the ring until the reader has caught up. */
  ring(): void {
    if (this.#isOver || this.#session === null || !this.#hasRoom()) return
    const { ring } = this.#session
    // The reader was too slow, and the ring has dropped events that it has not read. It reconnects, and gets `reset`.
    if (this.#position < ring.start) {
      this.end()
      return
    }
    let text = ''
    while (this.#position < ring.end && text.length < CHUNK) {
      const entry = ring.at(this.#position)!
      this.#position++
      if (this.#wants(entry)) text += eventText(entry.kind, this.#id(this.#session), this.#shown(entry.data))
    }
    if (text !== '') this.#send(text)
    if (this.#position < ring.end && this.#hasRoom()) this.ring()
  }

  beat(): void {
    if (this.#isOver || this.#session === null) return
    // With the position: a filtered stream that gets no events would otherwise fall behind the ring.
    if (this.#hasRoom()) this.#send(`: beat\nid: ${this.#id(this.#session)}\n\n`)
    else if (++this.#unreadBeats >= MAX_UNREAD_BEATS) this.end()
    // The client goes on behind the last id, if it still may.
    if (++this.#beats >= this.#hub.beatsMost) this.end()
  }

  /** A property, because it is also the listener of the abort signal. */
  readonly end = (): void => {
    if (this.#isOver) return
    this.#isOver = true
    this.#options.signal.removeEventListener('abort', this.end)
    this.#hub.leave(this)
    try {
      this.#controller.close()
    } catch {
      // The other side has closed it.
    }
  }

  #send(text: string): void {
    this.#unreadBeats = 0
    this.#controller.enqueue(this.#encoder.encode(text))
  }

  #id({ boot }: Session): string {
    const id = `${boot}-${this.#position}`
    return this.#options.seal?.close('event', id) ?? id
  }

  #shown(data: string): string {
    const { hasPayloads, redact } = this.#options
    return hasPayloads ? redactPayloads(data, redact) : hidePayloads(data)
  }

  #wants(event: Told): boolean {
    const { schedule, job, isVisible } = this.#options
    return (
      (event.schedule === null || isVisible === null || isVisible(event.schedule)) &&
      (event.schedule === null || schedule === undefined || schedule === event.schedule) &&
      (event.job === null || job === undefined || job === event.job)
    )
  }

  #hasRoom(): boolean {
    return (this.#controller.desiredSize ?? 0) > 0
  }
}

/** An id says how many events came before: the next one to send has that number. */
function positionOf(lastEventId: string | null, { boot, ring }: Session): number | null {
  const [, of, digits] = /^([0-9a-f]+)-(\d{1,15})$/.exec(lastEventId ?? '') ?? []
  const number = Number(digits)
  return of === boot && number >= ring.start && number <= ring.end ? number : null
}

function eventText(kind: string, id: string, data: string): string {
  return `event: ${kind}\nid: ${id}\ndata: ${data}\n\n`
}
