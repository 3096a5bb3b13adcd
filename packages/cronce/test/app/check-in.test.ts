import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { cronce } from '../../src/app/cronce.ts'
import type { JobOptions } from '../../src/app/job.ts'
import { CheckInIds } from '../../src/check-in/check-in.ts'
import { sentry } from '../../src/check-in.ts'
import { startReceiver, until } from './receiver.ts'

function appWith(context: TestContext, checkIn: JobOptions['checkIn'], handler: (signal: AbortSignal) => unknown) {
  const warnings: string[] = []
  const logger = { error: () => {}, warn: (message: string) => void warnings.push(message) }
  const app = cronce({ store: 'memory:', app: 'shop', signals: false, logger, drain: 0 })
  app.job('billing', { checkIn }, (run) => handler(run.signal))
  context.after(() => app.stop())
  return { app, warnings }
}

test('a run reports its start and its success, with one id, and the next run with another', async (context) => {
  const { url, received } = await startReceiver(context)
  const { app } = appWith(context, { url }, () => {})
  await app.start()
  for (let times = 1; times <= 2; times++) {
    await app.schedules.trigger('billing')
    await until('the end is received', () => received.length === 2 * times)
  }
  assert.deepEqual(
    received.map(({ what }) => what),
    ['/start', '', '/start', ''],
  )
  const [first, second, third, fourth] = received.map(({ rid }) => rid)
  assert.match(first!, /^[0-9a-f]{8}-[0-9a-f]{4}-/)
  assert.ok(first === second && third === fourth && first !== third)
  assert.match(received[1]!.body, /^billing due .* attempt 1: succeeded after \d+ ms$/)
})

test('a run that fails is reported as failed, and one that is stopped is in the log only', async (context) => {
  const { url, received } = await startReceiver(context)
  let isStopped = false
  const { app } = appWith(context, { url }, async (signal) => {
    if (!isStopped) throw new Error('no money')
    await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  })
  await app.start()
  await app.schedules.trigger('billing')
  const failed = await until('the failure is received', () => received.find(({ what }) => what === '/fail'))
  assert.match(failed.body, /failed after \d+ ms\nno money$/)
  isStopped = true
  await app.schedules.trigger('billing')
  await until('the second start is received', () => received.filter(({ what }) => what === '/start').length === 2)
  await app.stop()
  assert.deepEqual(
    received.map(({ what }) => what),
    ['/start', '/fail', '/start', '/log'],
    'also: the stop has waited for the report',
  )
})

test('a receiver that answers with an error gets the end again, and one that is down fails no run', async (context) => {
  const { url, received, state } = await startReceiver(context)
  state.status = 503
  const { app, warnings } = appWith(context, { url }, () => {})
  await app.start()
  const { fire } = await app.schedules.trigger('billing')
  await until('the end is tried', () => received.some(({ what }) => what === ''))
  state.status = 200
  await until('the end is received', () => received.filter(({ what }) => what === '').length === 2)
  const { state: ended } = await app.fires.get(fire)
  assert.equal(ended, 'succeeded')
  assert.match(warnings.join(), /The check-in of job "billing" failed: .*127\.0\.0\.1:\d+ answered 503/)
  assert.doesNotMatch(warnings.join(), /secret-check/)
})

test('a receiver that never answers delays no run', async (context) => {
  const { url, state } = await startReceiver(context)
  state.isSilent = true
  const { app } = appWith(context, { url }, () => 'done')
  await app.start()
  const ends: string[] = []
  app.on('run.ended', ({ outcome }) => ends.push(outcome))
  for (let times = 1; times <= 3; times++) {
    await app.schedules.trigger('billing')
    await until('it ends', () => ends.length === times)
  }
  assert.deepEqual(ends, ['succeeded', 'succeeded', 'succeeded'])
})

