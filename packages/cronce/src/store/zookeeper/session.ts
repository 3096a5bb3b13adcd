import net from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import tls from 'node:tls'
import type { User } from '../kv/address.ts'
import { CallLost } from './call-lost.ts'
import { frame, JuteReader, JuteWriter } from './jute.ts'
import { CLOSE, ERROR, OP, PING, type Request, ZooKeeperError } from './messages.ts'

export interface Target {
  readonly name: string
  readonly servers: readonly { readonly host: string; readonly port: number }[]
  /** `null`: without TLS. */
  readonly tls: tls.ConnectionOptions | null
  readonly user: User | null
  readonly timeoutMs: number
}

export interface SessionOptions {
  /** The server ends the session when it has heard nothing for this long. */
  readonly ttlMs: number
  /** It is kept by pings of its own, and replaced when it has ended. Otherwise it lasts as long as requests are sent. */
  readonly isKept: boolean
}

/** The result of one request: its answer, or the error of the server. */
export type Reply = { readonly answer: unknown } | { readonly error: ZooKeeperError }

interface Waiting {
  readonly request: Request<unknown>
  readonly xid: number
  readonly resolve: (reply: Reply) => void
  readonly reject: (error: Error) => void
}

const PING_XID = -2
const EVENT_XID = -1
const AUTH_XID = -4
const HEADER_BYTES = 4
/** The longest that a server may take to accept a session, if another one is left to try. */
const MOST_HANDSHAKE_MS = 1_000
const RECONNECT_MS = 50
const CLOSE_MS = 200
const NO_PASSWORD = Buffer.alloc(16)

/**
 * A session with an ensemble, over one connection at a time. Requests are answered in their order. What can't be sent now is not kept
 * for later: a request whose caller has given up is never sent.
 */
export class Session {
  readonly #target: Target
  readonly #options: SessionOptions
  readonly #waiting: Waiting[] = []
  readonly #onEvent = new Set<(path: string | null) => void>()
  #socket: net.Socket | null = null
  #connecting: Promise<net.Socket> | null = null
  #pings: NodeJS.Timeout | null = null
  #server: number
  #xid = 0
  #id = 0n
  #password: Buffer = NO_PASSWORD
  #lastZxid = 0n
  #negotiatedMs = 0
  #isOver = false

  constructor(target: Target, options: SessionOptions) {
    this.#target = target
    this.#options = options
    // Each process prefers another server, so that they share the load.
    this.#server = Math.floor(Math.random() * target.servers.length)
  }

  get id(): bigint {
    return this.#id
  }

  /** The last transaction that a server is known to have applied. */
  get zxid(): bigint {
    return this.#lastZxid
  }

  /** How long the server keeps it without a request. */
  get negotiatedMs(): number {
    return this.#negotiatedMs
  }

  /** `null`: the connection was lost, and all watches with it. */
  onEvent(listener: (path: string | null) => void): () => void {
    this.#onEvent.add(listener)
    return () => this.#onEvent.delete(listener)
  }

