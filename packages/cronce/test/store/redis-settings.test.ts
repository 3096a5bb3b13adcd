import assert from 'node:assert/strict'
import { test } from 'node:test'
import { redisCommand, startRedis, startRedisReplica } from '../../../../scripts/servers/index.ts'
import { cronce } from '../../src/index.ts'
import { type RedisOptions, redis } from '../../src/store/redis/redis.ts'
import type { Store } from '../../src/store/store.ts'
import { create, join } from '../../src/testing/conformance/bench.ts'
import { beat, decideIn, schedule } from '../../src/testing/conformance/samples.ts'
import { afterwards } from './sqlite-kit.ts'

const OPENING = { namespace: 'settings', adopt: false, production: false } as const

async function openAt(url: string, options: RedisOptions = {}): Promise<{ store: Store; warnings: string[] }> {
  const warnings: string[] = []
  const store = await redis(url, options).open({ ...OPENING, warn: (code) => warnings.push(code) })
  decideIn(store.info.epoch)
  return { store: store as Store, warnings }
}

test('what a server cannot promise is reported when it is opened', async (context) => {
  const server = await startRedis()
  afterwards(context, () => server.stop())
  const warningsOf = async (options: RedisOptions = {}) => {
    const { store, warnings } = await openAt(server.url, options)
    await store.close()
    return warnings
  }
  assert.deepEqual(await warningsOf(), [])
  await redisCommand(server, 'CONFIG', 'SET', 'maxmemory', '1gb')
  assert.deepEqual(await warningsOf(), [])
  await redisCommand(server, 'CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru')
  assert.deepEqual(await warningsOf(), ['STORE_EVICTS'])
  await redisCommand(server, 'CONFIG', 'SET', 'maxmemory-policy', 'noeviction')
  await redisCommand(server, 'CONFIG', 'SET', 'appendonly', 'no')
  assert.deepEqual(await warningsOf(), ['STORE_NOT_DURABLE'])
  await redisCommand(server, 'CONFIG', 'SET', 'appendonly', 'yes')
  const replica = await startRedisReplica(server)
  afterwards(context, () => replica.stop())
  assert.deepEqual(await warningsOf(), ['STORE_REPLICAS_ASYNC'])
  assert.deepEqual(await warningsOf({ wait: { replicas: 1, timeout: 2_000 } }), [])
})

test('with wait, an answer counts only if that number of replicas has what it is based on, reads included', async (context) => {
  const server = await startRedis()
  afterwards(context, () => server.stop())
  const replica = await startRedisReplica(server)
  try {
    const { store } = await openAt(server.url, { wait: { replicas: 1, timeout: 1_000 } })
    context.after(() => store.close())
    await join(store, 'i')
    await create(store, schedule('s'))
    await replica.kill()
    // On the connection of before, and on a new one that has written nothing yet. The old one may be found lost only by using it.
    const refusal = async (ask: () => Promise<unknown>): Promise<unknown> => {
      for (;;) {
        const error = await ask().then(
          () => null,
          (error) => error,
        )
        if (error?.code !== 'STORE_LOST') return [error?.code, error?.notApplied]
      }
    }
    for (const _ of [1, 2]) {
      assert.deepEqual(await refusal(() => store.load(['s'])), ['STORE_NOT_REPLICATED', false])
      assert.deepEqual(await refusal(() => store.beat(beat('i'))), ['STORE_NOT_REPLICATED', false])
      await redisCommand(server, 'CLIENT', 'KILL', 'TYPE', 'normal')
    }
  } finally {
    await replica.stop()
  }
})

test('exactly-once is refused with what to do instead', async (context) => {
  const server = await startRedis()
  afterwards(context, () => server.stop())
  const app = cronce({ store: redis(server.url), logger: false })
  app.job('bill', { cron: '0 0 * * *', guarantee: 'exactly-once' }, () => {})
  await assert.rejects(app.start(), (error: Error & { code?: string; hint?: string }) => {
    assert.equal(error.code, 'STORE_CANNOT_TRANSACT')
    assert.match(error.hint!, /run\.once.*run\.token/s)
    return true
  })
  await app.stop()
})

test('options that make no sense are refused', () => {
  const refused: readonly [RedisOptions, RegExp][] = [
    [{ prefix: 'a{b}' }, /prefix/],
    [{ prefix: '' }, /prefix/],
    [{ timeoutMs: 1 }, /timeoutMs/],
    [{ wait: { replicas: 0, timeout: 100 } }, /wait/],
    [{ wait: { replicas: 1, timeout: 5_000 } }, /wait\.timeout/],
    [{ waits: true } as RedisOptions, /"waits" is not an option/],
  ]
  for (const [options, message] of refused) {
    assert.throws(() => redis('redis://localhost', options), { code: 'STORE_OPTIONS_INVALID', message })
  }
})
