import assert from 'node:assert/strict'
import { once } from 'node:events'
import net from 'node:net'
import { type TestContext, test } from 'node:test'
import { startZooKeeper } from '../../../../scripts/servers/index.ts'
import { startProxy } from '../../../../verification/chaos/proxy.ts'
import { StoreError } from '../../src/store/store-error.ts'
import { CallLost } from '../../src/store/zookeeper/call-lost.ts'
import { frame, JuteReader, JuteWriter } from '../../src/store/zookeeper/jute.ts'
import { ERROR, getData, setData, ZooKeeperError } from '../../src/store/zookeeper/messages.ts'
import { Session, type Target } from '../../src/store/zookeeper/session.ts'
import { zookeeper } from '../../src/store/zookeeper/zookeeper.ts'
import { OPENING } from './kv-kit.ts'
import { driverAt, targetAt } from './zookeeper-kit.ts'

const SESSION = { ttlMs: 10_000, isKept: true }
const GIVEN_UP_MS = 200

/** A server that accepts sessions on request, and gives prepared answers. */
interface FakeServer {
  readonly target: Target
  /** Types of requests that have come. */
  readonly requests: number[]
  readonly connections: Set<net.Socket>
  isWelcoming: boolean
  answer: (socket: net.Socket, xid: number, type: number) => void
}

async function startFake(context: TestContext): Promise<FakeServer> {
  const server = net.createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as net.AddressInfo
  const target = targetAt(`zookeeper://127.0.0.1:${port}`)
  const fake: FakeServer = {
    ...{ target, requests: [], connections: new Set(), isWelcoming: true },
    answer: () => {},
  }
  server.on('connection', (socket) => {
    fake.connections.add(socket)
    let isWelcome = false
    socket.on('error', () => {})
    socket.on('data', (bytes) => {
      for (let at = 0; at < bytes.length; at += 4 + bytes.readInt32BE(at)) {
        const reader = new JuteReader(bytes.subarray(at + 4))
        if (isWelcome) {
          const [xid, type] = [reader.int(), reader.int()]
          fake.requests.push(type)
          fake.answer(socket, xid, type)
        } else if (fake.isWelcoming) {
          isWelcome = true
          socket.write(frame(new JuteWriter().int(0).int(10_000).long(7n).bytes(Buffer.alloc(16)).bool(false).body))
        }
      }
    })
  })
  context.after(() => {
    for (const socket of fake.connections) socket.destroy()
    server.close()
  })
  return fake
}

test('a request that its caller has given up is not sent when the server is back', async (context) => {
  const fake = await startFake(context)
  fake.isWelcoming = false
  const session = new Session(fake.target, SESSION)
  await assert.rejects(session.send([setData('/a', Buffer.alloc(0))], GIVEN_UP_MS), (error) => {
    return error instanceof CallLost && error.progress === 'connecting'
  })
  fake.isWelcoming = true
  fake.answer = (socket, xid) => {
    socket.write(frame(new JuteWriter().int(xid).long(1n).int(ERROR.noNode).body))
  }
  const [reply] = await session.send([getData('/b')], 60_000)
  assert.ok('error' in reply! && reply.error.code === ERROR.noNode)
  assert.deepEqual(fake.requests, [4])
  await session.close(false)
})

test('calls under way end when the connection is lost, with an error that they may have arrived', async (context) => {
  const fake = await startFake(context)
  fake.answer = (socket) => socket.destroy()
  const session = new Session(fake.target, SESSION)
  const calls = [1, 2, 3].map(() => session.send([getData('/a'), getData('/b')], 60_000))
  for (const call of await Promise.allSettled(calls)) {
    assert.ok(call.status === 'rejected' && call.reason instanceof CallLost && call.reason.progress === 'sent')
  }
  await session.close(false)
})

test('calls under way end when an answer can not be read', async (context) => {
  const fake = await startFake(context)
  fake.answer = (socket, xid) => socket.write(frame(new JuteWriter().int(xid).long(1n).int(0).int(1_000_000).body))
  const session = new Session(fake.target, SESSION)
  await assert.rejects(session.send([getData('/a')], 60_000), CallLost)
  await session.close(false)
})

test('the answer to another request ends the connection, and is no answer to this one', async (context) => {
  const fake = await startFake(context)
  fake.answer = (socket, xid) =>
    socket.write(
      frame(
        new JuteWriter()
          .int(xid + 1)
          .long(1n)
          .int(ERROR.noNode).body,
      ),
    )
  const session = new Session(fake.target, SESSION)
  await assert.rejects(session.send([getData('/a')], 60_000), CallLost)
  await session.close(false)
})

