import pg from 'pg'
import { startPostgres } from '../../../../scripts/servers/index.ts'
import type { PostgresTransaction } from '../../src/store/postgres/library.ts'
import { postgres } from '../../src/store/postgres/postgres.ts'
import type { StoreUnderTest } from '../../src/testing/conformance/bench.ts'
import { describeStore } from '../../src/testing/conformance/describe-store.ts'

describeStore('PostgreSQL', async (): Promise<StoreUnderTest<PostgresTransaction>> => {
  // Nothing crashes here.
  const server = await startPostgres({ settings: { fsync: 'off' } })
  const user = new pg.Pool({ connectionString: server.url })
  await user.query('create table texts (text text)')
  return {
    // Through the pool: the server plans every function anew for every connection, and here there would be hundreds.
    source: postgres(user, { migrate: 'auto' }),
    database: {
      async write(tx, text) {
        await tx.query('insert into texts values ($1)', [text])
      },
      async read() {
        const { rows } = await user.query<{ text: string }>('select text from texts')
        return rows.map(({ text }) => text)
      },
      async transaction(work) {
        const client = await user.connect()
        try {
          await client.query('begin')
          await work(client)
          await client.query('commit')
        } catch (error) {
          await client.query('rollback')
          throw error
        } finally {
          client.release()
        }
      },
    },
    async age(namespace, ms) {
      const text = 'update cronce._instances set ended_at = ended_at - $2 where namespace = $1 and ended_at is not null'
      await user.query(text, [namespace, ms])
    },
    async setBack(namespace, ms) {
      const text = 'update cronce._instances set renewed_at = renewed_at + $2 where namespace = $1'
      await user.query(text, [namespace, ms])
    },
    async dispose() {
      await user.end()
      await server.stop()
    },
  }
})
