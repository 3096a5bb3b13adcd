import assert from 'node:assert/strict'
import { after, before, describe, type TestContext, test } from 'node:test'
import { type RedisCluster, redisCommand, startRedisCluster } from '../../../../scripts/servers/index.ts'
import { slotOf } from '../../src/store/redis/clients/slot.ts'
import type { LinkOptions } from '../../src/store/redis/open-link.ts'
import { assertFault, eventually, failure, KINDS, type Linked, linkFor, serverFor, withEach } from './redis-link-kit.ts'
import { COUNT, ECHO, scriptOf } from './redis-link-scripts.ts'

/** All of one slot, so that one server has them. */
function linkEach(
  context: TestContext,
  cluster: Pick<RedisCluster, 'nodes' | 'urls'>,
  namespace: string,
  options: Partial<LinkOptions> = {},
): readonly Linked[] {
  const url = `redis-cluster://${cluster.nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}`
  const targets = [
    ...KINDS.map((kind) => ({ kind: kind.name, target: kind.cluster(cluster.urls) })),
    { kind: 'a URL', target: url },
  ]
  return targets.map(({ kind, target }) => ({
    kind,
    link: linkFor(context, target, options),
    key: `cronce:{${namespace}}:${kind}`,
  }))
}

describe('a link to a cluster by each client', () => {
  let cluster: RedisCluster
  before(async () => {
    cluster = await startRedisCluster()
  })
  after(() => cluster.stop())

  test('knows the slots of keys', async () => {
    const keys = ['', 'a', 'foo{bar}zap', 'foo{}bar', 'foo{{bar}}zap', 'foo{bar', '{é🎉}x', 'cronce:{default}:meta']
    for (const key of keys) assert.equal(slotOf(key), await cluster.slotOf(key), key)
  })

  test('goes to the server that has the key, and receives what is published there', async (context) => {
    for (const namespace of ['one', 'two']) {
      const owner = await cluster.ownerOf(slotOf(`{${namespace}}`))
      await withEach(linkEach(context, cluster, namespace), async ({ link, key }) => {
        assert.equal(await link.run(COUNT, key, []), '1')
        assert.equal(await redisCommand(owner, 'GET', key), '1')
        const session = await link.session()
        assert.equal(session.publish, 'SPUBLISH')
        const heard: string[] = []
        await session.listen(`${key}:channel`, (payload) => heard.push(payload))
        assert.deepEqual(await session.listeners([`${key}:channel`, `${key}:nobody`]), [1, 0])
        await link.run(scriptOf("redis.call('SPUBLISH', KEYS[1], 'hello') return ''"), `${key}:channel`, [])
        await eventually('it is heard', () => heard.length === 1)
      })
    }
  })

  test('one link reaches all servers', async (context) => {
    const [{ link }] = linkEach(context, cluster, 'any') as [Linked]
    const keys = Array.from({ length: 12 }, (_, at) => `cronce:{many-${at}}`)
    assert.ok(new Set(await Promise.all(keys.map((key) => cluster.ownerOf(slotOf(key))))).size === 3)
    for (const key of keys) assert.equal(await link.run(COUNT, key, []), '1')
    const session = await link.session()
    const heard: string[] = []
    for (const key of keys) await session.listen(key, (payload) => heard.push(payload))
    assert.deepEqual(
      await session.listeners(keys),
      keys.map(() => 1),
    )
    const publish = scriptOf("redis.call('SPUBLISH', KEYS[1], KEYS[1]) return ''")
    for (const key of keys) await link.run(publish, key, [])
    await eventually('all is heard', () => heard.length === keys.length)
  })

  test('follows a slot to another server', async (context) => {
    const slot = slotOf('{moving}')
    const from = await cluster.ownerOf(slot)
    const to = cluster.nodes.find((node) => node !== from)!
    const links = linkEach(context, cluster, 'moving')
    const ears = new Map<string, string[]>()
    await withEach(links, async ({ link, key }) => {
      await link.run(COUNT, key, [])
      const heard: string[] = []
      ears.set(key, heard)
      await (await link.session()).listen(`${key}:channel`, (payload) => heard.push(payload))
    })

    const { finish } = await cluster.beginMove(slot, to)
    // Its keys are in two places, and no node has all of them.
    await withEach(links, async ({ link, key }) => {
      assertFault(await failure(link.run(COUNT, key, [])), 'STORE_UNREACHABLE', true)
      assertFault(await failure(link.run(COUNT, `${key}:new`, [])), 'STORE_UNREACHABLE', true)
    })
    await finish()
    await withEach(links, async ({ link, key }) => {
      const counts = await Promise.all(Array.from({ length: 10 }, () => link.run(COUNT, key, [])))
      assert.deepEqual(
        counts.map(Number).toSorted((a, b) => a - b),
        [2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
      )
      assert.equal(await redisCommand(to, 'GET', key), '11')
      await eventually('it is heard there', async () => {
        await redisCommand(to, 'SPUBLISH', `${key}:channel`, 'moved')
        return ears.get(key)!.includes('moved')
      })
    })

    // Also connections that only subscribe.
    await cluster.moveSlot(slot, from)
    await withEach(links, ({ key }) =>
      eventually('it is heard here again', async () => {
        await redisCommand(from, 'SPUBLISH', `${key}:channel`, 'moved back')
        return ears.get(key)!.includes('moved back')
      }),
    )
  })

  test('waits for a server that was killed', async (context) => {
    const owner = await cluster.ownerOf(slotOf('{killed}'))
    const links = linkEach(context, cluster, 'killed')
    const sessions = await Promise.all(links.map(({ link }) => link.session()))
    await withEach(links, async ({ link, key }) => {
      await link.run(ECHO, key, [''])
      await (await link.session()).listen(`${key}:channel`, () => {})
    })
    await owner.kill()
    const hasty = linkEach(context, cluster, 'killed', { timeoutMs: 1_500 })
    await withEach(hasty, async ({ link, key }) =>
      assertFault(await failure(link.run(ECHO, key, [''])), 'STORE_UNREACHABLE', true),
    )
    await owner.restart()
    await cluster.isWell()
    await withEach(links, async ({ link, key }) => assert.equal(await link.run(ECHO, key, ['again']), 'again'))
    await eventually('they listen again', () => sessions.every((session) => session.isListening()))
  })

  test('a client for clusters suggests what to do with one server', async (context) => {
    const server = await serverFor(context)
    for (const { link, key } of linkEach(context, { nodes: [server], urls: [server.url] }, 'lonely')) {
      assertFault(await failure(link.run(COUNT, key, [])), 'STORE_INVALID', true)
    }
  })

  test('a client for one server suggests what to do with a cluster', async (context) => {
    const other = await cluster.ownerOf((slotOf('{plain}') + 8_192) % 16_384)
    const key = 'cronce:{plain}'
    for (const kind of KINDS) {
      const link = linkFor(context, kind.client(other.url))
      const fault = await failure(link.run(COUNT, key, []))
      assertFault(fault, 'STORE_INVALID', true)
    }
  })
})
