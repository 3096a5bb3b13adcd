import assert from 'node:assert/strict'
import test from 'node:test'
import { cron } from '../../src/cron.ts'
import { hashOf } from '../../src/trigger/cron-hash.ts'

test('the hash behind H never changes: a new version must not move existing jobs', () => {
  const vectors: [seed: string, field: number, hash: number][] = [
    ['', 0, 0xdebe1d5b],
    ['', 1, 0x4d88ad87],
    ['', 5, 0x5c8757b1],
    ['a', 0, 0x15e09e92],
    ['a', 1, 0xfa5f443a],
    ['a', 5, 0x546d5572],
    ['nightly-billing', 0, 0x8afa2fa0],
    ['nightly-billing', 1, 0x4b67f958],
    ['nightly-billing', 5, 0x9f41ba3e],
    ['tenant:4711', 0, 0xb3a2c00a],
    ['tenant:4711', 1, 0x83156396],
    ['tenant:4711', 5, 0x5c535c36],
    ['Zürich 🕐', 0, 0x7f4e1dbb],
    ['Zürich 🕐', 1, 0x356d89da],
    ['Zürich 🕐', 5, 0x80e6404a],
  ]
  for (const [seed, field, hash] of vectors) assert.equal(hashOf(seed, field), hash, `${seed} ${field}`)
})

function normalizedFor(expression: string, seed: string): string {
  const trigger = cron(expression, { seed })
  return trigger.kind === 'cron' ? trigger.normalized : 'not cron'
}

test('the times that H stands for never change', () => {
  const cases: [expression: string, normalized: string][] = [
    ['H H * * *', '20 18 * * *'],
    ['H H(0-5) H * *', '20 0 14 * *'],
    ['H/15 * * * *', '5-50/15 * * * *'],
    ['H(30-59)/10 * * * *', '30-50/10 * * * *'],
    ['H H H H H', '20 18 14 8 3'],
    ['H H * * H(MON-FRI)', '20 18 * * 3'],
    ['H H H/5 * *', '20 18 3-28/5 * *'],
  ]
  for (const [expression, normalized] of cases) {
    assert.equal(normalizedFor(expression, 'nightly-billing'), normalized, expression)
  }
})

test('H spreads a thousand names evenly over the hour', () => {
  const perMinute = new Map<string, number>()
  for (let i = 0; i < 6_000; i++) {
    const minute = normalizedFor('H * * * *', `job-${i}`).split(' ')[0]!
    perMinute.set(minute, (perMinute.get(minute) ?? 0) + 1)
  }
  assert.equal(perMinute.size, 60)
  // 100 on average; the bounds are five standard deviations away.
  for (const [minute, count] of perMinute) assert.ok(count > 50 && count < 150, `minute ${minute}: ${count}`)
})

test('fields are hashed apart, so that equal ranges do not give equal values', () => {
  let equal = 0
  for (let i = 0; i < 1_000; i++) {
    const [second, minute] = normalizedFor('H H * * * *', `job-${i}`).split(' ')
    if (second === minute) equal++
  }
  assert.ok(equal < 60, `${equal} of 1,000 names have the same second and minute`)
})
