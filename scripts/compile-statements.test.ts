import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { compile, TARGETS } from './compile-statements.ts'

for (const target of TARGETS) {
  test(`${target.to} matches its sources`, () => {
    const written = readFileSync(new URL(target.to, import.meta.url), 'utf8')
    assert.equal(written, compile(target), 'run: node scripts/compile-statements.ts')
  })
}
