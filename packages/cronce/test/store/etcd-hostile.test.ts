import assert from 'node:assert/strict'
import { once } from 'node:events'
import http2 from 'node:http2'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { describe, test } from 'node:test'
import { ClockKeeper } from '../../src/store/etcd/clock-keeper.ts'
import { type CallLost, Connection, GrpcError } from '../../src/store/etcd/connection.ts'
import { EtcdDriver } from '../../src/store/etcd/driver.ts'
import { Link } from '../../src/store/etcd/link.ts'
import { GRANT, KEEP_ALIVE, LOG_IN, READ, TXN, WATCHING } from '../../src/store/etcd/messages.ts'
import { decode, encode, flag, id, integer, message, type Schema, text } from '../../src/store/etcd/protobuf.ts'
import { ServerClock } from '../../src/store/kv/server-clock.ts'

// A server that speaks HTTP/2 and is at fault in everything else: what a broken member, or a proxy in front of it, can do to a process.

type Stream = http2.ServerHttp2Stream
type Behavior = (stream: Stream, path: string, count: number) => void

interface Hostile extends AsyncDisposable {
  readonly url: string
  /** Paths of all requests so far. */
  readonly asked: readonly string[]
  readonly sessions: number
  readonly open: number
}

const { constants } = http2
const PATIENCE_MS = 60_000

