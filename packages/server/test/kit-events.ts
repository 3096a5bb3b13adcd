import assert from 'node:assert/strict'

export interface SentEvent {
  readonly kind: string
  readonly id: string
  readonly data: ReturnType<typeof JSON.parse>
}

/** Reads server-sent events as a browser does. */
export class EventReader {
  readonly #reader: ReadableStreamDefaultReader<string>
  #text = ''
  /** Comments so far. */
  beats = 0
  /** What a browser would send as `Last-Event-ID`: also an id without an event counts. */
  lastId = ''

  constructor(response: Response) {
    assert.equal(response.status, 200)
    assert.match(response.headers.get('content-type')!, /^text\/event-stream/)
    this.#reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  }

  /** `null`: the stream has ended. */
  async next(): Promise<SentEvent | null> {
    for (;;) {
      const end = this.#text.indexOf('\n\n')
      if (end < 0) {
        const { value, done } = await this.#reader.read()
        if (done) return null
        this.#text += value
        continue
      }
      const lines = this.#text.slice(0, end).split('\n')
      this.#text = this.#text.slice(end + 2)
      const field = (name: string): string | undefined =>
        lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2)
      this.lastId = field('id') ?? this.lastId
      const data = field('data')
      if (data !== undefined) return { kind: field('event')!, id: field('id')!, data: JSON.parse(data) }
      this.beats++
    }
  }

  async until(kind: string): Promise<SentEvent> {
    for (;;) {
      const event = await this.next()
      assert.ok(event !== null, `the stream ended before ${kind}`)
      if (event.kind === kind) return event
    }
  }

  cancel(): Promise<void> {
    return this.#reader.cancel()
  }
}
