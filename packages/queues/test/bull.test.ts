import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { after, before, test } from 'node:test'
import { type Server, startRedis } from '../../../scripts/servers/index.ts'
import { cronce } from '../../cronce/src/index.ts'
import { type BullQueue, bullmq } from '../src/bullmq.ts'
import { ended, fired, logOf, runsOf, until } from './kit.ts'

/** Of the package `bull`, which is CommonJS. Its process function is all that cronce does not call. */
interface Bull extends BullQueue {
  process(name: string, work: (job: BullJob) => Promise<unknown>): void
  getWaitingCount(): Promise<number>
  getJobs(types: readonly string[]): Promise<readonly { readonly id: string }[]>
  close(): Promise<void>
}

interface BullJob {
  readonly attemptsMade: number
  progress(percent: number): Promise<void>
  log(line: string): Promise<unknown>
}

let server: Server
before(async () => {
  server = await startRedis()
})
after(() => server.stop())

test('Bull: one job for a fire, its log, progress, result and failure, and its removal', async (context) => {
  const create = createRequire(import.meta.url)('bull') as new (name: string, url: string) => Bull
  const queue = new create('reports', server.url)
  const idle = new create('idle', server.url)
  const app = cronce({ store: 'memory:', logger: false, signals: false, app: 'queues' })
  const options = { wait: 'completed', pollMs: 20, options: { attempts: 2 } } as const
  app.job('report', {}, bullmq(queue, options))
  app.job('fail', {}, bullmq(queue, options))
  app.job('unworked', {}, bullmq(idle, options))
  queue.process('report', async (job) => {
    await job.log('first line')
    await job.progress(50)
    if (job.attemptsMade === 0) throw new Error('the printer is out of paper')
    return { rows: 7 }
  })
  queue.process('fail', async () => {
    throw new Error('the printer burns')
  })
  await app.start()
  context.after(async () => {
    await app.stop()
    await queue.close()
    await idle.close()
  })
  const fire = await fired(app, 'report')
  const [run] = await runsOf(app, fire)
  assert.equal(run!.progress?.fraction, 0.5)
  assert.deepEqual(
    logOf(run).filter((line) => line === 'first line'),
    ['first line', 'first line'],
  )
  assert.deepEqual((run!.result as { result: unknown }).result, { rows: 7 })
  assert.deepEqual(
    (await queue.getJobs(['completed'])).map(({ id }) => id),
    [(run!.result as { jobId: string }).jobId],
  )

  const failed = await fired(app, 'fail')
  assert.match((await runsOf(app, failed))[0]!.error!.message, /failed after 2 attempts: the printer burns$/)

  const { fire: unworked } = await app.schedules.trigger('unworked')
  await until('it is enqueued', async () => (await idle.getWaitingCount()) === 1)
  await app.fires.cancel(unworked)
  assert.equal((await ended(app, unworked)).state, 'cancelled')
  assert.equal(await idle.getWaitingCount(), 0)
})
