import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import type { Store } from '../../src/store/store.ts'
import { create } from '../../src/testing/conformance/bench.ts'
import { beat, NOON, schedule } from '../../src/testing/conformance/samples.ts'
import { openFor, tempFolder } from './sqlite-kit.ts'

async function expiredOf(store: Store, id: string): Promise<boolean | undefined> {
  return (await store.listInstances()).instances.find((instance) => instance.id === id)?.expired
}

test("a step of the host's clock, in either direction, ends no lease and keeps none", async (context) => {
  const file = join(await tempFolder(context), 'steps.db')
  const clock = { wall: Date.UTC(2026, 0, 1), mono: 1_000_000 }
  const host = { wall: () => clock.wall, mono: () => clock.mono }
  const store = (await openFor(context, file, { host })) as Store
  await store.beat(beat('i', { join: true, leaseMs: 15_000 }))
  clock.wall += 3_600_000
  assert.equal(await expiredOf(store, 'i'), false)
  clock.wall -= 7_200_000
  clock.mono += 14_999
  assert.equal(await expiredOf(store, 'i'), false)
  clock.mono += 1
  assert.equal(await expiredOf(store, 'i'), true)
  assert.equal((await store.load([])).now, clock.wall, 'what is due goes by the wall')
})

test('after another start of the machine every earlier instance is expired', async (context) => {
  const file = join(await tempFolder(context), 'boot.db')
  const before = (await openFor(context, file, { host: { bootId: 'first', mono: () => 500 } })) as Store
  await before.beat(beat('i', { join: true, leaseMs: 15_000 }))
  const after = (await openFor(context, file, { host: { bootId: 'second', mono: () => 501 } })) as Store
  assert.equal(await expiredOf(after, 'i'), true)
  assert.equal(await expiredOf(before, 'i'), false)
})

test('where starts have no name, a renewal from the future gives an earlier one away', async (context) => {
  const file = join(await tempFolder(context), 'unknown-boot.db')
  const before = (await openFor(context, file, { host: { bootId: 'unknown', mono: () => 9_000_000 } })) as Store
  await before.beat(beat('i', { join: true, leaseMs: 15_000 }))
  const after = (await openFor(context, file, { host: { bootId: 'unknown', mono: () => 10 } })) as Store
  assert.equal(await expiredOf(after, 'i'), true)
})

test('what is read is not newer than the time that comes with it', async (context) => {
  const file = join(await tempFolder(context), 'store.db')
  let others: DatabaseSync | null = null
  // The process is held up while it looks at its clock, and others go on.
  const wall = (): number => {
    others?.exec(
      "update cronce_schedules set state = json_set(state, '$.fired', state ->> '$.fired' + 1) where id = 's'",
    )
    return NOON
  }
  const store = (await openFor(context, file, { host: { wall } })) as Store
  await create(store, schedule('s'))
  others = new DatabaseSync(file)
  const seen = [(await store.load(['s'])).schedules[0]?.fired, (await store.load(['s'])).schedules[0]?.fired]
  others.close()
  others = null
  assert.deepEqual(seen, [0, 1])
})
