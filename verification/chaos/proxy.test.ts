import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { type Server, startRedis } from '../../scripts/servers/index.ts'
import { waitUntil } from '../../scripts/servers/wait.ts'
import { startProxy, type TcpProxy } from './proxy.ts'

/** Tests prove the absence of an answer by an answer to another client that asked later. */
describe('a proxy before a Redis server', { timeout: 600_000 }, () => {
  let server: Server
  let proxy: TcpProxy
  let direct: Client
  before(async () => {
    server = await startRedis({ appendonly: false })
  })
  after(() => server.stop())
  beforeEach(async () => {
    proxy = await startProxy({ host: '127.0.0.1', port: server.port })
    direct = await open(server.port)
    await direct.ask('SET n 0')
  })
  afterEach(async () => {
    direct.socket.destroy()
    await proxy.close()
  })

  test('passes the bytes of both sides', async () => {
    const client = await open(proxy.port)
    assert.equal(await client.ask('INCR n'), ':1')
    assert.equal(await client.ask('INCR n'), ':2')
    assert.equal(proxy.connections, 1)
    assert.deepEqual(proxy.swallowed, { requests: 0, answers: 0 })
  })

  test('a request whose answer is lost was carried out', async () => {
    const client = await open(proxy.port)
    proxy.mode('lose-answers')
    client.say('INCR n')

    assert.ok(await waitUntil(() => proxy.swallowed.answers === ':1\r\n'.length, 10_000))
    assert.equal(await direct.ask('GET n'), '1')
    assert.deepEqual(client.heard, [])
    assert.equal(proxy.swallowed.requests, 0)
  })

  test('a request that is lost was not', async () => {
    const client = await open(proxy.port)
    proxy.mode('lose-requests')
    client.say('INCR n')

    assert.ok(await waitUntil(() => proxy.swallowed.requests === 'INCR n\r\n'.length, 10_000))
    assert.equal(await direct.ask('GET n'), '0')
    assert.deepEqual(client.heard, [])
  })

  test('a connection that lost something never goes on behind the hole', async () => {
    const client = await open(proxy.port)
    const idle = await open(proxy.port)
    proxy.mode('lose-answers')
    client.say('INCR n')
    assert.ok(await waitUntil(() => proxy.swallowed.answers > 0, 10_000))

    proxy.mode('pass')
    client.say('GET n')

    assert.equal(await client.ended, 'ECONNRESET')
    assert.deepEqual(client.heard, [], 'the answer to GET would pass for that to INCR')
    assert.equal(await idle.ask('GET n'), '1', 'who lost nothing is not disturbed')
  })

  test('a black hole swallows both ways and leaves connections open, until it passes again', async () => {
    const client = await open(proxy.port)
    const idle = await open(proxy.port)
    proxy.mode('black-hole')
    client.say('INCR n')
    const newcomer = await open(proxy.port)
    newcomer.say('INCR n')

    assert.ok(await waitUntil(() => proxy.swallowed.requests === 2 * 'INCR n\r\n'.length, 10_000))
    assert.equal(await direct.ask('GET n'), '0')
    assert.deepEqual([...client.heard, ...newcomer.heard], [])
    assert.equal(proxy.connections, 3)

    proxy.mode('pass')
    assert.equal(await idle.ask('INCR n'), ':1')
  })

  test('an ending is swallowed like everything else', async () => {
    const client = await open(proxy.port)
    const id = (await client.ask('CLIENT ID')).slice(1)
    proxy.mode('black-hole')
    assert.equal(await direct.ask(`CLIENT KILL ID ${id}`), ':1')
    client.say('INCR n')

    assert.ok(await waitUntil(() => proxy.swallowed.requests > 0, 10_000))
    assert.equal(client.socket.destroyed, false)
  })

  test('what is held arrives in the end, and in order', async () => {
    const client = await open(proxy.port)
    proxy.mode('hold')
    for (let i = 0; i < 5; i++) client.say('INCR n')
    assert.ok(await waitUntil(() => proxy.arrived.requests === 5 * 'INCR n\r\n'.length, 10_000))
    assert.equal(await direct.ask('GET n'), '0')

    proxy.mode('pass')
    assert.ok(await waitUntil(() => client.heard.length === 5, 10_000))
    assert.deepEqual(client.heard, [':1', ':2', ':3', ':4', ':5'])
  })

  test('a delay keeps the order, also when it shrinks', async () => {
    const client = await open(proxy.port)
    const patient = await open(proxy.port)
    proxy.delay(3_600_000)
    patient.say('INCR n')
    assert.ok(await waitUntil(() => proxy.arrived.requests === 'INCR n\r\n'.length, 10_000))

    for (const ms of [200, 100, 50, 0]) {
      proxy.delay(ms)
      const before = proxy.arrived.requests
      client.say(`GETSET n ${ms}`)
      assert.ok(await waitUntil(() => proxy.arrived.requests > before, 10_000))
    }
    assert.ok(await waitUntil(() => client.heard.length === 4, 10_000))
    assert.deepEqual(client.heard, ['0', '200', '100', '50'])
    assert.deepEqual(patient.heard, [])
  })

  test('a cut resets all connections at both ends', async () => {
    const clients = [await open(proxy.port), await open(proxy.port)]
    await Promise.all(clients.map((client) => client.ask('PING')))
    proxy.cut()

    assert.deepEqual(await Promise.all(clients.map((client) => client.ended)), ['ECONNRESET', 'ECONNRESET'])
    assert.equal(proxy.connections, 0)
    assert.ok(await waitUntil(async () => (await others(direct)) === 0, 10_000))
    assert.equal(await (await open(proxy.port)).ask('PING'), '+PONG')
  })

  test('a half-open connection is closed at the server only', async () => {
    const client = await open(proxy.port)
    await client.ask('PING')
    proxy.halfOpen()
    assert.ok(await waitUntil(async () => (await others(direct)) === 0, 10_000))
    client.say('INCR n')

    assert.ok(await waitUntil(() => proxy.swallowed.requests > 0, 10_000))
    assert.equal(client.socket.destroyed, false)
    assert.equal(await direct.ask('GET n'), '0')
  })

  test('refuses new connections, and keeps the open ones', async () => {
    const client = await open(proxy.port)
    await client.ask('PING')
    proxy.mode('refuse')

    const newcomer = await open(proxy.port).catch((error: NodeJS.ErrnoException) => error.code)
    assert.equal(typeof newcomer === 'object' ? await newcomer.ended : newcomer, 'ECONNRESET')
    assert.equal(await client.ask('INCR n'), ':1')
  })

  test('a server that is not there is an error for the client', async (t) => {
    const nowhere = await startProxy({ host: '127.0.0.1', port: 1 })
    t.after(() => nowhere.close())
    assert.equal(await (await open(nowhere.port)).ended, 'ECONNRESET')
  })
})

