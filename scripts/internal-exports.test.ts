import assert from 'node:assert/strict'
import test from 'node:test'
import { findInternalViolations } from './internal-exports.ts'

const LIST = [{ name: 'a', users: ['cli', 'server'], why: 'shared' }]
const FILES = {
  'packages/cronce/src/internal.ts': "export { a } from './a.ts'",
  'packages/cli/src/x.ts': "import { a } from 'cronce/internal'",
  'packages/server/src/x.ts': "import { type a as b } from 'cronce/internal'",
}

function messagesFor(changes: Record<string, string>): string[] {
  return findInternalViolations(new Map(Object.entries({ ...FILES, ...changes })), LIST).map(({ message }) => message)
}

test('what is listed may be shared', () => {
  assert.deepEqual(messagesFor({}), [])
})

test('what is not listed may be neither exported nor imported', () => {
  const entry = "export { a } from './a.ts'\nexport { type B, c } from './b.ts'"
  const messages = messagesFor({
    'packages/cronce/src/internal.ts': entry,
    'packages/cli/src/y.ts': "import { c } from 'cronce/internal'",
    'packages/checker/src/z.ts': "import { a } from 'cronce/internal'",
  })
  assert.deepEqual(
    messages.map((message) => message.split(':')[0]),
    [
      'must not import c from cronce/internal',
      'must not import a from cronce/internal',
      'must not export B',
      'must not export c',
    ],
  )
})

test('what has lost its use leaves the list', () => {
  assert.deepEqual(messagesFor({ 'packages/server/src/x.ts': '' }), ['lists a for server, which has no use'])
  assert.deepEqual(messagesFor({ 'packages/cronce/src/internal.ts': '' }), [
    'lists a, which cronce/internal does not export',
  ])
})

test('an import must name what it takes', () => {
  for (const whole of ["import * as all from 'cronce/internal'", "const all = import('cronce/internal')"]) {
    assert.deepEqual(messagesFor({ 'packages/cli/src/y.ts': whole }), [
      'must name what it imports from cronce/internal',
    ])
  }
})
