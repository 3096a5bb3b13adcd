import assert from 'node:assert/strict'
import { test } from 'node:test'
import { audit } from '../src/audit.ts'
import { treeOf } from '../src/discover/tree.ts'

const HEAD = "import cron from 'node-cron'\n"

test('imports in a circle end', async () => {
  const { findings } = await audit(
    treeOf({
      'a.js': `${HEAD}import { b } from './b.js'\nexport const a = () => b()\ncron.schedule('0 * * * *', a)\n`,
      'b.js': "import { a } from './a.js'\nexport * from './c.js'\nexport const b = () => a()\n",
      'c.js': "export * from './b.js'\nexport { missing } from './b.js'\n",
    }),
  )
  assert.ok(findings.some(({ rule }) => rule === 'FLT001'))
})

test('constants in a circle are not known', async () => {
  const { unreadable } = await audit(
    treeOf({ 'a.js': `${HEAD}const a = b\nconst b = a\ncron.schedule(a, () => send())\n` }),
  )
  assert.deepEqual(unreadable, [])
})

test('code that is nested very deeply is reported, and the audit goes on', async () => {
  const deep = `${HEAD}${'('.repeat(20_000)}1${')'.repeat(20_000)}\ncron.schedule('0 * * * *', () => send())\n`
  const { findings } = await audit(
    treeOf({ 'a.js': deep, 'b.js': `${HEAD}cron.schedule('0 25 * * *', () => send())\n` }),
  )
  assert.ok(findings.some(({ place, rule }) => place.path === 'b.js' && rule === 'CRN001'))
})

test('many calls of many functions stay bounded', async () => {
  const functions = Array.from(
    { length: 1500 },
    (_, index) => `function f${index}() { f${(index * 7 + 1) % 1500}(); f${(index * 3 + 2) % 1500}() }`,
  )
  const { project } = await audit(
    treeOf({ 'a.js': `${HEAD}${functions.join('\n')}\ncron.schedule('0 * * * *', f0)\n` }),
  )
  assert.equal(project.all('schedule').length, 1)
})

test('an empty file, a file of zeros and a shebang are read', async () => {
  const { unreadable, findings } = await audit(
    treeOf({ 'cron.js': '', 'jobs.js': `#!/usr/bin/env node\n${HEAD}cron.schedule('0 25 * * *', () => send())\n` }),
  )
  assert.deepEqual(unreadable, [])
  assert.equal(findings.find(({ rule }) => rule === 'CRN001')?.place.line, 3)
})