  /**
   * All at once over one connection, one after the other. Rejects with `CallLost` if there is no connection in time or it is lost
   * before the last answer, and with `sessionExpired` if the session has ended.
   */
  async send(requests: readonly Request<unknown>[], timeoutMs: number): Promise<Reply[]> {
    const deadline = performance.now() + timeoutMs
    const socket = await this.#connected(deadline)
    const frames: Buffer[] = []
    const replies = requests.map((request) => {
      const xid = this.#nextXid(request)
      frames.push(encodeRequest(xid, request))
      return new Promise<Reply>((resolve, reject) => this.#waiting.push({ request, xid, resolve, reject }))
    })
    socket.ref()
    socket.write(Buffer.concat(frames))
    // Answers come in order: one that does not come holds up all others.
    const timer = setTimeout(
      () => socket.destroy(new Error(`no answer within ${timeoutMs} ms`)),
      Math.max(1, deadline - performance.now()),
    )
    try {
      return await Promise.all(replies)
    } finally {
      clearTimeout(timer)
      if (this.#waiting.length === 0) socket.unref()
    }
  }

  /** The server that is connected now may be behind, or frozen: go to the next one. */
  leave(): void {
    this.#socket?.destroy(new Error('another server is asked'))
  }

  /** With `isEnded`, the server ends the session at once; otherwise it lasts for its time. */
  async close(isEnded: boolean): Promise<void> {
    if (isEnded && this.#socket !== null) await this.send([CLOSE], CLOSE_MS).catch(() => {})
    this.#isOver = true
    this.#socket?.destroy()
  }

  #nextXid({ type }: Request<unknown>): number {
    this.#xid = (this.#xid + 1) % 0x7fffffff
    return type === OP.ping ? PING_XID : this.#xid
  }

  async #connected(deadline: number): Promise<net.Socket> {
    for (;;) {
      if (this.#isOver) throw new ZooKeeperError(ERROR.sessionExpired)
      if (this.#socket !== null) return this.#socket
      const left = deadline - performance.now()
      try {
        this.#connecting ??= this.#connect(left).finally(() => {
          this.#connecting = null
        })
        await this.#connecting
      } catch (error) {
        if (error instanceof ZooKeeperError) throw error
        if (performance.now() + RECONNECT_MS >= deadline) {
          throw new CallLost('connecting', error instanceof Error ? error.message : String(error), error)
        }
        await sleep(RECONNECT_MS)
      }
    }
  }

  async #connect(leftMs: number): Promise<net.Socket> {
    const { servers, tls: secure } = this.#target
    const { host, port } = servers[this.#server++ % servers.length]!
    const socket =
      secure === null ? net.connect({ host, port }) : tls.connect({ host, port, servername: host, ...secure })
    socket.setNoDelay(true)
    const timeoutMs = Math.max(1, servers.length === 1 ? leftMs : Math.min(leftMs, MOST_HANDSHAKE_MS))
    const timer = setTimeout(
      () => socket.destroy(new Error(`no connection within ${Math.ceil(timeoutMs)} ms`)),
      timeoutMs,
    )
    try {
      await this.#handshake(socket, secure === null ? 'connect' : 'secureConnect')
    } catch (error) {
      socket.destroy()
      throw error
    } finally {
      clearTimeout(timer)
    }
    // Closed while it was connecting.
    if (this.#isOver) {
      socket.destroy()
      throw new ZooKeeperError(ERROR.sessionExpired)
    }
    this.#socket = socket
    this.#keep()
    return socket
  }

  /** From here on the socket belongs to the session, until it closes. */
  #handshake(socket: net.Socket, connected: string): Promise<void> {
    return new Promise((resolve, reject) => {
      let isWelcome = false
      let failure: Error = new Error('the server closed the connection')
      socket.once(connected, () => socket.write(this.#hello()))
      socket.on('error', (error) => {
        failure = error
      })
      socket.on('close', () => {
        reject(failure)
        if (isWelcome) this.#lose(socket, failure)
      })
      receiveFrames(socket, (bytes) => {
        const reader = new JuteReader(bytes)
        if (isWelcome) return this.#receive(reader)
        isWelcome = true
        const refusal = this.#welcome(reader)
        if (refusal === null) resolve()
        else reject(refusal)
      })
    })
  }

  #hello(): Buffer {
    const { ttlMs } = this.#options
    const body = new JuteWriter().int(0).long(this.#lastZxid).int(Math.ceil(ttlMs)).long(this.#id).bytes(this.#password)
    const frames = [frame(body.bool(false).body)]
    const { user } = this.#target
    if (user !== null) {
      const secret = Buffer.from(`${user.name}:${user.password}`)
      const auth = new JuteWriter().int(AUTH_XID).int(OP.auth).int(0).text('digest').bytes(secret)
      frames.push(frame(auth.body))
    }
    return Buffer.concat(frames)
  }

  /** Why the session can't be used. */
  #welcome(reader: JuteReader): Error | null {
    reader.int()
    const negotiatedMs = reader.int()
    const id = reader.long()
    if (negotiatedMs > 0) {
      this.#negotiatedMs = negotiatedMs
      this.#id = id
      this.#password = Buffer.from(reader.bytes())
      return null
    }
    if (!this.#options.isKept) {
      this.#isOver = true
      return new ZooKeeperError(ERROR.sessionExpired)
    }
    this.#id = 0n
    this.#password = NO_PASSWORD
    return new Error('the session had ended')
  }

  #receive(reader: JuteReader): void {
    const xid = reader.int()
    const zxid = reader.long()
    const code = reader.int()
    if (zxid > this.#lastZxid) this.#lastZxid = zxid
    if (xid === EVENT_XID) {
      reader.int()
      reader.int()
      const path = reader.text()
      for (const tell of this.#onEvent) tell(path)
      return
    }
    if (xid === AUTH_XID) {
      if (code !== 0) this.#socket?.destroy(new ZooKeeperError(ERROR.authFailed))
      return
    }
    const [waiting] = this.#waiting
    // The answer to another request must not pass for that to a write.
    if (waiting?.xid !== xid) throw new RangeError('an answer without a request')
    // If it can't be read, the connection ends, and with it the wait of everyone who is still on the list.
    const reply = code === 0 ? { answer: waiting.request.read(reader) } : { error: new ZooKeeperError(code) }
    this.#waiting.shift()
    waiting.resolve(reply)
  }

  #lose(socket: net.Socket, failure: Error): void {
    if (this.#socket !== socket) return
    this.#socket = null
    if (this.#pings !== null) clearInterval(this.#pings)
    for (const { reject } of this.#waiting.splice(0)) reject(new CallLost('sent', failure.message, failure))
    for (const tell of this.#onEvent) tell(null)
  }

  #keep(): void {
    if (!this.#options.isKept) return
    if (this.#pings !== null) clearInterval(this.#pings)
    const everyMs = this.#negotiatedMs / 3
    this.#pings = setInterval(() => void this.send([PING], everyMs).catch(() => {}), everyMs)
    this.#pings.unref()
  }
}

function encodeRequest(xid: number, { type, body }: Request<unknown>): Buffer {
  return frame(Buffer.concat([new JuteWriter().int(xid).int(type).body, body]))
}

/** Calls `onFrame` with the body of each. What can't be read ends the connection. */
function receiveFrames(socket: net.Socket, onFrame: (bytes: Buffer) => void): void {
  let chunks: Buffer[] = []
  let length = 0
  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    length += chunk.length
    try {
      let bytes = chunks[0]!
      while (length >= HEADER_BYTES) {
        if (chunks.length > 1 && bytes.length < HEADER_BYTES) bytes = Buffer.concat(chunks)
        const size = HEADER_BYTES + bytes.readInt32BE()
        if (length < size) break
        if (chunks.length > 1) bytes = Buffer.concat(chunks)
        onFrame(bytes.subarray(HEADER_BYTES, size))
        bytes = bytes.subarray(size)
        length -= size
        chunks = [bytes]
      }
    } catch (error) {
      socket.destroy(error as Error)
    }
  })
}
