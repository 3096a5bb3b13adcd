import type { IncomingMessage } from 'node:http'
import { refuse } from '../answer.ts'
import { setBase } from '../base-path.ts'
import { setConnection } from '../connection.ts'

/** Where the host has mounted the handler. */
export interface Mount {
  /** As it came, with nothing stripped. */
  readonly url: string
  /** What the host knows to be before the handler's own paths, or empty. */
  readonly base: string
}

/** What hosts add to a request. */
interface Hosted extends IncomingMessage {
  /** Of a body parser. */
  readonly body?: unknown
  /** Of Nest and of cloud functions: the body as it came. */
  readonly rawBody?: unknown
}

/** Node's request as the web's. Throws what can't be said there. */
export function toRequest(incoming: Hosted, mount: Mount, signal: AbortSignal): Request {
  const method = incoming.method ?? 'GET'
  if (['TRACE', 'TRACK', 'CONNECT'].includes(method.toUpperCase())) {
    const allow = 'GET, HEAD, PUT, POST, DELETE'
    throw refuse('METHOD_REFUSED', `There is no ${method} here.`, `Use ${allow}.`, { allow })
  }
  const headers = headersOf(incoming)
  const url = urlOf(incoming, mount, headers)
  const hasBody = method !== 'GET' && method !== 'HEAD'
  const body = hasBody ? bodyOf(incoming, headers) : null
  const request = new Request(url, {
    method,
    headers,
    signal,
    ...(body === null ? {} : { body, duplex: 'half' }),
  } as RequestInit)
  const { socket, httpVersion } = incoming
  setConnection(request, { address: socket?.remoteAddress, port: socket?.localPort, httpVersion })
  if (mount.base !== '') setBase(request, mount.base)
  return request
}

function headersOf({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers()
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    // Of HTTP/2: not headers but the request line.
    if (!rawHeaders[index]!.startsWith(':')) headers.append(rawHeaders[index]!, rawHeaders[index + 1]!)
  }
  return headers
}

/** Put together by hand: a path that begins with two slashes must not become a host. */
function urlOf(incoming: Hosted, { url: target }: Mount, headers: Headers): string {
  const authority: unknown = incoming.headers[':authority']
  const host = typeof authority === 'string' ? authority : (headers.get('host') ?? 'localhost')
  if (!/^[\w.:[\]-]+$/.test(host) || !URL.canParse(`http://${host}/`)) {
    throw refuse(
      'HOST_INVALID',
      'The header Host names no host.',
      'Send a host, with a port if it is not the usual one.',
    )
  }
  const path = target.startsWith('/') ? target : pathOfAbsolute(target)
  return `http://${host}${path}`
}

function pathOfAbsolute(target: string): string {
  if (!URL.canParse(target)) return `/${target}`
  const { pathname, search } = new URL(target)
  return `${pathname}${search}`
}

type Body = ReadableStream | string | Uint8Array<ArrayBuffer>

/** A middleware may have parsed it: then the parsed value is made into a body again. */
function bodyOf(incoming: Hosted, headers: Headers): Body | null {
  const { rawBody, body } = incoming
  const given = rawBody ?? (isRead(incoming) ? body : undefined)
  if (given === undefined) {
    return isRead(incoming) ? null : streamOf(incoming)
  }
  // They were about the body as it came.
  for (const name of ['content-length', 'transfer-encoding', 'content-encoding']) headers.delete(name)
  if (typeof given === 'string') return given
  return given instanceof Uint8Array ? new Uint8Array(given) : JSON.stringify(given)
}

/** Read on demand. A reader that stops does not close the connection, because an answer must be sent on it. */
function streamOf(incoming: IncomingMessage): ReadableStream<Uint8Array> {
  const pieces = incoming.iterator({ destroyOnReturn: false })
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { value, done } = (await pieces.next()) as IteratorResult<Uint8Array>
        if (done === true) controller.close()
        else controller.enqueue(value)
      },
      async cancel() {
        await pieces.return?.()
      },
    },
    { highWaterMark: 0 },
  )
}

function isRead(incoming: IncomingMessage): boolean {
  return incoming.readableEnded || incoming.readableDidRead || incoming.complete
}
