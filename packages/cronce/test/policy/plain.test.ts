import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { caseScale } from '../case-count.ts'
import { Keeper, MINUTE, NOON, SECOND, story } from './keeper.ts'
import { Play, plays } from './play.ts'

// `Keeper` compares the shortcuts of `policy/plan/plain-fire.ts` with the policy at every call.

const { CRONCE_SEED = '3' } = process.env

test('the shortcuts decide what the policy decides, for every history of a schedule with a plain definition', () => {
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
        const isOnTime = (act.kind === 'advance' || act.kind === 'oneByOne') && nextAt !== null
        if (isOnTime) keeper.now = Math.max(keeper.now, nextAt + (act.picks[1] % (12 * SECOND)))
        play.act(isOnTime ? { ...act, afterMs: 0 } : act)
      }
      play.end()
      applied.claims += play.keeper.plain.claims
      applied.settlements += play.keeper.plain.settlements
    }),
    { numRuns: Math.ceil(250 * caseScale(1)), seed: Number(CRONCE_SEED) },
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
  assert.deepEqual(keeper.plain, { claims: 200, earliest: 0, settlements: 197 }, 'all but those that trim')
})

/**
 * The due times of a schedule that fires every second, after a gap of this length without a look; each run ends 10 ms
 * after its claim.
 */
function catchUp(lateMs: number, oneByOne: boolean): { readonly keeper: Keeper; readonly ran: readonly number[] } {
  const keeper = new Keeper()
  keeper.now = NOON + 1
  keeper.define({ trigger: { kind: 'every', everyMs: SECOND, anchor: 0 } })
  keeper.now = NOON + SECOND + lateMs
  const ran: number[] = []
  for (let look = 0; look < 30; look++) {
    for (const run of keeper.advance({ oneByOne })) {
      ran.push(run.record.dueAt)
      keeper.now += 10
      keeper.settle(run, 'completed')
    }
  }
  return { keeper, ran }
}

test('due times that came together end the same way, whether they are opened at once or claimed one by one', () => {
  for (const lateMs of [0, 1_500, 3_000, 8_500, 9_700, 10_500, 25_000, 3_600_000]) {
    const atOnce = catchUp(lateMs, false)
    const oneByOne = catchUp(lateMs, true)
    assert.deepEqual(oneByOne.ran, atOnce.ran, `${lateMs}`)
    assert.deepEqual(story(oneByOne.keeper), story(atOnce.keeper), `${lateMs}`)
    assert.ok(oneByOne.keeper.it.open.length === 0 && oneByOne.keeper.it.nextAt! > oneByOne.keeper.now, `${lateMs}`)
  }
})

test('claimed one by one, all due times that are on time are plain claims with plain settlements', () => {
  const { keeper, ran } = catchUp(8_500, true)
  assert.equal(ran.length, 9)
  assert.deepEqual(keeper.plain, { claims: 1, earliest: 8, settlements: 9 })
})

test('an instance that only plans ends late due times and opens the first one that is on time', () => {
  const keeper = new Keeper()
  keeper.now = NOON + 1
  keeper.define({ trigger: { kind: 'every', everyMs: SECOND, anchor: 0 } })
  keeper.now = NOON + 25_500
  assert.equal(keeper.advance({ room: 0, oneByOne: true }).length, 0)
  assert.deepEqual(
    keeper.list().flatMap(({ ending, range }) => (ending === null ? [] : [[ending.reason, range?.count]])),
    [['superseded', 15]],
  )
  assert.deepEqual([keeper.it.open[0]!.dueAt - NOON, keeper.it.nextAt! - NOON], [16_000, 17_000])
  assert.deepEqual(
    keeper.advance({ oneByOne: true }).map(({ record }) => record.dueAt - NOON),
    [16_000],
  )
})

test('a due time that came together with an active fire waits, and one that came after it was planned is skipped', () => {
  const keeper = new Keeper()
  keeper.now = NOON + 1
  keeper.define({ trigger: { kind: 'every', everyMs: SECOND, anchor: 0 } })
  keeper.now = NOON + 3_500
  assert.equal(keeper.advance({ oneByOne: true }).length, 1)
  keeper.now = NOON + 5_500
  keeper.advance()
  assert.deepEqual(
    keeper.list().map(({ dueAt, ending }) => [dueAt - NOON, ending?.reason ?? 'open']),
    [
      [1_000, 'open'],
      [2_000, 'open'],
      [3_000, 'open'],
      [4_000, 'overlap'],
      [5_000, 'overlap'],
    ],
  )
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
