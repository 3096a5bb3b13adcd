import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { startEtcd, startPostgres, startRedis, startZooKeeper } from '../../../../scripts/servers/index.ts'
import { cronce } from '../../src/app/cronce.ts'
import { surround } from '../../src/app/surroundings.ts'
import { migrator } from '../../src/postgres.ts'
import { etcd } from '../../src/store/etcd/etcd.ts'
import { memory } from '../../src/store/memory/memory.ts'
import { postgres } from '../../src/store/postgres/postgres.ts'
import { redis } from '../../src/store/redis/redis.ts'
import { sqlite } from '../../src/store/sqlite/sqlite.ts'
import type { StoreSource } from '../../src/store/store.ts'
import { zookeeper } from '../../src/store/zookeeper/zookeeper.ts'

const LONGEST_MS = 60_000
const { CRONCE_LONG } = process.env
const skip = CRONCE_LONG === '1' ? false : 'takes long: set CRONCE_LONG=1'

/** A job fails, is muted, unmuted and repaired, on a store as it is. */
async function scenario(source: StoreSource<never>): Promise<void> {
  let isBroken = true
  const kinds: string[] = []
  const app = cronce({
    store: surround(source, { settings: { watchMs: 200 } }) as StoreSource,
    ...{ app: 'shop', logger: false, signals: false },
    watch: { silent: false, missed: false, late: false },
    alerts: { channels: [({ kind }) => void kinds.push(kind)], gather: 0 },
  })
  app.job('report', '* * * * * *', () => {
    if (isBroken) throw new Error('no')
  })
  const until = async (isSo: () => boolean | Promise<boolean>): Promise<void> => {
    for (const end = performance.now() + LONGEST_MS; !(await isSo()); ) {
      assert.ok(performance.now() < end, `waited in vain: ${kinds}`)
      await sleep(50)
    }
  }
  try {
    await app.start()
    await until(() => kinds.length > 0)
    await app.alerts.mute('report', { note: 'being repaired' })
    await until(async () => (await app.alerts.list())[0]?.state === 'muted')
    await app.alerts.unmute('report')
    await until(() => kinds.length > 1)
    isBroken = false
    await until(() => kinds.length > 2)
    await until(async () => (await app.alerts.unsent()).length === 0)
    assert.deepEqual(kinds, ['firing', 'firing', 'resolved'])
    assert.deepEqual(await app.alerts.list(), [])
  } finally {
    await app.stop()
  }
}

describe('alerts on every store', () => {
  test('memory', () => scenario(memory()))

  test('SQLite', async (context) => {
    const folder = await mkdtemp(join(tmpdir(), 'cronce-alerts-'))
    context.after(() => rmSync(folder, { recursive: true, force: true }))
    await scenario(sqlite(join(folder, 'cronce.db')) as StoreSource<never>)
  })

  test('PostgreSQL', async () => {
    await using server = await startPostgres()
    const migrating = migrator(server.url)
    await migrating.up()
    await migrating.close()
    await scenario(postgres(server.url) as StoreSource<never>)
  })

  test('Redis', async () => {
    await using server = await startRedis()
    await scenario(redis(server.url) as StoreSource<never>)
  })

  test('etcd', { skip }, async () => {
    await using server = await startEtcd()
    await scenario(etcd(server.url.replace('http', 'etcd')) as StoreSource<never>)
  })

  test('ZooKeeper', { skip }, async () => {
    await using server = await startZooKeeper()
    await scenario(zookeeper(server.url) as StoreSource<never>)
  })
})
