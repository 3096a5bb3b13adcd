import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ending } from '../../src/model/outcome.ts'
import { type Decision, STALE } from '../../src/policy/decision.ts'
import { recover } from '../../src/policy/end/recover.ts'
import { settle } from '../../src/policy/end/settle.ts'
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

test('a run that was claimed ahead counts as started when its instance dies: no other process can know', () => {
  const keeper = given({ trigger: { kind: 'every', everyMs: 60 * SECOND, anchor: 0 } })
  const context = { ...keeper.context, now: DUE - 300 }
  const claimed = decided(claimAhead({ ...keeper.it, nextAt: DUE, wakeAt: DUE }, context, CLAIMANT))
  const { token } = claimed.started[0]!.record
  const recovered = decided(recover(claimed.change.state!, token, { ...context, now: DUE + SECOND }))
  const [fire] = recovered.change.state!.open
  assert.deepEqual([fire!.attempt, fire!.crashes, fire!.run], [1, 1, null])
  assert.deepEqual(reasonsOf(recovered), ['crashed'])
})

test('a fire that was delivered before its due time was not claimed ahead', () => {
  const keeper = given({ trigger: null })
  const at = (now: number) => ({ ...keeper.context, now })
  const delivered = decided(deliver(keeper.it, DUE, at(DUE - 100)))
  const claimed = decided(advance(delivered.change.state!, at(DUE + 5), CLAIMANT, []))
  const { token } = claimed.started[0]!.record
  const end = { ending: ending('handed-back'), error: null, result: null, retryable: false }
  const back = settle(claimed.change.state!, { ...end, token, handBack: 'not-started' }, at(DUE + 10))
  assert.deepEqual(reasonsOf(decided(back)), ['handed-back'])
})

test('a fire that was claimed ahead keeps the time at which it was planned when it runs again', () => {
  const keeper = given({ trigger: { kind: 'every', everyMs: 60 * SECOND, anchor: 0 } })
  const at = (now: number) => ({ ...keeper.context, now })
  const claimed = decided(claimAhead({ ...keeper.it, nextAt: DUE, wakeAt: DUE }, at(DUE - 300), CLAIMANT))
  const { token } = claimed.started[0]!.record
  const recovered = decided(recover(claimed.change.state!, token, at(DUE + SECOND)))
  const again = decided(advance(recovered.change.state!, at(DUE + SECOND), CLAIMANT, []))
  const [fire] = again.change.state!.open
  assert.deepEqual([fire!.attempt, fire!.plannedAt], [2, DUE - 300])
})

function reasonsOf({ change }: Decision): readonly string[] {
  return change.history.map(({ ending: { reason } }) => reason)
}
