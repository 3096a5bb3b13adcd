import assert from 'node:assert/strict'
import test from 'node:test'
import { MAX_RETIREMENTS, type Retirement, type ScheduleState } from '../../src/model/schedule.ts'
import { addStretch, hasContinued, namesBefore } from '../../src/policy/deploy/continue-job.ts'
import { holderOf } from '../../src/policy/deploy/job-names.ts'
import { passOver } from '../../src/policy/deploy/late-rename.ts'
import { retire } from '../../src/policy/deploy/retire.ts'
import { given, HOUR, Keeper, MINUTE, NOON } from './keeper.ts'

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
    const passed = { ...BY, from: 0, to: 0, turn: 1, renamedTo: old.it.id }
    const other = { ...old.it, id: 'invoice', ...beside, retirements: [passed, ...(beside.retirements ?? [])] }
    old.take(retire(old.it, { ...BY, app: 'shop', renamedTo: 'invoice', beside: other }, old.context))
    assert.equal(old.it.retiredAt, old.now)
    return [...old.fires.values()].map(({ dueAt, ending, range }) => {
      const until = range === null ? '' : ` to ${(range.untilAt - NOON) / MINUTE}`
      return `${(dueAt - NOON) / MINUTE} ${ending?.reason ?? 'waits'}${until}`
    })
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
  // Which due times it has had is not certain: they are recorded as missed.
  const limited = { ...given({}, CODE).it.definition, limit: 1 }
  for (const other of [{ revision: 2 }, { definition: limited }]) {
    assert.deepEqual(left({ createdAt: NOON, ...other }), ['10 while-retired to 60'])
  }
})

test('an old name is retired beside the active one only when that has passed over what the old one has on record', () => {
  const old = given({ trigger: { kind: 'every', everyMs: 10 * MINUTE, anchor: 0 } }, CODE)
  const active = given({ trigger: { kind: 'every', everyMs: 10 * MINUTE, anchor: 0 } }, CODE)
  const further = { ...old.it, id: 'bill', plannedTo: NOON + 30 * MINUTE, nextAt: NOON + 40 * MINUTE }
  active.now = NOON + HOUR
  const stop = () => retire(further, { ...BY, app: 'shop', renamedTo: active.it.id, beside: active.it }, active.context)
  assert.equal(stop(), null)
  active.take(passOver(active.it, further, BY, active.context))
  assert.deepEqual([...active.fires.keys()], [])
  assert.deepEqual([active.it.plannedTo, active.it.nextAt], [further.plannedTo, further.nextAt])
  assert.equal(passOver(active.it, further, BY, active.context), null)
  assert.notEqual(stop(), null)
})

test('an old name is not retired beside the active one while a fire waits there that the old one has claimed since', () => {
  const parts = { trigger: { kind: 'every', everyMs: 10 * MINUTE, anchor: 0 } } as const
  const [old, active] = [new Keeper('bill'), new Keeper('invoice')]
  for (const name of [old, active]) {
    name.define(parts, CODE)
    name.now = NOON + 10 * MINUTE
    name.advance(null)
  }
  const stop = () => retire(old.it, { ...BY, app: 'shop', renamedTo: 'invoice', beside: active.it }, old.context)
  active.take(passOver(active.it, old.it, BY, active.context))
  assert.equal(active.it.open.length, 1, 'it waits under both names')
  assert.notEqual(stop(), null)
  old.advance()
  assert.equal(stop(), null)
  active.take(passOver(active.it, old.it, BY, active.context))
  assert.equal(active.it.open.length, 0)
  assert.notEqual(stop(), null)
})

test('the active name holds the job after one that is retired beside it, though they have changed places before', () => {
  const { it, context } = given({}, CODE)
  const activeAs = (id: string, before: string, turn: number): ScheduleState => {
    return { ...it, id, retirements: [{ ...BY, from: 0, to: 0, renamedTo: before, turn }] }
  }
  const [old, active] = [activeAs('bill', 'invoice', 2), activeAs('invoice', 'bill', 1)]
  const stop = (beside: ScheduleState) => retire(old, { ...BY, app: 'shop', renamedTo: 'invoice', beside }, context)
  assert.equal(stop(active), null)
  const later = passOver(active, old, BY, context)!.change.state!
  const stopped = stop(later)!.change.state!
  // By the clock, it is retired before the other one was.
  const earlier = { ...context, now: NOON - HOUR }
  const dropped = retire(later, { ...BY, app: 'shop', cause: 'dropped' }, earlier)!.change.state!
  assert.equal(holderOf([stopped, dropped])?.id, 'invoice')
})

test('of too many stretches the oldest are dropped, but not the last one of each name', () => {
  const stretch = (from: number, renamedTo?: string): Retirement => ({
    ...BY,
    ...{ from, to: from + 1 },
    ...(renamedTo === undefined ? {} : { renamedTo }),
  })
  const all = ['bill', 'charge', undefined, 'bill', ...Array.from({ length: 20 }, () => undefined)]
  const kept = all.reduce<readonly Retirement[]>(
    (retirements, name, index) => addStretch({ retirements }, stretch(index, name)),
    [],
  )
  assert.deepEqual(namesBefore({ id: 'invoice', retirements: kept }), ['charge', 'bill'])
  const recent = Array.from({ length: MAX_RETIREMENTS }, (_, index) => all.length - MAX_RETIREMENTS + index)
  assert.deepEqual(
    kept.map(({ from }) => from),
    [1, 3, ...recent],
  )
})
