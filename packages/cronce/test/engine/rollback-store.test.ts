import assert from 'node:assert/strict'
import { test } from 'node:test'
import { copyData } from '../../src/store/memory/data.ts'
import { memory } from '../../src/store/memory/memory.ts'
import { beat, change, claim, creation, JOB, LEASE_MS, NOON, schedule } from '../../src/testing/conformance/samples.ts'

const OPENING = { namespace: 'default', adopt: false, production: false, warn: () => {} }
const DUE = { jobs: [{ job: JOB, buckets: '1'.repeat(256) }], patienceMs: 0, limit: 10 }

/** Two instances and a schedule that is due; `fail` takes the store back to that moment, in a new epoch. */
async function bench({ losesWrites = true } = {}) {
  let now = NOON + 10
  const source = memory({ clock: { wall: () => now }, losesWrites })
  const store = await source.open(OPENING)
  await store.beat(beat('one', { join: true }))
  await store.beat(beat('other', { join: true }))
  const state = schedule('s', { wakeAt: NOON })
  await store.apply([creation(state)])
  const copy = copyData(source.data)
  return {
    ...{ source, store, state },
    fail: () => source.restore({ ...copyData(copy), epoch: source.data.epoch + 1 }),
    pass(ms: number) {
      now += ms
    },
    now: () => now,
    async claimed(): Promise<string> {
      const { epoch } = await store.load([])
      const wanted = { ...claim(state, { instance: 'one', epoch }), epoch }
      const { results } = await store.apply([wanted], { claimant: { instance: 'one', leaseMs: LEASE_MS } })
      return results[0]!.kind
    },
  }
}

test('after a failover nothing is due and nothing can be claimed until all live instances have settled', async () => {
  const { store, fail, claimed, now } = await bench()
  fail()
  const due = await store.due(DUE)
  assert.deepEqual(due, { now: now(), epoch: 2, schedules: [], mineAt: now() + 100, othersAt: null })
  assert.equal(await claimed(), 'conflict')
  await store.beat({ ...beat('one'), settled: 2 })
  assert.equal(await claimed(), 'conflict', 'the other one has not')
  await store.beat({ ...beat('other'), settled: 1 })
  assert.equal(await claimed(), 'conflict', 'that is of before')
  await store.beat({ ...beat('other'), settled: 2 })
  assert.equal((await store.due(DUE)).schedules.length, 1)
  assert.equal(await claimed(), 'applied')
})

test('a dead instance is waited for as long as its lease, which restarts with the epoch', async () => {
  const { store, fail, pass, claimed } = await bench()
  pass(10 * LEASE_MS)
  fail()
  await store.beat({ ...beat('one'), settled: 2 })
  const [, other] = (await store.listInstances()).instances
  assert.equal(other!.expired, false)
  pass(LEASE_MS - 1)
  await store.beat({ ...beat('one'), settled: 2 })
  assert.equal(await claimed(), 'conflict')
  pass(1)
  assert.equal(await claimed(), 'applied')
})

test('changes without a claim are written at once, and an instance that joins later is not waited for', async () => {
  const { store, state, fail, claimed } = await bench()
  fail()
  assert.equal((await store.apply([{ ...change(state, { failedInRow: 1 }), epoch: 2 }])).results[0]!.kind, 'applied')
  fail()
  for (const id of ['one', 'other']) await store.beat({ ...beat(id), settled: 3 })
  await store.due(DUE)
  await store.beat(beat('new', { join: true }))
  assert.equal(await claimed(), 'applied')
})

test('a heartbeat that settles wakes the peers as long as claims are held', async () => {
  const { store, fail } = await bench()
  let woken = 0
  store.watch(() => woken++)
  fail()
  await store.beat({ ...beat('one'), settled: 2 })
  await Promise.resolve()
  assert.equal(woken, 1)
  await store.beat({ ...beat('one'), settled: 2 })
  await Promise.resolve()
  assert.equal(woken, 1)
})

test('an instance with lost acknowledged writes gets this answer to every heartbeat of that epoch, and no other instance does', async () => {
  const { source, store, state, fail } = await bench()
  const reader = await source.open(OPENING)
  assert.equal((await store.beat(beat('one'))).lost, false)
  fail()
  assert.equal((await store.beat(beat('one'))).lost, false, 'nothing was written since')
  await store.apply([{ ...change(state, { failedInRow: 1 }), epoch: 2 }])
  fail()
  for (let times = 0; times < 2; times++) {
    const { epoch, lost } = await store.beat(beat('one'))
    assert.deepEqual({ epoch, lost }, { epoch: 3, lost: true })
  }
  assert.equal((await reader.beat(beat('other'))).lost, false)
  fail()
  assert.equal((await store.beat(beat('one'))).lost, false)
})

test('other data is not a failover unless the store was made to lose writes', async () => {
  const { fail, claimed } = await bench({ losesWrites: false })
  fail()
  assert.equal(await claimed(), 'applied')
})
