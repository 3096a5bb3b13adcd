import { memory } from '../../src/store/memory/memory.ts'
import { describeStore } from '../../src/testing/conformance/describe-store.ts'

describeStore('memory', async () => {
  let now = Date.UTC(2026, 5, 1, 9, 30)
  const source = memory({ clock: { wall: () => now }, losesWrites: true })
  return {
    source,
    clock: {
      advance: (ms) => {
        now += ms
      },
    },
    database: {
      write: (tx, text) => tx.set(text, true),
      read: async () => [...source.data.effects.keys()],
      transaction: (work) => source.transaction(work),
    },
    failOver: async () => source.restore({ ...source.data, epoch: source.data.epoch + 1 }),
    dispose: async () => {},
  }
})
