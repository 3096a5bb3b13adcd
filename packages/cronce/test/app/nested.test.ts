import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { testKit } from '../../src/testing/test-kit.ts'

/** A liveness limit. */
const LIMIT = { timeout: 600_000 }

async function startedApp() {
  const kit = testKit({ patience: 100 })
  const app = kit.app()
  await app.start()
  return { kit, app }
}

describe('a key within itself', LIMIT, () => {
  test('is refused, and the key can be called again', async () => {
    const { app } = await startedApp()

    const nested = app.once('order-7', () => app.once('order-7', () => 'inner'))

    await assert.rejects(nested, { code: 'ONCE_NESTED' })
    assert.equal(await app.once('order-7', () => 'outer'), 'outer')
    await app.stop()
  })

  test('is refused however deep it is, with other keys and locks between', async () => {
    const { app } = await startedApp()
    const deep = app.once('a', () =>
      app.once('b', () => app.lock('l', async () => sleep(1).then(() => app.once('a', () => 1)))),
    )

    await assert.rejects(deep, { code: 'ONCE_NESTED' })
    await app.stop()
  })

  test('is the same key only with the same time to live', async () => {
    const { app } = await startedApp()

    assert.equal(await app.once('a', () => app.once('a', { ttl: '1d' }, () => 'inner')), 'inner')
    await app.stop()
  })

  test('that begins after the work has ended gets its result', async () => {
    const { app } = await startedApp()
    let later: Promise<string> | undefined

    await app.once('a', () => {
      later = sleep(50).then(() => app.once('a', () => 'second'))
      return 'first'
    })

    assert.equal(await later, 'first')
    await app.stop()
  })
})

test('a step within itself is refused, and the run fails', LIMIT, async () => {
  const { kit, app } = await startedApp()
  await app.stop()
  app.job('bill', {}, (run) => run.once('charge', () => run.once('charge', () => 1)))
  await app.start()

  await app.schedules.trigger('bill')
  await kit.advance('1m')

  assert.equal((await app.runs.list({ schedule: 'bill' })).items[0]?.error?.code, 'STEP_NESTED')
  await app.stop()
})

test('steps side by side, and steps of one name in two runs, are not within each other', LIMIT, async () => {
  const { kit, app } = await startedApp()
  await app.stop()
  app.job('bill', { overlap: { kind: 'allow', limit: 5 } }, async (run) => {
    const both = await Promise.all([run.once('charge', () => 1), run.once('charge', () => 2)])
    return [...both, await run.once('refund', () => run.once('note', () => 3))]
  })
  await app.start()

  await Promise.all([app.schedules.trigger('bill'), app.schedules.trigger('bill')])
  await kit.advance('1m')

  const { items } = await app.runs.list({ schedule: 'bill' })
  assert.deepEqual(
    items.map(({ result }) => result),
    [
      [1, 1, 3],
      [1, 1, 3],
    ],
  )
  await app.stop()
})

describe('a lock within itself', LIMIT, () => {
  test('is refused at once, and the lock can be taken again', async () => {
    const { kit, app } = await startedApp()
    const before = kit.now()

    for (const wait of [0, '1d'] as const) {
      const nested = app.lock('ledger', () => app.lock('ledger', { wait }, () => 'inner'))
      await assert.rejects(nested, { code: 'LOCK_NESTED', message: /held by the section that asks for it/ })
    }

    assert.equal(kit.now(), before)
    assert.equal(await app.lock('ledger', () => 'outer'), 'outer')
    await app.stop()
  })

  test('is refused however deep it is, and also if the outer section was begun by tryLock', async () => {
    const { app } = await startedApp()

    const deep = app.tryLock('ledger', () => app.lock('other', () => app.once('a', () => app.lock('ledger', () => 1))))

    await assert.rejects(deep, { code: 'LOCK_NESTED' })
    await app.stop()
  })

  test('is not acquired by tryLock', async () => {
    const { app } = await startedApp()

    const { acquired } = await app.lock('ledger', () => app.tryLock('ledger', () => 'inner'))

    assert.equal(acquired, false)
    await app.stop()
  })

  test('that begins after the section has ended gets its turn', async () => {
    const { app } = await startedApp()
    let next: Promise<string> | undefined

    await app.lock('ledger', () => {
      next = sleep(50).then(() => app.lock('ledger', () => 'next'))
    })

    assert.equal(await next, 'next')
    await app.stop()
  })
})
