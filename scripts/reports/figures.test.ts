import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ALLOWED_COMMITS } from './age.ts'
import { problemsOf, type Reports, ratioOf, refresh } from './figures.ts'
import { type Report, sectionsOf } from './report.ts'

const REPORT: Report = {
  name: 'redis',
  command: 'npm run bench:redis',
  isQuick: false,
  machine: '2 cores',
  measured: [{ part: 'all', commit: 'abc', at: '2026-11-18T10:00:00.000Z', load: [0.5, 0.5, 0.5] }],
  covers: ['packages/cronce/src'],
  sections: sectionsOf('Redis 7.\n\n### Failover\n\n12 ms\n\n### Bars\n\n| a |\n'),
  figures: { 'p99 late, ms': '13' },
  comparisons: [],
  plots: [],
}
const reports: Reports = new Map([['redis', REPORT]])
const PAGE = `# Page

<!-- figures: redis/Failover -->
<!-- /figures -->

It is <!-- figure: redis/p99 late, ms -->?<!-- / --> ms late.
`
const fresh = (page: string, age = 3, among = reports) => refresh(page, among, () => age, '')
const problems = (page: string, age = 3, among = reports) => problemsOf('page.md', page, among, () => age, '')

test('a block has the section of the report, where it is from and how old it is', () => {
  const page = fresh(PAGE)
  assert.match(page, /### Failover\n\n12 ms/)
  assert.match(page, /at commit `abc` \(2026-11-18\) on 2 cores, load average 0\.5/)
  assert.match(page, /3 commits have changed the measured code since/)
  assert.doesNotMatch(page, /Redis 7|\| a \||Outdated|quick run/)
  assert.match(page, /It is <!-- figure: redis\/p99 late, ms -->13<!-- \/ --> ms late/)
  assert.deepEqual(problems(page), [])
  assert.equal(fresh(page), page)
})

test('text that differs from the report is a problem, in a block and in a sentence', () => {
  const page = fresh(PAGE)
  assert.match(problems(page.replace('12 ms', '11 ms'))[0]!, /figures of redis\/Failover differ/)
  assert.match(problems(page.replace('-->13<', '-->9<'))[0]!, /is 13, not 9/)
  assert.match(problems(page.replace('commit `abc`', 'commit `def`'))[0]!, /differ/)
  const other: Reports = new Map([['redis', { ...REPORT, sections: sectionsOf('### Failover\n\n99 ms\n') }]])
  assert.match(problems(page, 3, other)[0]!, /differ/)
})

test('a text that was written some commits ago stays right until the report is older than allowed', () => {
  const page = fresh(PAGE)
  assert.deepEqual(problems(page, ALLOWED_COMMITS), [])
  assert.match(problems(page, ALLOWED_COMMITS + 1)[0]!, /Measure again, or mark the text as outdated/)
})

test('an old report is marked for readers, and the mark is part of the text', () => {
  const old = ALLOWED_COMMITS + 1
  const page = fresh(PAGE, old)
  assert.match(page, /<!-- figures: redis\/Failover, outdated -->/)
  assert.match(page, /\*\*Outdated\*\*/)
  assert.deepEqual(problems(page, old + 500), [])
  assert.match(problems(page.replace(/\*\*Outdated\*\*.*\n/, ''), old)[0]!, /differ/)
  assert.doesNotMatch(fresh(page, 0), /outdated/i)
})

test('a quick run says so, and what was not measured is not made up', () => {
  assert.match(fresh(PAGE, 0, new Map([['redis', { ...REPORT, isQuick: true }]])), /\*\*A quick run\*\*/)
  const page = fresh(PAGE, 0, new Map())
  assert.match(page, /<!-- figures: redis\/Failover -->\nNot measured yet\.\n/)
  assert.match(page, /-->not measured<!-- /)
})

test('a report of a commit that the repository lacks is a problem', () => {
  const page = fresh(PAGE)
  assert.match(problemsOf('page.md', page, reports, () => null, '')[0]!, /lacks/)
})

test('a ratio says which of the two is better', () => {
  assert.equal(ratioOf({ ratio: 2, isMoreBetter: true }), '2.00× better')
  assert.equal(ratioOf({ ratio: 0.5, isMoreBetter: true }), '2.00× worse')
  assert.equal(ratioOf({ ratio: 0.1, isMoreBetter: false }), '10.0× better')
  assert.equal(ratioOf({ ratio: 4, isMoreBetter: false }), '4.00× worse')
})
