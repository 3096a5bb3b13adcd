import assert from 'node:assert/strict'
import { test } from 'node:test'
import { judge } from '../../src/judge.ts'
import type { Property } from '../../src/verdict.ts'
import { type Mistake, playToy } from './toy.ts'
import { clean } from './verdicts.ts'

test('a correct scheduler has no violations under any fault', () => {
  const seen = new Set<string>()
  for (let seed = 0; seed < 200; seed++) {
    const history = playToy(seed, null)
    clean(history)
    const { faults, byReason, required } = judge(history.build()).counts
    for (const name of [...Object.keys(faults), ...Object.keys(byReason)]) seen.add(name)
    assert.ok(required >= 20)
  }
  assert.deepEqual([...seen].sort(), ['completed', 'kill', 'pause', 'store-down', 'superseded'])
})

const MISTAKES: readonly (readonly [Mistake, Property])[] = [
  ['no unique key', 'C2'],
  ['no fence', 'C8'],
  ['local clock', 'C5'],
  ['mark before insert', 'C1'],
  ['renewal by name', 'C12'],
  ['host name as identity', 'C2'],
  ['pruned early', 'C10'],
  ['due now', 'C4'],
]

for (const [mistake, property] of MISTAKES) {
  test(`${mistake} is caught by ${property}, every time that it matters`, () => {
    let caught = 0
    for (let seed = 0; seed < 20; seed++) {
      const { violations } = judge(playToy(seed, mistake).build())
      if (violations.length === 0) continue
      assert.ok(violations.some((violation) => violation.property === property))
      caught++
    }
    assert.ok(caught >= 10, `in ${caught} of 20`)
  })
}
