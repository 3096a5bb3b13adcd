import assert from 'node:assert/strict'
import { test } from 'node:test'
import { matchWindows, type Window } from '../src/match-windows.ts'
import { random } from './judge/toy.ts'

test('each target gets a run of its own that began in its window', () => {
  const targets = [
    { from: 0, to: 10 },
    { from: 20, to: 30 },
    { from: 40, to: 50 },
  ]
  assert.deepEqual(matchWindows(targets, [50, 5, 15, 6]), {
    matched: [
      { target: 0, run: 1 },
      { target: 2, run: 0 },
    ],
    missed: [1],
    extra: [2, 3],
  })
})

test('a window that closes first is served first, also if another one opened before it', () => {
  const { missed } = matchWindows(
    [
      { from: 0, to: 100 },
      { from: 5, to: 10 },
    ],
    [6, 50],
  )
  assert.deepEqual(missed, [])
})

test('no matching is larger than the greedy one, however windows overlap', () => {
  const roll = random(7)
  for (let round = 0; round < 500; round++) {
    const targets = Array.from({ length: Math.floor(roll() * 7) }, () => {
      const from = Math.floor(roll() * 20)
      return { from, to: from + Math.floor(roll() * 8) }
    })
    const runs = Array.from({ length: Math.floor(roll() * 7) }, () => Math.floor(roll() * 24))
    const { matched, missed, extra } = matchWindows(targets, runs)
    for (const { target, run } of matched) {
      assert.ok(targets[target]!.from <= runs[run]! && runs[run]! <= targets[target]!.to)
    }
    assert.equal(matched.length, mostMatched(targets, runs))
    assert.deepEqual(
      [...matched.map(({ target }) => target), ...missed].sort(),
      targets.map((_, index) => index).sort(),
    )
    assert.deepEqual([...matched.map(({ run }) => run), ...extra].sort(), runs.map((_, index) => index).sort())
  }
})

/** By trying everything. */
function mostMatched([target, ...others]: readonly Window[], runs: readonly number[]): number {
  if (target === undefined) return 0
  let most = mostMatched(others, runs)
  for (const [index, run] of runs.entries()) {
    if (run < target.from || run > target.to) continue
    most = Math.max(most, 1 + mostMatched(others, runs.toSpliced(index, 1)))
  }
  return most
}
