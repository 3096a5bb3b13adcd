import assert from 'node:assert/strict'
import test from 'node:test'
import { didYouMean } from '../src/did-you-mean.ts'

test('the nearest candidate is suggested, ignoring case; a distant one is not', () => {
  const names = ['Europe/London', 'Europe/Lisbon', 'America/New_York']
  assert.equal(didYouMean('europe/lodnon', names), 'Europe/London')
  assert.equal(didYouMean('Amerika/New_York', names), 'America/New_York')
  assert.equal(didYouMean('Mars/Olympus', names), undefined)
  assert.equal(didYouMean('', names), undefined)
  assert.equal(didYouMean('x'.repeat(100_000), names), undefined)
})

test('swapped neighbours are one mistake', () => {
  assert.equal(didYouMean('dts', ['dst', 'gap']), 'dst')
})

test('endings differ more than the words do', () => {
  assert.equal(didYouMean('retries', ['overlap', 'retry', 'jitter']), 'retry')
  assert.equal(didYouMean('timeouts', ['timeout']), 'timeout')
  assert.equal(didYouMean('dstOptions', ['dst']), undefined)
})
