import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Client } from 'pg'
import { type Server, startPostgres } from '../../../../scripts/servers/index.ts'
import { ofFire } from '../../src/store/list-views.ts'
import { type Select, selectRecords } from '../../src/store/postgres/lists.ts'
import { migrator } from '../../src/store/postgres/migrator.ts'

const FIRE = { schedule: 'often', dueAt: 15_000, nonce: '' }
const PAGE = { after: null, limit: 10 }
const LATER_PAGE = { after: JSON.stringify([20_000, 1, '', '9']), limit: 10 }

/** A schedule with a long history and one with a short one, run by ten instances in turn. */
const HISTORY = `
insert into cronce._namespaces (namespace) values ('long');
insert into cronce._jobs (namespace, name) values ('long', 'report'), ('long', 'rare');
insert into cronce._names (namespace, name) values ('long', 'often'), ('long', 'seldom');
insert into cronce._history
  (key, due_at, number, token, started_at, ended_at, expires_at, space, job, runner, reason, is_final, nonce, tenant, more)
select 1, n, n, n, n, n, n, 1, 1, n / 3000, case when n % 100 = 0 then 17 else 1 end, true, '', '', '' from generate_series(1, 30000) n
union all
select 2, n, n, n, n, n, n, 1, 2, 0, 1, true, '', '', '' from generate_series(1, 30) n`

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
    await client.query(HISTORY)
  })
  after(async () => {
    await client.end()
    await server.stop()
  })

  const rowsRead = async ({ sql, values }: Select): Promise<number> => {
    const explained = await client.query<{ 'QUERY PLAN': readonly { readonly Plan: Plan }[] }>(
      `explain (analyze, format json) ${sql}`,
      [...values],
    )
    return mostRows(explained.rows[0]!['QUERY PLAN'][0]!.Plan)
  }

  test('a page of a long history reads no more than a page', async () => {
    await client.query('analyze')
    const lists: readonly (readonly [what: string, list: (page: typeof PAGE | typeof LATER_PAGE) => Select])[] = [
      ['all fires', (page) => selectRecords('cronce', 'long', { ...page, view: 'fires' })],
      ['the earliest', (page) => selectRecords('cronce', 'long', { ...page, view: 'fires', order: 'earliest' })],
      ['of a schedule', (page) => selectRecords('cronce', 'long', { ...page, view: 'fires', schedule: 'often' })],
      ['of a job', (page) => selectRecords('cronce', 'long', { ...page, view: 'fires', job: 'rare' })],
      ['failed ones', (page) => selectRecords('cronce', 'long', { ...page, view: 'fires', outcome: 'failed' })],
      ['runs of a schedule', (page) => selectRecords('cronce', 'long', { ...page, view: 'runs', schedule: 'often' })],
      [
        'a run of a fire',
        (page) => selectRecords('cronce', 'long', { ...page, ...ofFire(FIRE), view: 'runs', token: '15000' }),
      ],
      ['all runs', (page) => selectRecords('cronce', 'long', { ...page, view: 'runs' })],
      ['failed runs', (page) => selectRecords('cronce', 'long', { ...page, view: 'runs', outcome: 'failed' })],
    ]
    for (const [what, list] of lists) {
      for (const page of [PAGE, LATER_PAGE]) {
        const read = await rowsRead(list(page))
        assert.ok(read <= 100, `${what}: ${read} rows`)
      }
    }
  })

  const endsSince = async (snapshot: string): Promise<readonly unknown[]> => {
    const { rows } = await client.query<{ answer: string }>(`select cronce._ends_1('long', $1, '5000') as answer`, [
      snapshot,
    ])
    return JSON.parse(rows[0]!.answer).lines
  }

  test('ends since a snapshot are found by the transactions that it did not see, not among all that ended', async () => {
    // As if a hundred had ended in each transaction.
    await client.query('update cronce._history set ended_in = (3 + started_at % 300)::text::xid8')
    await client.query('vacuum analyze')
    const { rows } = await client.query<{ now: string }>('select pg_current_snapshot()::text as now')
    const read = async (): Promise<number> => {
      const sql = `select pg_stat_force_next_flush(), pg_stat_clear_snapshot()`
      await client.query(sql)
      const { rows } = await client.query<{ rows: string }>(
        `select idx_tup_read as rows from pg_stat_user_indexes where indexrelname = '_history_ended'`,
      )
      return Number(rows[0]!.rows)
    }
    const before = await read()
    assert.equal((await endsSince(rows[0]!.now)).length, 0)
    assert.equal((await endsSince('100:290:120,150')).length, 1_500)
    assert.equal((await read()) - before, 1_500)
  })

  test('ends that were copied from a server that is ahead are not new', async () => {
    const { rows } = await client.query<{ now: string }>('select pg_current_snapshot()::text as now')
    await client.query(`update cronce._history set ended_in = '987654321012' where key = 1 and number in (1, 2)`)
    assert.deepEqual(await endsSince(rows[0]!.now), [])
  })
})
