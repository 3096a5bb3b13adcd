import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { redisCommand, redisText, type Server, startRedisReplica } from '../../../../scripts/servers/index.ts'
import { startProxy, type TcpProxy } from '../../../../verification/chaos/proxy.ts'
import {
  answerEach,
  assertFault,
  connectionsOf,
  eventually,
  type Fault,
  failure,
  KINDS,
  linkEach,
  linkFor,
  serverFor,
  timesCalled,
  withEach,
} from './redis-link-kit.ts'
import { COUNT, ECHO, KEY, scriptOf } from './redis-link-scripts.ts'
import { afterwards } from './sqlite-kit.ts'

async function proxyFor(context: TestContext, server: Server): Promise<TcpProxy & { readonly url: string }> {
  const proxy = await startProxy({ host: '127.0.0.1', port: server.port })
  afterwards(context, () => proxy.close())
  return Object.assign(proxy, { url: `redis://127.0.0.1:${proxy.port}` })
}

/** The first request may be sent before the client learns that the connection is closed. */
async function tryTwice(work: () => Promise<unknown>): Promise<void> {
  const fault = await work().then(
    () => null,
    (error: Fault) => error,
  )
  if (fault === null) return
  assertFault(fault, 'STORE_LOST', false)
  await work()
}

describe('a link by each client', { concurrency: 4 }, () => {
  test('texts come back as they went', async (context) => {
    const server = await serverFor(context)
    await withEach(linkEach(context, server.url), async ({ link, key }) => {
      const texts = ['', 'a', '$3\r\nfoo\r\n', 'nul \0 and \x7f', 'é ß 日本 🎉 \u{10ffff}', '🎉'.repeat(75_000)]
      assert.deepEqual(await Promise.all(texts.map((text) => link.run(ECHO, key, [text]))), texts)
      const many = scriptOf("return KEYS[1] .. '|' .. table.concat(ARGV, '|')")
      assert.equal(await link.run(many, key, ['1', '', '3']), `${key}|1||3`)
      assert.equal(await link.command(key, ['ECHO', 'é']), 'é')
    })
  })

  test('scripts that the server lost are loaded once, however many ask', async (context) => {
    const server = await serverFor(context)
    const links = linkEach(context, server.url)
    await answerEach(links)
    await redisCommand(server, 'SCRIPT', 'FLUSH')
    await redisCommand(server, 'CONFIG', 'RESETSTAT')
    await withEach(links, async ({ link, key, kind }) => {
      const own = scriptOf(`${COUNT.lua} -- ${kind}`)
      const counts = await Promise.all(Array.from({ length: 50 }, () => link.run(own, key, [])))
      const numbers = counts.map(Number).sort((a, b) => a - b)
      assert.deepEqual(
        numbers,
        numbers.map((_, at) => at + 1),
      )
    })
    assert.equal(await timesCalled(server, 'script|load'), links.length)
  })

  test('a server that was killed is found again', async (context) => {
    const server = await serverFor(context, { appendonly: true })
    const links = linkEach(context, server.url)
    await answerEach(links)
    await server.kill()
    const waiting = withEach(links, ({ link, key }) => tryTwice(() => link.run(ECHO, key, ['again'])))
    await server.restart()
    await waiting
  })

  test('a connection that the server ends is replaced, and commands in flight are not sent again', async (context) => {
    const server = await serverFor(context)
    const links = linkEach(context, server.url)
    await withEach(links, ({ link, key }) => link.run(COUNT, key, []))
    await redisCommand(server, 'CLIENT', 'PAUSE', '60000', 'WRITE')
    const lost = links.map(({ link, key }) => failure(link.run(COUNT, key, [])))
    await eventually('they have arrived', async () =>
      /^blocked_clients:3/m.test(await redisText(server, 'INFO', 'clients')),
    )
    await redisCommand(server, 'CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
    for (const fault of await Promise.all(lost)) assertFault(fault, 'STORE_LOST', false)
    await redisCommand(server, 'CLIENT', 'UNPAUSE')
    await withEach(links, async ({ link, key }) => assert.equal(await link.run(COUNT, key, []), '2'))
  })

  test('a server that is paused is left, and asked again on another connection', async (context) => {
    const server = await serverFor(context)
    const links = linkEach(context, server.url, { timeoutMs: 1_500 })
    await answerEach(links)
    // CLIENT PAUSE would do the same, but would also block the command that ends it.
    process.kill(server.pid, 'SIGSTOP')
    await withEach(links, async ({ link, key }) => {
      const faults = await Promise.all([failure(link.run(COUNT, key, [])), failure(link.run(COUNT, key, []))])
      assert.ok(faults.some(({ code }) => code === 'STORE_SILENT'))
      for (const { notApplied } of faults) assert.equal(notApplied, false)
      assertFault(await failure(link.run(COUNT, key, [])), 'STORE_UNREACHABLE', true)
    })
    process.kill(server.pid, 'SIGCONT')
    await answerEach(links)
  })

  test('a command that was sent and not answered is not sent again', async (context) => {
    const server = await serverFor(context)
    const proxy = await proxyFor(context, server)
    const links = linkEach(context, proxy.url, { timeoutMs: 1_500 })
    await redisCommand(server, 'SCRIPT', 'LOAD', COUNT.lua)
    await answerEach(links)
    proxy.mode('lose-answers')
    await withEach(links, async ({ link, key }) =>
      assertFault(await failure(link.run(COUNT, key, [])), 'STORE_SILENT', false),
    )
    proxy.mode('pass')
    await answerEach(links)
    for (const { key } of links) assert.equal(await redisCommand(server, 'GET', key), '1')
    // Now the connection ends under it.
    proxy.mode('hold')
    const lost = links.map(({ link, key }) => failure(link.run(COUNT, key, [])))
    const arrived = proxy.arrived.requests
    await eventually('they are on their way', () => proxy.arrived.requests > arrived)
    proxy.cut()
    for (const fault of await Promise.all(lost)) assertFault(fault, 'STORE_LOST', false)
  })

  test('a black hole gives no answer, and the connection recovers behind it', async (context) => {
    const server = await serverFor(context)
    const proxy = await proxyFor(context, server)
    const links = linkEach(context, proxy.url, { timeoutMs: 1_500 })
    await answerEach(links)
    proxy.mode('black-hole')
    await withEach(links, async ({ link, key }) => {
      assertFault(await failure(link.run(COUNT, key, [])), 'STORE_SILENT', false)
      assertFault(await failure(link.run(COUNT, key, [])), 'STORE_UNREACHABLE', true)
    })
    proxy.mode('pass')
    await answerEach(links)
    for (const { key } of links) assert.equal(await redisCommand(server, 'GET', key), null)
  })

  test('nothing was sent to a port without a listener', async (context) => {
    const server = await serverFor(context)
    await server.kill()
    await withEach(linkEach(context, server.url, { timeoutMs: 1_500 }), async ({ link, key }) => {
      const faults = await Promise.all([failure(link.run(COUNT, key, [])), failure(link.session())])
      for (const fault of faults) assertFault(fault, 'STORE_UNREACHABLE', true)
    })
  })

  test('answers count once the replicas have what was written', async (context) => {
    const server = await serverFor(context)
    await redisCommand(server, 'SCRIPT', 'LOAD', COUNT.lua)
    const links = linkEach(context, server.url, { wait: { replicas: 1, timeout: 1_000 } })
    await withEach(links, async ({ link, key }) => {
      const faults = await Promise.all([1, 2, 3].map(() => failure(link.run(COUNT, key, []))))
      for (const fault of faults) assertFault(fault, 'STORE_NOT_REPLICATED', false)
    })
    // The last two share one, behind that of the first.
    assert.equal(await timesCalled(server, 'wait'), links.length * 2)
    const replica = await startRedisReplica(server)
    afterwards(context, () => replica.stop())
    await withEach(links, async ({ link, key }) => {
      const counts = await Promise.all(Array.from({ length: 50 }, () => link.run(COUNT, key, [])))
      assert.equal(Math.max(...counts.map(Number)), 53)
      assert.equal(await redisCommand(replica, 'GET', key), '53')
    })
  })

  test('commands in flight when it is closed fail, and no connection stays', async (context) => {
    const server = await serverFor(context)
    const links = linkEach(context, server.url)
    await withEach(links, async ({ link, key }) => (await link.session()).listen(`${key}:channel`, () => {}))
    const connections = async (): Promise<number[]> => [
      await connectionsOf(server, 'normal'),
      await connectionsOf(server, 'pubsub'),
    ]
    assert.deepEqual(await connections(), [links.length, links.length])
    await redisCommand(server, 'CLIENT', 'PAUSE', '60000', 'WRITE')
    await withEach(links, async ({ link, key }) => {
      const session = await link.session()
      const pending = failure(link.run(COUNT, key, []))
      await link.close()
      assertFault(await pending, 'STORE_CLOSED', false)
      assertFault(await failure(session.listen(key, () => {})), 'STORE_CLOSED', true)
      assert.equal(session.isListening(), false)
      assertFault(await failure(link.run(COUNT, key, [])), 'STORE_CLOSED', true)
      assertFault(await failure(link.session()), 'STORE_CLOSED', true)
    })
    await redisCommand(server, 'CLIENT', 'UNPAUSE')
    await eventually('they are gone', async () => (await connections()).every((count) => count === 0))
    for (const kind of KINDS) {
      const unconnected = linkFor(context, kind.client('redis://127.0.0.1:1'))
      const waiting = failure(unconnected.run(COUNT, KEY, []))
      await unconnected.close()
      assertFault(await waiting, 'STORE_CLOSED', true)
    }
  })
})
