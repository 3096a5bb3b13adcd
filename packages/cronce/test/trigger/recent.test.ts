import assert from 'node:assert/strict'
import test from 'node:test'
import { Recent } from '../../src/trigger/recent.ts'

test('what was added is remembered, and memory is bounded', () => {
  const recent = new Recent<number>(10)
  for (let i = 0; i < 1_000; i++) {
    recent.add(`key ${i}`, i)
    assert.equal(recent.get(`key ${i}`), i)
    const kept = Array.from({ length: i + 1 }, (_, j) => recent.get(`key ${j}`)).filter((value) => value !== undefined)
    assert.ok(kept.length >= 1 && kept.length <= 10, `${kept.length} kept`)
  }
})