test('a session that is closed while it connects leaves no connection', async (context) => {
  const fake = await startFake(context)
  fake.isWelcoming = false
  const session = new Session(fake.target, SESSION)
  const call = assert.rejects(session.send([getData('/a')], 60_000), ZooKeeperError)
  while (fake.connections.size === 0) await new Promise(setImmediate)
  await session.close(false)
  const [socket] = fake.connections
  const ended = once(socket!, 'close')
  socket!.resume()
  socket!.write(frame(new JuteWriter().int(0).int(10_000).long(7n).bytes(Buffer.alloc(16)).bool(false).body))
  await Promise.all([call, ended])
})

test('calls under way end when the session is closed, and later ones are refused', async (context) => {
  const fake = await startFake(context)
  const session = new Session(fake.target, SESSION)
  const call = session.send([getData('/a')], 60_000)
  while (fake.requests.length === 0) await new Promise(setImmediate)
  await session.close(false)
  await assert.rejects(call, CallLost)
  await assert.rejects(session.send([getData('/a')], 60_000), ZooKeeperError)
})

test('a URL for TLS is never asked without it', async (context) => {
  const server = net.createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  context.after(() => server.close())
  const { port } = server.address() as net.AddressInfo
  const first = once(server, 'connection').then(async ([socket]: net.Socket[]) => {
    const [bytes] = (await once(socket!, 'data')) as [Buffer]
    socket!.destroy()
    return bytes[0]
  })
  const source = zookeeper(`zookeepers://user:secret@127.0.0.1:${port}`, { tls: undefined, timeoutMs: 500 })
  assert.doesNotMatch(source.name, /secret/)
  await assert.rejects(source.open(OPENING), { code: 'STORE_UNREACHABLE' })
  const HANDSHAKE = 22
  assert.equal(await first, HANDSHAKE)
})

test('what is read at once is of one moment, whatever is written in between', async (context) => {
  const server = await startZooKeeper()
  context.after(() => server.stop())
  const [reader, writer] = await Promise.all([driverAt(server.url, 'moment'), driverAt(server.url, 'moment')])
  context.after(() => Promise.all([reader.close(), writer.close()]))
  const keys = ['a', 'b', 'c'].map((name) => `cronce\0moment\0q\0${name}\0x`)
  let isOver = false
  const writing = (async () => {
    for (let count = 0; !isOver; count++) {
      const puts = keys.map((key) => ({ key, value: String(count) }))
      await writer.commit({ guards: [], puts, groups: [] })
    }
  })()
  const range = { from: 'cronce\0moment\0q\0', to: 'cronce\0moment\0q\x01' }
  for (let round = 0; round < 30; round++) {
    const { found } = await reader.read([range, { get: keys[0]! }])
    const values = new Set(found.flatMap(({ entries }) => entries.map(({ value }) => value)))
    assert.ok(values.size <= 1, [...values].join())
  }
  isOver = true
  await writing
})

test('a commit is not written over another one that came in between', async (context) => {
  const server = await startZooKeeper()
  context.after(() => server.stop())
  const drivers = await Promise.all([1, 2, 3].map(() => driverAt(server.url, 'race', 60_000)))
  context.after(() => Promise.all(drivers.map((driver) => driver.close())))
  const key = 'cronce\0race\0a\0counter'
  const increments = drivers.flatMap((driver) =>
    Array.from({ length: 5 }, async () => {
      for (;;) {
        const { found } = await driver.read([{ get: key }])
        const [entry] = found[0]!.entries
        const guard =
          entry === undefined
            ? ({ key, is: 'absent' } as const)
            : ({ key, is: 'revision', revision: entry.revision } as const)
        const puts = [{ key, value: String(Number(entry?.value ?? 0) + 1) }]
        if ((await driver.commit({ guards: [guard], puts, groups: [] })).isHeld) return
      }
    }),
  )
  await Promise.all(increments)
  const { found } = await drivers[0]!.read([{ get: key }])
  assert.equal(found[0]!.entries[0]!.value, '15')
})

test('a commit that waited for its turn for too long is not sent when the server is back', async (context) => {
  const server = await startZooKeeper()
  const proxy = await startProxy({ host: '127.0.0.1', port: server.port })
  const driver = await driverAt(`zookeeper://127.0.0.1:${proxy.port}`, 'turns', 2_000)
  context.after(async () => {
    await driver.close()
    await proxy.close()
    await server.stop()
  })
  const keys = ['first', 'second', 'third'].map((name) => `cronce\0turns\0a\0${name}`)
  proxy.mode('black-hole')
  const [first, ...others] = keys.map((key) => driver.commit({ guards: [], puts: [{ key, value: '' }], groups: [] }))
  const ends = Promise.allSettled(others)
  await assert.rejects(first!)
  proxy.mode('pass')
  for (const end of await ends) {
    assert.ok(end.status === 'rejected' && end.reason instanceof StoreError)
    assert.equal(end.reason.notApplied, true)
  }
  const reader = await driverAt(server.url, 'turns')
  const { found } = await reader.read(keys.map((get) => ({ get })))
  assert.deepEqual(
    found.map(({ entries }) => entries.length),
    [0, 0, 0],
  )
  await reader.close()
})
