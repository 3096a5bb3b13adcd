import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cronce } from '../../src/app/cronce.ts'
import { surround, surroundingsOf } from '../../src/app/surroundings.ts'
import type { CronceEvent } from '../../src/model/event.ts'
import type { MemoryTransaction } from '../../src/store/memory/transaction.ts'
import type { StoreSource } from '../../src/store/store.ts'
import { testKit } from '../../src/testing/test-kit.ts'

test('an instance that a list lacks is not dead: the list may be older than the one before it', async () => {
  const kit = testKit({ patience: 50 })
  const worker = kit.app({ app: 'worker' })
  worker.job('long', {}, () => kit.clock.sleep(20 * 3_600_000))
  await worker.start()
  await worker.schedules.trigger('long')
  await kit.advance('1s')

  let isOld = false
  const source: StoreSource<MemoryTransaction> = {
    name: 'memory',
    async open(options) {
      const store = await kit.store.open(options)
      return {
        ...store,
        async beat(beat) {
          const answer = await store.beat(beat)
          const { id } = beat.instance
          return isOld ? { ...answer, instances: answer.instances.filter((peer) => peer.id === id) } : answer
        },
      }
    },
  }
  const observer = cronce({ store: surround(source, surroundingsOf(kit.store)), app: 'observer', signals: false })
  const events: CronceEvent[] = []
  observer.on('*', (event) => events.push(event))
  observer.job('short', {}, () => {})
  await observer.start()
  await kit.advance('5h')
  isOld = true
  await kit.advance('5h')
  isOld = false
  await kit.advance('20h')

  assert.deepEqual(
    events.filter(({ type }) => type === 'run.lost'),
    [],
  )
  const { items } = await worker.runs.list({ schedule: 'long' })
  assert.deepEqual(
    items.map(({ attempt, reason }) => [attempt, reason]),
    [[1, 'completed']],
  )
  await Promise.all([kit.advance('1h'), observer.stop(), worker.stop()])
})
