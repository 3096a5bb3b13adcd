import assert from 'node:assert/strict'
import { test } from 'node:test'
import { audit } from '../src/audit.ts'
import { treeOf } from '../src/discover/tree.ts'
import type { Example, Finding, Rule } from '../src/rules/rule.ts'

export interface Cases {
  /** Title to files. The rule reports each, at the line that ends in `<<` if there is one. */
  readonly bad: Readonly<Record<string, Example>>
  /** Innocent look-alikes: the rule reports none of them. */
  readonly good: Readonly<Record<string, Example>>
}

const MIN_BAD = 3
const MIN_GOOD = 5

/** The examples of the rule itself are always tests, too. */
export function checkRule(rule: Rule, { bad, good }: Cases): void {
  test(`${rule.id} has at least ${MIN_BAD} positives and ${MIN_GOOD} near misses of its own`, () => {
    assert.ok(Object.keys(bad).length >= MIN_BAD, 'positives')
    assert.ok(Object.keys(good).length >= MIN_GOOD, 'near misses')
  })
  for (const [title, example] of Object.entries({ 'the example of the rule': rule.bad, ...bad })) {
    test(`${rule.id} reports ${title}`, async () => {
      const found = await findingsOf(rule, example)
      assert.notEqual(found.length, 0, 'nothing is reported')
      const marked = Object.entries(example).flatMap(([path, text]) =>
        text.split('\n').flatMap((line, index) => (line.trimEnd().endsWith('<<') ? [`${path}:${index + 1}`] : [])),
      )
      if (marked.length > 0)
        assert.deepEqual(found.map(({ place }) => `${place.path}:${place.line}`).sort(), marked.sort())
    })
  }
  for (const [title, example] of Object.entries({ 'the good example of the rule': rule.good, ...good })) {
    test(`${rule.id} does not report ${title}`, async () => {
      assert.deepEqual(await findingsOf(rule, example), [])
    })
  }
}

async function findingsOf(rule: Rule, example: Example): Promise<readonly Finding[]> {
  const { findings, unreadable } = await audit(treeOf(example), [rule])
  assert.deepEqual(unreadable, [])
  return findings
}
