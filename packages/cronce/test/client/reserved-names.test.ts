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
