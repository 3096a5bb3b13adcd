import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Queue } from 'bullmq'
import { type Server, startRedis } from '../../../scripts/servers/index.ts'
import { cronce } from '../../cronce/src/index.ts'
import { type BullmqOptions, bullmq, type QueueError } from '../src/bullmq.ts'
import { allJobs, losing, world } from './bull-kit.ts'
import { ended, fired, logOf, runsOf, until } from './kit.ts'

let server: Server
before(async () => {
  server = await startRedis()
})
after(() => server.stop())

test('a fire is one job, also if the answer to the enqueue is lost and the run is repeated', async (context) => {
  const { queue, app } = await world(
    context,
    server.url,
    { name: 'print' },
    { retry: { attempts: 1, backoff: { base: 1 } } },
    losing,
  )
  const fire = await fired(app, 'report', { to: 'ada' })
  assert.equal(fire.state, 'succeeded')
  assert.equal(fire.attempt, 2)
  const [job, ...others] = await allJobs(queue)
  assert.deepEqual(others, [])
  assert.equal(job!.name, 'print')
  assert.match(job!.id!, /^cronce_[\w-]+$/)
  assert.deepEqual(job!.data, {
    schedule: 'report',
    job: 'report',
    dueAt: fire.dueAt,
    fireId: `report@${new Date(fire.dueAt).toISOString()}#${fire.nonce}`,
    idempotencyKey: job!.id,
    input: { to: 'ada' },
  })
  const [, second] = await runsOf(app, fire)
  assert.deepEqual(second!.result, { jobId: job!.id })
})

test("completed: the job's progress, log and result are those of the run", async (context) => {
  const { app, worker } = await world(context, server.url, { wait: 'completed' })
  await worker()
  const fire = await fired(app, 'report', { does: 'succeed' })
  const [run] = await runsOf(app, fire)
  assert.equal(fire.state, 'succeeded')
  assert.deepEqual(logOf(run), ['first line', 'second line'])
  assert.equal(run!.progress?.fraction, 0.5)
  const { jobId, ...result } = run!.result as { jobId: string }
  assert.deepEqual(result, { result: { rows: 7 }, attempts: 1, stalled: 0 })
})

test("completed: the job's failure is the run's, its own retries are in the log, and a retry of the fire is another job", async (context) => {
  const retry = { attempts: 1, backoff: { base: 1 } }
  const { app, queue, worker } = await world(
    context,
    server.url,

    { wait: 'completed', options: { attempts: 2 } },
    { retry },
  )
  await worker()
  const fire = await fired(app, 'report', { does: 'fail' })
  assert.equal(fire.state, 'failed')
  const runs = await runsOf(app, fire)
  assert.deepEqual(
    runs.map(({ error }) => [error?.code, error?.message.replace(/cronce_[\w-]+/, 'ID')]),
    Array(2).fill(['QUEUE_JOB_FAILED', `Job ID in the queue ${queue.name} failed after 2 attempts: the printer burns`]),
  )
  assert.match(runs[0]!.error!.stack!, /bull-worker\.ts/)
  assert.deepEqual(logOf(runs[0]).slice(-1), ['Attempt 2 of the job failed: the printer burns'])
  assert.equal((await allJobs(queue)).length, 2)

  const again = await app.fires.retry(fire)
  await ended(app, again)
  assert.equal((await allJobs(queue)).length, 4, 'an operator who retries the fire gets new jobs')
})

test("completed: a failure that the job's own retries make good is a success", async (context) => {
  const { app, worker } = await world(context, server.url, { wait: 'completed', options: { attempts: 2 } })
  await worker()
  const fire = await fired(app, 'report', { does: 'failOnce' })
  const [run] = await runsOf(app, fire)
  const { jobId, ...result } = run!.result as { jobId: string }
  assert.deepEqual(result, { result: 'printed', attempts: 2, stalled: 0 })
})

test('completed: a worker that is killed is replaced by BullMQ, and the run says so', async (context) => {
  const { app, worker } = await world(context, server.url, { wait: 'completed' })
  const first = await worker({ lockDuration: 1_000 })
  const { fire } = await app.schedules.trigger('report', { input: { does: 'hangFirst' } })
  await first.told('began')
  await first.kill()
  const second = await worker({ lockDuration: 1_000 })
  const { state } = await ended(app, fire)
  assert.equal(state, 'succeeded')
  const [run, ...others] = await runsOf(app, fire)
  assert.deepEqual(others, [])
  const { jobId, ...result } = run!.result as { jobId: string }
  assert.deepEqual(result, { result: 'by the second worker', attempts: 2, stalled: 1 })
  assert.match(logOf(run).join(), /^The job stalled: /)
  assert.deepEqual(
    [...first.lines, ...second.lines].filter(({ what }) => what === 'began').map(({ id }) => id),
    [jobId, jobId],
  )
})

