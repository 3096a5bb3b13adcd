import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { connect } from '../../src/app/connect.ts'
import type { Cronce } from '../../src/app/cronce.ts'
import type { JobOnlyOptions } from '../../src/app/job.ts'
import type { MemoryTransaction } from '../../src/store/memory/transaction.ts'
import { type TestKit, testKit } from '../../src/testing/test-kit.ts'

/** A liveness limit: every case here hung for ever when pauses between attempts waited for virtual time. */
const LIMIT = { timeout: 600_000 }

interface Fleet {
  readonly kit: TestKit
  readonly app: Cronce<MemoryTransaction>
  readonly peer: Cronce<MemoryTransaction>
}

async function startFleet(options: JobOnlyOptions = {}): Promise<Fleet> {
  // The handler waits for virtual time, so waiting for it would never end.
  const kit = testKit({ patience: 20 })
  const declare = () => kit.app().job('report', { cron: '0 3 * * *', ...options }, () => kit.clock.sleep(60_000))
  const [app, peer] = [declare(), declare()]
  await app.start()
  await peer.start()
  return { kit, app, peer }
}

async function stopFleet({ kit, app, peer }: Fleet): Promise<void> {
  const stopped = Promise.all([app.stop(), peer.stop()])
  await kit.advance('5m')
  await stopped
}

const times = <Value>(count: number, make: (index: number) => Promise<Value>): Promise<Value[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => make(index)))

describe('commands at the same moment end without time passing', LIMIT, () => {
  test('triggers of one schedule', async () => {
    const fleet = await startFleet({ overlap: 'queue-all' })
    const now = fleet.kit.now()

    const triggered = await times(40, () => fleet.app.schedules.trigger('report'))

    assert.equal(new Set(triggered.map(({ fire }) => fire.nonce)).size, 40)
    assert.equal(fleet.kit.now(), now)
    await stopFleet(fleet)
  })

  test('triggers with one dedupe key make one fire', async () => {
    const fleet = await startFleet()

    const triggered = await times(20, () => fleet.app.schedules.trigger('report', { dedupe: 'order-7' }))

    assert.equal(triggered.filter(({ created }) => created).length, 1)
    await stopFleet(fleet)
  })

  test('definitions of one schedule: one of them stands', async () => {
    const fleet = await startFleet()

    await times(20, (index) => fleet.app.schedules.put('tenant', { job: 'report', every: (index + 1) * 60_000 }))

    const { trigger } = await fleet.app.schedules.get('tenant')
    assert.equal(trigger?.kind, 'every')
    await stopFleet(fleet)
  })

  test('commands of several connections', async () => {
    const fleet = await startFleet({ overlap: 'queue-all' })
    const connections = await times(10, () => connect({ store: fleet.kit.store }))

    await Promise.all(
      connections.flatMap(({ schedules }) => [
        schedules.pause('report'),
        schedules.trigger('report'),
        schedules.resume('report'),
      ]),
    )

    const { items } = await fleet.app.fires.list({ schedule: 'report' })
    assert.equal(items.filter(({ kind }) => kind === 'manual').length, 10)
    await stopFleet(fleet)
  })

  test('sections of one lock, of two instances, one after the other', async () => {
    const fleet = await startFleet()
    let inside = 0
    const enter = async (index: number) => {
      assert.equal(++inside, 1)
      await Promise.resolve()
      inside--
      return index
    }

    const entered = await times(12, (index) =>
      (index % 2 === 0 ? fleet.app : fleet.peer).lock('ledger', () => enter(index)),
    )

    assert.deepEqual(
      entered,
      entered.map((_, index) => index),
    )
    await stopFleet(fleet)
  })

  test('one key, of two instances, is done once', async () => {
    const fleet = await startFleet()
    let calls = 0

    const results = await times(12, (index) =>
      (index % 2 === 0 ? fleet.app : fleet.peer).once('order-7', async () => {
        calls++
        return 'sent'
      }),
    )

    assert.equal(calls, 1)
    assert.deepEqual(new Set(results), new Set(['sent']))
    await stopFleet(fleet)
  })
})

describe('a repeated dedupe key', LIMIT, () => {
  test('does not replace the fire that it names', async () => {
    const fleet = await startFleet({ overlap: 'replace' })
    const first = await fleet.app.schedules.trigger('report', { dedupe: 'order-7' })
    await fleet.kit.advance(0)

    const again = await fleet.app.schedules.trigger('report', { dedupe: 'order-7' })
    await fleet.kit.advance('2m')

    assert.deepEqual([first.created, again.created], [true, false])
    assert.equal(again.fire.nonce, 'order-7')
    const { state } = await fleet.app.fires.get({ schedule: 'report', dueAt: first.fire.dueAt, nonce: 'order-7' })
    assert.equal(state, 'succeeded')
    await stopFleet(fleet)
  })

  test('in one transaction finds the fire that is not committed yet', async () => {
    const fleet = await startFleet({ overlap: 'replace' })

    const created = await fleet.kit.store.transaction(async (tx) => {
      const first = await fleet.app.schedules.trigger('report', { dedupe: 'order-7', tx })
      const again = await fleet.app.schedules.trigger('report', { dedupe: 'order-7', tx })
      return [first.created, again.created]
    })

    assert.deepEqual(created, [true, false])
    await stopFleet(fleet)
  })
})

test('a candidate follows a leader that resigns, before time goes on', LIMIT, async () => {
  const fleet = await startFleet()
  const first = fleet.app.elect('cache')
  await fleet.kit.advance('1s')
  fleet.peer.elect('cache')
  await fleet.kit.advance('1m')

  await first.resign()
  await fleet.kit.advance(0)

  assert.equal(fleet.peer.isLeader('cache'), true)
  await stopFleet(fleet)
})

test('weeks pass for a leader, and it still leads', LIMIT, async () => {
  const fleet = await startFleet()
  fleet.app.elect('cache')

  await fleet.kit.advance('4w')

  assert.equal(fleet.app.isLeader('cache'), true)
  await stopFleet(fleet)
})

test('a connection to the store of the kit lives in virtual time', LIMIT, async () => {
  const fleet = await startFleet()
  const connection = await connect({ store: fleet.kit.store })
  await fleet.kit.advance('1d')

  const { now, offsetMs } = await connection.store.check()

  assert.deepEqual([now, offsetMs], [fleet.kit.now(), 0])
  await connection.close()
  await stopFleet(fleet)
})
