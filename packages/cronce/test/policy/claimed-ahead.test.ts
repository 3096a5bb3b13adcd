import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Decision, STALE } from '../../src/policy/decision.ts'
import { recover } from '../../src/policy/end/recover.ts'
import { deliver } from '../../src/policy/operate/deliver.ts'
import { advance } from '../../src/policy/plan/advance.ts'
import { claimAhead } from '../../src/policy/plan/plain-fire.ts'
import { given, NOON, SECOND } from './keeper.ts'

const CLAIMANT = { instance: 'r', claim: 1, room: 1, idle: true }
const DUE = NOON + 60 * SECOND

function decided(decision: unknown): Decision {
  assert.ok(decision !== null && decision !== STALE && typeof decision === 'object' && 'change' in decision)
  return decision as Decision
}

test('a run that was claimed ahead has not started if its instance last renewed more than the grace before', () => {
  const keeper = given({ trigger: { kind: 'every', everyMs: 60 * SECOND, anchor: 0 } })
  const context = { ...keeper.context, now: DUE - 400 }
  const state = { ...keeper.it, nextAt: DUE, wakeAt: DUE }
  const claimed = decided(claimAhead(state, context, CLAIMANT))
  const { token } = claimed.started[0]!.record
  const endings = (startedBy: number) => {
    const recovered = decided(recover(claimed.change.state!, token, { ...context, now: DUE + SECOND, startedBy }))
    return [recovered.change.history.map(({ ending }) => ending.reason), recovered.change.state!.open[0]!.attempt]
  }
  assert.deepEqual(endings(DUE - 1), [[], 0])
  assert.deepEqual(endings(DUE), [['crashed'], 1])
})

test('a fire that was delivered before its due time has started when its instance dies', () => {
  const keeper = given({ trigger: null })
  const at = (now: number) => ({ ...keeper.context, now })
  const delivered = decided(deliver(keeper.it, DUE, at(DUE - 100)))
  const claimed = decided(advance(delivered.change.state!, at(DUE + 5), CLAIMANT, []))
  const { token } = claimed.started[0]!.record
  // The claim did not renew: the instance had renewed less than a thirtieth of its lease before.
  const context = { ...at(DUE + 5 * SECOND), startedBy: DUE + 5 - 400 + 300 }
  const recovered = decided(recover(claimed.change.state!, token, context))
  assert.deepEqual(
    recovered.change.history.map(({ ending }) => ending.reason),
    ['crashed'],
  )
})
