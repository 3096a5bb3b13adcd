import { once } from 'node:events'
import { createServer, type Server, type Socket, connect as tcpConnect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

export type ProxyMode =
  | 'pass'
  /** Nothing gets through for now. With the next mode it all arrives, late: what TCP makes of a short partition. */
  | 'hold'
  /** Both ways swallow everything, and connections stay open. */
  | 'black-hole'
  | 'lose-requests'
  /** The server executes requests, and the answers are lost. */
  | 'lose-answers'
  /** Existing connections stay open. New ones are reset, which is as close to refused as a held port gets. */
  | 'refuse'

/**
 * Stands between clients and one server, and does to their connections what networks do.
 *
 * A stream never continues behind a hole, since TCP would not let it: a connection that lost something stays silent in that
 * direction, and is reset once the mode is `pass` again. Its owner must not block: while it does, the proxy passes nothing.
 */
export interface TcpProxy {
  readonly port: number
  /** Connections that a client holds open. */
  readonly connections: number
  /** Bytes that came in, and those of them that were lost: proof that a fault met something. */
  readonly arrived: Readonly<Traffic>
  readonly swallowed: Readonly<Traffic>
  mode(mode: ProxyMode): void
  /** For each way. Order is kept, also when the delay shrinks. */
  delay(ms: number): void
  /** Resets all connections, at both ends. */
  cut(): void
  /** Closes the server's ends without notice to the clients: what a host that loses power leaves behind. */
  halfOpen(): void
  close(): Promise<void>
}

/** For a server at this address. Listens on loopback, on a port of its own. */
export async function startProxy(target: { readonly host: string; readonly port: number }): Promise<TcpProxy> {
  const line = createLine()
  const links = new Set<Link>()
  /** Their clients have disconnected, and the server may not have noticed. */
  const orphans = new Set<Link>()
  const reset = (link: Link): void => {
    links.delete(link)
    orphans.delete(link)
    for (const way of link.ways) way.hasHole = true
    resetSocket(link.client)
    resetSocket(link.upstream)
  }
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    if (line.mode === 'refuse') {
      client.resetAndDestroy()
      return
    }
    const upstream = tcpConnect({ ...target, allowHalfOpen: true, noDelay: true })
    const link = { client, upstream, ways: [joinWay(line, 'requests', client, upstream)] }
    link.ways.push(joinWay(line, 'answers', upstream, client))
    links.add(link)
    client.once('close', () => links.delete(link) && orphans.add(link))
    upstream.once('close', () => orphans.delete(link))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: portOf(server),
    get connections() {
      return links.size
    },
    arrived: line.arrived,
    swallowed: line.swallowed,
    mode(mode) {
      line.setMode(mode)
      if (mode !== 'pass') return
      for (const link of [...links, ...orphans]) if (link.ways.some((way) => way.hasHole)) reset(link)
    },
    delay(ms) {
      line.delayMs = ms
    },
    cut: () => links.forEach(reset),
    halfOpen() {
      for (const link of links) {
        for (const way of link.ways) way.hasHole = true
        link.upstream.destroy()
      }
    },
    async close() {
      if (!server.listening) return
      const closed = once(server, 'close')
      server.close()
      line.setMode('black-hole') // Frees what is held.
      for (const link of [...links, ...orphans]) reset(link)
      await closed
    },
  }
}

interface Traffic {
  requests: number
  answers: number
}

interface Link {
  readonly client: Socket
  readonly upstream: Socket
  readonly ways: Way[]
}

/** One direction of one connection. */
interface Way {
  /** Something was lost on it, so nothing that comes later may arrive. */
  hasHole: boolean
}

/** What all connections of a proxy have in common. */
interface Line {
  readonly mode: ProxyMode
  setMode(mode: ProxyMode): void
  delayMs: number
  readonly arrived: Traffic
  readonly swallowed: Traffic
  /** Resolves once the mode is not `hold`. */
  released(): Promise<void>
}

function createLine(): Line {
  let mode: ProxyMode = 'pass'
  let gate = Promise.withResolvers<void>()
  gate.resolve()
  return {
    delayMs: 0,
    arrived: { requests: 0, answers: 0 },
    swallowed: { requests: 0, answers: 0 },
    get mode() {
      return mode
    },
    setMode(next) {
      if (next === 'hold' && mode !== 'hold') gate = Promise.withResolvers()
      if (next !== 'hold') gate.resolve()
      mode = next
    },
    released: () => gate.promise,
  }
}

/** Carries data, ends and resets from one socket to the other, one after the other. */
function joinWay(line: Line, what: keyof Traffic, from: Socket, to: Socket): Way {
  const way: Way = { hasHole: false }
  let last: Promise<unknown> = Promise.resolve()
  const carry = (bytes: number, arrive: () => void) => {
    line.arrived[what] += bytes
    const travelled = line.delayMs > 0 ? sleep(line.delayMs, undefined, { ref: false }) : undefined
    last = Promise.all([last, travelled]).then(async () => {
      await line.released()
      way.hasHole ||= line.mode === 'black-hole' || line.mode === `lose-${what}`
      if (way.hasHole) line.swallowed[what] += bytes
      else if (!to.destroyed) arrive()
    })
  }
  from.on('data', (chunk) => carry(chunk.length, () => to.write(chunk)))
  from.once('end', () => carry(0, () => to.end()))
  from.on('error', () => carry(0, () => resetSocket(to)))
  return way
}

/** One that is about to end can't be reset: Node would keep its handle for ever, and spin when the process ends. */
function resetSocket(socket: Socket): void {
  if (socket.writableEnded) socket.destroy()
  else socket.resetAndDestroy()
}

function portOf(server: Server): number {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('a TCP server has a port')
  return address.port
}
