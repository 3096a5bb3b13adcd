import assert from 'node:assert/strict'
import { ENDED_SHOWN, type InstanceQuery } from '../../store/store.ts'
import { applyAll, type Bench, bury, join, type Rule, running } from './bench.ts'
import { beat, settlement } from './samples.ts'

async function listed({ store }: Bench, query?: InstanceQuery): Promise<string[]> {
  return (await store.listInstances(query)).instances.map(({ id }) => id)
}

/** One after the other, each at a time of its own. */
async function leave({ store, now, pass, eventually }: Bench, app: string, ...ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    const at = await now()
    await pass(2)
    await eventually('time has passed', async () => (await now()) > at)
    assert.equal((await store.beat(beat(id, { join: true, state: 'left', app }))).alive, true)
  }
}

export function instanceListRules(rule: Rule): void {
  rule('a list has all live instances and those with open runs, and the newest of the others', async (bench) => {
    const { store, pass, eventually } = bench
    await join(store, 'live', 'draining', 'holding')
    await store.beat(beat('draining', { state: 'draining' }))
    await store.beat(beat('expired', { join: true, leaseMs: 20 }))
    await pass(21)
    const isExpired = async () => (await store.listInstances({ ids: ['expired'] })).instances[0]?.expired === true
    await eventually('the lease has run out', isExpired)
    const { state, run } = await running(store, 'a', { instance: 'holding' })
    await bury(store, 'holding')
    await leave(bench, 'shop', 'c', 'a', 'b')
    const always = ['draining', 'expired', 'holding', 'live']
    assert.deepEqual(await listed(bench, { ended: 0 }), always)
    assert.deepEqual(await listed(bench, { ended: 2 }), ['a', 'b', ...always])
    assert.deepEqual(await listed(bench), ['a', 'b', 'c', ...always])
    await applyAll(store, [settlement(state, run)])
    assert.deepEqual(await listed(bench, { ended: 0 }), ['draining', 'expired', 'live'])
    assert.deepEqual(await listed(bench, { ended: 3 }), ['a', 'b', 'c', 'draining', 'expired', 'live'])
  })

  rule('a list is bounded: not all of the many that left are listed', async (bench) => {
    const { store } = bench
    const many = Array.from({ length: ENDED_SHOWN + 20 }, (_, index) => `left-${index}`)
    for (const id of many) await store.beat(beat(id, { join: true, state: 'left' }))
    await join(store, 'live')
    const ids = await listed(bench)
    assert.deepEqual([ids.length, ids.includes('live')], [ENDED_SHOWN + 1, true])
    assert.equal((await listed(bench, { ended: 1_000 })).length, many.length + 1)
    assert.deepEqual(await listed(bench, { ids: [many[0]!] }), [many[0]], 'none is gone')
  })

  rule('instances are found by their ids, in any state', async (bench) => {
    const { store } = bench
    await join(store, 'live', 'dead', 'other')
    await bury(store, 'dead')
    assert.deepEqual(await listed(bench, { ids: ['live', 'stranger', 'dead', 'live'] }), ['dead', 'live'])
    assert.deepEqual(await listed(bench, { ids: [] }), [])
  })

  rule('for an app, its live instances, those with open runs and its newest ended ones are listed', async (bench) => {
    const { store } = bench
    await store.beat(beat('shop-live', { join: true, app: 'shop' }))
    await store.beat(beat('shop-holding', { join: true, app: 'shop' }))
    await store.beat(beat('mail-holding', { join: true, app: 'mail' }))
    await running(store, 'a', { instance: 'shop-holding' })
    await running(store, 'b', { instance: 'mail-holding' })
    for (const id of ['shop-holding', 'mail-holding']) await bury(store, id)
    await leave(bench, 'shop', 'shop-1', 'shop-2')
    await leave(bench, 'mail', 'mail-1', 'mail-2')
    assert.deepEqual(await listed(bench, { app: 'shop', ended: 1 }), ['shop-2', 'shop-holding', 'shop-live'])
    assert.deepEqual(await listed(bench, { app: 'mail' }), ['mail-1', 'mail-2', 'mail-holding'])
    assert.deepEqual(await listed(bench, { app: 'none' }), [])
  })
}
