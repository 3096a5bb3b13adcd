import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Evidence, renderReport } from './render-report.ts'

const NOTHING: Evidence = {
  ...{
    commit: 'abc',
    slices: [],
    simulation: null,
    explorations: [],
    chaos: [],
    matrices: [],
    mutants: [],
    contests: [],
  },
  skew: [],
}

test('parts that were not run are named in the report', () => {
  const report = renderReport(NOTHING)
  assert.equal(report.split('Not run.').length - 1, 7)
  assert.match(report, /\| 0 \| 0 \| 0 \| 0 \| 0 of 0 \|/)
})

test('violations of all runs are counted and named', () => {
  const report = renderReport({
    ...NOTHING,
    simulation: {
      from: [1, 7],
      events: 9,
      seeds: 1000,
      fires: 2_500_000,
      simulatedMs: 86_400_000 * 12.5,
      seconds: 500,
      faults: { kill: 3, pause: 12_000 },
      counters: { 'zombie settle refused': 7 },
      lacking: [],
      violations: [{ seed: 4, name: 'C2', message: 'a | b\n<c>' }],
    },
    explorations: [
      {
        model: 'failover',
        states: 12_345,
        edges: 20_000,
        depth: 9,
        continued: 0,
        isComplete: true,
        seconds: 1,
        violation: { name: 'S3', message: 'goes back', trace: ['w1 asks', 'the store forgets'] },
      },
    ],
  })
  assert.match(report, /\| 2 \| 2,500,000 \| 0 \| 12,345 \| 0 of 0 \|/)
  assert.ok(report.includes('from the seeds 1, 7'))
  assert.match(report, /\| 1,000 \| 12\.5 \| 2,500,000 \| 5,000 \|/)
  assert.match(report, /\| pause \| 12,000 \|\n\| kill \| 3 \|/, 'the most frequent first')
  assert.ok(report.includes('**C2** with seed 4: a \\| b \\<c\\>'))
  assert.ok(report.includes('1. w1 asks\n2. the store forgets'))
})

test('a violation that a model is meant to show is not a violation of ours', () => {
  const exploration = { model: 'failover', states: 5, edges: 9, depth: 2, continued: 0, isComplete: false, seconds: 1 }
  const violation = { name: 'S3', message: 'goes back', trace: ['the store forgets'] }
  const report = renderReport({ ...NOTHING, explorations: [{ ...exploration, violation, isExpected: true }] })
  assert.match(report, /\| 0 \| 0 \| 0 \| 5 \| 0 of 0 \|/)
  assert.match(report, /S3, as expected/)
})

test('a mutant that survived stands out', () => {
  const mutant = { rule: 'P1', judge: 'simulation', tried: 3 }
  const report = renderReport({
    ...NOTHING,
    mutants: [
      { ...mutant, name: 'no-token', verdict: 'caught', by: ['C8', 'S3'] },
      { ...mutant, name: 'no-key', verdict: 'survived', by: [] },
    ],
  })
  assert.match(
    report,
    /no-key \| P1 \| simulation \| \*\*survived\*\* \| 3 \|\n\| no-token \| P1 \| simulation \| C8, S3 \| 3 \|/,
  )
  assert.match(report, /1 of 2/)
})

test('contests are listed by store, and what is wrong in them is counted and named', () => {
  const contest = {
    ...{ store: 'redis', processes: 50, seconds: 300, faults: 8, kept: 50_000, overtaken: 2, refused: 2 },
    ...{ terms: 60, leaders: 50, keys: 45, unknown: 5, wrong: ['b wrote 1 over 1: an update is lost'] },
  }
  const report = renderReport({ ...NOTHING, contests: [contest] })
  assert.match(report, /\| redis \| 50 \| 50,000 \| 8 \| 2 \| 2 \| 60 \| 50 \| 45 \| 5 \| 300 \| 1 \|/)
  assert.ok(report.includes('**On redis:** b wrote 1 over 1: an update is lost'))
  assert.match(report, /\| 1 \| 0 \| 0 \| 0 \| 0 of 0 \|/)
})
