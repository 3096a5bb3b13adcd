import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Client } from 'pg'
import { type Server, startPostgres } from '../../../../scripts/servers/index.ts'
import { selectEnds, selectRuns } from '../../src/store/postgres/lists.ts'
import { migrator } from '../../src/store/postgres/migrator.ts'
import { eraseStatement } from '../../src/store/postgres/prune.ts'
import type { RunQuery } from '../../src/store/store.ts'

const PAGE = { after: null, limit: 10 }
const LATER_PAGE = { after: JSON.stringify([20_000, 'often', '9']), limit: 10 }

/** One schedule with a long history, run by ten instances in turn. */
const RUNS = `
insert into cronce._runs (namespace, schedule, token, due_at, nonce, job, instance, started_at, outcome, record)
select 'long', 'often', n::text, n, '', 'report', 'instance ' || n / 3000, n, 'succeeded', '{}' from generate_series(1, 30000) n`
const FIRES = `
insert into cronce._fires (namespace, schedule, due_at, nonce, job, outcome, ended_at, record)
select 'long', 'often', n, '', 'report', 'succeeded', n, '{}' from generate_series(1, 30000) n`

interface Plan {
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly Plans?: readonly Plan[]
}

/** The most rows that any node of the plan has looked at. */
function mostRows(plan: Plan): number {
  const own = (plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0)) * plan['Actual Loops']
  return Math.max(own, ...(plan.Plans ?? []).map(mostRows))
}

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
    await client.query(FIRES)
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

  test('ends since a snapshot are found by the transactions that it did not see, not among all that ended', async () => {
    // As if a hundred had ended in each transaction, and one in ten fires without a run.
    await client.query(`update cronce._runs set ended_in = (3 + started_at % 300)::text::xid8`)
    await client.query(`update cronce._fires set ended_in = (3 + due_at % 300)::text::xid8 where due_at % 10 = 0`)
    await client.query('analyze')
    const { rows } = await client.query<{ now: string }>('select pg_current_snapshot()::text as now')
    for (const snapshot of [rows[0]!.now, '100:200:120,150']) {
      const { sql, values } = selectEnds('cronce', 'long', snapshot, 1_000)
      const explained = await client.query<{ 'QUERY PLAN': string }>(`explain ${sql}`, [...values])
      const plan = explained.rows.map((row) => row['QUERY PLAN']).join('\n')
      for (const table of ['runs', 'fires'])
        assert.match(plan, new RegExp(`_${table}_ended.*Index Cond: .*ended_in`, 's'))
      assert.doesNotMatch(plan, /Seq Scan on _(runs|fires)/)
    }
  })

  test('ends that were copied from a server that is ahead are not new', async () => {
    const { rows } = await client.query<{ now: string }>('select pg_current_snapshot()::text as now')
    await client.query(`update cronce._runs set ended_in = '987654321012' where token in ('1', '2')`)
    const { sql, values } = selectEnds('cronce', 'long', rows[0]!.now, 1_000)
    const answer = await client.query<{ answer: string }>(sql, [...values])
    assert.deepEqual(JSON.parse(answer.rows[0]!.answer).items, [])
  })

  test('to erase some of a long history, no more of it is read', async () => {
    const { sql } = eraseStatement('cronce')
    await client.query('begin')
    const explained = await client.query<{ 'QUERY PLAN': readonly { readonly Plan: Plan }[] }>(
      `explain (analyze, format json) ${sql}`,
      ['long', 'often', '100'],
    )
    const left = await client.query('select from cronce._fires')
    await client.query('rollback')
    assert.equal(left.rowCount, 29_900)
    const read = mostRows(explained.rows[0]!['QUERY PLAN'][0]!.Plan)
    assert.ok(read <= 400, `${read} rows, for 100`)
  })
})
