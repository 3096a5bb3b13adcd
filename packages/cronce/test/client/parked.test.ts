import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../../src/model/json.ts'
import { ending } from '../../src/model/outcome.ts'
import { type Decision, STALE } from '../../src/policy/decision.ts'
import { settle } from '../../src/policy/end/settle.ts'
import { type Bench, NOON, openClient } from './open-client.ts'

const HOUR = 3_600_000
const SETTLED = { ending: ending('completed'), error: null, result: null, retryable: false, handBack: null } as const

/** A run whose work goes on elsewhere for up to an hour. */
async function parked(
  options: object = {},
): Promise<Bench & { readonly token: string; readonly park: () => Promise<void> }> {
  const bench = await openClient()
  await bench.client.schedules.create('acme', { job: 'billing', ...options })
  await bench.client.schedules.trigger('acme', { dedupe: 'once' })
  const [started] = await bench.work('acme')
  const { token } = started!.record
  const park = () =>
    bench.decide('acme', (state, context) => {
      const decision = settle(state, { token, ...SETTLED, parkMs: HOUR }, context)
      assert.notEqual(decision, STALE)
      return decision as Decision
    })
  await park()
  return { ...bench, token, park }
}

test('a parked run is held by no instance, and does not end with the instance that started it', async () => {
  const { client, store, token } = await parked()
  assert.deepEqual(
    (await client.runs.list({ outcome: 'open' })).items.map(({ token, instance, state }) => [token, instance, state]),
    [[token, '', 'parked']],
  )
  assert.equal(
    await store.mark({ kind: 'dead', instance: 'worker', renewals: await renewals(store), hint: true }),
    true,
  )
  assert.equal((await client.runs.get('acme', token)).state, 'parked')
})

async function renewals(store: Bench['store']): Promise<number> {
  const { instances } = await store.listInstances()
  return instances[0]!.renewals
}

test('a caller with the token completes a parked run, and may repeat the call', async () => {
  const { client, token } = await parked()
  const done = { outcome: 'succeeded', result: { rows: 7 } } as const
  assert.deepEqual([(await client.runs.complete('acme', token, done)).result], [{ rows: 7 }])
  assert.equal((await client.runs.complete('acme', token, done)).state, 'succeeded')
  await assert.rejects(client.runs.complete('acme', token, { outcome: 'failed' }), { code: 'RUN_NOT_OPEN' })
  const { items } = await client.fires.list()
  assert.deepEqual(
    items.map(({ state, attempt }) => [state, attempt]),
    [['succeeded', 1]],
  )
})

test('a second call-back with another result is refused, and the first one stands', async () => {
  const { client, token } = await parked()
  const complete = (result: Json) => client.runs.complete('acme', token, { outcome: 'succeeded', result })
  await complete({ rows: 7, pages: [1, 2] })
  for (const other of [{ rows: 8, pages: [1, 2] }, { rows: 7 }, null, 'done'])
    await assert.rejects(complete(other), { code: 'RUN_NOT_OPEN' })
  const again = await complete({ pages: [1, 2], rows: 7 })
  assert.deepEqual(again.result, { rows: 7, pages: [1, 2] })

  const failed = await parked()
  const fail = (error: string) => failed.client.runs.complete('acme', failed.token, { outcome: 'failed', error })
  await fail('no disk')
  await assert.rejects(fail('no network'), { code: 'RUN_NOT_OPEN' })
  assert.equal((await fail('no disk')).error?.message, 'no disk')
})

test('a result that is too long to keep is distinguished from another one', async () => {
  const { client, token } = await parked()
  const long = (letter: string) => ({ outcome: 'succeeded' as const, result: letter.repeat(50_000) })
  await client.runs.complete('acme', token, long('a'))
  await client.runs.complete('acme', token, long('a'))
  await assert.rejects(client.runs.complete('acme', token, long('b')), { code: 'RUN_NOT_OPEN' })
})

test('a call-back of failure is a failure like any other: it is retried, unless it rules that out', async () => {
  const again = await parked({ retry: 1 })
  await again.client.runs.complete('acme', again.token, { outcome: 'failed', error: 'no disk' })
  assert.deepEqual(
    [(await again.state('acme')).open[0]?.failures, (await again.client.runs.get('acme', again.token)).error?.message],
    [1, 'no disk'],
  )

  const final = await parked({ retry: 1 })
  await final.client.runs.complete('acme', final.token, { outcome: 'failed', retryable: false })
  assert.equal((await final.client.fires.list()).items[0]?.state, 'failed')
})

test('a parked run without a call-back fails when its time is up, and is run again if the policy lets it', async () => {
  const { client, clock, state, work, token } = await parked({
    retry: { attempts: 1, backoff: { base: '1s', jitter: 0 } },
  })
  assert.equal((await state('acme')).wakeAt, NOON + HOUR)
  clock.now += HOUR - 1
  assert.deepEqual(await work('acme'), [])
  clock.now += 1
  await work('acme')
  const run = await client.runs.get('acme', token)
  assert.deepEqual([run.state, run.reason], ['failed', 'timeout'])
  clock.now += 1_000
  const [second] = await work('acme')
  assert.equal(second?.record.attempt, 2)
  await assert.rejects(client.runs.complete('acme', token, { outcome: 'succeeded' }), { code: 'RUN_NOT_OPEN' })
})

test('a parked run is active: what comes meanwhile is skipped, and a cancel ends it at once', async () => {
  const { client, token, state } = await parked()
  const { fire } = await client.schedules.trigger('acme')
  assert.deepEqual([fire.state, fire.reason], ['skipped', 'overlap'])
  assert.match(fire.detail ?? '', /waiting for its call-back/)
  await client.runs.cancel('acme', token, { author: 'ann' })
  assert.deepEqual((await state('acme')).open, [])
  assert.equal((await client.runs.get('acme', token)).state, 'cancelled')
})

test('a run that an instance still executes cannot be completed by a call-back', async () => {
  const { client, work } = await openClient()
  await client.schedules.create('acme', { job: 'billing' })
  await client.schedules.trigger('acme')
  const [started] = await work('acme')
  await assert.rejects(client.runs.complete('acme', started!.record.token, { outcome: 'succeeded' }), {
    code: 'RUN_NOT_PARKED',
  })
  assert.equal((await client.runs.get('acme', started!.record.token)).state, 'running')
  await assert.rejects(client.runs.complete('acme', '4611686018427387904', { outcome: 'succeeded' }), {
    code: 'RUN_NOT_OPEN',
  })
})
