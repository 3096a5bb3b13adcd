import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Chaos } from './chaos.ts'
import { createCounters } from './counters.ts'
import { createPlan } from './plan.ts'
import { randomFrom } from './random.ts'

/** As much of it as a plan looks at: neither a network nor a server. */
const CHAOS = { store: { network: null, server: null }, transacts: true } as unknown as Chaos
const SECONDS = 10
const first = createCounters({ network: false, server: null }).lacking([], SECONDS)
const needed = new Set(first.flatMap(({ cards }) => cards))
const SEEDS = Array.from({ length: 50 }, (_, index) => index + 1)

test('a short run injects early the faults that its verdict needs, for every seed', () => {
  for (const seed of SEEDS) {
    const plan = createPlan(CHAOS, randomFrom(seed), { isBrief: false, first })
    // One of the rest comes after every two of them.
    const early = Array.from({ length: Math.ceil(needed.size * 1.5) }, () => plan.next().name)
    const late = [...needed].filter((name) => !early.includes(name))
    assert.deepEqual(late, [], `seed ${seed}`)
  }
})

test('missing faults are added if they are not under way already', () => {
  const plan = createPlan(CHAOS, randomFrom(1), { isBrief: true, first })
  const lacking = first.filter(({ name }) => name === 'block' || name === 'kill')
  const drawn = new Set(SEEDS.map(() => plan.toward(lacking, new Set())?.name))
  assert.deepEqual([...drawn].sort(), ['block', 'kill'])
  assert.equal(plan.toward(lacking, new Set(['kill']))?.name, 'block')
  assert.equal(plan.toward(lacking, new Set(['kill', 'block'])), undefined)
})

test('every fault that a demand names is there', () => {
  const plan = createPlan(CHAOS, randomFrom(1), { isBrief: false, first: [] })
  for (const lack of first) {
    for (const name of lack.cards) {
      assert.equal(plan.toward([{ ...lack, cards: [name] }], new Set())?.name, name, lack.name)
    }
  }
})
