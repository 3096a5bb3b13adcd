import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { before, test } from 'node:test'
import { startProxy } from '../../verification/chaos/proxy.ts'
import { obtain, promote, startPostgres, startStandby } from './index.ts'
import { waitUntil } from './wait.ts'

const PATIENCE_MS = 60_000
/** The first part of the name of the file that is written to. */
const TIMELINE = `select ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int`

let psql: string
before(async () => {
  psql = await obtain('psql')
})

test('a standby follows, refuses writes, and accepts them once promoted, without what it never received', async (context) => {
  const primary = await startPostgres()
  context.after(() => primary.stop())
  const between = await startProxy({ host: '127.0.0.1', port: primary.port })
  context.after(() => between.close())
  query(primary, 'create table kept as select 1 as number')
  const standby = await startStandby({ primary, port: between.port })
  context.after(() => standby.stop())

  assert.equal(query(standby, 'select pg_is_in_recovery()'), 't')
  query(primary, 'insert into kept values (2)')
  assert.ok(await waitUntil(() => query(standby, 'select count(*) from kept') === '2', PATIENCE_MS), 'it follows')
  assert.throws(() => query(standby, 'insert into kept values (3)'), /read-only transaction/)
  assert.equal(query(primary, TIMELINE), '1')

  between.mode('black-hole')
  // Acknowledged, and lost with the primary.
  query(primary, 'insert into kept values (3)')
  await promote(standby)

  assert.equal(query(standby, TIMELINE), '2', 'the promotion is visible')
  query(standby, 'insert into kept values (4)')
  assert.equal(query(standby, `select string_agg(number::text, ',' order by number) from kept`), '1,2,4')
  assert.equal(query(primary, 'select count(*) from kept'), '3', 'the old one does not know')

  await standby.kill()
  await standby.restart()
  assert.equal(query(standby, 'select pg_is_in_recovery()'), 'f', 'it stays a primary')
  assert.equal(query(standby, 'select count(*) from kept'), '3')
})

function query(server: { readonly url: string }, sql: string): string {
  return execFileSync(psql, [server.url, '-XAtqc', sql], { encoding: 'utf8', timeout: 120_000, stdio: 'pipe' }).trim()
}
