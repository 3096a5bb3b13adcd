import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { withRules } from '../../../scripts/docs/audit.ts'

test('docs/audit.md has the rules as they are', () => {
  const text = readFileSync(new URL('../../../docs/audit.md', import.meta.url), 'utf8')
  assert.equal(withRules(text), text, 'run node scripts/docs/audit.ts')
})
