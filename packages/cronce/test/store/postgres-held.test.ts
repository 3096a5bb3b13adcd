import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { startPostgres } from '../../../../scripts/servers/index.ts'
import { cronce } from '../../src/app/cronce.ts'
import { postgres } from '../../src/store/postgres/postgres.ts'

test('a schedule that is held in an open transaction keeps no release from starting, and is declared afterwards', async (context) => {
  const server = await startPostgres({ settings: { fsync: 'off' } })
  const pool = new pg.Pool({ connectionString: server.url, max: 4 })
  const make = (deployment: string, minute: number) => {
    const store = postgres(pool, { migrate: 'auto' })
    const app = cronce({ store, app: 'shop', deployment, signals: false, logger: false, lease: '3s' })
    return app.job('held', `${minute} * * * *`, () => {}).job('other', `${minute} * * * *`, () => {})
  }
  const [old, next] = [make('v1', 1), make('v2', 2)]
  const client = await pool.connect()
  context.after(async () => {
    await client.query('rollback').catch(() => {})
    client.release()
    await Promise.all([old.stop(), next.stop()])
    await pool.end()
    await server.stop()
  })
  const ruleOf = async (name: string): Promise<string> => {
    const { trigger } = await next.schedules.get(name)
    return trigger?.kind === 'cron' ? trigger.expression : ''
  }
  await old.start()
  await client.query('begin')
  await old.schedules.trigger('held', { tx: client })
  await next.start()
  assert.deepEqual([await ruleOf('held'), await ruleOf('other')], ['1 * * * *', '2 * * * *'])
  await client.query('commit')
  for (let tries = 0; tries < 600 && (await ruleOf('held')) !== '2 * * * *'; tries++)
    await new Promise((resolve) => setTimeout(resolve, 100))
  assert.equal(await ruleOf('held'), '2 * * * *')
})