test('Sentry gets in_progress, ok and error with the id of the check-in and the duration in seconds', async (context) => {
  const calls: { checkIn: Record<string, unknown>; config: unknown }[] = []
  const Sentry = {
    captureCheckIn(checkIn: Record<string, unknown>, config?: unknown): string {
      calls.push({ checkIn, config })
      return `id-${calls.length}`
    },
  }
  const monitorConfig = { schedule: { type: 'crontab', value: '0 3 * * *' } }
  let isBad = false
  const { app } = appWith(context, sentry(Sentry as never, { slug: 'bills', monitorConfig }), () => {
    if (isBad) throw new Error('no money')
  })
  await app.start()
  await app.schedules.trigger('billing')
  await until('it is called twice', () => calls.length === 2)
  isBad = true
  await app.schedules.trigger('billing')
  await until('it is called four times', () => calls.length === 4)
  const [begun, done, again, failed] = calls as [
    (typeof calls)[0],
    (typeof calls)[0],
    (typeof calls)[0],
    (typeof calls)[0],
  ]
  assert.deepEqual(begun, { checkIn: { monitorSlug: 'bills', status: 'in_progress' }, config: monitorConfig })
  assert.deepEqual([done.checkIn['status'], done.checkIn['checkInId']], ['ok', 'id-1'])
  const duration = done.checkIn['duration'] as number
  assert.ok(duration >= 0 && duration < 600)
  assert.equal(again.checkIn['status'], 'in_progress')
  assert.deepEqual([failed.checkIn['status'], failed.checkIn['checkInId']], ['error', 'id-3'])
})

test('Sentry: runs of two schedules that have the same token are two check-ins', () => {
  const calls: Record<string, unknown>[] = []
  const Sentry = { captureCheckIn: (checkIn: Record<string, unknown>) => `id-${calls.push(checkIn)}` }
  const checkIn = sentry(Sentry as never, { slug: 'bills' })
  const run = (schedule: string) => ({
    ...{ job: 'billing', schedule, dueAt: 0, attempt: 1, token: 1n, instance: 'i' },
  })
  const end = { outcome: 'succeeded', durationMs: 1, error: null } as const
  checkIn.started(run('first'))
  checkIn.started(run('second'))
  checkIn.ended(run('first'), end)
  checkIn.ended(run('second'), end)
  assert.deepEqual(
    calls.slice(2).map(({ checkInId }) => checkInId),
    ['id-1', 'id-2'],
  )
})

test('a check-in that throws is logged, and fails no run', async (context) => {
  const broken = {
    started: () => {
      throw new Error('broken start')
    },
    ended: () => Promise.reject(new Error('broken end')),
  }
  const { app, warnings } = appWith(context, broken, () => {})
  await app.start()
  const ends: string[] = []
  app.on('run.ended', ({ outcome }) => ends.push(outcome))
  await app.schedules.trigger('billing')
  await until('both are logged', () => warnings.length === 2)
  assert.match(warnings.join(), /broken start.*broken end/s)
  assert.deepEqual(ends, ['succeeded'])
})

test('a wrong check-in is refused when the job is declared, without its secret', () => {
  const declare = (checkIn: unknown) => cronce({ store: 'memory:' }).job('billing', { checkIn } as never, () => {})
  for (const wrong of [
    { url: 'secret-path' },
    { url: 'ftp://host/secret-path' },
    { url: 'https://user:secret@host/' },
    { url: 7 },
    {},
    'secret-path',
    { started: 1 },
  ]) {
    assert.throws(
      () => declare(wrong),
      (error: Error & { code?: string }) =>
        error.code === 'OPTION_INVALID' && !(JSON.stringify(wrong).includes('url') && error.message.includes('secret')),
      JSON.stringify(wrong),
    )
  }
  assert.throws(() => declare({ url: 'https://host/', urls: 1 }), { code: 'OPTION_UNKNOWN' })
  assert.throws(() => sentry({} as never, { slug: 'bills' }), { code: 'OPTION_INVALID' })
  assert.throws(() => sentry({ captureCheckIn: () => '' }, { slug: '' }), { code: 'OPTION_INVALID' })
})

test('ids of runs whose end is reported elsewhere are forgotten in the end', () => {
  const ids = new CheckInIds()
  const run = (token: number) =>
    ({ job: 'mail', schedule: 'mail', dueAt: 0, attempt: 1, token: BigInt(token), instance: 'm1' }) as const
  for (let token = 0; token < 10_001; token++) ids.add(run(token), `id ${token}`)
  assert.equal(ids.take(run(0)), undefined)
  assert.equal(ids.take(run(1)), 'id 1')
  assert.equal(ids.take(run(1)), undefined)
  assert.equal(ids.take(run(10_000)), 'id 10000')
})
