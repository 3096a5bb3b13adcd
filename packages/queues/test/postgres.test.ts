import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { type Server, startPostgres } from '../../../scripts/servers/index.ts'
import { connect, type FireView } from '../../cronce/src/index.ts'
import { graphileWorker } from '../src/graphile-worker.ts'
import { type PgBossLike, pgBoss } from '../src/pg-boss.ts'
import { fired, runsOf, startProgram, until } from './kit.ts'
import { type Database, idOf, membersOf, prepareDatabase, startApp } from './postgres-kit.ts'

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

const { CRONCE_LONG } = process.env
const [SCHEDULES, FIRES, KILLS] = CRONCE_LONG === '1' ? [4, 12, 6] : [3, 4, 1]

test('transaction: under kill -9, a job exists if and only if its fire has succeeded', async () => {
  const client = await connect({ store: database.url, logger: false })
  const retry = { attempts: 50, crashes: 100, backoff: { base: 50, cap: 200 } } as const
  const policy = { overlap: 'queue-all', misfire: { late: 'all', limit: 1_000 }, retry } as const
  const start = () => startProgram('pg-scheduler.ts', { url: database.url })
  let program = start()
  await program.told('started')
  await client.schedules.createMany(
    ['invoice', 'rollup'].flatMap((job) =>
      Array.from({ length: SCHEDULES }, (_, number) => [
        `${job}-${number}`,
        { job, every: 1_000, limit: FIRES, guarantee: 'exactly-once', ...policy } as const,
      ]),
    ),
  )
  const fires = async (): Promise<readonly FireView[]> => {
    const found: FireView[] = []
    for await (const fire of client.fires.all({ outcome: 'succeeded' }))
      if (fire.job === 'invoice' || fire.job === 'rollup') found.push(fire)
    return found
  }
  /** While no process runs, but the server may still commit what it was sent. */
  const isExact = async (): Promise<boolean> => {
    const succeeded = await fires()
    const of = (name: string) => succeeded.filter(({ job }) => job === name).map(idOf)
    const [invoices, rollups] = [await database.bossJobs(), await database.graphileJobs()]
    return isSame(invoices, of('invoice')) && isSame(rollups, of('rollup'))
  }
  for (let kill = 0; kill < KILLS; kill++) {
    await program.told('run.started', 5)
    await program.kill()
    await until('the jobs are those of the fires that have succeeded', isExact)
    program = start()
  }
  await until('all have ended', async () => (await fires()).length === 2 * SCHEDULES * FIRES)
  await program.kill()
  assert.equal(await isExact(), true)
  assert.equal((await database.bossJobs()).length, SCHEDULES * FIRES)
  assert.equal((await database.graphileJobs()).length, SCHEDULES * FIRES)
  await client.close()
})

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return isDeepStrictEqual(one.toSorted(), other.toSorted())
}

test('transaction: a run that fails after it has enqueued leaves no job', async (context) => {
  const { boss } = database
  const failing = {
    ...membersOf(boss),
    send: async (...args: Parameters<PgBossLike['send']>) => {
      assert.notEqual(await boss.send(...(args as Parameters<typeof boss.send>)), null)
      throw new Error('after the insert')
    },
  }
  const app = await startApp(context, {}, { invoice: pgBoss(failing, { transaction: true }) }, server.url)
  const jobs = await database.bossJobs()
  const fire = await fired(app, 'invoice')
  assert.equal(fire.state, 'failed')
  assert.equal((await runsOf(app, fire))[0]!.error!.message, 'after the insert')
  assert.deepEqual(await database.bossJobs(), jobs)
})

test('own keys: a repeated enqueue adds nothing, with any store', async (context) => {
  const { boss, utils } = database
  let lost = 0
  const loseOnce = async <Value>(value: Value): Promise<Value> => {
    if (++lost <= 2) throw new Error('the connection was closed')
    return value
  }
  const losingBoss = {
    ...membersOf(boss),
    send: async (...args: Parameters<PgBossLike['send']>) =>
      loseOnce(await boss.send(...(args as Parameters<typeof boss.send>))),
  }
  const losingUtils = {
    withPgClient: async <Value>(work: Parameters<typeof utils.withPgClient<Value>>[0]): Promise<Value> =>
      loseOnce(await utils.withPgClient(work)),
  }
  const app = await startApp(
    context,
    { retry: { attempts: 2, backoff: { base: 1 } } },
    { invoice: pgBoss(losingBoss), rollup: graphileWorker(losingUtils) },
    'memory:',
  )
  const invoice = await fired(app, 'invoice')
  lost = 0
  const rollup = await fired(app, 'rollup')
  assert.deepEqual([invoice.attempt, rollup.attempt], [3, 3])
  assert.equal((await database.bossJobs()).filter((fire) => fire === idOf(invoice)).length, 1)
  assert.equal((await database.graphileJobs()).filter((fire) => fire === idOf(rollup)).length, 1)
})
