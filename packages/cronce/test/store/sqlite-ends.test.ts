import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { memory } from '../../src/memory.ts'
import { ending } from '../../src/model/outcome.ts'
import { sqlite } from '../../src/sqlite.ts'
import { ENDS_KEPT, type Store, type StoreSource } from '../../src/store/store.ts'
import { change, creation, decideIn, endedLine, NOON, schedule } from '../../src/testing/conformance/samples.ts'

/** Log `count` ends, and answer whether all of them are listed from the position before them. */
async function isCompleteAfter(store: Store, count: number): Promise<boolean> {
  decideIn(store.info.epoch)
  await store.apply([creation(schedule('s'))])
  const { next } = await store.listEnds({ after: null, limit: 1 })
  let state = (await store.load(['s'])).schedules[0]!
  for (let first = 0; first < count; first += 500) {
    const history = Array.from({ length: Math.min(500, count - first) }, (_, index) => {
      const dueAt = NOON + first + index
      return endedLine('s', dueAt, { number: first + index + 1, expiresAt: dueAt + 1, ending: ending('overlap') })
    })
    const creates = history.map(({ schedule, dueAt, nonce }) => ({ schedule, dueAt, nonce }))
    const made = change(state, { ended: state.ended + history.length }, { creates, history })
    await store.apply([made])
    state = made.state!
  }
  const { items, complete } = await store.listEnds({ after: next, limit: 5 * ENDS_KEPT })
  assert.equal(items.length === count, complete)
  return complete
}

async function open(source: StoreSource<never> | StoreSource): Promise<Store> {
  return (await source.open({ namespace: 'default', adopt: false, production: false, warn: () => {} })) as Store
}

test('a position that is older than the log is not complete', async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'cronce-ends-'))
  const store = await open(sqlite(join(folder, 'cronce.db')) as StoreSource)
  context.after(async () => {
    await store.close()
    rmSync(folder, { recursive: true })
  })
  assert.equal(await isCompleteAfter(store, ENDS_KEPT + 500), false)
})

test('in memory, too, and what is kept is complete', async () => {
  assert.equal(await isCompleteAfter(await open(memory() as StoreSource), 2 * ENDS_KEPT + 500), false)
  assert.equal(await isCompleteAfter(await open(memory() as StoreSource), ENDS_KEPT), true)
})