interface Client {
  readonly socket: Socket
  readonly heard: string[]
  /** The code of the error that it ended with, or `end`. */
  readonly ended: Promise<string>
  say(command: string): void
  ask(command: string): Promise<string>
}

/** Speaks to Redis in lines; the length before a text is left out. */
async function open(port: number): Promise<Client> {
  const socket = connect({ port, host: '127.0.0.1' })
  const heard: string[] = []
  let unfinished = ''
  socket.on('data', (chunk) => {
    const lines = (unfinished + chunk).split('\r\n')
    unfinished = lines.pop()!
    heard.push(...lines.filter((line) => !line.startsWith('$')))
  })
  const ended = new Promise<string>((resolve) => {
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    socket.on('close', () => resolve('end'))
  })
  await once(socket, 'connect')
  const say = (command: string) => void socket.write(`${command}\r\n`)
  return {
    socket,
    heard,
    ended,
    say,
    async ask(command) {
      const at = heard.length
      say(command)
      assert.ok(await waitUntil(() => heard.length > at, 10_000), `${command} was not answered`)
      return heard[at]!
    },
  }
}

/** Clients of the server besides this one. */
async function others(direct: Client): Promise<number> {
  const list = await direct.ask('CLIENT LIST')
  return list.trim().split('\n').length - 1
}
