import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Plot, renderPlot, ticksTo } from './plot.ts'

const BARS: Plot = {
  ...({ kind: 'bars', id: 'a', title: 'A <b>', note: 'n', unit: 'ms' } as const),
  bars: [
    { group: 'g', label: 'long', value: 200 },
    { group: 'g', label: 'half', value: 100 },
  ],
}

test('bars are as long as their values, and names are text', () => {
  const svg = renderPlot(BARS)
  const [long, half] = [...svg.matchAll(/<rect class="bar[^>]* width="([\d.]+)"/g)].map((match) => Number(match[1]))
  assert.ok(Math.abs(long! - 2 * half!) < 0.2)
  assert.ok(svg.includes('A &lt;b&gt;'))
})

test('a plot has colors for light and dark readers', () => {
  assert.match(renderPlot(BARS), /@media \(prefers-color-scheme:dark\)/)
})

test('points of a line stand where their values are, also along powers of ten', () => {
  const svg = renderPlot({
    ...({ kind: 'lines', id: 'l', title: 'L', note: 'n', unit: 'ms', x: 'schedules', isLogX: true } as const),
    lines: [
      {
        label: 'one',
        points: [
          [10, 0],
          [100, 50],
          [1_000, 100],
        ],
      },
    ],
  })
  const points = [...svg.matchAll(/<circle cx="([\d.]+)" cy="([\d.]+)"/g)].map((match) => match.slice(1).map(Number))
  const [[x1, y1], [x2, y2], [x3, y3]] = points as [number[], number[], number[]]
  assert.ok(Math.abs(x2! - x1! - (x3! - x2!)) < 0.3)
  assert.ok(Math.abs(y1! - y2! - (y2! - y3!)) < 0.3 && y3! < y1!)
})

test('ticks are round and reach the largest value', () => {
  assert.deepEqual(ticksTo(9), [0, 5, 10])
  assert.deepEqual(ticksTo(0.4), [0, 0.1, 0.2, 0.3, 0.4])
  assert.deepEqual(ticksTo(1_900), [0, 500, 1_000, 1_500, 2_000])
})
