import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { findAll, isCall, type Node, nameOf, propertyOf } from '../src/read/javascript/ast.ts'
import { parseModule } from '../src/read/javascript/module.ts'
import { RULES } from '../src/rules/rules.ts'

const FOLDER = join(import.meta.dirname, 'rules')
const MIN_BAD = 3
const MIN_GOOD = 5

/** How many cases the calls of `checkRule` hand over; the example of the rule itself is one more. */
function casesOf(rule: string): { bad: number; good: number } {
  const file = `${rule.toLowerCase()}.test.ts`
  const { program } = parseModule(file, readFileSync(join(FOLDER, file), 'utf8'))
  const given = findAll(program, isCall).filter(
    ({ callee, arguments: args }) => nameOf(callee) === 'checkRule' && nameOf(args?.[0]) === rule,
  )
  const count = (key: string): number =>
    given.reduce((sum, call) => sum + sizeOf(propertyOf(call.arguments![1]!, key)), 1)
  return { bad: count('bad'), good: count('good') }
}

function sizeOf(node: Node | null): number {
  return node?.properties?.length ?? 0
}

test('every rule has at least three cases that it reports and five look-alikes that it does not', () => {
  const few = RULES.flatMap(({ id }) => {
    const { bad, good } = casesOf(id)
    return bad >= MIN_BAD && good >= MIN_GOOD ? [] : [`${id}: ${bad} reported, ${good} not reported`]
  })
  assert.deepEqual(few, [])
})

test('every file of cases belongs to a rule', () => {
  const files = readdirSync(FOLDER).map((file) => file.replace('.test.ts', '').toUpperCase())
  assert.deepEqual(files.sort(), RULES.map(({ id }) => id).sort())
})
