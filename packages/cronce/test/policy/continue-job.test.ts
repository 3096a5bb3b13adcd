import assert from 'node:assert/strict'
import test from 'node:test'
import type { Retirement, ScheduleState } from '../../src/model/schedule.ts'
import { hasContinued } from '../../src/policy/deploy/continue-job.ts'
import { retire } from '../../src/policy/deploy/retire.ts'
import { given, HOUR, MINUTE, NOON } from './keeper.ts'

const CODE = { kind: 'code', app: 'shop', number: 2 } as const
const BY = { cause: 'renamed', deployment: 'v2', number: 2 } as const

function named(id: string, ...retirements: Retirement[]): ScheduleState {
  return { ...given({}, CODE).it, id, retirements, retiredAt: NOON }
}

test('a name has continued the job of an old one only if it took over after the last rename', () => {
  const old = named('bill', { ...BY, from: NOON, to: null, renamedTo: 'invoice' })
  const since = (to: number | null): ScheduleState => named('invoice', { ...BY, from: 0, to, renamedTo: 'bill' })
  assert.equal(hasContinued(since(NOON), old), true)
  assert.equal(hasContinued(since(NOON - MINUTE), old), false, 'the job has gone back to the old name since')
  assert.equal(hasContinued(since(null), old), false)
  assert.equal(hasContinued(named('invoice'), old), false)
})

test('an old name leaves to the active one what that has planned or will plan, and misses the rest', () => {
  const left = (beside: Partial<ScheduleState>): string[] => {
    const old = given({ trigger: { kind: 'every', everyMs: 10 * MINUTE, anchor: 0 } }, CODE)
    old.now = NOON + HOUR
    const other = { ...old.it, id: 'invoice', ...beside }
    old.take(retire(old.it, { ...BY, app: 'shop', renamedTo: 'invoice', beside: other }, old.context))
    assert.equal(old.it.retiredAt, old.now)
    return [...old.fires.values()].map(({ dueAt, ending }) => `${(dueAt - NOON) / MINUTE} ${ending?.reason ?? 'waits'}`)
  }
  assert.deepEqual(left({ createdAt: NOON }), [])
  // Caught up by the misfire policy: no other name had it.
  assert.deepEqual(left({ createdAt: NOON + 25 * MINUTE }), ['10 superseded', '20 waits'])
  const retired = { ...BY, from: NOON + 15 * MINUTE, to: NOON + 35 * MINUTE }
  assert.deepEqual(left({ createdAt: NOON, retirements: [retired] }), ['20 while-retired', '30 while-retired'])
  const halfHourly = {
    ...given({}, CODE).it.definition,
    trigger: { kind: 'every', everyMs: 30 * MINUTE, anchor: 0 },
  } as const
  assert.deepEqual(
    left({ createdAt: NOON, definition: halfHourly }),
    [10, 20, 40, 50].map((minute) => `${minute} while-retired`),
  )
})
