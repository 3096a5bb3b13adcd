import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { mutate } from './mutant.ts'
import { MUTANTS } from './mutants.ts'

test('every mutant is one: its edits fit the source as it is, and change it', () => {
  for (const mutant of MUTANTS) {
    for (const file of new Set(mutant.edits.map((edit) => edit.file))) {
      const source = readFileSync(new URL(`../../packages/cronce/src/${file}`, import.meta.url), 'utf8')
      assert.notEqual(mutate(mutant, file, source), source, mutant.name)
    }
  }
})

test('no two mutants have one name', () => {
  assert.equal(new Set(MUTANTS.map(({ name }) => name)).size, MUTANTS.length)
})
