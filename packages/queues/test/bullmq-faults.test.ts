import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { Queue, QueueEventsProducer } from 'bullmq'
import { redisCommand, type Server, startRedis } from '../../../scripts/servers/index.ts'
import { connect } from '../../cronce/src/index.ts'
import type { CancelProducer } from '../src/bullmq.ts'
import { allJobs, losing, world } from './bull-kit.ts'
import { ended, fired, logOf, runsOf, startProgram, until } from './kit.ts'

let server: Server
const folder = mkdtempSync(join(tmpdir(), 'cronce-queues-'))
before(async () => {
  server = await startRedis()
})
after(async () => {
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
})

test('cancel: the worker of an active job is asked to abort it', async (context) => {
  const timeout = { run: '1h', grace: '1m' } as const
  const cancel: CancelProducer = { publishEvent: (event) => producer.publishEvent(event) }
  const { app, queue, worker } = await world(context, server.url, { wait: 'completed', cancel }, { timeout })
  const producer = new QueueEventsProducer(queue.name, { connection: { url: server.url } })
  context.after(() => producer.close())
  const program = await worker()
  const { fire } = await app.schedules.trigger('report', { input: { does: 'untilAborted' } })
  await program.told('began')
  await app.fires.cancel(fire, { note: 'wrong month' })
  assert.equal((await ended(app, fire)).state, 'cancelled')
  const [job] = await allJobs(queue)
  assert.match(job!.failedReason, /^aborted: /)
})

test('cancel: without a producer an active job goes on, and the log of the run says so', async (context) => {
  const timeout = { run: '1h', grace: '1s' } as const
  const { app, queue, worker } = await world(context, server.url, { wait: 'completed' }, { timeout })
  const program = await worker()
  const { fire } = await app.schedules.trigger('report', { input: { does: 'untilAborted' } })
  await program.told('began')
  await app.fires.cancel(fire)
  assert.equal((await ended(app, fire)).state, 'cancelled')
  assert.match(logOf((await runsOf(app, fire))[0]).join(), /^A worker has the job and is not told/)
  assert.equal(await queue.getActiveCount(), 1)
})

test('a scheduler that is killed or stopped leaves the job alone: its peer waits for the same one', async () => {
  const name = 'reports-of-two'
  const store = `sqlite:${join(folder, 'two.db')}`
  const order = { url: server.url, queue: name, store }
  const worker = startProgram('bull-worker.ts', order)
  const first = startProgram('bull-scheduler.ts', order)
  await first.told('started')
  const client = await connect({ store, logger: false })
  const { fire } = await client.schedules.trigger('report', { input: { does: 'hold' } })
  await worker.told('began')
  const second = startProgram('bull-scheduler.ts', order)
  await second.told('started')
  await first.kill()
  await second.told('run.started')
  const third = startProgram('bull-scheduler.ts', order)
  await third.told('started')
  // It has a drain of a day: a run that only waits is handed back at once.
  second.signal('SIGTERM')
  await second.ended
  await third.told('run.started')

  const queue = new Queue(name, { connection: { url: server.url } })
  await redisCommand(server, 'SET', `release:${name}`, '1')
  const { state, attempt } = await ended(client, fire)
  assert.deepEqual({ state, attempt }, { state: 'succeeded', attempt: 3 })
  assert.equal((await allJobs(queue)).length, 1)
  assert.equal(worker.lines.filter(({ what }) => what === 'began').length, 1)
  assert.deepEqual(
    (await runsOf(client, fire)).map(({ reason }) => reason),
    ['crashed', 'handed-back', 'completed'],
  )
  await queue.close()
  await client.close()
  await Promise.all([third.kill(), worker.kill()])
})

test('a scheduler that is killed between the enqueue and the record of it leaves one job', async () => {
  const store = `sqlite:${join(folder, 'enqueued.db')}`
  const order = { url: server.url, queue: 'reports-enqueued', store, enqueues: true }
  const first = startProgram('bull-scheduler.ts', { ...order, hangs: true })
  await first.told('started')
  const client = await connect({ store, logger: false })
  const { fire } = await client.schedules.trigger('report', {})
  const { id } = await first.told('added')
  const second = startProgram('bull-scheduler.ts', order)
  await second.told('started')
  await first.kill()
  const { state, attempt } = await ended(client, fire)
  assert.deepEqual([state, attempt, (await second.told('added')).id], ['succeeded', 2, id])
  const queue = new Queue(order.queue, { connection: { url: server.url } })
  assert.deepEqual(
    (await allJobs(queue)).map((job) => job.id),
    [id],
  )
  await queue.close()
  await client.close()
  await second.kill()
})

test('completed: a run waits while its queue is unreachable', async (context) => {
  const { app, queue, worker } = await world(context, server.url, { wait: 'completed' })
  const program = await worker()
  const { fire } = await app.schedules.trigger('report', { input: { does: 'hold' } })
  await program.told('began')
  await server.halt('SIGKILL')
  await until('the run says so', async () =>
    /can't be read, so the run waits/.test(logOf((await runsOf(app, fire))[0]).join()),
  )
  await server.restart()
  await redisCommand(server, 'SET', `release:${queue.name}`, '1')
  const { state, attempt } = await ended(app, fire)
  assert.deepEqual({ state, attempt }, { state: 'succeeded', attempt: 1 })
})

test('not promised by BullMQ: the id of a removed job may be used again', async (context) => {
  const policy = { retry: { attempts: 1, backoff: { base: 500, jitter: 0 } } } as const
  const { app, worker } = await world(context, server.url, { options: { removeOnComplete: true } }, policy, losing)
  const program = await worker()
  const fire = await fired(app, 'report', { does: 'succeed' })
  assert.equal(fire.state, 'succeeded')
  await program.told('ended', 2)
  const began = program.lines.filter(({ what }) => what === 'began')
  assert.equal(began.length, 2)
  assert.equal(began[0]!.id, began[1]!.id)
})

test('not promised by BullMQ: a job whose worker was blocked runs a second time beside the first', async (context) => {
  const { app, worker } = await world(context, server.url, { wait: 'completed' })
  const gate = join(folder, 'gate')
  const first = await worker({ lockDuration: 1_000, gate })
  const { fire } = await app.schedules.trigger('report', { input: { does: 'block' } })
  await first.told('began')
  const second = await worker({ lockDuration: 1_000 })
  await second.told('ended')
  assert.equal((await ended(app, fire)).state, 'succeeded')
  assert.deepEqual(
    first.lines.filter(({ what }) => what === 'unblocked'),
    [],
    'the first one still works on it',
  )
  writeFileSync(gate, '')
  await first.told('unblocked')
  const [run] = await runsOf(app, fire)
  assert.match(logOf(run).join(), /perhaps beside the first one/)
})
