import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { PAGES, pages, withRules } from '../../../scripts/docs/audit.ts'

test('docs/audit.md has the rules as they are', () => {
  const text = readFileSync(new URL('../../../docs/audit.md', import.meta.url), 'utf8')
  assert.equal(withRules(text), text, 'run node scripts/docs/audit.ts')
})

test('docs/audit has one page per rule, as the rule is', () => {
  const now = pages()
  assert.deepEqual(readdirSync(PAGES).sort(), [...now.keys()].sort(), 'run node scripts/docs/audit.ts')
  for (const [name, text] of now)
    assert.equal(readFileSync(join(PAGES, name), 'utf8'), text, 'run node scripts/docs/audit.ts')
})
