import assert from 'node:assert/strict'
import { test } from 'node:test'
import { applyAll, create, join, running } from '../../src/testing/conformance/bench.ts'
import { beat, claim, schedule, settlement } from '../../src/testing/conformance/samples.ts'
import { begun, kinds, openIn, pool, usedSlots, waiting } from './postgres-races-kit.ts'

test('slots that nobody has held for a day are removed, and are counted as ever when somebody wants them again', async (context) => {
  const store = await openIn(context)
  await join(store, 'i')
  const { state, run } = await running(store, 'a', { instance: 'i', slots: ['idle'] })
  await applyAll(store, [settlement(state, run)])
  await running(store, 'b', { instance: 'i', slots: ['held'] })
  const prunable = async () => (await store.beat(beat('i'))).chores.prunable
  // The record of the first has long expired.
  await store.prune(10)
  assert.deepEqual(await usedSlots(context), { held: 1, idle: 0 })
  assert.equal(await prunable(), false)
  await pool.query('update cronce._slots set changed_day = changed_day - 2 where namespace = $1', [context.name])

  assert.equal(await prunable(), true)
  await store.prune(10)
  assert.deepEqual(await usedSlots(context), { held: 1 })
  assert.equal(await prunable(), false)

  const wanted = [await create(store, schedule('c')), await create(store, schedule('d'))]
  const claims = wanted.map((one) => claim(one, { instance: 'i', slots: ['idle'] }))
  const answers = await Promise.all(claims.map((one) => store.apply([one])))
  assert.deepEqual(answers.flatMap(kinds).sort(), ['applied', 'full'])
  assert.deepEqual(await usedSlots(context), { held: 1, idle: 1 })
})

test('whoever waits for a slot while it is removed counts it anew', async (context) => {
  const store = await openIn(context)
  await join(store, 'i')
  const { state, run } = await running(store, 'a', { instance: 'i', slots: ['idle'] })
  await applyAll(store, [settlement(state, run)])
  const wanted = [await create(store, schedule('b')), await create(store, schedule('c'))]
  const pruner = await begun(context)
  await pruner.query('delete from cronce._slots where namespace = $1', [context.name])

  const claims = wanted.map((one) => store.apply([claim(one, { instance: 'i', slots: ['idle'] })]))
  await waiting()
  await pruner.query('commit')

  assert.deepEqual((await Promise.all(claims)).flatMap(kinds).sort(), ['applied', 'full'])
  assert.deepEqual(await usedSlots(context), { idle: 1 })
})
