import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { startRedis } from '../../../../scripts/servers/index.ts'
import { type CronceEvent, cronce } from '../../src/index.ts'
import { redis } from '../../src/store/redis/redis.ts'
import { callsOf, LOOKS, until } from './redis-races-kit.ts'
import { afterwards } from './sqlite-kit.ts'

const WORKER = fileURLToPath(new URL('./redis-worker.ts', import.meta.url))

test('the end of a process is noticed by its connection, and what it ran is run by another one', async (context) => {
  const server = await startRedis()
  afterwards(context, () => server.stop())
  const worker = fork(WORKER, [server.url])
  context.after(() => worker.kill('SIGKILL'))
  assert.deepEqual(await once(worker, 'message'), ['started', undefined])
  const app = cronce({ store: redis(server.url), app: 'shop', deployment: 'one', logger: false, signals: false })
  context.after(() => app.stop())
  const died: Extract<CronceEvent, { type: 'instance.died' }>[] = []
  const ran = Promise.withResolvers<number>()
  app.on('instance.died', (event) => died.push(event))
  app.job('stuck', {}, ({ attempt }) => ran.resolve(attempt))
  await app.schedules.create('s', { job: 'stuck' })
  await app.schedules.trigger('s')
  assert.deepEqual(await once(worker, 'message'), ['s', undefined])

  // Its lease has most of fifteen seconds left; a peer that has not seen it listening yet cannot know.
  const looks = (): Promise<number> => callsOf(server, ...LOOKS)
  const before = await looks()
  await app.start()
  await until(async () => (await looks()) >= before + 2)
  worker.kill('SIGKILL')
  assert.equal(await ran.promise, 2)
  assert.deepEqual(
    died.map(({ by }) => by),
    ['probe'],
  )
  // While there is a server to leave.
  await app.stop()
})
