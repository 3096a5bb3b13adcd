import { once } from 'node:events'
import { sqlite } from '../../src/store/sqlite/sqlite.ts'
import type { Store } from '../../src/store/store.ts'
import { beat, change, claim, creation, LEASE_MS, schedule } from '../../src/testing/conformance/samples.ts'
import type { Order } from './sqlite-kit.ts'

/** One process of a fleet on one file. Reports to its parent what it did. */
const { task, file, name } = JSON.parse(process.argv[2]!) as Order
const store = await sqlite(file).open({ namespace: 'default', adopt: false, production: false, warn: () => {} })

const TASKS: Record<Order['task'], (store: Store) => Promise<void>> = {
  /** Made by several at once. */
  create: async () => {
    const { results } = await store.apply([creation(schedule('shared')), creation(schedule(`of ${name}`))])
    await tell(results.map(({ kind }) => kind))
    await store.close()
  },
  /** Claims everything unclaimed, in small batches, until nothing is left. */
  claim: async () => {
    await store.beat(beat(name, { join: true }))
    await tell('joined')
    // Until all have joined.
    await once(process, 'message')
    const won: string[] = []
    for (;;) {
      const { items } = await store.listSchedules({ after: null, limit: 1_000 })
      const free = items.filter(({ open }) => open.length === 0)
      if (free.length === 0) break
      // Random, or all would follow the one that is ahead.
      const batch = free.sort(() => Math.random() - 0.5).slice(0, 20)
      const changes = batch.map((state) => claim(state, { instance: name, slots: ['job:report'], limit: 1_000 }))
      const { results } = await store.apply(changes, { claimant: { instance: name, leaseMs: LEASE_MS } })
      won.push(...changes.filter((_, index) => results[index]?.kind === 'applied').map(({ id }) => id))
    }
    await tell(won)
    await store.close()
  },
  /** Live, and do nothing. */
  hold: async () => {
    await store.beat(beat(name, { join: true }))
    await tell('joined')
    setInterval(() => {}, 1_000)
  },
  /** Do all that an instance does while it has nothing to do, and leave the rest to the end of the process. */
  idle: async () => {
    await store.beat(beat(name, { join: true }))
    store.watch(() => {})
    await tell('idle')
  },
  /** Count up, telling each number once it is committed, until killed. */
  write: async () => {
    await store.beat(beat(name, { join: true }))
    let { schedules } = await store.load([name])
    let state = schedules[0]
    if (state === undefined) {
      await store.apply([creation(schedule(name))])
      ;({ schedules } = await store.load([name]))
      state = schedules[0]!
    }
    for (;;) {
      const counted = change(state, { fired: state.fired + 1, last: { ...state.last, dueAt: state.fired + 1 } })
      await store.apply([counted])
      state = counted.state!
      await tell(state.fired)
    }
  },
}

function tell(message: unknown): Promise<void> {
  return new Promise((resolve) => process.send!(message, () => resolve()))
}

await TASKS[task](store)
// The messages have arrived; the channel alone would keep the process alive.
if (task !== 'hold') process.disconnect()
