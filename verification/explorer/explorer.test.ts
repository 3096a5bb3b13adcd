import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { explore, type Model } from './explore.ts'
import { fleetModel, type ModelName, type ModelSize } from './models.ts'
import { SLIPS } from './slips.ts'

describe('the search itself', () => {
  it('finds every state once, and the shortest way to a bad one', async () => {
    const all = await explore(counters(null))
    assert.deepEqual([all.states, all.edges, all.depth, all.violation], [16, 24, 6, null])
    const bad = await explore(counters('2,1'))
    assert.deepEqual(bad.violation, { name: 'S0', message: 'S0: 2,1', trace: ['left', 'left', 'right'] })
  })

  it('reports when the search is incomplete', async () => {
    assert.equal((await explore(counters(null), { mostStates: 5 })).isComplete, false)
  })

  it('finds states without a way out', async () => {
    const { violation } = await explore(counters(null), { stuckEvery: 1 })
    assert.deepEqual(violation, { name: 'L1', message: 'L1: 3,3', trace: [...'lll', ...'rrr'].map(toWords) })
  })
})

const { CRONCE_LONG } = process.env

/** States at least, so that a model that stops moving does not pass. */
const SOUND: readonly (readonly [model: ModelName, size: ModelSize, floor: number])[] = [
  // The sixth tick adds two thirds of the states, and one move to the longest way.
  CRONCE_LONG === '1' ? ['one-fire', { ticks: 6, faults: {} }, 15_000] : ['one-fire', { ticks: 5, faults: {} }, 5_000],
  ['one-fire', { ticks: 3 }, 5_000],
  ['at-most-once', { ticks: 2 }, 500],
  ['skip', { ticks: 3, faults: { crash: 1 } }, 4_000],
  ['queue', { ticks: 3, faults: { silence: 1 } }, 3_000],
  ['change', { ticks: 2, faults: {} }, 2_500],
  ['transaction', { ticks: 3, faults: { silence: 2 } }, 2_500],
]

describe('every interleaving of a small fleet keeps the promises', () => {
  for (const [model, size, floor] of SOUND) {
    it(`${model}, ${size.ticks} ticks${size.faults ? `, ${JSON.stringify(size.faults)}` : ''}`, async (test) => {
      const found = await explore(fleetModel(model, size), { stuckEvery: 50 })
      test.diagnostic(`${found.states} states, ${found.edges} moves, ${found.depth} deep, ${found.continued} continued`)
      assert.equal(found.violation, null, found.violation?.trace.join('\n'))
      assert.ok(found.isComplete)
      assert.ok(found.states >= floor, `${found.states} states are fewer than ${floor}`)
      assert.ok(found.continued > 0)
    })
  }
})

describe('a protocol with one thing wrong is found out', () => {
  for (const { name, model, ticks, faults, breaks, moves, broken } of SLIPS) {
    it(name, async () => {
      const stuckEvery = breaks === 'L1' ? 1 : 0
      const { violation } = await explore(fleetModel(model, { ticks, faults }, broken), { stuckEvery })
      assert.equal(violation?.name, breaks, violation?.message)
      assert.equal(violation.trace.length, moves, violation.trace.join('\n'))
    })
  }
})

describe('a store that falls back to an earlier copy of itself', () => {
  it('loses what it acknowledged: no protocol helps', async (test) => {
    const { violation } = await explore(fleetModel('failover'))
    assert.equal(violation?.name, 'S12')
    for (const words of [violation.message, ...violation.trace]) test.diagnostic(words)
    assert.equal(violation.trace.at(-1), 'the store falls back to its copy')
  })

  it('grants a token twice, unless its epoch moves', async (test) => {
    const { violation } = await explore(fleetModel('failover-without-epoch'))
    assert.equal(violation?.name, 'S2')
    for (const words of [violation.message, ...violation.trace]) test.diagnostic(words)
  })

  it('grants growing tokens if its epoch moves', async () => {
    // All the rest is lost with what the store forgot.
    const lost = ['S1', 'S3', 'S5', 'S6', 'S10', 'S12', 'S13', 'S15']
    const { violation, isComplete } = await explore(fleetModel('failover', { ticks: 2 }, {}, lost))
    assert.equal(violation, null, violation?.trace.join('\n'))
    assert.ok(isComplete)
  })
})

/** Two counters up to three. */
function counters(bad: string | null): Model<string> {
  const move = (words: string, [left, right]: readonly [number, number]) => {
    return { words, isFault: false, make: () => `${left},${right}` }
  }
  return {
    name: 'counters',
    initial: async () => '0,0',
    identity: (state) => state,
    moves(state) {
      const [left, right] = state.split(',').map(Number) as [number, number]
      return [
        ...(left < 3 ? [move('left', [left + 1, right])] : []),
        ...(right < 3 ? [move('right', [left, right + 1])] : []),
      ]
    },
    judge: (_, after) => (after === bad ? `S0: ${after}` : null),
    stuck: async (state) => (state === '3,3' ? `L1: ${state}` : null),
  }
}

function toWords(letter: string): string {
  return letter === 'l' ? 'left' : 'right'
}
