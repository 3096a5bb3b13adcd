import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { startEtcd, startPostgres, startRedis, startZooKeeper } from '../../../../scripts/servers/index.ts'
import { cronce } from '../../src/app/cronce.ts'
import { migrator } from '../../src/postgres.ts'

const { CRONCE_LONG } = process.env
const skip = CRONCE_LONG === '1' ? false : 'takes long: set CRONCE_LONG=1'

/** Three processes' worth of apps that execute the same at the same moment. */
async function detectOn(store: string): Promise<void> {
  const apps = [1, 2, 3].map(() => cronce({ store, signals: false, logger: false }))
  let found = 0
  for (const app of apps) app.on('execution.duplicated', () => found++)
  try {
    const options = { window: '1h', action: 'refuse' } as const
    const done = await Promise.all(apps.map((app) => app.detect('legacy', options, () => 'done')))
    assert.deepEqual(done.filter(Boolean), ['done'])
    assert.equal(found, 2)
    const { items } = await apps[0]!.fires.list({ job: 'cronce:detect', outcome: 'skipped' })
    assert.equal(items.length, 2)
  } finally {
    await Promise.all(apps.map((app) => app.stop()))
  }
}

describe('duplicates are refused', () => {
  test('on PostgreSQL', async () => {
    await using server = await startPostgres()
    const migrating = migrator(server.url)
    await migrating.up()
    await migrating.close()
    await detectOn(server.url)
  })

  test('on Redis', async () => {
    await using server = await startRedis()
    await detectOn(server.url)
  })

  test('on etcd', { skip }, async () => {
    await using server = await startEtcd()
    await detectOn(server.url.replace('http', 'etcd'))
  })

  test('on ZooKeeper', { skip }, async () => {
    await using server = await startZooKeeper()
    await detectOn(server.url)
  })
})
