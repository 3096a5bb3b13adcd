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

/** Recovers a run that was claimed 400 ms before its due time: the reasons on record, and the attempts that count. */
function recoverClaimedAhead(dead: { renewedAt: number; startedBy: number }): readonly [readonly string[], number] {
  const keeper = given({ trigger: { kind: 'every', everyMs: 60 * SECOND, anchor: 0 } })
  const context = { ...keeper.context, now: DUE - 400 }
  const state = { ...keeper.it, nextAt: DUE, wakeAt: DUE }
  const claimed = decided(claimAhead(state, context, CLAIMANT))
  const { token } = claimed.started[0]!.record
  const recovered = decided(recover(claimed.change.state!, token, { ...context, now: DUE + SECOND, dead }))
  return [recovered.change.history.map(({ ending }) => ending.reason), recovered.change.state!.open[0]!.attempt]
}

test('a run that was claimed ahead has not started if its instance last renewed more than the grace before', () => {
  assert.deepEqual(recoverClaimedAhead({ renewedAt: DUE - 301, startedBy: DUE - 1 }), [[], 0])
  assert.deepEqual(recoverClaimedAhead({ renewedAt: DUE - 300, startedBy: DUE }), [['crashed'], 1])
})

test("a run that was claimed ahead counts as started if the store's clock was set back behind its claim", () => {
  assert.deepEqual(recoverClaimedAhead({ renewedAt: DUE - 400, startedBy: DUE - 100 }), [[], 0])
  assert.deepEqual(recoverClaimedAhead({ renewedAt: DUE - 401, startedBy: DUE - 101 }), [['crashed'], 1])
})

test('a fire that was delivered before its due time has started when its instance dies', () => {
  const keeper = given({ trigger: null })
  const at = (now: number) => ({ ...keeper.context, now })
  const delivered = decided(deliver(keeper.it, DUE, at(DUE - 100)))
  const claimed = decided(advance(delivered.change.state!, at(DUE + 5), CLAIMANT, []))
  const { token } = claimed.started[0]!.record
  // The claim did not renew: the instance had renewed less than a thirtieth of its lease before.
  const context = { ...at(DUE + 5 * SECOND), dead: { renewedAt: DUE - 395, startedBy: DUE - 95 } }
  const recovered = decided(recover(claimed.change.state!, token, context))
  assert.deepEqual(
    recovered.change.history.map(({ ending }) => ending.reason),
    ['crashed'],
  )
})
