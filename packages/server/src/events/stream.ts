import type { EventHub, Listener, Session } from './hub.ts'
import type { Told } from './ring.ts'

export interface StreamOptions {
  readonly lastEventId: string | null
  readonly schedule: string | undefined
  readonly job: string | undefined
  /** Who opens it; empty where the access function does not say. */
  readonly principal: string
  readonly signal: AbortSignal
}

/** So many heartbeats in a row nobody has read: there is nobody. */
const PATIENCE = 4
/** Characters in one piece of what is sent. */
const CHUNK = 65_536

/**
 * The events as a `text/event-stream`. Begins with `ready`, or with `reset` where what happened since the last event can't be
 * told any more; both say where the stream stands, so that one that breaks off can be taken up again.
 */
export async function openStream(hub: EventHub, options: StreamOptions): Promise<Response> {
  const encoder = new TextEncoder()
  let controller: ReadableStreamDefaultController<Uint8Array>
  let session: Session | null = null
  let position = 0
  let unread = 0
  let isOver = false

  const send = (text: string): void => {
    unread = 0
    controller.enqueue(encoder.encode(text))
  }
  const idOf = (number: number): string => `${session!.boot}-${number}`
  const wants = ({ schedule, job }: Told): boolean =>
    (schedule === null || options.schedule === undefined || options.schedule === schedule) &&
    (job === null || options.job === undefined || options.job === job)
  const isRoom = (): boolean => (controller.desiredSize ?? 0) > 0
  const end = (): void => {
    if (isOver) return
    isOver = true
    options.signal.removeEventListener('abort', end)
    hub.leave(listener)
    try {
      controller.close()
    } catch {
      // The other side has closed it.
    }
  }
  /** As much as there is room for: the rest stays in the ring until the reader has caught up. */
  const flush = (): void => {
    if (isOver || session === null || !isRoom()) return
    const { ring } = session
    // It was too slow: what it has not read is gone. It comes back, and is told to read the lists.
    if (position < ring.start) {
      end()
      return
    }
    let text = ''
    while (position < ring.end && text.length < CHUNK) {
      const entry = ring.at(position)!
      position++
      if (wants(entry)) text += eventText(entry.kind, idOf(position), entry.data)
    }
    if (text !== '') send(text)
    if (position < ring.end && isRoom()) flush()
  }
  const listener: Listener = {
    ring: flush,
    beat() {
      if (isOver || session === null) return
      // With the position of a stream that is filtered: else it would fall behind the ring while others have events.
      if (isRoom()) send(`: beat\nid: ${idOf(position)}\n\n`)
      else if (++unread >= PATIENCE) end()
    },
    end,
  }

  const stream = new ReadableStream<Uint8Array>(
    {
      start(given) {
        controller = given
      },
      pull: flush,
      cancel: end,
    },
    { highWaterMark: 1 },
  )
  session = await hub.join(listener, options.principal)
  if (options.signal.aborted) end()
  else options.signal.addEventListener('abort', end)
  const resumed = positionOf(options.lastEventId, session)
  position = resumed ?? session.ring.end
  if (!isOver) {
    const kind = options.lastEventId === null || resumed !== null ? 'ready' : 'reset'
    send(`retry: 3000\n${eventText(kind, idOf(position), '{}')}`)
  }
  return new Response(stream, {
    headers: {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
    },
  })
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
