import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Server, startPostgres } from '../../../scripts/servers/index.ts'
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
  const app = await startApp(
    context,
    {},
    {
      invoice: pgBoss(boss, {
        name: 'print',
        wait: 'completed',
        pollMs: 50,
        options: { retryLimit: 1, expireInSeconds: 2 },
      }),
      rollup: graphileWorker(utils, { name: 'print', wait: 'completed', pollMs: 50, options: { maxAttempts: 2 } }),
    },
    'memory:',
  )
  const worker = startProgram('pg-worker.ts', { url: database.url })
  await worker.told('ready')
  const invoice = await fired(app, 'invoice', { does: 'succeed' })
  assert.deepEqual(resultOf((await runsOf(app, invoice))[0]!.result), {
    result: { rows: 7 },
    attempts: 1,
    stalled: null,
  })
  const rollup = await fired(app, 'rollup', { does: 'succeed' })
  assert.deepEqual(resultOf((await runsOf(app, rollup))[0]!.result), { result: null, attempts: 1, stalled: null })

  const failed = await fired(app, 'invoice', { does: 'fail' })
  const [run] = await runsOf(app, failed)
  assert.match(run!.error!.message, /failed after 2 attempts: the printer burns$/)
  assert.match(logOf(run).join(), /pg-boss runs the job again, as retry 1/)
  const { fire: burnt } = await app.schedules.trigger('rollup', { input: { does: 'fail' } })
  const { fire: hung } = await app.schedules.trigger('rollup', { input: { does: 'hang' }, overlap: 'ignore' })
  await until('an attempt has failed', async () => logOf((await runsOf(app, burnt))[0]).length > 0)
  await until('it hangs', () => worker.lines.filter(({ what }) => what === 'began').length >= 6)
  await worker.kill()
  const { fire: waiting } = await app.schedules.trigger('invoice', { input: { does: 'succeed' } })
  await app.fires.cancel(waiting)
  assert.equal((await ended(app, waiting)).state, 'cancelled')
  await app.fires.cancel(hung)
  assert.equal((await ended(app, hung)).state, 'cancelled')
  await app.fires.cancel(burnt)
  assert.equal((await ended(app, burnt)).state, 'cancelled')
})

function resultOf(result: unknown): unknown {
  const { jobId: _, ...rest } = result as { readonly jobId: string }
  return rest
}