async function startHostile(behave: Behavior): Promise<Hostile> {
  const server = http2.createServer()
  const asked: string[] = []
  const sessions = new Set<http2.ServerHttp2Session>()
  let sessionCount = 0
  let open = 0
  server.on('session', (session) => {
    sessionCount++
    sessions.add(session)
    session.on('close', () => sessions.delete(session))
    session.on('error', () => {})
  })
  server.on('stream', (stream, headers) => {
    const path = String(headers[':path'])
    asked.push(path)
    open++
    stream.on('close', () => open--)
    stream.on('error', () => {})
    stream.resume()
    behave(stream, path, asked.length)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    get sessions() {
      return sessionCount
    },
    get open() {
      return open
    },
    async [Symbol.asyncDispose]() {
      for (const session of sessions) session.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function framed(body: Buffer, length = body.length): Buffer {
  const head = Buffer.alloc(5)
  head.writeUInt32BE(length, 1)
  return Buffer.concat([head, body])
}

/** One message and a status, as a member answers. */
function answer(stream: Stream, body: Buffer, { status = '0', length = body.length } = {}): void {
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': status }))
  stream.end(framed(body, length))
}

const CALL = { path: '/a/B', body: Buffer.from('ask'), token: null }

function outcomeOf(asking: Promise<unknown>): Promise<string> {
  return asking.then(
    () => 'answered',
    (error: Error) =>
      error instanceof GrpcError ? `status ${error.code}` : ((error as CallLost).progress ?? `${error}`),
  )
}

async function until(isMet: () => boolean): Promise<void> {
  const limit = Date.now() + PATIENCE_MS
  while (!isMet()) {
    assert.ok(Date.now() < limit, 'it never came')
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

function linkTo(endpoints: readonly string[], more: Partial<Link['target']> = {}): Link {
  return new Link({ name: 'etcd', endpoints, tls: {}, user: null, timeoutMs: 5_000, ...more })
}

/** A process begins with a member drawn at random: here, with this one. */
function linkFrom(first: string, endpoints: readonly string[], more: Partial<Link['target']> = {}): Link {
  for (;;) {
    const link = linkTo(endpoints, more)
    if (link.endpoint === first) return link
    link.close()
  }
}

function driverOn(link: Link): EtcdDriver {
  const clock = new ServerClock(() => performance.now())
  return new EtcdDriver(link, new ClockKeeper('etcd', clock, () => link.endpoint, {}), 'kit\0')
}

describe('messages that no member sends', () => {
  const inner: Schema = { name: text(1), count: integer(2) }
  const schema: Schema = { large: id(3), on: flag(4), one: message(5, () => inner) }

  test('a message that was cut off anywhere is refused, and the process does not hang', () => {
    const bytes = encode({ large: '18446744073709551615', on: true, one: { name: 'abc', count: 2 ** 40 } }, schema)
    const ends = new Set([0, 11, 13, bytes.length])
    for (let length = 0; length <= bytes.length; length++) {
      const read = () => decode(bytes.subarray(0, length), schema)
      if (ends.has(length)) assert.doesNotThrow(read)
      else assert.throws(read, /cut off/, `after ${length} bytes`)
    }
  })

  test('a message inside another one does not reach beyond it', () => {
    // Field 5, of two bytes: field 1 of it claims to have four.
    assert.throws(() => decode(Buffer.from([42, 2, 10, 4, 97, 98, 99, 100]), schema), /cut off/)
  })

  test('a field of another kind than it should be is refused', () => {
    assert.throws(() => decode(Buffer.from([3 * 8 + 2, 1, 97]), schema), /wire type/)
    assert.throws(() => decode(Buffer.from([99, 1, 97]), { on: flag(4) }), /wire type/)
    assert.throws(() => decode(Buffer.alloc(20, 255), schema), /wire type|number/)
  })

  test('a negative number is read as one', () => {
    assert.deepEqual(decode(encode({ count: -1 }, inner), inner), { name: '', count: -1 })
    assert.deepEqual(decode(encode({ count: 2 ** 53 - 1 }, inner), inner), { name: '', count: 2 ** 53 - 1 })
  })
})

describe('a call', () => {
  test('is lost if its stream is reset, whatever the reason, and the next one is answered on the same connection', async () => {
    const codes = [
      constants.NGHTTP2_NO_ERROR,
      constants.NGHTTP2_CANCEL,
      constants.NGHTTP2_INTERNAL_ERROR,
      constants.NGHTTP2_ENHANCE_YOUR_CALM,
    ]
    await using server = await startHostile((stream, _, count) => {
      if (count > codes.length) answer(stream, Buffer.alloc(0))
      else stream.close(codes[count - 1])
    })
    const connection = new Connection(server.url, {})
    for (const code of codes) {
      const outcome = await outcomeOf(connection.call(CALL, PATIENCE_MS))
      assert.match(outcome, /^(sent|status -1)$/, `reset ${code}`)
    }
    assert.equal(await outcomeOf(connection.call(CALL, PATIENCE_MS)), 'answered')
    assert.equal(server.sessions, 1)
    connection.close()
  })

  test('that the server refused to look at was not sent', async () => {
    await using server = await startHostile((stream) => stream.close(constants.NGHTTP2_REFUSED_STREAM))
    const connection = new Connection(server.url, {})
    assert.equal(await outcomeOf(connection.call(CALL, PATIENCE_MS)), 'connecting')
    connection.close()
  })

  test('is not answered by what was cut off, though its status is good', async () => {
    const cuts = [
      (stream: Stream) => answer(stream, Buffer.from('abc'), { length: 1_000 }),
      (stream: Stream) => {
        stream.respond({ ':status': 200, 'grpc-status': '0' })
        stream.end(Buffer.from([0, 0]))
      },
      (stream: Stream) => {
        stream.respond({ ':status': 200 })
        stream.end(framed(Buffer.from('abc')))
      },
      (stream: Stream) => {
        stream.respond({ ':status': 503 })
        stream.end('upstream is away')
      },
    ]
    await using server = await startHostile((stream, _, count) => cuts[count - 1]!(stream))
    const connection = new Connection(server.url, {})
    for (const index of cuts.keys()) {
      assert.match(await outcomeOf(connection.call(CALL, PATIENCE_MS)), /^(sent|status -1)$/, `cut ${index}`)
    }
    connection.close()
  })

  test('goes over a new connection once the server has said that it goes away; those under way end', async () => {
    const held: Stream[] = []
    await using server = await startHostile((stream, _, count) => {
      if (count > 2) return answer(stream, Buffer.alloc(0))
      held.push(stream)
      if (count === 2) {
        stream.session!.goaway()
        setTimeout(() => held.forEach((one) => void answer(one, Buffer.alloc(0))), 50)
      }
    })
    const connection = new Connection(server.url, {})
    const early = [outcomeOf(connection.call(CALL, PATIENCE_MS)), outcomeOf(connection.call(CALL, PATIENCE_MS))]
    await until(() => held.length === 2)
    assert.deepEqual(await Promise.all(early), ['answered', 'answered'])
    assert.equal(await outcomeOf(connection.call(CALL, PATIENCE_MS)), 'answered')
    assert.equal(server.sessions, 2)
    connection.close()
  })

  test('is lost if the server goes away with an error; the next one connects again', async () => {
    await using server = await startHostile((stream, _, count) => {
      if (count === 1) stream.session!.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM)
      else answer(stream, Buffer.alloc(0))
    })
    const connection = new Connection(server.url, {})
    assert.equal(await outcomeOf(connection.call(CALL, PATIENCE_MS)), 'sent')
    assert.equal(await outcomeOf(connection.call(CALL, PATIENCE_MS)), 'answered')
    connection.close()
  })

  test('has an answer of any size', async () => {
    const large = Buffer.alloc(48 << 20, 7)
    await using server = await startHostile((stream) => answer(stream, large))
    const connection = new Connection(server.url, {})
    assert.ok(large.equals(await connection.call(CALL, PATIENCE_MS)))
    connection.close()
  })

  test('that waits for the connection of another call gives up in its own time, and is not sent afterwards', async () => {
    // Accepts a connection, and says nothing for as long as TLS waits for it.
    const silent = createServer((socket) => socket.on('error', () => {}))
    silent.listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const connection = new Connection(`https://127.0.0.1:${(silent.address() as AddressInfo).port}`, {})
    let isFirstOver = false
    const first = outcomeOf(connection.call(CALL, PATIENCE_MS)).finally(() => {
      isFirstOver = true
    })
    assert.equal(await outcomeOf(connection.call(CALL, 50)), 'connecting')
    assert.equal(isFirstOver, false)
    connection.close()
    assert.equal(await first, 'connecting')
    silent.close()
  })
})

describe('a stream', () => {
  const listen = async (server: Hostile, onMessage: (bytes: Buffer) => void = () => {}) => {
    const connection = new Connection(server.url, {})
    const ended = Promise.withResolvers<Error>()
    await connection.stream(CALL, PATIENCE_MS, onMessage, ended.resolve)
    const patience = setTimeout(() => ended.reject(new Error('it stayed open')), PATIENCE_MS)
    return { connection, ended: ended.promise.finally(() => clearTimeout(patience)) }
  }

  test('has ended if the server has, though this side could go on writing', async () => {
    await using server = await startHostile((stream) => answer(stream, Buffer.from('last'), { status: '14' }))
    const { connection, ended } = await listen(server)
    assert.deepEqual([(await ended) instanceof GrpcError, ((await ended) as GrpcError).code], [true, 14])
    connection.close()
  })

  test('ends if its listener throws: the process goes on', async () => {
    await using server = await startHostile((stream) => {
      stream.respond({ ':status': 200 })
      stream.write(framed(Buffer.from('nonsense')))
    })
    const { connection, ended } = await listen(server, () => {
      throw new Error('nonsense')
    })
    assert.equal((await ended).message, 'nonsense')
    connection.close()
  })

  test('passes on large messages, and small ones that come in pieces', async () => {
    const bodies = [Buffer.alloc(24 << 20, 1), Buffer.alloc(0), Buffer.from('abc')]
    await using server = await startHostile((stream) => {
      stream.respond({ ':status': 200 })
      stream.write(framed(bodies[0]!))
      for (const byte of Buffer.concat(bodies.slice(1).map((body) => framed(body)))) stream.write(Buffer.from([byte]))
      stream.end()
    })
    const received: Buffer[] = []
    const { connection, ended } = await listen(server, (bytes) => received.push(bytes))
    await ended
    assert.ok(Buffer.concat(bodies).equals(Buffer.concat(received)))
    assert.equal(received.length, 3)
    connection.close()
  })
})

describe('a watch', () => {
  const created = encode({ created: true }, WATCHING.answers)
  const canceled = encode({ created: true, canceled: true }, WATCHING.answers)

  const pushed = (stream: Stream, body: Buffer): void => {
    stream.respond({ ':status': 200 })
    stream.write(framed(body))
  }

  test('that the server cancels is closed before another one begins', async () => {
    await using server = await startHostile((stream) => pushed(stream, canceled))
    const link = linkTo([server.url])
    const stop = driverOn(link).watch(
      'k',
      () => {},
      () => {},
    )
    await until(() => server.asked.length >= 4)
    await until(() => server.open <= 1)
    stop()
    link.close()
  })

  test('moves to the member that is asked, once another one gave no answer', async () => {
    await using good = await startHostile((stream, path) => {
      if (path === WATCHING.path) pushed(stream, created)
      else answer(stream, encode({ header: { revision: 5 }, responses: [] }, READ.answers))
    })
    await using bad = await startHostile((stream, path) => {
      if (path === WATCHING.path) pushed(stream, created)
      else answer(stream, Buffer.alloc(0), { status: '14' })
    })
    const link = linkFrom(bad.url, [bad.url, good.url])
    const stop = driverOn(link).watch(
      'k',
      () => {},
      () => {},
    )
    await until(() => bad.asked.includes(WATCHING.path))
    await link.call(READ, {})
    assert.equal(link.endpoint, good.url)
    await until(() => good.asked.includes(WATCHING.path) && bad.open === 0)
    stop()
    link.close()
  })

  test('of nonsense ends and begins anew', async () => {
    await using server = await startHostile((stream) => pushed(stream, Buffer.alloc(30, 255)))
    const link = linkTo([server.url])
    const stop = driverOn(link).watch(
      'k',
      () => {},
      () => {},
    )
    await until(() => server.asked.length >= 3)
    stop()
    link.close()
  })
})

describe('members that are at fault', () => {
  const good: Behavior = (stream, path) => {
    if (path === LOG_IN.path) answer(stream, encode({ token: 'good' }, LOG_IN.answers))
    else if (path === READ.path) answer(stream, encode({ header: { revision: 5 }, responses: [] }, READ.answers))
    else answer(stream, encode({ ID: '7', TTL: 9 }, GRANT.answers))
  }

  test('one that hangs leaves time for the next one: reads go on, a write that was sent does not', async () => {
    await using hung = await startHostile(() => {})
    await using next = await startHostile(good)
    const link = linkFrom(hung.url, [hung.url, next.url], { timeoutMs: 1_000 })
    await link.call(READ, {})
    assert.deepEqual([hung.asked.length, next.asked.length], [1, 1])
    link.close()
    const other = linkTo([hung.url], { timeoutMs: 300 })
    assert.equal(await outcomeOf(other.call(TXN, {})), 'sent')
    assert.equal(hung.asked.length, 2, 'sent once')
    other.close()
  })

  test('one that hangs while a user logs in leaves time for the next one', async () => {
    await using hung = await startHostile(() => {})
    await using next = await startHostile(good)
    const user = { name: 'a', password: 'b' }
    const link = linkFrom(hung.url, [hung.url, next.url], { timeoutMs: 1_000, user })
    assert.equal(await outcomeOf(link.call(TXN, {})), 'answered')
    assert.deepEqual([hung.asked, next.asked], [[LOG_IN.path], [LOG_IN.path, TXN.path]])
    link.close()
  })

  test('many calls whose token has expired log in once', async () => {
    let logins = 0
    const waiting: Stream[] = []
    await using server = await startHostile((stream, path) => {
      if (path === LOG_IN.path) {
        logins++
        answer(stream, encode({ token: `token ${logins}` }, LOG_IN.answers))
      } else if (logins === 1) {
        waiting.push(stream)
        if (waiting.length === 10) for (const one of waiting) answer(one, Buffer.alloc(0), { status: '16' })
      } else good(stream, path, 0)
    })
    const link = linkTo([server.url], { user: { name: 'a', password: 'b' } })
    const calls = Array.from({ length: 10 }, () => outcomeOf(link.call(TXN, {})))
    assert.deepEqual(new Set(await Promise.all(calls)), new Set(['answered']))
    assert.equal(logins, 2)
    link.close()
  })

  test('a lease of which a member says that it ended before now has ended', async () => {
    await using server = await startHostile((stream) =>
      answer(stream, encode({ ID: '7', TTL: -1 }, KEEP_ALIVE.answers)),
    )
    const link = linkTo([server.url])
    assert.equal(await driverOn(link).keepAlive('7'), false)
    link.close()
  })

  test('a keep-alive whose stream breaks is sent again', async () => {
    await using server = await startHostile((stream, path, count) => {
      if (count < 3) stream.close(constants.NGHTTP2_INTERNAL_ERROR)
      else good(stream, path, count)
    })
    const link = linkTo([server.url])
    assert.equal(await driverOn(link).keepAlive('7'), true)
    link.close()
  })

  test('an answer that can not be read leaves the outcome of a write unknown', async () => {
    await using server = await startHostile((stream) => answer(stream, Buffer.alloc(9, 255)))
    const driver = driverOn(linkTo([server.url]))
    const writing = driver.commit({ guards: [], puts: [], groups: [] })
    await assert.rejects(writing, { code: 'STORE_FAILED', notApplied: false })
    assert.equal(server.asked.length, 1)
    await driver.close()
  })
})
