import { lookup } from 'node:dns'
import { type ClientRequest, type IncomingHttpHeaders, type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { isIP, type LookupFunction, type Socket } from 'node:net'
import { type Exceptions, isAllowedAddress, isAllowedHost } from './address.ts'
import { addressRefused, describeRequest, httpError } from './http-errors.ts'

export interface Outgoing {
  readonly url: URL
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array | null
}

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** There was more of it. */
  readonly isCut: boolean
}

export interface SendOptions {
  readonly exceptions: Exceptions
  readonly maxResponse: number
  readonly signal: AbortSignal
}

/** To resolve the name, to connect, to agree on TLS. How long the answer takes is for the job's timeout to say. */
const CONNECT_MS = 30_000
/** Notices an endpoint whose machine is gone, also while no answer is expected. */
const KEEP_ALIVE_MS = 30_000

/** One request and its answer, over a connection of its own. Rejects with the signal's reason, or an error that says what to do. */
export async function send(outgoing: Outgoing, options: SendOptions): Promise<Answer> {
  const { url } = outgoing
  const { signal, exceptions } = options
  signal.throwIfAborted()
  const isAllowed = isAllowedHost(exceptions, url)
  const literal = url.hostname.replace(/^\[|\]$/g, '')
  // Node does not look up what is an address already.
  if (isIP(literal) !== 0 && !isAllowed && !isAllowedAddress(exceptions, literal)) throw addressRefused(url, [literal])
  const request = open(outgoing, isAllowed ? lookup : guardedLookup(url, exceptions))
  const abort = (): void => void request.destroy()
  signal.addEventListener('abort', abort, { once: true })
  try {
    const response = await responseTo(request, outgoing.body)
    return await readAnswer(response, options.maxResponse)
  } catch (error) {
    signal.throwIfAborted()
    throw failureOf(outgoing, error)
  } finally {
    signal.removeEventListener('abort', abort)
    request.destroy()
  }
}

function open({ url, method, headers }: Outgoing, lookupOf: LookupFunction): ClientRequest {
  const isSecure = url.protocol === 'https:'
  return (isSecure ? requestHttps : requestHttp)({
    hostname: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? (isSecure ? 443 : 80) : url.port,
    path: url.pathname + url.search,
    method,
    headers,
    lookup: lookupOf,
    // Of its own: nothing is shared with other targets, and no proxy of the environment stands between us and the address.
    agent: false,
  })
}

/** The socket connects to the address that this answers; the name is not resolved a second time. */
function guardedLookup(url: URL, exceptions: Exceptions): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found) => {
      if (error !== null) return callback(error, [])
      const allowed = found.filter(({ address }) => isAllowedAddress(exceptions, address))
      const [first] = allowed
      if (first === undefined) {
        return callback(
          addressRefused(
            url,
            found.map(({ address }) => address),
          ),
          [],
        )
      }
      if (options.all === true) return callback(null, allowed)
      return callback(null, first.address, first.family)
    })
  }
}

function responseTo(request: ClientRequest, body: Uint8Array | null): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const late = setTimeout(() => request.destroy(new Error(`no connection within ${CONNECT_MS} ms`)), CONNECT_MS)
  const connected = (): void => clearTimeout(late)
  request.once('socket', (socket: Socket) => {
    socket.setKeepAlive(true, KEEP_ALIVE_MS)
    socket.once('encrypted' in socket ? 'secureConnect' : 'connect', connected)
  })
  request.once('response', resolve)
  // Listened to until the end: an endpoint may answer and close before it has read everything.
  request.on('error', reject)
  request.once('upgrade', (_, socket) => {
    // From here on no other code uses the socket.
    socket.destroy()
    reject(new Error('the endpoint wants to speak another protocol'))
  })
  request.once('close', () => {
    connected()
    reject(new Error('the connection was closed without an answer'))
  })
  request.end(body ?? undefined)
  return promise
}

async function readAnswer(response: IncomingMessage, maxResponse: number): Promise<Answer> {
  const parts: Buffer[] = []
  let length = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    parts.push(chunk)
    length += chunk.length
    if (length > maxResponse) break
  }
  const text = Buffer.concat(parts).subarray(0, maxResponse).toString('utf8')
  return { status: response.statusCode ?? 0, headers: response.headers, text, isCut: length > maxResponse }
}

function failureOf(outgoing: Outgoing, cause: unknown): Error {
  if (cause instanceof Error && 'retryable' in cause) return cause
  const { code, message } = cause as { readonly code?: unknown; readonly message?: unknown }
  const why = typeof code === 'string' ? code : String(message)
  return httpError('HTTP_FAILED', `${describeRequest(outgoing)} failed: ${why}.`, {
    hint: 'Look whether the endpoint runs and can be reached from here; set retry, so that such a failure is not the end.',
    cause,
    retryable: true,
  })
}
