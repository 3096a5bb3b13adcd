import assert from 'node:assert/strict'
import type { Store } from '../../store/store.ts'
import { applyAll, type Bench, join, loadOne, type Rule } from './bench.ts'
import { beat, creation, schedule } from './samples.ts'

let written = 0

function writeWithWake(store: Store): Promise<void> {
  return applyAll(store, [creation(schedule(`woken-${++written}`))], { wake: true })
}

/** A wake may get lost, so it is written until it has been heard. */
function heard({ eventually }: Bench, writer: Store, listener: { calls: number }): Promise<void> {
  const before = listener.calls
  return eventually('a wake is heard', async () => {
    await writeWithWake(writer)
    return listener.calls > before
  })
}

function listenerOf(store: Store): { calls: number; readonly stop: () => void } {
  const listener = {
    calls: 0,
    stop: store.watch((hint) => {
      if (hint === 'wake') listener.calls++
    }),
  }
  return listener
}

export function wakeRules(rule: Rule): void {
  rule(
    'watchers are woken when another opening writes with wake',
    async (bench) => {
      const other = await bench.open()
      const listener = listenerOf(bench.store)
      await heard(bench, other, listener)
      await heard(bench, other, listener)
      listener.stop()
    },
    'wakes',
  )

  rule(
    'watchers are woken when an instance is asked to drain',
    async (bench) => {
      const other = await bench.open()
      await join(bench.store, 'i')
      const listener = listenerOf(bench.store)
      await bench.eventually('a drain is heard', async () => {
        await other.mark({ kind: 'drain', instance: 'i', drain: true })
        return listener.calls > 0
      })
      listener.stop()
    },
    'wakes',
  )

  rule(
    'watchers are woken when an instance joins or leaves',
    async (bench) => {
      const other = await bench.open()
      const listener = listenerOf(bench.store)
      let number = 0
      for (const state of ['live', 'left'] as const) {
        const before = listener.calls
        await bench.eventually(`an instance that is ${state} is heard of`, async () => {
          const id = state === 'live' ? `i${++number}` : `i${number--}`
          await other.beat(beat(id, { join: state === 'live', state }))
          return listener.calls > before
        })
      }
      listener.stop()
    },
    'wakes',
  )

  rule(
    'watchers are woken by a heartbeat with wake',
    async (bench) => {
      const other = await bench.open()
      await join(other, 'i')
      const listener = listenerOf(bench.store)
      await bench.eventually('the beat is heard of', async () => {
        await other.beat(beat('i', { state: 'draining', wake: true }))
        return listener.calls > 0
      })
      listener.stop()
    },
    'wakes',
  )

  rule(
    'several watch, and each stops for itself',
    async (bench) => {
      const other = await bench.open()
      const [first, second] = [listenerOf(bench.store), listenerOf(bench.store)]
      await heard(bench, other, first)
      await heard(bench, other, second)
      first.stop()
      const calls = first.calls
      await heard(bench, other, second)
      assert.equal(first.calls, calls, 'one that has stopped is not told')
      second.stop()
      second.stop()
    },
    'wakes',
  )

  rule(
    'a closed store wakes no watcher, and those that are open go on',
    async (bench) => {
      const [closing, other] = [await bench.open(), await bench.open()]
      const [deaf, listener] = [listenerOf(closing), listenerOf(bench.store)]
      await heard(bench, other, deaf)
      await closing.close()
      const calls = deaf.calls
      await heard(bench, other, listener)
      assert.equal(deaf.calls, calls)
      listener.stop()
      deaf.stop()
    },
    'wakes',
  )

  rule('closing once or twice leaves what was written, for others and for the next opening', async (bench) => {
    const { store, open } = bench
    const closing = await open()
    await applyAll(closing, [creation(schedule('s'))])
    await closing.close()
    await closing.close()
    assert.notEqual(await loadOne(store, 's'), null)
    assert.notEqual(await loadOne(await open(), 's'), null)
  })
}
