import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY_MS, exclusiveDefinition } from '../../src/app/exclusive.ts'
import { ending } from '../../src/model/outcome.ts'
import type { ScheduleState } from '../../src/model/schedule.ts'
import { MAX_OPEN } from '../../src/policy/bounds.ts'
import type { Context, Decision } from '../../src/policy/decision.ts'
import { settle } from '../../src/policy/end/settle.ts'
import { define } from '../../src/policy/operate/define.ts'
import { HELD, take } from '../../src/policy/plan/take-fire.ts'

test('keys that were claimed and never started are given up in time: they do not fill the schedule that keys share', () => {
  let now = Date.UTC(2027, 0, 1)
  const context = (): Context => ({ now, epoch: 1, zoneData: '2027a', random: () => 0.5 }) as Context
  const wish = {
    definition: exclusiveDefinition('cronce:once', 7 * DAY_MS),
    source: { kind: 'client' },
  } as const
  let state: ScheduleState = (define(null, 'cronce:once:1:1', wish, context()) as Decision).change.state!
  const takeKey = (nonce: string): Decision => {
    const taken = take(state, { dueAt: null, nonce, beside: true }, { instance: 'i', claim: 1 }, context())
    assert.notEqual(taken, HELD, `${nonce} is held: ${state.open.length} are open`)
    return taken as Decision
  }
  for (let key = 0; key <= MAX_OPEN; key++) {
    now += 1_000
    const { change, started } = takeKey(`key-${key}`)
    const { token } = started[0]!.record
    const handedBack = { token, ending: ending('handed-back'), error: null, result: null, retryable: false } as const
    const settled = settle(change.state!, { ...handedBack, handBack: 'not-started' }, context())
    state = (settled as Decision).change.state!
  }
  assert.ok(state.open.length < 100, `${state.open.length} are open`)
})

test('lateness of an instant that is taken counts from when it was due, not from the call', () => {
  const due = Date.UTC(2027, 0, 1)
  const context: Context = { now: due + 30_000, epoch: 1, zoneData: '2027a', random: () => 0.5 }
  const wish = { definition: exclusiveDefinition('cronce:exec', DAY_MS), source: { kind: 'client' } } as const
  const state = (define(null, 'nightly', wish, { ...context, now: due - 1 }) as Decision).change.state!
  const wanted = { dueAt: due, nonce: '', beside: false }
  const taken = take(state, wanted, { instance: 'i', claim: 1 }, context) as Decision
  const { startedAt, readyAt, cause } = taken.started[0]!.record
  assert.deepEqual([startedAt - readyAt, cause], [30_000, 'asked'])
})
