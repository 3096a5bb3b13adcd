import assert from 'node:assert/strict'
import test from 'node:test'
import { findViolations } from './import-rules.ts'

const TRIGGER = 'packages/cronce/src/trigger/x.ts'

function messagesFor(files: Record<string, string>): string[] {
  return findViolations(new Map(Object.entries(files))).map(({ message }) => message)
}

test('a room may use its doors', () => {
  assert.deepEqual(
    messagesFor({ [TRIGGER]: "import { CronceError } from '../errors.ts'\nimport { y } from './y.ts'" }),
    [],
  )
})

test('a room may not go through a wall', () => {
  const messages = messagesFor({ 'packages/cronce/src/errors.ts': "export { cron } from './trigger/cron.ts'" })
  assert.deepEqual(messages, ['errors has no door to trigger (./trigger/cron.ts)'])
})

test('the library imports no package, not even one of Node', () => {
  assert.deepEqual(messagesFor({ [TRIGGER]: "import { readFileSync } from 'node:fs'" }), [
    'trigger must not import node:fs',
  ])
  assert.deepEqual(messagesFor({ [TRIGGER]: "const x = import('luxon')" }), ['trigger must not import luxon'])
})

test('the CLI reaches the library through its published entries only', () => {
  const messages = messagesFor({
    'packages/cli/src/main.ts': "import { zoneOf } from '../../cronce/src/trigger/zone.ts'",
  })
  assert.deepEqual(messages, ['cli has no door to trigger (../../cronce/src/trigger/zone.ts)'])
})

test('triggers are pure: no clock, no randomness, no waiting', () => {
  for (const code of ['Date.now()', 'new Date()', 'Math.random()', 'await x', 'setTimeout(f)', 'process.env.TZ']) {
    assert.equal(messagesFor({ [TRIGGER]: `const a = ${code}` }).length, 1, code)
  }
  assert.deepEqual(messagesFor({ [TRIGGER]: "// Date.now() is not for us\nconst a = 'await'" }), [])
})

test('a file outside the table, a missing extension and a circle are violations', () => {
  assert.match(messagesFor({ 'packages/cronce/src/utils.ts': '' })[0]!, /belongs to no room/)
  assert.match(messagesFor({ [TRIGGER]: "import './y'" })[0]!, /must name the file/)
  const circle = { [TRIGGER]: "import './y.ts'", 'packages/cronce/src/trigger/y.ts': "import type { X } from './x.ts'" }
  assert.match(messagesFor(circle)[0]!, /circle/)
})
