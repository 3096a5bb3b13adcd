import assert from 'node:assert/strict'
import test from 'node:test'
import { findUnused, findViolations } from './import-rules.ts'

const ROOM = { holds: '', doors: [], packages: [], never: null }
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
  const impure = [
    'Date.now()',
    'new Date()',
    'Date()',
    'performance.now()',
    'process.env.TZ',
    'Math.random()',
    'await x',
    'x.then(y)',
    'setTimeout(f)',
    'fetch(url)',
    'date.getHours()',
    'new Intl.DateTimeFormat().format(0)',
    '`$' + '{ {a:1}.a + Date.now() } now`',
    'new Date',
    'Temporal.Now.instant()',
    "/'/; Date.now(); /'/",
    '/\\/\\//; Date.now()',
  ]
  for (const code of impure) assert.equal(messagesFor({ [TRIGGER]: `const a = ${code}` }).length, 1, code)
  assert.equal(messagesFor({ [TRIGGER]: 'const { now } = Date' }).length, 1)
  const pure = "// Date.now() is not for us\nconst a = 'await', c = Date.UTC(2027, 0), d = new Date(c).getUTCDay()"
  assert.deepEqual(messagesFor({ [TRIGGER]: pure }), [])
})

test('what looks like a comment inside a text hides nothing', () => {
  const glob = "const a = 'src/**/*.ts'\nimport fs from 'node:fs'\nconst b = '*/'"
  assert.deepEqual(messagesFor({ [TRIGGER]: glob }), ['trigger must not import node:fs'])
  assert.deepEqual(messagesFor({ [TRIGGER]: "/* import fs from 'node:fs' */ // import 'node:os'" }), [])
})

test('an import that only the running program knows is refused', () => {
  assert.match(messagesFor({ [TRIGGER]: 'const a = import(name)' })[0]!, /imports name what they import/)
  assert.match(messagesFor({ [TRIGGER]: 'const a = import(`luxon`)' })[0]!, /imports name what they import/)
  assert.match(messagesFor({ [TRIGGER]: "const a = require('luxon')" })[0]!, /imports name what they import/)
})

test('an entry contains no code', () => {
  const entry = 'packages/cronce/src/cron.ts'
  assert.deepEqual(messagesFor({ [entry]: "export { cron, type Cron } from './trigger/cron.ts'" }), [])
  assert.match(messagesFor({ [entry]: 'export const x = 1 + 1' })[0]!, /contains no code/)
})

test('a file outside the table, a missing extension and a circle are violations', () => {
  assert.match(messagesFor({ 'packages/cronce/src/utils.ts': '' })[0]!, /belongs to no room/)
  assert.match(messagesFor({ [TRIGGER]: "import './y'" })[0]!, /must name the file/)
  const circle = { [TRIGGER]: "import './y.ts'", 'packages/cronce/src/trigger/y.ts': "import type { X } from './x.ts'" }
  assert.match(messagesFor(circle)[0]!, /circle/)
})

test('two rooms must not have doors to each other', () => {
  const files = new Map([['a/x.ts', '']])
  const rooms = [
    { ...ROOM, name: 'a', path: 'a/', doors: ['b'] },
    { ...ROOM, name: 'b', path: 'b/', doors: ['a'] },
  ]
  assert.match(findViolations(files, rooms)[0]!.message, /doors lead in a circle: a -> b -> a/)
})

test('targets do not import the app', () => {
  const files = { 'packages/cronce/src/target/x.ts': "import type { Cronce } from '../app/cronce.ts'" }
  assert.deepEqual(messagesFor(files), ['target has no door to app (../app/cronce.ts)'])
})

test('a door that no file uses is closed', () => {
  const rooms = [
    { ...ROOM, name: 'a', path: 'a/', doors: ['b', 'c'], packages: ['node:*', 'pg'] },
    { ...ROOM, name: 'b', path: 'b/' },
    { ...ROOM, name: 'c', path: 'c/' },
  ]
  const files = new Map([['a/x.ts', "import '../b/y.ts'\nimport 'node:fs'"]])
  assert.deepEqual(
    findUnused(files, rooms).map(({ message }) => message),
    ['a has a door to c that it does not use', 'a has a door to pg that it does not use'],
  )
})
