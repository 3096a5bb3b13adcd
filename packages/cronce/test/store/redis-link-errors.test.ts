import assert from 'node:assert/strict'
import { mkdir, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { redisCommand, redisText } from '../../../../scripts/servers/index.ts'
import { translate } from '../../src/store/redis/errors.ts'
import { StoreError } from '../../src/store/store-error.ts'
import { assertFault, eventually, failure, linkEach, linkFor, serverFor, withEach } from './redis-link-kit.ts'
import { COUNT, ECHO, KEY, scriptOf } from './redis-link-scripts.ts'

describe('errors of the server', { concurrency: 4 }, () => {
  test("a server that can't write reports it before it writes", async (context) => {
    const server = await serverFor(context)
    const links = linkEach(context, server.url)
    const allFail = (code: string): Promise<void> =>
      withEach(links, async ({ link, key }) => assertFault(await failure(link.run(COUNT, key, [])), code, true))
    await withEach(links, ({ link, key }) => link.run(COUNT, key, []))

    await redisCommand(server, 'CONFIG', 'SET', 'maxmemory', '1')
    await allFail('STORE_FULL')
    await withEach(links, async ({ link, key }) =>
      assertFault(await failure(link.command(key, ['SET', key, 'x'])), 'STORE_FULL', true),
    )
    await redisCommand(server, 'CONFIG', 'SET', 'maxmemory', '0')

    await redisCommand(server, 'CONFIG', 'SET', 'min-replicas-to-write', '1')
    await allFail('STORE_NOT_REPLICATED')
    await redisCommand(server, 'CONFIG', 'SET', 'min-replicas-to-write', '0')

    // It can't put its snapshot where a folder is.
    await mkdir(join(server.directory, 'dump.rdb'))
    await redisCommand(server, 'CONFIG', 'SET', 'save', '3600 1')
    await redisCommand(server, 'BGSAVE')
    await eventually('the snapshot has failed', async () =>
      (await redisText(server, 'INFO', 'persistence')).includes('rdb_last_bgsave_status:err'),
    )
    await allFail('STORE_FULL')
    await rmdir(join(server.directory, 'dump.rdb'))
    await redisCommand(server, 'CONFIG', 'SET', 'save', '')

    await redisCommand(server, 'REPLICAOF', '127.0.0.1', '1')
    await allFail('STORE_READONLY')
    await redisCommand(server, 'REPLICAOF', 'NO', 'ONE')
    await withEach(links, async ({ link, key }) => assert.equal(await link.run(COUNT, key, []), '2'))
  })

  test('another server may be behind the address of one that became a replica', async (context) => {
    const server = await serverFor(context)
    const links = linkEach(context, server.url)
    const sessions = await Promise.all(links.map(({ link }) => link.session()))
    await Promise.all(sessions.map((session) => session.listen(`${KEY}:channel`, () => {})))
    const ours = async (): Promise<Set<string>> =>
      new Set((await redisText(server, 'CLIENT', 'LIST')).match(/^id=\d+(?=.* name=cronce )/gm))
    const before = await ours()
    await redisCommand(server, 'REPLICAOF', '127.0.0.1', '1')
    await withEach(links, async ({ link, key }) => {
      // The first answer reports the wrong node, while the second command is still on its way there.
      const long = 'x'.repeat(4_000_000)
      const [fault, answer] = await Promise.all([failure(link.run(COUNT, key, [])), link.run(ECHO, key, [long])])
      assertFault(fault, 'STORE_READONLY', true)
      assert.equal(answer, long)
    })
    await redisCommand(server, 'REPLICAOF', 'NO', 'ONE')
    await withEach(links, ({ link, key }) => link.run(COUNT, key, []))
    await eventually('all connections are new', async () => {
      const now = await ours()
      return now.size === 2 * links.length && ![...now].some((id) => before.has(id))
    })
    await eventually('they listen', () => sessions.every((session) => session.isListening()))
  })

  test('a script that fails half-way may have written', async (context) => {
    const server = await serverFor(context)
    const halves = [
      "redis.call('INCR', KEYS[1]) redis.call('LPUSH', KEYS[1], 'x') return ''",
      "redis.call('INCR', KEYS[1]) error('no')",
      "redis.call('INCR', KEYS[1]) return nothing()",
      "redis.call('INCR', KEYS[1]) redis.call('NOSUCHCOMMAND')",
      "return redis.call('INCR', KEYS[1])",
    ]
    await withEach(linkEach(context, server.url), async ({ link, key }) => {
      for (const lua of halves) assertFault(await failure(link.run(scriptOf(lua), key, [])), 'STORE_FAILED', false)
      assert.equal(await link.run(COUNT, key, []), String(halves.length + 1))
      assertFault(await failure(link.run(scriptOf('this is not Lua'), key, [])), 'STORE_FAILED', true)
      assertFault(await failure(link.command(key, ['NOSUCHCOMMAND'])), 'STORE_FAILED', true)
    })
  })

  test('a role without the right gets an error at once', async (context) => {
    const server = await serverFor(context)
    await redisCommand(server, 'ACL', 'SETUSER', 'weak', 'on', '>secret', '~*', '&*', '+@all', '-evalsha', '-ping')
    await redisCommand(server, 'ACL', 'SETUSER', 'half', 'on', '>secret', '~*', '&*', '+@all', '-lpush')
    const at = server.url.slice('redis://'.length)
    await withEach(linkEach(context, `redis://weak:secret@${at}`), async ({ link, key }) =>
      assertFault(await failure(link.run(COUNT, key, [])), 'STORE_FORBIDDEN', true),
    )
    await withEach(linkEach(context, `redis://half:secret@${at}`), async ({ link, key }) => {
      const twoWrites = scriptOf("redis.call('INCR', KEYS[1]) redis.call('LPUSH', KEYS[1] .. 'x', 'x') return ''")
      assert.equal((await failure(link.run(twoWrites, key, []))).notApplied, false)
    })
    await withEach(linkEach(context, `redis://weak:wrong@${at}`), async ({ link, key }) => {
      const fault = await failure(link.run(COUNT, key, []))
      assertFault(fault, 'STORE_FORBIDDEN', true)
      assert.doesNotMatch(fault.message, /weak|wrong@/)
    })
    assert.match(await redisText(server, 'INFO', 'errorstats'), /^errorstat_WRONGPASS:count=3\r$/m, 'each tried once')
    await redisCommand(server, 'CONFIG', 'SET', 'requirepass', 'secret')
    await withEach(linkEach(context, server.url), async ({ link, key }) =>
      assertFault(await failure(link.run(COUNT, key, [])), 'STORE_FORBIDDEN', true),
    )
    await withEach(linkEach(context, `redis://:secret@${at}/99`), async ({ link, key }) =>
      assertFault(await failure(link.run(COUNT, key, [])), 'STORE_INVALID', true),
    )
  })

  test('a server that is busy with a slow script has not begun ours', async (context) => {
    const server = await serverFor(context, { settings: { 'busy-reply-threshold': '1' } })
    const links = linkEach(context, server.url)
    const slow = linkFor(context, server.url)
    await withEach(links, ({ link, key }) => link.run(COUNT, key, []))
    const killed = failure(slow.run(scriptOf('while true do end'), KEY, []))
    await withEach(links, async ({ link, key }) => {
      await eventually('it is busy', async () => {
        const answer = await link.run(ECHO, key, ['']).catch((error: { code?: string }) => error.code)
        return answer === 'STORE_TIMEOUT'
      })
      assertFault(await failure(link.run(COUNT, key, [])), 'STORE_TIMEOUT', true)
    })
    await redisCommand(server, 'SCRIPT', 'KILL')
    assertFault(await killed, 'STORE_FAILED', false)
    await withEach(links, async ({ link, key }) => assert.equal(await link.run(COUNT, key, []), '2'))
  })

  test('a server that still reads its data is waited for', async (context) => {
    const slowly = { 'key-load-delay': '6000', 'loading-process-events-interval-bytes': '1024', rdbcompression: 'no' }
    const server = await serverFor(context, { settings: slowly })
    const fill = "for i = 1, 1000 do redis.call('SET', i, string.rep('x', 200)) end"
    await redisCommand(server, 'EVAL', fill, '0')
    await redisCommand(server, 'SAVE')
    const patient = linkEach(context, server.url)
    const hasty = linkEach(context, server.url, { timeoutMs: 2_500 })
    await server.kill()
    const restarted = server.restart()
    const pong = () => redisText(server, 'PING').catch((error: Error) => error.message)
    await eventually('it loads', async () => (await pong()).includes('LOADING'))
    await Promise.all([
      withEach(patient, async ({ link, key }) => assert.equal(await link.run(ECHO, key, ['there']), 'there')),
      withEach(hasty, async ({ link, key }) => {
        const fault = await failure(link.run(ECHO, key, ['']))
        assertFault(fault, 'STORE_UNREACHABLE', true)
        assert.match(fault.message, /LOADING/)
      }),
    ])
    await restarted
  })

  test('a server that is full of connections is not called lost', async (context) => {
    const server = await serverFor(context)
    await redisCommand(server, 'CONFIG', 'SET', 'maxclients', '1')
    await linkFor(context, server.url).run(COUNT, KEY, [])
    await withEach(linkEach(context, server.url, { timeoutMs: 1_500 }), async ({ link, key }) => {
      const fault = await failure(link.run(COUNT, key, []))
      assert.equal(fault.notApplied, true)
      assert.match(fault.code, /^STORE_(?:FULL_OF_CONNECTIONS|UNREACHABLE)$/)
    })
  })

  test('older servers put their words inside others', () => {
    const running = `ERR Error running script (call to f_${'0'.repeat(40)}): @user_script:1: @user_script: 1:`
    const of = (message: string): unknown[] => {
      const error = translate(new Error(message), 'redis', 'sent')
      return [error.code, error instanceof StoreError && error.notApplied]
    }
    assert.deepEqual(of(`${running} -READONLY You can't write against a read only replica.`), ['STORE_READONLY', true])
    assert.deepEqual(of(`${running} -OOM command not allowed when used memory > 'maxmemory'.`), ['STORE_FULL', true])
    assert.deepEqual(of(`${running} WRONGTYPE Operation against a key`), ['STORE_FAILED', false])
    const within = `script: ${'0'.repeat(40)}, on @user_script:1.`
    assert.deepEqual(of(`NOPERM No permissions to access a key ${within}`), ['STORE_FORBIDDEN', false])
    assert.deepEqual(of('NOPERM No permissions to run the evalsha command'), ['STORE_FORBIDDEN', true])
    const tooLong = 'ERR string exceeds maximum allowed size (proto-max-bulk-len)'
    assert.deepEqual(of(tooLong), ['STORE_REFUSED', false])
    assert.deepEqual(of('read ECONNRESET'), ['STORE_LOST', false])
    assert.deepEqual(of('MOVED 1 127.0.0.1:1'), ['STORE_INVALID', true])
  })
})
