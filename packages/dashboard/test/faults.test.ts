import assert from 'node:assert/strict'
import { test } from 'node:test'
import { faultsOf, marksOf } from '../ui/core/faults.ts'
import type { Alert, InstanceView, Run } from '../ui/core/types.ts'

test('the marks of the timeline are dead instances, lost runs and alerts about the store, in their order', () => {
  const instances = [
    { id: 'a', host: 'web-1', state: 'dead', endedAt: 300 },
    { id: 'b', host: 'web-2', state: 'left', endedAt: 310 },
    { id: 'c', host: 'web-3', state: 'live', endedAt: null },
    { id: 'd', host: 'web-4', state: 'dead', endedAt: 5_000 },
  ] as InstanceView[]
  const lost = { schedule: 'mail', attempt: 1, instance: 'a', state: 'abandoned', reason: 'crashed', endedAt: 200 }
  const runs = [
    lost,
    { ...lost, reason: 'stopped' },
    { ...lost, state: 'failed', reason: 'error' },
    { ...lost, endedAt: null },
  ] as Run[]
  const alerts = [
    { rule: 'store', firstAt: 100, subjects: [{ name: 'store', text: 'is away' }] },
    { rule: 'failing', firstAt: 110, subjects: [] },
  ] as unknown as Alert[]
  assert.deepEqual(faultsOf({ instances, runs, alerts }, 0, 1_000), [
    { at: 100, kind: 'store away', text: 'is away' },
    { at: 200, kind: 'lease lost', text: 'mail, attempt 1 on a' },
    { at: 300, kind: 'instance died', text: 'a on web-1' },
  ])
})

test('faults that lie on each other are one mark, which names all of them', () => {
  const fault = (at: number, text: string) => ({ at, kind: 'lease lost', text }) as const
  assert.deepEqual(marksOf([fault(0, 'a'), fault(9, 'b'), fault(10, 'c')], 10), [
    { at: 0, text: 'lease lost: a\nlease lost: b' },
    { at: 10, text: 'lease lost: c' },
  ])
})
