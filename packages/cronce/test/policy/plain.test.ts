import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { caseScale } from '../case-count.ts'
import { Keeper, MINUTE, NOON, SECOND } from './keeper.ts'
import { Play, plays } from './play.ts'

// `Keeper` compares the shortcuts of `policy/plan/plain-fire.ts` with the policy at every call.

const { CRONCE_SEED = '3' } = process.env

test('the shortcuts decide what the policy decides, whatever happens to a schedule with a plain definition', () => {
  const applied = { claims: 0, settlements: 0 }
  fc.assert(
    fc.property(plays, ({ seed, definitions, acts }) => {
      const plain = definitions.map(({ policy: { overlap }, ...rest }) => {
        return { ...rest, start: null, end: null, limit: null, policy: overlap === undefined ? {} : { overlap } }
      })
      const play = new Play(seed, plain)
      for (const act of acts) {
        const { keeper } = play
        const nextAt = keeper.state?.nextAt ?? null
        // Mostly on time: what is late is left to the policy.
        const isOnTime = act.kind === 'advance' && nextAt !== null
        if (isOnTime) keeper.now = Math.max(keeper.now, nextAt + (act.picks[1] % (12 * SECOND)))
        play.act(isOnTime ? { ...act, afterMs: 0 } : act)
      }
      play.end()
      applied.claims += play.keeper.plain.claims
      applied.settlements += play.keeper.plain.settlements
    }),
    { numRuns: Math.ceil(200 * caseScale(1)), seed: Number(CRONCE_SEED) },
  )
  assert.ok(applied.claims > 20 && applied.settlements > 50, JSON.stringify(applied))
})

test('the shortcuts decide what the policy decides, fire after fire, also where retention trims the history', () => {
  const keeper = new Keeper()
  keeper.now = NOON + 1
  keeper.define({ policy: { retention: { keepMs: MINUTE, keepMsBy: {}, count: 5 } } })
  for (let fire = 1; fire <= 200; fire++) {
    keeper.now = NOON + fire * MINUTE
    const [run] = keeper.advance()
    keeper.now += SECOND
    keeper.settle(run!, 'completed')
  }
  assert.deepEqual(keeper.plain, { claims: 200, settlements: 197 }, 'all but those that trim')
})

for (const [what, change] of [
  ['paused', { pause: { at: NOON, until: null, note: null, author: null, missed: 'skip' } }],
  ['retired', { retiredAt: NOON }],
  ['skipped by an operator', { skipped: [NOON + MINUTE] }],
  ['backfilled', { backfills: [{ id: 'b', from: NOON - 60 * MINUTE, to: NOON, askedAt: NOON, author: null }] }],
] as const) {
  test(`the shortcuts leave a schedule that is ${what} to the policy`, () => {
    const keeper = new Keeper()
    keeper.now = NOON + 1
    keeper.define({})
    keeper.state = { ...keeper.it, ...change }
    keeper.now = NOON + MINUTE
    keeper.advance()
    assert.equal(keeper.plain.claims, 0)
  })
}

test('the shortcut leaves a schedule with an open fire to the policy', () => {
  const keeper = new Keeper()
  keeper.now = NOON + 1
  keeper.define({ policy: { overlap: { kind: 'allow', limit: 5 } } })
  for (const fire of [1, 2, 3]) {
    keeper.now = NOON + fire * MINUTE
    assert.equal(keeper.advance().length, 1)
  }
  assert.equal(keeper.plain.claims, 1)
})
