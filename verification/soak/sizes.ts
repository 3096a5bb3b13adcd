/** What the data of a store takes, by the store's own account. */
import { existsSync, statSync } from 'node:fs'
import { Redis } from 'ioredis'
import pg from 'pg'
import { etcdChaos } from '../chaos/stores/etcd.ts'
import { postgresChaos } from '../chaos/stores/postgres.ts'
import { redisChaos } from '../chaos/stores/redis.ts'
import { sqliteChaos } from '../chaos/stores/sqlite.ts'
import type { ChaosStore, PreparedStore } from '../chaos/stores/store.ts'

export interface SoakStore {
  readonly store: ChaosStore
  /** Rejects while the store can't be reached. */
  readonly bytes: (prepared: PreparedStore) => Promise<number>
}

export const SOAK_STORES: Readonly<Record<string, SoakStore>> = {
  sqlite: {
    store: sqliteChaos,
    bytes: async ({ url }) =>
      [url, `${url}-wal`].reduce((sum, file) => sum + (existsSync(file) ? statSync(file).size : 0), 0),
  },
  postgres: { store: postgresChaos({ name: 'postgres' }), bytes: databaseBytes },
  redis: { store: redisChaos({ name: 'redis' }), bytes: usedMemory },
  etcd: { store: etcdChaos, bytes: keptBytes },
}

async function databaseBytes({ url }: PreparedStore): Promise<number> {
  const client = new pg.Client(url)
  client.on('error', () => {})
  await client.connect()
  try {
    const { rows } = await client.query<{ bytes: string }>('select pg_database_size(current_database()) as bytes')
    return Number(rows[0]!.bytes)
  } finally {
    await client.end()
  }
}

/** Without the buffers of clients. */
async function usedMemory({ url }: PreparedStore): Promise<number> {
  const client = new Redis(url, { lazyConnect: true, maxRetriesPerRequest: 1, retryStrategy: () => null })
  client.on('error', () => {})
  await client.connect()
  try {
    return Number(/used_memory_dataset:(\d+)/.exec(await client.info('memory'))![1])
  } finally {
    client.disconnect()
  }
}

/** In use, after the compaction that operators of etcd have to run: without it etcd keeps every earlier revision. */
async function keptBytes({ network }: PreparedStore): Promise<number> {
  const base = `http://${network!.host}:${network!.port}`
  const ask = async (path: string, body: object): Promise<{ header: { revision: string } }> => {
    const answer = await fetch(`${base}${path}`, { method: 'POST', body: JSON.stringify(body) })
    if (!answer.ok) throw new Error(await answer.text())
    return (await answer.json()) as { header: { revision: string } }
  }
  const { header } = await ask('/v3/kv/range', { key: 'AA==' })
  await ask('/v3/kv/compaction', { revision: header.revision, physical: true }).catch(() => {})
  const metrics = await (await fetch(`${base}/metrics`)).text()
  return Number(/^etcd_mvcc_db_total_size_in_use_in_bytes (\S+)/m.exec(metrics)![1])
}
