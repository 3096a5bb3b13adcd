import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readSarif } from '../ui/core/sarif.ts'

test('findings of a SARIF report are listed by level, errors first, and otherwise in the order of the report', () => {
  const results = ['note', undefined, 'error', 'warning'].map((level, index) => ({ level, ruleId: `R${index}` }))
  const found = readSarif(JSON.stringify({ runs: [{ results }] }))
  assert.deepEqual(
    found.map(({ rule, level }) => `${rule} ${level}`),
    ['R2 error', 'R1 warning', 'R3 warning', 'R0 note'],
  )
})

test('what is not a SARIF report is refused with the reason', () => {
  assert.throws(() => readSarif('{ "runs": 7'), /not JSON/)
  assert.throws(() => readSarif('{ "runs": 7 }'), /not a SARIF report/)
})
