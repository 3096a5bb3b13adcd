import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Client } from 'pg'
import { type Server, startPostgres } from '../../../../scripts/servers/index.ts'
import { selectRuns } from '../../src/store/postgres/lists.ts'
import { migrator } from '../../src/store/postgres/migrator.ts'
import type { RunQuery } from '../../src/store/store.ts'

const PAGE = { after: null, limit: 10 }
const LATER_PAGE = { after: JSON.stringify([20_000, 'often', '9']), limit: 10 }

/** One schedule with a long history, run by ten instances in turn. */
const RUNS = `
insert into cronce._runs (namespace, schedule, token, due_at, nonce, job, instance, started_at, outcome, record)
select 'long', 'often', n::text, n, '', 'report', 'instance ' || n / 3000, n, 'succeeded', '{}' from generate_series(1, 30000) n`

describe('Indexes of PostgreSQL', () => {
  let server: Server
  let client: Client
  before(async () => {
    server = await startPostgres({ settings: { fsync: 'off', autovacuum: 'off' } })
    const store = migrator(server.url)
    await store.up()
    await store.close()
    client = new Client({ connectionString: server.url })
    await client.connect()
    await client.query(RUNS)
  })
  after(async () => {
    await client.end()
    await server.stop()
  })

  const planOf = async (query: RunQuery): Promise<string> => {
    const { sql, values } = selectRuns('cronce', 'long', query)
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(`explain ${sql}`, [...values])
    return rows.map((row) => row['QUERY PLAN']).join('\n')
  }

  for (const [when, prepare] of [
    ['before the first statistics', ''],
    ['with statistics', 'analyze'],
  ] as const) {
    test(`a run is found by its token, and those of an instance by its name, in a long history, ${when}`, async () => {
      await client.query(prepare)
      for (const page of [PAGE, LATER_PAGE]) {
        const byToken = await planOf({ schedule: 'often', token: '15000', ...page })
        assert.match(byToken, /using _runs_token on.*Index Cond: .*schedule = .*token = /s)
        const byInstance = await planOf({ instance: 'nobody', ...page })
        assert.match(byInstance, /using _runs_instance on.*Index Cond: .*instance = /s)
      }
    })
  }
})
