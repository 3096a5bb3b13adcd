import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StandardSchema } from '../../src/client/standard-schema.ts'
import { testKit } from '../../src/testing/test-kit.ts'

/** Changes what it is given, in depth, as careless user code does. */
function spoil(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  for (const item of Object.values(value)) spoil(item)
  for (const key of Object.keys(value)) Reflect.set(value, key, 'spoiled')
}

const INPUT = { customer: { id: 7 }, parts: [{ name: 'a' }] }

test('a handler that changes its input changes neither later attempts nor later fires', async () => {
  const kit = testKit()
  const seen: unknown[] = []
  const app = kit
    .app()
    .job('bill', { every: '1h', input: INPUT, retry: { attempts: 1, backoff: { base: '1m' } } }, (run) => {
      seen.push(structuredClone(run.fire.input))
      spoil(run.fire.input)
      if (run.attempt === 1) throw new Error('try again')
    })

  await app.start()
  await kit.advance('2h30m')
  await app.stop()

  assert.deepEqual(seen, [INPUT, INPUT, INPUT, INPUT, INPUT, INPUT])
})

test('the input of a trigger is the same in every attempt', async () => {
  const kit = testKit()
  const seen: unknown[] = []
  const app = kit.app().job('bill', { retry: { attempts: 2, backoff: { base: '1m' } } }, (run) => {
    seen.push(structuredClone(run.fire.input))
    spoil(run.fire.input)
    throw new Error('try again')
  })
  await app.start()
  const input = structuredClone(INPUT)

  await app.schedules.trigger('bill', { input })
  spoil(input)
  await kit.advance('1h')
  await app.stop()

  assert.deepEqual(seen, [INPUT, INPUT, INPUT])
})

test('a schema that changes what it validates does not change the record', async () => {
  const kit = testKit()
  const schema: StandardSchema = {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate(value) {
        spoil(value)
        return { value }
      },
    },
  }
  const app = kit.app().job('bill', { schema }, () => {})
  await app.start()

  await app.schedules.put('tenant', { job: 'bill', every: '1h', input: INPUT })
  await kit.advance('3h')

  assert.deepEqual((await app.schedules.get('tenant')).input, INPUT)
  await app.stop()
})

test('a caller that changes an answer does not change the record', async () => {
  const kit = testKit()
  const app = kit.app().job('bill', { every: '1h', input: INPUT }, async (run) => {
    run.log('begun')
    await run.once('charge', () => ({ charge: { id: 1 } }))
    if (run.fire.dueAt > Date.UTC(2027, 0, 1)) throw new Error('second')
    return { total: { cents: 100 } }
  })
  await app.start()
  await kit.advance('1h30m')
  const look = async () => {
    const fire = { schedule: 'bill', dueAt: Date.UTC(2027, 0, 1) }
    return {
      schedule: await app.schedules.get('bill'),
      schedules: (await app.schedules.list()).items,
      fires: (await app.fires.list()).items,
      runs: (await app.runs.list()).items,
      steps: await app.steps.list(fire),
      instances: await app.instances.list(),
    }
  }
  const before = structuredClone(await look())

  spoil(await look())

  assert.deepEqual(await look(), before)
  await app.stop()
})

test('a handler that changes the result of a step does not change what the next attempt gets', async () => {
  const kit = testKit()
  const seen: unknown[] = []
  const app = kit.app().job('bill', { retry: { attempts: 2, backoff: { base: '1m' } } }, async (run) => {
    const charge = await run.once('charge', () => ({ id: 1, lines: [{ cents: 5 }] }))
    seen.push(structuredClone(charge))
    spoil(charge)
    throw new Error('try again')
  })
  await app.start()

  await app.schedules.trigger('bill')
  await kit.advance('1h')
  await app.stop()

  assert.deepEqual(seen, Array(3).fill({ id: 1, lines: [{ cents: 5 }] }))
})

test('a caller that changes the result of a key does not change what the next caller gets', async () => {
  const kit = testKit()
  const app = kit.app()
  await app.start()
  const ask = () => app.once('order-7', () => ({ id: 1, lines: [{ cents: 5 }] }))

  spoil(await ask())
  spoil(await ask())

  assert.deepEqual(await ask(), { id: 1, lines: [{ cents: 5 }] })
  await app.stop()
})

test('values of a transaction are copied when they are read and when they are written', async () => {
  const { store } = testKit()
  const written = structuredClone(INPUT)
  await store.transaction((tx) => {
    tx.set('invoice', written)
    spoil(written)
    spoil(tx.get('invoice'))
  })

  await store.transaction((tx) => spoil(tx.get('invoice')))

  assert.deepEqual(await store.transaction((tx) => tx.get('invoice')), INPUT)
})

test('a listener that changes an event does not change the record', async () => {
  const kit = testKit()
  const app = kit.app().job('bill', {}, () => {
    throw new Error('no funds')
  })
  app.on('*', (event) => spoil('error' in event ? event.error : null))
  await app.start()

  await app.schedules.trigger('bill')
  await kit.advance('1h')

  assert.equal((await app.runs.list()).items[0]?.error?.message, 'no funds')
  await app.stop()
})
