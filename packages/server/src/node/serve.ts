import { createServer, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { CronceError } from 'cronce'
import type { Handler } from '../create-handler.ts'
import { oldestOfBusiest } from '../oldest-of.ts'
import { toNode } from './to-node.ts'

/** Options of `serve()`. */
export interface ServeOptions {
  /** @default '127.0.0.1' */
  readonly host?: string | undefined
  /** 0: any that is free. @default 7070 */
  readonly port?: number | undefined
  /** Connections at a time, streams of events among them. @default 1,024 */
  readonly connections?: number | undefined
}

/** A server that listens. */
export interface Served {
  /** Where it listens, without a slash at the end. */
  readonly url: string
  readonly port: number
  /** Take no more requests, end the streams, let the others finish for 5 s. */
  close(): Promise<void>
}

const CLOSE_MS = 5_000
const IDLE_MS = 50

/** A server of its own for the handler, with bounds on how long a request may take. */
export async function serve(handler: Handler, options: ServeOptions = {}): Promise<Served> {
  const { host = '127.0.0.1', port = 7070, connections = 1_024 } = options
  const server = createServer(
    {
      ...{ headersTimeout: 10_000, requestTimeout: 30_000, keepAliveTimeout: 5_000, maxHeaderSize: 16_384 },
      connectionsCheckingInterval: 2_000,
    },
    toNode(handler),
  )
  const waiting = boundConnections(server, connections)
  await listen(server, host, port)
  const { port: actual, address, family } = server.address() as AddressInfo
  const name = family === 'IPv6' ? `[${address}]` : address
  let closing: Promise<void> | null = null
  return {
    url: `http://${name}:${actual}`,
    port: actual,
    close() {
      closing ??= closeServer(server, waiting, handler)
      return closing
    },
  }
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const refused = (cause: NodeJS.ErrnoException): void => {
      const where = `${host}:${port}`
      const isTaken = cause.code === 'EADDRINUSE'
      const message = isTaken
        ? `Another process listens on ${where} already.`
        : `Can't listen on ${where}: ${cause.message}.`
      const hint = isTaken ? 'Choose another port, or 0 for any that is free.' : 'Choose another address.'
      reject(new CronceError(isTaken ? 'ADDRESS_IN_USE' : 'LISTEN_FAILED', message, { hint, cause }))
    }
    server.once('error', refused)
    server.listen(port, host, () => {
      server.off('error', refused)
      resolve()
    })
  })
}

interface Waiting {
  readonly socket: Socket
  readonly address: string
}

/**
 * Bounds the number of connections, and answers those that have no request under way, the oldest first. When there are too many, the
 * oldest of these goes, of the address that has the most: honest clients send a request at once, and connect again if they must.
 */
function boundConnections(server: Server, most: number): Iterable<Waiting> {
  const waiting = new Map<Socket, Waiting>()
  let open = 0
  const wait = (socket: Socket): void => {
    if (!socket.destroyed) waiting.set(socket, { socket, address: socket.remoteAddress ?? '' })
  }
  server.on('connection', (socket) => {
    open++
    wait(socket)
    socket.once('close', () => {
      open--
      waiting.delete(socket)
    })
    const surplus = open > most ? oldestOfBusiest([...waiting.values()]) : undefined
    if (surplus === undefined) return
    waiting.delete(surplus.socket)
    surplus.socket.destroy()
  })
  server.on('request', ({ socket }, response) => {
    waiting.delete(socket)
    response.once('close', () => wait(socket))
  })
  return { [Symbol.iterator]: () => waiting.values() }
}

async function closeServer(server: Server, waiting: Iterable<Waiting>, handler: Handler): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  handler.close()
  // Node does not count connections as idle that clients have opened in advance.
  for (const { socket } of waiting) socket.destroy()
  // Connections become idle one after the other, and would be kept for the next request.
  const idle = setInterval(() => server.closeIdleConnections(), IDLE_MS)
  const timer = setTimeout(() => server.closeAllConnections(), CLOSE_MS)
  await closed
  clearInterval(idle)
  clearTimeout(timer)
}
