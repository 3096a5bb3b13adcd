import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cut } from '../../src/model/limits.ts'

test('what is too long is cut with a mark, and never longer than it may be', () => {
  assert.equal(cut('short', 5), 'short')
  assert.equal(cut('x'.repeat(100), 20), `${'x'.repeat(13)}… (cut)`)
  for (let max = 0; max < 30; max++) {
    const text = cut('🎉'.repeat(50), max)
    assert.ok(text.length <= max)
    assert.ok(text.isWellFormed())
  }
})