test('fires of two namespaces in one queue are two jobs, also if names and due times are the same and have colons', async (context) => {
  const queue = new Queue('shared', { connection: { url: server.url, maxRetriesPerRequest: 1 } })
  const at = Date.now() + 1_000
  const ids = ['blue', 'green'].map(async (namespace) => {
    const app = cronce({ store: 'memory:', namespace, logger: false, signals: false, app: 'queues' })
    context.after(() => app.stop())
    app.job('report:eu:daily', { at }, bullmq(queue))
    const told = new Promise<{ readonly dueAt: number }>((resolve) => app.on('fire.ended', resolve))
    await app.start()
    assert.equal((await told).dueAt, at)
  })
  context.after(() => queue.close())
  await Promise.all(ids)
  const jobs = await allJobs(queue)
  assert.deepEqual(
    jobs.map(({ name, data }) => [name, data.schedule, data.dueAt]),
    [
      ['report:eu:daily', 'report:eu:daily', at],
      ['report:eu:daily', 'report:eu:daily', at],
    ],
  )
  assert.equal(new Set(jobs.map(({ id }) => id)).size, 2)
})

test("an operator's retry of a fire adds nothing for as long as the queue keeps its job", async (context) => {
  const { app, queue } = await world(context, server.url, {})
  const fire = await fired(app, 'report')
  await app.fires.retry(fire, { force: true })
  const again = await until('it has run again', async () => {
    const found = await app.fires.get(fire)
    return found.attempt === 2 && found.state === 'succeeded' && found
  })
  assert.equal((await allJobs(queue)).length, 1)
  await queue.obliterate({ force: true })
  await app.fires.retry(again, { force: true })
  await until('it is enqueued', async () => (await allJobs(queue)).length === 1)
})

test('cancel: a job that waits is removed', async (context) => {
  const { app, queue } = await world(context, server.url, { wait: 'completed' })
  const { fire } = await app.schedules.trigger('report', { input: { does: 'succeed' } })
  await until('it is enqueued', async () => (await queue.getWaitingCount()) === 1)
  await app.fires.cancel(fire)
  assert.equal((await ended(app, fire)).state, 'cancelled')
  assert.deepEqual(await allJobs(queue), [])
})

test('a job that is removed by others fails the run, which is not repeated', async (context) => {
  const { app, queue } = await world(context, server.url, { wait: 'completed' }, { retry: 3 })
  const { fire } = await app.schedules.trigger('report', {})
  await until('it is enqueued', async () => (await queue.getWaitingCount()) === 1)
  await queue.obliterate({ force: true })
  const { state, attempt } = await ended(app, fire)
  assert.deepEqual({ state, attempt }, { state: 'failed', attempt: 1 })
  assert.equal((await runsOf(app, fire))[0]!.error!.code, 'QUEUE_JOB_MISSING')
})

test('options that would break the promise are refused', () => {
  const queue = {} as Queue
  const refused: readonly (readonly [BullmqOptions, RegExp])[] = [
    [{ options: { jobId: 'mine' } }, /options\.jobId of bullmq\(\) can't be set/],
    [{ options: { deduplication: { id: 'mine' } } }, /options\.deduplication of bullmq\(\) can't be set/],
    [
      { wait: 'completed', options: { removeOnComplete: true } },
      /options\.removeOnComplete of bullmq\(\) can't remove/,
    ],
    [{ wait: 'done' as 'completed' }, /wait of bullmq\(\) can't be "done"/],
    [{ pollMs: 0 }, /pollMs of bullmq\(\) must be an integer/],
    [{ name: '' }, /name of bullmq\(\) must be a text/],
    [{ delay: 3 } as BullmqOptions, /delay of bullmq\(\) is unknown/],
  ]
  for (const [options, message] of refused)
    assert.throws(
      () => bullmq(queue, options),
      (error: QueueError) => error.code === 'QUEUE_OPTION_INVALID' && message.test(error.message) && error.hint !== '',
    )
})
