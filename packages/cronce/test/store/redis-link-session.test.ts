import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { redisCommand, type Server } from '../../../../scripts/servers/index.ts'
import { startProxy } from '../../../../verification/chaos/proxy.ts'
import { pubSubOf } from '../../src/store/redis/clients/session.ts'
import type { Session } from '../../src/store/redis/link.ts'
import {
  answerEach,
  connectionsOf,
  eventually,
  type Linked,
  linkEach,
  serverFor,
  timesCalled,
  withEach,
} from './redis-link-kit.ts'
import { afterwards } from './sqlite-kit.ts'

interface Ear {
  readonly session: Session
  readonly channel: string
  readonly heard: string[]
  readonly changes: string[]
}

async function listenBy({ link, key }: Linked): Promise<Ear> {
  const session = await link.session()
  const ear: Ear = { session, channel: `${key}:channel`, heard: [], changes: [] }
  session.onChange((change) => ear.changes.push(change))
  await session.listen(ear.channel, (payload) => ear.heard.push(payload))
  return ear
}

/** Publishes until all subscribers have received it: a message without subscribers is lost. */
async function sayTo(server: Server, ears: readonly Ear[], what: string): Promise<void> {
  for (const { session, channel, heard } of ears) {
    await eventually(`${channel} has heard ${what}`, async () => {
      if (!heard.includes(what)) await redisCommand(server, session.publish, channel, what)
      return heard.includes(what)
    })
  }
}

describe('a session by each client', { concurrency: 4 }, () => {
  test('receives what is published, on any number of channels', async (context) => {
    const server = await serverFor(context)
    await withEach(linkEach(context, server.url), async (linked) => {
      const { session, channel, heard } = await listenBy(linked)
      assert.equal(session.publish, 'SPUBLISH')
      assert.equal(session.isListening(), true)
      assert.equal(await linked.link.session(), session)
      const other: string[] = []
      const stops = await Promise.all([
        session.listen(`${channel}:other`, (payload) => other.push(payload)),
        session.listen(channel, () => assert.fail('a listener that throws')),
        session.listen(channel, (payload) => other.push(payload)),
      ])
      for (const payload of ['é 🎉', '', 'last']) await redisCommand(server, 'SPUBLISH', channel, payload)
      await redisCommand(server, 'SPUBLISH', `${channel}:other`, 'other')
      await eventually('all is heard', () => other.length === 4)
      assert.deepEqual(heard, ['é 🎉', '', 'last'])
      assert.deepEqual(other, ['é 🎉', '', 'last', 'other'])
      assert.deepEqual(await session.listeners([channel, 'nobody', `${channel}:other`]), [1, 0, 1])
      for (const stop of stops) stop()
      await eventually('one is left', async () => (await session.listeners([`${channel}:other`]))[0] === 0)
      assert.deepEqual(await session.listeners([channel]), [1])
      assert.equal(session.isListening(), true)
      const again = await session.listen(`${channel}:other`, () => {})
      again()
      await session.listen(`${channel}:other`, () => {})
      await eventually('it listens again', async () => (await session.listeners([`${channel}:other`]))[0] === 1)
      assert.equal(session.isListening(), true)
    })
    assert.deepEqual([await connectionsOf(server, 'normal'), await connectionsOf(server, 'pubsub')], [3, 3])
  })

  test('reports that it was lost and is back, and receives again', async (context) => {
    const server = await serverFor(context)
    const ears = await Promise.all(linkEach(context, server.url).map(listenBy))
    await redisCommand(server, 'CLIENT', 'KILL', 'TYPE', 'pubsub')
    await eventually('all are back', () => ears.every(({ changes }) => changes.length === 2))
    for (const { session, changes } of ears) {
      assert.deepEqual(changes, ['lost', 'back'])
      assert.equal(session.isListening(), true)
    }
    await sayTo(server, ears, 'again')
    await server.kill()
    await eventually('all know', () => ears.every(({ session }) => !session.isListening()))
    await server.restart()
    await eventually('all are back', () => ears.every(({ changes }) => changes.length === 4))
    await sayTo(server, ears, 'after the crash')
  })

  test('begins while the server is away, once that is back', async (context) => {
    const server = await serverFor(context)
    const proxy = await startProxy({ host: '127.0.0.1', port: server.port })
    afterwards(context, () => proxy.close())
    const links = linkEach(context, `redis://127.0.0.1:${proxy.port}`, { timeoutMs: 1_500 })
    // They know what it can do, and have not listened yet.
    await answerEach(links)
    await withEach(links, ({ link }) => link.session())
    proxy.mode('refuse')
    const ears = await Promise.all(links.map(listenBy))
    for (const { session } of ears) assert.equal(session.isListening(), false)
    proxy.mode('pass')
    await eventually('all are there', () => ears.every(({ changes }) => changes.length === 1))
    for (const { changes } of ears) assert.deepEqual(changes, ['back'])
    await sayTo(server, ears, 'hello')
  })

  test('listens in the old way to servers before 7.0', async (context) => {
    assert.equal(await pubSubOf(async () => [null]), 'plain')
    const server = await serverFor(context)
    // Like a user without the right to ask which features the server has.
    await redisCommand(server, 'ACL', 'SETUSER', 'old', 'on', '>secret', '~*', '&*', '+@all', '-command')
    const url = server.url.replace('redis://', 'redis://old:secret@')
    const ears = await Promise.all(linkEach(context, url).map(listenBy))
    for (const { session, channel } of ears) {
      assert.equal(session.publish, 'PUBLISH')
      assert.deepEqual(await session.listeners([channel, 'nobody']), [1, 0])
    }
    await sayTo(server, ears, 'hello')
    await redisCommand(server, 'CLIENT', 'KILL', 'TYPE', 'pubsub')
    await sayTo(server, ears, 'again')
  })

  test('asks nothing while nothing happens', async (context) => {
    const server = await serverFor(context)
    const links = linkEach(context, server.url)
    await Promise.all(links.map(listenBy))
    await redisCommand(server, 'CONFIG', 'RESETSTAT')
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    for (const command of ['ping', 'command|info', 'evalsha', 'cluster|slots']) {
      assert.equal(await timesCalled(server, command), 0, command)
    }
  })
})
