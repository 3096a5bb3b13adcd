import assert from 'node:assert/strict'
import test from 'node:test'
import type { Retirement, ScheduleState } from '../../src/model/schedule.ts'
import { hasContinued } from '../../src/policy/deploy/continue-job.ts'
import { given, MINUTE, NOON } from './keeper.ts'

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
