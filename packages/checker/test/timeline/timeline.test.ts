import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Entry, History } from '../../src/history.ts'
import { renderText } from '../../src/timeline/render-text.ts'
import { renderTimeline } from '../../src/timeline/render-timeline.ts'
import { packRows } from '../../src/timeline/svg.ts'
import { chooseTicks, countOf, describeLength, describeTime } from '../../src/timeline/words.ts'
import { brokenSample, EPOCH, NOTHING_WRONG, sampleHistory } from './sample.ts'

describe('the picture of a history', () => {
  test('is well-formed for all names', () => {
    const svg = renderTimeline(hostile(), NOTHING_WRONG, { title: '</svg><script>alert(1)</script>' })
    assertWellFormed(svg)
    assert.equal(svg.includes('<script>'), false)
    assert.equal(svg.includes('\u0007'), false)
    assert.match(svg, /&lt;b&gt; &amp; &quot;q&quot; \u{fffd}/u)
  })

  test('is the same for the same history, and needs nothing from elsewhere', () => {
    assert.equal(renderTimeline(sampleHistory(), NOTHING_WRONG), renderTimeline(sampleHistory(), NOTHING_WRONG))
    const addresses = renderTimeline(sampleHistory(), NOTHING_WRONG).match(/https?:[^"]*|href|@import|url\((?!#)/g)
    assert.deepEqual(addresses, ['http://www.w3.org/2000/svg'])
  })

  test('has a bar for each start, by how it ended', () => {
    const history = sampleHistory()
    const svg = renderTimeline(history, NOTHING_WRONG)
    const threw = history.entries.filter((entry) => entry.kind === 'finish' && entry.how === 'threw').length

    assert.equal(count(svg, 'bar '), history.entries.filter(({ kind }) => kind === 'start').length)
    assert.equal(count(svg, 'bar bar-threw'), threw)
    assert.equal(count(svg, 'bar bar-cut-short'), 2)
    assert.equal(count(svg, 'bar bar-fenced'), 1)
    assert.equal(count(svg, 'bar bar-running'), 0)
  })

  test('has a box for each fire on record, and a mark for each fault', () => {
    const history = sampleHistory()
    const svg = renderTimeline(history, NOTHING_WRONG)
    const { fires } = history.reads[0]!

    assert.equal(count(svg, 'due '), fires.length)
    assert.equal(count(svg, 'due due-let-go'), fires.filter(({ outcome }) => outcome === 'skipped').length)
    assert.equal(count(svg, 'due due-violated'), 0)
    assert.equal(count(svg, 'fault'), 7)
    assert.equal(svg.match(/l8 8m0 -8l-8 8/g)?.length, 3, 'a cross for each kill, and one in the legend')
    for (const name of ['store-down', 'lossy link', 'pause', 'kill', 'clock +2 s'])
      assert.ok(svg.includes(`>${name}<`), name)
  })

  test('describes each violation, and marks its place', () => {
    const { history, verdict } = brokenSample()
    const svg = renderTimeline(history, verdict)

    assert.ok(svg.includes('✗ 2 violations'))
    assert.equal(count(svg, 'violation'), 2)
    assert.equal(count(svg, 'due due-violated'), 2, 'also the fire that is not even on record')
    assert.equal(svg.match(/class="outline line-accent accused"/g)?.length, 2, 'both runs of the fire that ran twice')
    assert.ok(svg.includes('no instance ran it.'))
    assert.ok(renderTimeline(sampleHistory(), NOTHING_WRONG).includes('✓ no violations'))
  })

  test('shows a stretch of it on request', () => {
    const history = sampleHistory()
    const [from, to] = [10_000, 12_000]
    const svg = renderTimeline(history, NOTHING_WRONG, { from, to })
    const inside = history.entries.filter((entry) => {
      if (entry.kind !== 'start' || entry.at > to) return false
      const finish = history.entries.find((other) => other.kind === 'finish' && other.token === entry.token)
      return (finish?.at ?? 3400) >= from
    })
    assert.equal(count(svg, 'bar '), inside.length)
    assert.equal(svg.includes('store-down'), false)
  })

  test('keeps processes of one slot in one lane', () => {
    const lanes = (svg: string) => [...svg.matchAll(/class="ink end"[^>]*>(w[^<]*)</g)].map(([, name]) => name)
    assert.deepEqual(lanes(renderTimeline(sampleHistory(), NOTHING_WRONG)), ['w1', 'w2', 'w3'])
    const apart = renderTimeline(sampleHistory(), NOTHING_WRONG, { slotOf: (node) => node })
    assert.deepEqual(lanes(apart), ['w1.1', 'w1.4', 'w2.2', 'w3.3'])
  })

  test('an empty history is a picture too', () => {
    assertWellFormed(renderTimeline({ ...sampleHistory(), entries: [], reads: [] }, NOTHING_WRONG))
  })
})

describe('the lines of a history', () => {
  test('have a time, an actor and an event', () => {
    const { history, verdict } = brokenSample()
    const start = history.entries.find((entry) => entry.kind === 'start')!
    const small: History = {
      ...history,
      entries: [
        start,
        ...history.entries.filter(({ kind }) => kind === 'fault').slice(1, 2),
        { kind: 'clock', at: 9000, byMs: -500 },
      ],
      reads: [{ ...history.reads[0]!, fires: history.reads[0]!.fires.slice(0, 1) }],
    }
    assert.deepEqual(renderText(small, { ...verdict, violations: verdict.violations.slice(1) }).split('\n'), [
      "The store's clock begins at 2026-03-01 08:30:00 UTC.",
      ` 0.457  ${start.kind === 'start' ? start.node : ''}   starts heartbeat 08:30:00.400, attempt 1, token ${start.kind === 'start' ? start.token : ''}`,
      ' 8.100  w2.2   FAULT pause',
      ' 9.000  store  clock is set back by 500 ms',
      '10.900  w2.2   pause is over',
      'On record:',
      '  nightly-backup 08:30:05, succeeded: completed, attempt 1',
      `C2: ${verdict.violations[1]!.message}`,
    ])
  })
})

describe('words and places', () => {
  test('times are as exact as their neighbours need', () => {
    const shown = [
      [250, 50],
      [12_000, 1000],
      [65_000, 5000],
      [65_250, 50],
      [7_200_000, 60_000],
      [3 * 86_400_000 + 6 * 3_600_000, 3_600_000],
      [2 * 86_400_000, 86_400_000],
    ].map(([time, step]) => describeTime(time!, step!))
    assert.deepEqual(shown, ['0.25 s', '12 s', '1:05', '1:05.25', '2:00:00', '3d 06:00', '2d'])
  })

  test('lengths are in whole units where they can be', () => {
    const shown = [2000, 90_000, 120_000, 36_000_000, 1500].map(describeLength)
    assert.deepEqual(shown, ['2 s', '90 s', '2 min', '10 h', '1.5 s'])
  })

  test('ticks are round, and never too many', () => {
    assert.deepEqual(chooseTicks(900, 31_000, 7).ticks, [5000, 10_000, 15_000, 20_000, 25_000, 30_000])
    for (const length of [1, 37, 999, 61_000, 5e6, 9e8, 4e11]) {
      const { ticks } = chooseTicks(0, length, 12)
      assert.ok(ticks.length >= 1 && ticks.length <= 13, `${length}: ${ticks.length}`)
    }
  })

  test('concurrent runs get separate rows', () => {
    const spans = [
      { from: 0, to: 10 },
      { from: 5, to: 8 },
      { from: 8, to: 12 },
      { from: 9, to: 9.5 },
      { from: 10, to: 11 },
    ]
    assert.deepEqual(packRows(spans, 8), [0, 1, 1, 2, 0])
    assert.deepEqual(packRows(spans, 2), [0, 1, 1, 0, 0])
  })

  test('numbers are readable', () => {
    assert.deepEqual(
      [countOf(1, 'fire'), countOf(1204, 'fire'), countOf(0, 'fault')],
      ['1 fire', '1,204 fires', '0 faults'],
    )
  })
})

function count(svg: string, classStart: string): number {
  return svg.split(`<g class="${classStart}`).length - 1
}

/** Every element is closed by its own name, and there is one root. */
function assertWellFormed(svg: string): void {
  const open: string[] = []
  let roots = 0
  for (const [, isEnd, name, isEmpty] of svg.matchAll(/<(\/?)([a-zA-Z]+)(?:\s[\w:-]+="[^"<]*")*\s*(\/?)>/g)) {
    if (open.length === 0) roots++
    if (isEnd !== '') assert.equal(open.pop(), name)
    else if (isEmpty === '') open.push(name!)
  }
  assert.deepEqual(open, [])
  assert.equal(roots, 1)
  const rest = svg.replaceAll(/<(\/?)([a-zA-Z]+)(?:\s[\w:-]+="[^"<]*")*\s*(\/?)>/g, '')
  assert.doesNotMatch(rest, /[<>]|&(?!amp;|lt;|gt;|quot;)/)
}

function hostile(): History {
  const name = '<b> & "q" \u0007'
  const run = { schedule: name, dueAt: EPOCH, nonce: name, attempt: 2, token: '1', node: `${name}.1` }
  const entries: Entry[] = [
    { kind: 'start', at: 100, ...run },
    { kind: 'fault', at: 200, until: 400, fault: name, node: null },
    { kind: 'fault', at: 200, until: 400, fault: name, node: run.node },
    { kind: 'operation', at: 300, endedAt: 300, result: 'ok', schedule: name, verb: 'remove' },
    { kind: 'finish', at: 900, how: 'returned', ...run },
  ]
  return { ...sampleHistory(), entries, reads: [] }
}
