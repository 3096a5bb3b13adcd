import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cronce } from '../../src/index.ts'
import { openClient } from './open-client.ts'

const RESERVED = ['cronce:lock:billing', 'cronce:leader:x', 'cronce:once:1:1', 'cronce:', 'cronce:lock']

test('names that locks, elections and keys are kept under are refused for schedules and jobs', async () => {
  const { client } = await openClient()
  for (const name of RESERVED) {
    for (const write of [client.schedules.create, client.schedules.put] as const) {
      await assert.rejects(write(name, { job: 'billing', every: '1h' }), { code: 'NAME_RESERVED' })
      await assert.rejects(write('fine', { job: name, every: '1h' }), { code: 'NAME_RESERVED' })
    }
    const { problems } = await client.schedules.createMany([[name, { job: 'billing', every: '1h' }]])
    assert.deepEqual(
      problems.map(({ error }) => error.code),
      ['NAME_RESERVED'],
    )
    const app = cronce({ store: 'memory:', signals: false, logger: false })
    assert.throws(() => app.job(name, '0 3 * * *', () => {}), { code: 'NAME_RESERVED' })
  }
  assert.deepEqual((await client.schedules.list()).items, [])
  for (const name of ['cronce', 'cronce-lock', 'my:cronce:lock', 'Cronce:lock']) {
    await client.schedules.create(name, { job: 'billing', every: '1h' })
  }
})

test('what is kept under such a name can be looked at', async (context) => {
  const app = cronce({ store: 'memory:', signals: false, logger: false })
  context.after(() => app.stop())
  await app.start()
  await app.lock('billing', () => {})
  assert.equal((await app.schedules.get('cronce:lock:billing')).job, 'cronce:lock')
})

test('what is kept under such a name can be cancelled, and removed by force, but not steered', async (context) => {
  const app = cronce({ store: 'memory:', signals: false, logger: false })
  context.after(() => app.stop())
  await app.start()
  const name = 'cronce:lock:billing'
  const entered = Promise.withResolvers<void>()
  const held = app.lock('billing', async ({ signal }) => {
    entered.resolve()
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    return String(signal.reason)
  })
  await entered.promise
  const [run] = (await app.runs.list({ schedule: name })).items
  const { schedules, fires } = app
  for (const steer of [
    () => schedules.trigger(name),
    () => schedules.pause(name),
    () => schedules.skipNext(name, { dueAt: 0 }),
    () => schedules.backfill(name, { from: 0, to: 1 }),
    () => schedules.deliver(name, { dueAt: 0 }),
    () => schedules.remove(name),
    () => fires.retry({ schedule: name, dueAt: run!.dueAt, nonce: run!.nonce }, { force: true }),
  ]) {
    await assert.rejects(steer, { code: 'NAME_RESERVED' })
  }
  await app.runs.cancel(name, run!.token)
  assert.match(await held, /An operator cancelled the run/)
  await schedules.remove(name, { force: true })
  assert.equal(await schedules.find(name), null)
  assert.equal(await app.lock('billing', () => 'entered'), 'entered')
})
