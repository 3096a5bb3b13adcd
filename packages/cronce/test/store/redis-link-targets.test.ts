import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Cluster, Redis } from 'ioredis'
import { Redis as Redis5 } from 'ioredis-5'
import { createClient, createCluster, createSentinel, RESP_TYPES } from 'redis'
import { redisCommand, startRedisReplica, startRedisSentinel } from '../../../../scripts/servers/index.ts'
import { parseAddress } from '../../src/store/redis/clients/address.ts'
import { nameOf, openLink, type Target } from '../../src/store/redis/open-link.ts'
import { assertFault, eventually, failure, linkFor, serverFor } from './redis-link-kit.ts'
import { COUNT, ECHO, KEY } from './redis-link-scripts.ts'
import { afterwards } from './sqlite-kit.ts'

interface Worker {
  readonly process: ChildProcess
  /** Its next message. */
  said(): Promise<unknown>
}

/** A process with a link of its own; see redis-link-worker.ts. `hidden`: packages that it has not got. */
function startWorker(context: TestContext, order: { task: string; url: string }, hidden: string[] = []): Worker {
  const file = fileURLToPath(new URL('redis-link-worker.ts', import.meta.url))
  const child = fork(file, [JSON.stringify(order), ...hidden])
  afterwards(context, async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  // Not `exit`, which may be emitted before the last message of the process.
  const gone = once(child, 'disconnect').then(() => assert.fail('it ended and said nothing'))
  gone.catch(() => {})
  return { process: child, said: async () => (await Promise.race([once(child, 'message'), gone]))[0] }
}

const IN_DATABASE_1 = "redis.call('SELECT', 1) return redis.call('GET', ARGV[1])"

describe('what a link is opened by', { concurrency: 4 }, () => {
  test('URLs contain the address of the server', () => {
    const plain = {
      isCluster: false,
      isEncrypted: false,
      nodes: [{ host: 'h', port: 6379 }],
      path: undefined,
      username: undefined,
      password: undefined,
      database: 0,
    }
    assert.deepEqual(parseAddress('redis://h'), plain)
    assert.deepEqual(parseAddress('redis://h:7/3'), { ...plain, nodes: [{ host: 'h', port: 7 }], database: 3 })
    assert.deepEqual(parseAddress('rediss://:p%40ss@h/'), { ...plain, isEncrypted: true, password: 'p@ss' })
    assert.deepEqual(parseAddress('redis://u:p@[::1]:7?db=2'), {
      ...plain,
      nodes: [{ host: '::1', port: 7 }],
      username: 'u',
      password: 'p',
      database: 2,
    })
    assert.deepEqual(parseAddress('redis://'), { ...plain, nodes: [{ host: 'localhost', port: 6379 }] })
    assert.deepEqual(parseAddress('redis+unix:///run/redis.sock?db=1'), {
      ...plain,
      nodes: [],
      path: '/run/redis.sock',
      database: 1,
    })
    assert.deepEqual(parseAddress('rediss-cluster://u:p@a:1,b'), {
      ...plain,
      isCluster: true,
      isEncrypted: true,
      username: 'u',
      password: 'p',
      nodes: [
        { host: 'a', port: 1 },
        { host: 'b', port: 6379 },
      ],
    })
    const wrong = [
      'redis:h',
      'http://h',
      'redis://h/x',
      'redis://h:port',
      'redis://h?tls=no',
      'redis-cluster://h/1',
      '',
    ]
    for (const url of [...wrong, 'redis://a:%@h']) {
      assert.throws(() => openLink(url, {}), { code: 'STORE_INVALID' }, url)
    }
  })

  test('names contain no secrets', () => {
    assert.equal(nameOf('redis://user:p@ss@host:1/2?db=3'), 'redis://host:1/2')
    assert.equal(nameOf('rediss-cluster://user:pass@a:1,b:2'), 'rediss-cluster://a:1,b:2')
    assert.equal(nameOf('nonsense:secret'), 'redis')
    const url = 'redis://user:secret@host:7/2'
    assert.equal(nameOf(new Redis(url, { lazyConnect: true })), 'redis://host:7/2')
    assert.equal(nameOf(new Redis5({ path: '/redis.sock', lazyConnect: true })), 'redis+unix:///redis.sock')
    assert.equal(nameOf(createClient({ url })), 'redis://host:7/2')
    assert.equal(nameOf(createClient()), 'redis://localhost:6379/0')
    const nodes = ['redis://user:secret@a:1', { host: 'b' }, 3]
    assert.equal(nameOf(new Cluster(nodes, { lazyConnect: true })), 'redis-cluster://a:1,b:6379,localhost:3')
    assert.equal(nameOf(createCluster({ rootNodes: [{ url }] })), 'redis')
    const sentinels = { sentinels: [{ host: 'h' }], name: 'primary', lazyConnect: true }
    assert.equal(nameOf(new Redis(sentinels)), 'redis://primary (by sentinels)')
  })

  test('what is not a client is refused', () => {
    const nothing = [null, {}, new Map(), { duplicate() {}, sendCommand() {} }]
    const sentinel = createSentinel({ name: 'primary', sentinelRootNodes: [{ host: 'h', port: 1 }] })
    for (const target of [...nothing, sentinel]) {
      assert.throws(() => openLink(target as Target, {}), { code: 'STORE_INVALID' })
    }
  })

  test("the user's client is left alone, with all its settings", async (context) => {
    const server = await serverFor(context)
    const odd = { keyPrefix: 'odd:', enableAutoPipelining: true, stringNumbers: true, db: 1 }
    const six = new Redis(server.url, { ...odd, replyMapping: 'resp3', connectionName: 'theirs' })
    const five = new Redis5(server.url, { ...odd, readOnly: true, lazyConnect: true, commandTimeout: 1 })
    const typeMapping = { [RESP_TYPES.BLOB_STRING]: Buffer, [RESP_TYPES.NUMBER]: String }
    const node = createClient({
      url: `${server.url}/1`,
      keyPrefix: 'odd:',
      commandOptions: { typeMapping, timeout: 1 },
    })
    const cached = createClient({ url: `${server.url}/1`, RESP: 3, clientSideCache: { ttl: 1 }, pingInterval: 1 })
    afterwards(context, () => {
      six.disconnect()
      five.disconnect()
      if (node.isOpen) node.destroy()
    })
    await node.connect()
    for (const [name, target] of Object.entries({ six, five, node, cached })) {
      const key = `${KEY}:${name}`
      const link = linkFor(context, target)
      assert.equal(await link.run(COUNT, key, []), '1')
      assert.equal(await redisCommand(server, 'EVAL', IN_DATABASE_1, '0', key), '1')
      assert.equal(await link.command(key, ['EXISTS', key]), 1)
      await link.close()
    }
    assert.equal(five.status, 'wait')
    assert.equal(cached.isOpen, false)
    assert.equal(await six.ping(), 'PONG')
    assert.equal(String(await node.get(`${KEY}:node`)), 'null')
    assert.equal(node.isReady, true)
  })

  test('a socket of the system will do', async (context) => {
    const server = await serverFor(context)
    const path = join(server.directory, 'redis.sock')
    const targets = [
      `redis+unix://${path}`,
      createClient({ url: `unix://${path}` }),
      new Redis5(path, { lazyConnect: true }),
    ]
    for (const target of targets) assert.equal(await linkFor(context, target).run(ECHO, KEY, ['here']), 'here')
  })

  test('sentinels name the primary, also after it has changed', async (context) => {
    const primary = await serverFor(context)
    const replica = await startRedisReplica(primary)
    afterwards(context, () => replica.stop())
    const sentinel = await startRedisSentinel(primary)
    afterwards(context, () => sentinel.stop())
    const options = { sentinels: [{ host: '127.0.0.1', port: sentinel.port }], name: 'primary', lazyConnect: true }
    const links = [new Redis(options), new Redis5(options)].map((client) => linkFor(context, client))
    for (const link of links) await link.run(COUNT, KEY, [])
    await primary.kill()
    for (const link of links) {
      await eventually('it has found the other', () =>
        link.run(ECHO, KEY, ['']).then(
          () => true,
          () => false,
        ),
      )
    }
    assert.match(String(await redisCommand(replica, 'INFO', 'replication')), /role:master/)
  })

  test('whichever client is installed is used, and keeps no process from ending', async (context) => {
    const { url } = await serverFor(context)
    await Promise.all(
      [[], ['ioredis']].map(async (hidden) => {
        const { process, said } = startWorker(context, { task: 'leave open', url }, hidden)
        const exited = once(process, 'exit')
        assert.equal(await said(), 'done')
        assert.deepEqual(await exited, [0, null])
      }),
    )
    const { said } = startWorker(context, { task: 'ask', url }, ['ioredis', 'redis'])
    assert.equal(await said(), 'STORE_DRIVER_MISSING')
  })

  test('a crash of the server ends no process', async (context) => {
    const server = await serverFor(context)
    const workers = [[], ['ioredis']].map((hidden) => startWorker(context, { task: 'go on', url: server.url }, hidden))
    assert.deepEqual(await Promise.all(workers.map(({ said }) => said())), ['listening', 'listening'])
    await server.kill()
    await server.restart()
    for (const { process, said } of workers) {
      process.send('still here')
      assert.match(String(await said()), /^(?:still here|STORE_LOST)$/)
    }
  })

  test('a link that was closed can be opened again', async (context) => {
    const server = await serverFor(context)
    const client = new Redis(server.url, { lazyConnect: true })
    const first = linkFor(context, client)
    await first.run(ECHO, KEY, [''])
    await first.close()
    await first.close()
    assertFault(await failure(first.run(ECHO, KEY, [''])), 'STORE_CLOSED', true)
    assert.equal(await linkFor(context, client).run(ECHO, KEY, ['again']), 'again')
  })
})
