import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Server, startPostgres } from '../../../scripts/servers/index.ts'
import type { Client, FireView } from '../../cronce/src/index.ts'
import { graphileWorker } from '../src/graphile-worker.ts'
import { pgBoss } from '../src/pg-boss.ts'
import { ended, fired, logOf, runsOf, startProgram, until } from './kit.ts'
import { type Database, prepareDatabase, startApp } from './postgres-kit.ts'

let server: Server
let database: Database
before(async () => {
  server = await startPostgres()
  database = await prepareDatabase(server.url)
})
after(async () => {
  await database.boss.stop({ graceful: false })
  await database.utils.release()
  await server.stop()
})

test('transaction: refused if the queue is in another database, or the run is to wait', async (context) => {
  const other = await startPostgres()
  context.after(() => other.stop())
  const { boss, utils } = await prepareDatabase(other.url)
  context.after(async () => {
    await boss.stop({ graceful: false })
    await utils.release()
  })
  const app = await startApp(
    context,
    { retry: 3 },
    { invoice: pgBoss(boss, { transaction: true }), rollup: graphileWorker(utils, { transaction: true }) },
    server.url,
  )
  for (const name of ['invoice', 'rollup']) {
    const fire = await fired(app, name)
    assert.deepEqual({ state: fire.state, attempt: fire.attempt }, { state: 'failed', attempt: 1 })
    assert.equal((await runsOf(app, fire))[0]!.error!.code, 'QUEUE_DATABASE_DIFFERENT')
  }
  const both = { transaction: true, wait: 'completed' } as const
  assert.throws(() => pgBoss(boss, both), /transaction of pgBoss\(\) can't be with wait/)
  assert.throws(() => graphileWorker(utils, both), /transaction of graphileWorker\(\) can't be with wait/)
})

test('completed: the outcome of the job is that of the run; a killed worker is replaced', async (context) => {
  const { boss, utils } = database
  const held = { name: 'print', wait: 'completed', pollMs: 50 } as const
  const app = await startApp(
    context,
    {},
    {
      invoice: pgBoss(boss, { ...held, options: { retryLimit: 1, expireInSeconds: 2 } }),
      rollup: graphileWorker(utils, held),
      once: graphileWorker(utils, { ...held, options: { maxAttempts: 1 } }),
    },
    'memory:',
  )
  const worker = startProgram('pg-worker.ts', { url: database.url, hangs: true })
  await worker.told('ready')
  const invoice = await fired(app, 'invoice', { does: 'succeed' })
  assert.deepEqual(await resultOf(app, invoice), { result: { rows: 7 }, attempts: 1, stalled: null })
  const rollup = await fired(app, 'rollup', { does: 'succeed' })
  assert.deepEqual(await resultOf(app, rollup), { result: null, attempts: null, stalled: null })

  const failed = await fired(app, 'invoice', { does: 'fail' })
  const [run] = await runsOf(app, failed)
  assert.match(run!.error!.message, /failed after 2 attempts: the printer burns$/)
  assert.match(logOf(run).join(), /pg-boss runs the job again, as retry 1/)
  const once = await fired(app, 'once', { does: 'fail' })
  assert.match((await runsOf(app, once))[0]!.error!.message, /failed: the printer burns$/)

  const began = worker.lines.length
  const { fire: hungInvoice } = await app.schedules.trigger('invoice', { input: { does: 'hang' } })
  const { fire: hungRollup } = await app.schedules.trigger('rollup', { input: { does: 'hang' } })
  await until('both hang', () => worker.lines.length === began + 2)
  await worker.kill()
  const second = startProgram('pg-worker.ts', { url: database.url, hangs: false })
  await second.told('ready')
  // graphile-worker would wait for four hours.
  const locked = 'select locked_by as id from graphile_worker.jobs where locked_by is not null'
  const { rows } = await boss.getDb().executeSql(locked)
  await utils.forceUnlockWorkers(rows.map(({ id }: { readonly id: string }) => id))
  assert.deepEqual(await resultOf(app, await ended(app, hungInvoice)), {
    result: { rows: 7 },
    attempts: 2,
    stalled: null,
  })
  assert.deepEqual(await resultOf(app, await ended(app, hungRollup)), { result: null, attempts: null, stalled: null })
  await second.kill()
})

test('cancel: a job that waits is cancelled', async (context) => {
  const { boss, utils } = database
  const held = { name: 'print', wait: 'completed', pollMs: 50 } as const
  const handlers = { invoice: pgBoss(boss, held), rollup: graphileWorker(utils, held) }
  const app = await startApp(context, {}, handlers, 'memory:')
  for (const name of ['invoice', 'rollup']) {
    const { fire } = await app.schedules.trigger(name)
    const isEnqueued = async () => (await app.steps.list(fire)).some(({ state }) => state === 'done')
    await until('it is enqueued', isEnqueued)
    await app.fires.cancel(fire)
    assert.equal((await ended(app, fire)).state, 'cancelled')
  }
  const open = `select state::text from pgboss.job where name = 'print' and state < 'completed'
    union all select 'open' from graphile_worker.jobs where attempts < max_attempts`
  assert.deepEqual((await boss.getDb().executeSql(open)).rows, [])
})

async function resultOf(app: Client, fire: FireView): Promise<unknown> {
  const { jobId: _, ...rest } = (await runsOf(app, fire)).at(-1)!.result as { readonly jobId: string }
  return rest
}
