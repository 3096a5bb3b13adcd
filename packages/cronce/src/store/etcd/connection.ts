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

const { NGHTTP2_CANCEL, NGHTTP2_REFUSED_STREAM } = http2.constants
const WINDOW_BYTES = 4 << 20
const HEAD_BYTES = 5
/** Of the buffers of one connection: what a list of thousands takes, many times over. */
const MOST_MEMORY_MB = 100

/** gRPC with one member, over HTTP/2: connects when it is first used, and again after the connection was lost. */
export class Connection {
  readonly #origin: string
  readonly #tls: ConnectionOptions
  /** By what stops them: what ends them. */
  readonly #streams = new Map<() => void, (error: Error) => void>()
  #session: Session | null = null
  #connecting: Promise<Session> | null = null
  #opening: Session | null = null

  constructor(origin: string, tls: ConnectionOptions) {
    this.#origin = origin
    this.#tls = tls
  }

  /** One message there, one back. */
  async call(call: Call, timeoutMs: number): Promise<Buffer> {
    const deadline = performance.now() + timeoutMs
    const session = await this.#connect(timeoutMs)
    if (performance.now() >= deadline) throw new CallLost('connecting', `no connection within ${timeoutMs} ms`)
    const stream = this.#request(session, call)
    return new Promise((resolve, reject) => {
      stream.end(frame(call.body))
      const lose = (message: string, cause?: unknown): void => {
        clearTimeout(timer)
        const isUntouched = isUsedUp(cause) || stream.rstCode === NGHTTP2_REFUSED_STREAM
        reject(new CallLost(isUntouched ? 'connecting' : 'sent', message, cause))
      }
      const timer = setTimeout(() => {
        lose(`no answer within ${timeoutMs} ms`)
        // A connection that swallows everything never closes by itself.
        this.#drop(session)
      }, deadline - performance.now())
      const messages = new Messages()
      const status = readStatus(stream)
      let answer: Buffer | undefined
      stream.on('data', (part: Buffer) => {
        for (const message of messages.add(part)) answer ??= message
      })
      stream.on('error', (error) => {
        // The next call connects again; those under way go on.
        if (isUsedUp(error)) session.close()
        lose(error.message, error)
      })
      stream.on('close', () => lose('the stream was closed'))
      stream.on('end', () => {
        clearTimeout(timer)
        if (status.code > 0) reject(new GrpcError(status.code, status.message))
        else if (status.code === 0 && answer !== undefined) resolve(answer)
        else lose(status.code === 0 ? 'the answer was cut off' : status.message)
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
    const messages = new Messages()
    const end = (error: Error): void => {
      if (!this.#streams.delete(stop)) return
      stream.close(NGHTTP2_CANCEL)
      onEnd(error)
    }
    const stop = (): void => {
      this.#streams.delete(stop)
      stream.close(NGHTTP2_CANCEL)
    }
    this.#streams.set(stop, end)
    stream.write(frame(call.body))
    stream.on('data', (part: Buffer) => {
      try {
        for (const message of messages.add(part)) if (this.#streams.has(stop)) onMessage(message)
      } catch (error) {
        end(error as Error)
      }
    })
    const over = (): void => {
      end(status.code > 0 ? new GrpcError(status.code, status.message) : new CallLost('sent', 'the stream was closed'))
    }
    stream.on('error', (error) => end(new CallLost('sent', error.message, error)))
    // The server may end its side only.
    stream.on('end', over)
    stream.on('close', over)
    return stop
  }

  /** This member is not asked any more, so a stream that has fallen silent would never be noticed. */
  endStreams(why: string): void {
    for (const end of [...this.#streams.values()]) end(new CallLost('sent', why))
  }

  close(): void {
    if (this.#session !== null) this.#drop(this.#session)
    // What waits for it is not sent.
    this.#opening?.destroy()
  }

  #request(session: Session, { path, token }: Call, metadata: Record<string, string> = {}): http2.ClientHttp2Stream {
    try {
      return session.request({
        ':method': 'POST',
        ':path': path,
        'content-type': 'application/grpc',
        te: 'trailers',
        ...(token === null ? {} : { token }),
        ...metadata,
      })
    } catch (error) {
      // It was closed in this moment.
      throw new CallLost('connecting', (error as Error).message, error)
    }
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
    // The call that began it may have more time.
    return inTime(this.#connecting, timeoutMs)
  }

  #open(timeoutMs: number): Promise<Session> {
    return new Promise((resolve, reject) => {
      const settings = { initialWindowSize: WINDOW_BYTES, enablePush: false }
      const session = http2.connect(this.#origin, { ...this.#tls, settings, maxSessionMemory: MOST_MEMORY_MB })
      this.#opening = session
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
        this.#opening = null
        session.unref()
        resolve(session)
      })
    })
  }
}

/** Messages as they come, in parts of any size. */
class Messages {
  #parts: Buffer[] = []
  #length = 0

  /** Those that are whole now. Parts are put together once for each message, not for each part. */
  add(part: Buffer): Buffer[] {
    const whole: Buffer[] = []
    this.#parts.push(part)
    this.#length += part.length
    while (this.#length >= HEAD_BYTES) {
      if (this.#parts[0]!.length < HEAD_BYTES) this.#parts = [Buffer.concat(this.#parts)]
      const size = HEAD_BYTES + this.#parts[0]!.readUInt32BE(1)
      if (this.#length < size) break
      const bytes = this.#parts.length === 1 ? this.#parts[0]! : Buffer.concat(this.#parts)
      this.#parts = [bytes.subarray(size)]
      this.#length -= size
      whole.push(bytes.subarray(HEAD_BYTES, size))
    }
    return whole
  }
}

/** Nothing was sent while the connection was made. */
async function inTime<Value>(connecting: Promise<Value>, timeoutMs: number): Promise<Value> {
  const late = Promise.withResolvers<never>()
  const lose = (): void => late.reject(new CallLost('connecting', `no connection within ${Math.ceil(timeoutMs)} ms`))
  const timer = setTimeout(lose, timeoutMs)
  try {
    return await Promise.race([connecting, late.promise])
  } finally {
    clearTimeout(timer)
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
