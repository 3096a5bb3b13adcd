import http2 from 'node:http2'
import type { ConnectionOptions } from 'node:tls'

/** How far a call had come when it failed. */
export type Progress =
  /** Nothing of it has left this process. */
  | 'connecting'
  /** It may have reached the server. */
  | 'sent'

/** The connection failed, not the server: it gave no answer. */
export class CallLost extends Error {
  readonly progress: Progress

  constructor(progress: Progress, message: string, cause?: unknown) {
    super(message, { cause })
    this.progress = progress
  }
}

/** What the server answered instead of a message: the status of gRPC. */
export class GrpcError extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

export interface Call {
  readonly path: string
  readonly body: Buffer
  /** Of the logged-in user. */
  readonly token: string | null
}

type Session = http2.ClientHttp2Session
type Headers = http2.IncomingHttpHeaders

const WINDOW_BYTES = 4 << 20
const HEAD_BYTES = 5
/** Of the buffers of one connection: what a list of thousands takes, many times over. */
const MOST_MEMORY_MB = 100

/** gRPC with one member, over HTTP/2: connects when it is first used, and again after the connection was lost. */
export class Connection {
  readonly #origin: string
  readonly #tls: ConnectionOptions
  #session: Session | null = null
  #connecting: Promise<Session> | null = null

  constructor(origin: string, tls: ConnectionOptions) {
    this.#origin = origin
    this.#tls = tls
  }

  /** One message there, one back. */
  async call(call: Call, timeoutMs: number): Promise<Buffer> {
    const deadline = performance.now() + timeoutMs
    const session = await this.#connect(timeoutMs)
    return new Promise((resolve, reject) => {
      const stream = this.#request(session, call)
      stream.end(frame(call.body))
      const lose = (message: string, cause?: unknown): void => {
        clearTimeout(timer)
        reject(new CallLost(isUsedUp(cause) ? 'connecting' : 'sent', message, cause))
      }
      const timer = setTimeout(() => {
        lose(`no answer within ${timeoutMs} ms`)
        // A connection that swallows everything never closes by itself.
        this.#drop(session)
      }, deadline - performance.now())
      const parts: Buffer[] = []
      const status = readStatus(stream)
      stream.on('data', (part: Buffer) => parts.push(part))
      stream.on('error', (error) => {
        // The next call connects again; those under way go on.
        if (isUsedUp(error)) session.close()
        lose(error.message, error)
      })
      stream.on('close', () => lose('the stream was closed'))
      stream.on('end', () => {
        clearTimeout(timer)
        const bytes = Buffer.concat(parts)
        if (status.code !== 0) reject(new GrpcError(status.code, status.message))
        else if (bytes.length < HEAD_BYTES) lose('the answer was cut off')
        else resolve(bytes.subarray(HEAD_BYTES, HEAD_BYTES + bytes.readUInt32BE(1)))
      })
    })
  }

  /** One message there, many back, until either side ends it. */
  async stream(
    call: Call,
    timeoutMs: number,
    onMessage: (bytes: Buffer) => void,
    onEnd: (error: Error) => void,
  ): Promise<() => void> {
    // A member without a leader hears of no writes. With this it ends the stream instead of keeping it open and silent.
    const stream = this.#request(await this.#connect(timeoutMs), call, { hasleader: 'true' })
    const status = readStatus(stream)
    let rest: Buffer = Buffer.alloc(0)
    let isOver = false
    const end = (error: Error): void => {
      if (isOver) return
      isOver = true
      stream.close(http2.constants.NGHTTP2_CANCEL)
      onEnd(error)
    }
    stream.write(frame(call.body))
    stream.on('data', (part: Buffer) => {
      rest = rest.length === 0 ? part : Buffer.concat([rest, part])
      while (!isOver && rest.length >= HEAD_BYTES && rest.length >= HEAD_BYTES + rest.readUInt32BE(1)) {
        const size = HEAD_BYTES + rest.readUInt32BE(1)
        const message = rest.subarray(HEAD_BYTES, size)
        rest = rest.subarray(size)
        onMessage(message)
      }
    })
    stream.on('error', (error) => end(new CallLost('sent', error.message, error)))
    stream.on('close', () => {
      end(status.code > 0 ? new GrpcError(status.code, status.message) : new CallLost('sent', 'the stream was closed'))
    })
    return () => {
      isOver = true
      stream.close(http2.constants.NGHTTP2_CANCEL)
    }
  }

  close(): void {
    if (this.#session !== null) this.#drop(this.#session)
  }

  #request(session: Session, { path, token }: Call, metadata: Record<string, string> = {}): http2.ClientHttp2Stream {
    return session.request({
      ':method': 'POST',
      ':path': path,
      'content-type': 'application/grpc',
      te: 'trailers',
      ...(token === null ? {} : { token }),
      ...metadata,
    })
  }

  #drop(session: Session): void {
    if (this.#session === session) this.#session = null
    session.destroy()
  }

  async #connect(timeoutMs: number): Promise<Session> {
    if (this.#session !== null && !this.#session.closed && !this.#session.destroyed) return this.#session
    this.#connecting ??= this.#open(timeoutMs).finally(() => {
      this.#connecting = null
    })
    return this.#connecting
  }

  #open(timeoutMs: number): Promise<Session> {
    return new Promise((resolve, reject) => {
      const settings = { initialWindowSize: WINDOW_BYTES, enablePush: false }
      const session = http2.connect(this.#origin, { ...this.#tls, settings, maxSessionMemory: MOST_MEMORY_MB })
      const fail = (message: string, cause?: unknown): void => {
        clearTimeout(timer)
        session.destroy()
        reject(new CallLost('connecting', message, cause))
      }
      const timer = setTimeout(() => fail(`no connection within ${timeoutMs} ms`), timeoutMs)
      session.on('error', (error) => fail(error.message, error))
      session.on('close', () => {
        if (this.#session === session) this.#session = null
        fail('the connection was closed')
      })
      session.once('connect', () => {
        clearTimeout(timer)
        this.#session = session
        session.unref()
        resolve(session)
      })
    })
  }
}

interface Status {
  code: number
  message: string
}

/** It is in the trailers, or in the headers if there is nothing else. `-1`: none came. */
function readStatus(stream: http2.ClientHttp2Stream): Status {
  const status: Status = { code: -1, message: 'no status came' }
  const note = (headers: Headers): void => {
    const code = headers['grpc-status']
    if (code !== undefined) status.code = Number(code)
    const message = headers['grpc-message']
    if (message !== undefined) status.message = percentDecoded(String(message))
  }
  stream.on('response', note)
  stream.on('trailers', note)
  return status
}

/** As it came, if a proxy wrote something else into it. */
function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** A connection has 2 ** 30 streams. The request was not sent. */
function isUsedUp(error: unknown): boolean {
  return (error as NodeJS.ErrnoException | undefined)?.code === 'ERR_HTTP2_OUT_OF_STREAMS'
}

function frame(body: Buffer): Buffer {
  const bytes = Buffer.allocUnsafe(HEAD_BYTES + body.length)
  bytes[0] = 0
  bytes.writeUInt32BE(body.length, 1)
  body.copy(bytes, HEAD_BYTES)
  return bytes
}
