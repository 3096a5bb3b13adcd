import assert from 'node:assert/strict'
import { test } from 'node:test'
import { drawSeed } from './draw-seed.ts'

test('every run draws another seed, unless CRONCE_SEED names one', () => {
  const drawn = new Set(Array.from({ length: 20 }, () => drawSeed({})))
  assert.ok(drawn.size > 1)
  assert.equal(drawSeed({ CRONCE_SEED: '15602' }), 15_602)
  for (const text of ['x', '-1', '1.5', '2147483648'])
    assert.throws(() => drawSeed({ CRONCE_SEED: text }), /CRONCE_SEED/)
})
