import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ALLOWANCES, BYTES_PER_DUE_TIME, judgeProcess, judgeSeries, judgeSize, slopeOf } from './judge.ts'
import type { Sample } from './order.ts'

const MEBIBYTE = 2 ** 20
const times = Array.from({ length: 60 }, (_, index) => index * 10)

function sample(at: number, more: Partial<Sample> = {}): Sample {
  const bytes = { rss: 100 * MEBIBYTE, heap: 20 * MEBIBYTE, external: MEBIBYTE }
  return { at, ...bytes, handles: 10, files: 30, fires: at * 40, connections: 3, ...more }
}

function growing(judged: readonly { readonly what: string; readonly verdict: string }[]): string[] {
  return judged.filter(({ verdict }) => verdict === 'grows').map(({ what }) => what)
}

test('what stays the same is flat, and so is noise around it', () => {
  const noisy = times.map((at, index) => sample(at, { heap: (20 + (index % 7)) * MEBIBYTE, handles: 10 + (index % 5) }))
  assert.deepEqual(growing(judgeProcess('w1', noisy)), [])
})

test('a leak is found in each of the series, and in no other', () => {
  for (const { of, name, most } of ALLOWANCES) {
    const leak = times.map((at, index) => sample(at, { [of]: 10 + (index / times.length) * most * 2 }))
    assert.deepEqual(growing(judgeProcess('w1', leak)), [`w1: ${name}`])
  }
})

test('the first third does not count: caches fill up', () => {
  const warm = times.map((at) => sample(at, { heap: Math.min(at, 180) * MEBIBYTE }))
  assert.deepEqual(growing(judgeProcess('w1', warm)), [])
})

test('a few spikes do not make a slope', () => {
  const spikes = times.map((at, index) => [at, index > 55 ? 1_000 : 10] as const)
  assert.equal(judgeSeries(spikes, 5).verdict, 'flat')
  assert.equal(slopeOf(times.map((at) => [at, 3 * at + 1] as const)), 3)
})

test('few samples are no verdict', () => {
  assert.equal(
    judgeSeries(
      [
        [0, 1],
        [10, 100],
      ],
      5,
    ).verdict,
    'too few samples',
  )
  assert.equal(judgeSize([{ at: 0, bytes: 1, due: 1 }]).verdict, 'too few samples')
})

test('a store may grow by its records, and by nothing else', () => {
  const sizes = (each: number) => times.map((at) => ({ at, due: at * 40, bytes: 1_000_000 + at * 40 * each }))
  assert.equal(judgeSize(sizes(BYTES_PER_DUE_TIME / 2)).verdict, 'flat')
  assert.equal(judgeSize(sizes(BYTES_PER_DUE_TIME * 2)).verdict, 'grows')
})
