import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { type AheadModelName, type AheadSize, aheadModel } from './ahead/model.ts'
import { AHEAD_SLIPS } from './ahead/slips.ts'
import { type Exploration, explore } from './explore.ts'

/** States at least, so that a model that stops moving does not pass. */
const SOUND: readonly (readonly [model: AheadModelName, size: AheadSize, floor: number])[] = [
  ['ahead-crash', { moments: 5, faults: { crash: 1 } }, 2_500],
  ['ahead-hint', { moments: 5, faults: { hint: 1 } }, 2_500],
  ['ahead-hand-back', { moments: 4, faults: { stop: 1 } }, 1_000],
  ['ahead-clock-back', { moments: 4, faults: { back: 1 } }, 1_000],
  ['ahead-clock-forward', { moments: 4, faults: { crash: 1, forward: 1 } }, 1_000],
]

describe('what is claimed ahead starts in time, and is not put back after it has started', () => {
  for (const [model, size, floor] of SOUND) {
    it(`${model}, ${size.moments} moments, ${JSON.stringify(size.faults)}`, async (test) => {
      const found = await explore(aheadModel(model, size), { stuckEvery: 50 })
      tell(test, found)
      assert.equal(found.violation, null, found.violation?.trace.join('\n'))
      assert.ok(found.isComplete)
      assert.ok(found.states >= floor, `${found.states} states are fewer than ${floor}`)
      assert.ok(found.continued > 0)
    })
  }
})

describe('an engine that claims ahead and does not keep one rule is found out', () => {
  for (const { name, model, size, breaks, moves, broken } of AHEAD_SLIPS) {
    it(name, async () => {
      const { violation } = await explore(aheadModel(model, size, broken))
      assert.equal(violation?.name, breaks, violation?.message)
      assert.equal(violation.trace.length, moves, violation.trace.join('\n'))
    })
  }
})

describe("a store whose clock is set back after an answer that a start rests on: what is claimed ahead can't do better", () => {
  it('starts a run early', async (test) => {
    const size = { moments: 4, faults: { back: 1 }, excused: [] }
    const found = await explore(aheadModel('ahead-clock-back', size))
    tell(test, found)
    assert.equal(found.violation?.name, 'A1')
  })
})

function tell(test: TestContext, { states, edges, depth, continued, violation }: Exploration): void {
  test.diagnostic(`${states} states, ${edges} moves, ${depth} deep, ${continued} continued`)
  if (violation !== null) for (const words of [violation.message, ...violation.trace]) test.diagnostic(words)
}
