import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { findTasks } from '../src/import/node-cron/find-tasks.ts'
import { planEdits } from '../src/import/node-cron/plan-edits.ts'
import { tokensOf, Unreadable } from '../src/import/node-cron/tokens.ts'
import { ask } from './cronce.ts'

/** With a template inside. */
const TEMPLATE = '`a$'.concat('{ `b$', '{c}` + "}" }d`')

const IMPORT = "import cron from 'node-cron'\n"

function edited(text: string, way: 'coordinator' | 'drop-in' = 'coordinator'): string {
  const { files } = planEdits([{ file: 'src/mail.ts', text }], way)
  return files[0]?.edited ?? text
}

function only(text: string) {
  const { tasks } = planEdits([{ file: 'src/mail.ts', text: IMPORT + text }], 'coordinator')
  assert.equal(tasks.length, 1, text)
  return tasks[0]!
}

function project(context: TestContext, files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'cronce-node-cron-'))
  context.after(() => rmSync(folder, { recursive: true }))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  return folder
}

test('code is cut into tokens: strings, templates, comments and regular expressions hide nothing and are hidden', () => {
  const texts = (text: string) => tokensOf(text).map((token) => token.text)
  assert.deepEqual(texts('a /* b( */ c // d("\n"e\\"f"'), ['a', 'c', '"e\\"f"'])
  assert.deepEqual(texts(`${TEMPLATE};`), [TEMPLATE, ';'])
  assert.deepEqual(texts('x = /[/"]\\/"/g.test(y)'), ['x', '=', '/[/"]\\/"/g', '.', 'test', '(', 'y', ')'])
  assert.deepEqual(texts('if (a) /"/.test(b)'), ['if', '(', 'a', ')', '/"/', '.', 'test', '(', 'b', ')'])
  assert.deepEqual(texts('(a) / b / "c"'), ['(', 'a', ')', '/', 'b', '/', '"c"'])
  assert.deepEqual(texts('a?.b ?? 1_000n'), ['a', '?.', 'b', '??', '1_000n'])
  assert.deepEqual(texts('#!/usr/bin/env node "\nx'), ['x'])
  for (const broken of ['"a', '`a${b', '/* a', '(a]', 'a)', '{'])
    assert.throws(() => tokensOf(broken), Unreadable, broken)
})

test('every way to import node-cron is known, and other things that are called alike are not', () => {
  const found = (text: string) => findTasks(text).tasks.length
  const call = "('* * * * *', f)"
  assert.equal(
    found(`import cron from 'node-cron'; cron.schedule${call}; cron.createTask${call}; cron.validate('x')`),
    2,
  )
  assert.equal(found(`import * as nc from "node-cron"; nc.schedule${call}`), 1)
  assert.equal(
    found(`import cron, { schedule as at, type ScheduledTask } from 'node-cron'; at${call}; cron.schedule${call}`),
    2,
  )
  assert.equal(found(`const cron = require('node-cron'); cron.schedule${call}`), 1)
  assert.equal(found(`const { schedule: at, createTask } = require('node-cron'); at${call}; createTask${call}`), 2)
  assert.equal(found(`import cron = require('node-cron'); cron.schedule${call}`), 1)
  assert.equal(found(`const { default: cron } = await import('node-cron'); cron.schedule${call}`), 1)
  assert.equal(found(`import cron from 'node-schedule'; cron.schedule${call}; schedule${call}`), 0)
  assert.equal(found(`import cron from 'node-cron'; other.cron.schedule${call}; // cron.schedule${call}`), 0)
  assert.equal(found(`import x from 'y'\nexport { schedule } from 'node-cron'; x.schedule${call}`), 0)
})

test('a task gets a name and distributed, wherever its options stand', () => {
  const cases: readonly (readonly [string, string])[] = [
    [
      "cron.schedule('0 3 * * *', sendMail)",
      "cron.schedule('0 3 * * *', sendMail, { name: 'send-mail', distributed: true })",
    ],
    [
      "cron.schedule('0 3 * * *', sendMail,\n)",
      "cron.schedule('0 3 * * *', sendMail, { name: 'send-mail', distributed: true },\n)",
    ],
    [
      "cron.schedule('0 3 * * *', sendMail, {})",
      "cron.schedule('0 3 * * *', sendMail, { name: 'send-mail', distributed: true })",
    ],
    [
      "cron.schedule('0 3 * * *', sendMail, { timezone: 'UTC' })",
      "cron.schedule('0 3 * * *', sendMail, { name: 'send-mail', distributed: true, timezone: 'UTC' })",
    ],
    [
      "cron.schedule('0 3 * * *', sendMail, {\n    timezone: 'UTC',\n  })",
      "cron.schedule('0 3 * * *', sendMail, {\n    name: 'send-mail',\n    distributed: true,\n    timezone: 'UTC',\n  })",
    ],
    [
      "cron.schedule('0 3 * * *', async () => {\n  await mail.sendAll(') {')\n}) // now",
      "cron.schedule('0 3 * * *', async () => {\n  await mail.sendAll(') {')\n}, { name: 'send-all', distributed: true }) // now",
    ],
    [
      "cron.schedule('0 3 * * *', f, { name: nameOf(host) })",
      "cron.schedule('0 3 * * *', f, { distributed: true, name: nameOf(host) })",
    ],
  ]
  for (const [before, after] of cases) {
    assert.equal(edited(IMPORT + before), IMPORT + after)
    assert.equal(edited(IMPORT + after), IMPORT + after, 'a second time nothing is to be done')
  }
})

test('the drop-in needs another import and names', () => {
  const before = `${IMPORT}import type { TaskContext } from "node-cron"\nconst nightly = cron.schedule('0 3 * * *', () => {})\n`
  const after = edited(before, 'drop-in')
  assert.equal(
    after,
    `import cron from 'cronce/node-cron'\nimport type { TaskContext } from "cronce/node-cron"\nconst nightly = cron.schedule('0 3 * * *', () => {}, { name: 'nightly' })\n`,
  )
})

test('names come from the code, and no two are the same', () => {
  assert.equal(only("cron.schedule('* * * * *', reports.daily)").name, 'reports-daily')
  assert.equal(only("cron.schedule('* * * * *', function cleanUp() {})").name, 'clean-up')
  assert.equal(only("cron.schedule('* * * * *', './tasks/sync-users.js')").name, 'sync-users')
  assert.equal(only("this.poller = cron.schedule('* * * * *', () => {})").name, 'poller')
  assert.equal(only("cron.schedule('* * * * *', () => {})").name, 'mail', 'the file')
  const text = `${IMPORT}cron.schedule('1 * * * *', sync)\ncron.schedule('2 * * * *', sync)\ncron.schedule('3 * * * *', x, { name: 'sync', distributed: true })`
  const { tasks } = planEdits(
    [
      { file: 'a.ts', text },
      { file: 'b.ts', text: `${IMPORT}cron.schedule('4 * * * *', sync)` },
    ],
    'coordinator',
  )
  assert.deepEqual(
    tasks.map(({ name }) => name),
    ['sync-2', 'sync-3', 'sync', 'sync-4'],
  )
})

test('what cannot be edited safely is left to its author', () => {
  const byHand = {
    "cron.schedule('* * * * *', f, options)": /its options are options/,
    "cron.schedule('* * * * *', f, { ...defaults })": /come from elsewhere/,
    "for (const id of ids) { cron.schedule('* * * * *', f) }": /several times/,
    "for (const id of ids) cron.schedule('* * * * *', f)": /several times/,
    "ids.forEach((id) => cron.schedule('* * * * *', f))": /several times/,
    "while (x) { if (y) { cron.schedule('* * * * *', f) } }": /several times/,
    "cron.schedule('* * * * *', f, { name: 'a', distributed: isFleet })": /decided at run time/,
  }
  for (const [text, why] of Object.entries(byHand)) {
    const task = only(text)
    assert.equal(task.action, 'by-hand', text)
    assert.match(task.why!, why, text)
    assert.equal(edited(IMPORT + text), IMPORT + text)
  }
  assert.equal(only("cron.schedule('* * * * *', f, { name: 'a', distributed: false })").action, 'own')
  assert.equal(only("function start() { cron.schedule('* * * * *', f) }").action, 'edit')
  assert.equal(only("if (x) { cron.schedule('* * * * *', f) }").action, 'edit')
})

test('the command prints a plan, and changes files only with --write', async (context) => {
  const files = {
    'src/index.ts': `${IMPORT}import './mail.ts'\ncron.schedule('*/5 * * * *', cleanup)\n`,
    'src/mail.ts': `${IMPORT}cron.schedule(EXPRESSION, sendMail, options)\n`,
    'src/view.tsx': `${IMPORT}const x = <p>it's</p>\n`,
    'src/broken.js': `${IMPORT}const x = "\n`,
    'src/other.ts': "cron.schedule('* * * * *', f)\n",
    'src/node_modules/x/index.js': `${IMPORT}cron.schedule('* * * * *', f)\n`,
  }
  const cwd = project(context, files)
  const say = (...args: string[]) => ask(['import', 'node-cron', ...args], {}, { cwd })
  const plan = await say('src')
  assert.equal(plan.status, 1, 'one needs its author, and two files are not read')
  assert.match(plan.stdout, /src\/index\.ts:3 {2}cleanup \(\*\/5 \* \* \* \*\) would be edited\n/)
  assert.match(plan.stdout, /src\/mail\.ts:2 .*computed\) needs you: its options are options/)
  assert.match(
    plan.stdout,
    /\n- cron\.schedule\('\*\/5 \* \* \* \*', cleanup\)\n\+ .*name: 'cleanup', distributed: true \}\)\n/,
  )
  assert.match(plan.stderr, /src\/view\.tsx is not read: it has JSX/)
  assert.match(plan.stderr, /src\/broken\.js:2 can't be read: a string does not end/)
  assert.match(
    plan.stderr,
    /No file calls setRunCoordinator\. Put this into a file of its own, and load that file before all/,
  )
  assert.match(
    plan.stderr,
    /\n {2}const coordinator = runCoordinator\(process\.env\.CRONCE_STORE, \{ cron \}\)\n {2}cron\.setRunCoordinator\(coordinator\)\n.*ready\(\)/,
  )
  assert.match(
    plan.stderr,
    /2 tasks of node-cron in 5 files: 1 would be edited, 1 by hand, 0 as they are\. Nothing was written/,
  )
  for (const [name, text] of Object.entries(files)) assert.equal(readFileSync(join(cwd, name), 'utf8'), text)
  const dropIn = await say('src', '--drop-in')
  assert.match(dropIn.stdout, /mail\.ts:2 .* needs you: its options are options: add name there\n/)
  assert.match(
    dropIn.stderr,
    /No file calls cron\.setup\. Set CRONCE_STORE .*\n {2}import cron from 'cronce\/node-cron'\n/,
  )
  const json = JSON.parse((await say('src', '--write', '--json')).stdout)
  assert.deepEqual([json.version, json.written, json.files], [1, true, ['src/index.ts']])
  assert.match(readFileSync(join(cwd, 'src/index.ts'), 'utf8'), /cleanup, \{ name: 'cleanup', distributed: true \}\)/)
  const one = await say('src/index.ts')
  assert.deepEqual([one.status, /needs nothing/.test(one.stdout)], [0, true])
  assert.equal((await say()).status, 2)
  assert.equal((await say('nowhere')).status, 3)
  assert.equal((await say('src', '--out', 'x.ts')).status, 2)
  assert.equal((await say('src', '--write', '--dry-run')).status, 2)
  assert.equal((await ask(['import', 'crontab', '-', '--write'], {}, { cwd, input: '' })).status, 2)
})

test('a function that several tasks call names none of them: what it is given does, or the file', () => {
  const file = (name: string, call: string) => ({
    file: `src/${name}.ts`,
    text: `${IMPORT}cron.schedule('* * * * *', ${call})`,
  })
  const { tasks } = planEdits(
    [
      file('warmup', '() => ran()'),
      file('invoices', 'async () => { await ran() }'),
      file('index', "() => ran('clean-up')"),
      file('other', '() => sendMail()'),
    ],
    'coordinator',
  )
  assert.deepEqual(
    tasks.map(({ name }) => name),
    ['warmup', 'invoices', 'clean-up', 'send-mail'],
  )
})

test('a name counts wherever it stands: in a variable with the options, beside a spread, or computed', () => {
  const options = (text: string) => `const options: TaskOptions = ${text}\ncron.schedule('* * * * *', f, options)`
  const named = only(options("{ name: 'sync', distributed: true }"))
  assert.deepEqual([named.name, named.action], ['sync', 'done'])
  assert.match(only(options("{ name: 'sync' }")).why!, /its options are options: add distributed there/)
  assert.equal(only(options('{ distributed: false }')).action, 'own')
  assert.equal(only("cron.schedule('* * * * *', f, { ...defaults, name: 'a', distributed: true })").action, 'done')
  const computed = only("cron.schedule('* * * * *', f, { name: label })")
  assert.deepEqual([computed.name, computed.nameCode, computed.action], [null, 'label', 'edit'])
  const twice = `${IMPORT}${options("{ name: 'sync', distributed: true }")}\ncron.schedule('1 * * * *', g, options)`
  for (const { action, why } of planEdits([{ file: 'a.ts', text: twice }], 'coordinator').tasks)
    assert.deepEqual([action, why], ['by-hand', 'several tasks share its options: each needs a name of its own'])
})

test('what a fleet reads differently is reported: maxExecutions, noOverlap, two copies of node-cron', async (context) => {
  const warmup =
    "cron.schedule('* * * * *', warmUp, { name: 'warmup', distributed: true, maxExecutions: 1, noOverlap: true })"
  const files = {
    'src/warmup.js': `${IMPORT}${warmup}\n`,
    'src/label.js': `${IMPORT}cron.schedule('* * * * *', f, { name: label, distributed: true })\n`,
    'src/old.cjs':
      "const cron = require('node-cron')\ncron.schedule('* * * * *', g, { name: 'old', distributed: true, noOverlap: false })\n",
  }
  const cwd = project(context, files)
  const say = (...args: string[]) => ask(['import', 'node-cron', 'src', ...args], {}, { cwd })
  const plan = await say()
  assert.match(plan.stdout, /label\.js:2 {2}the task that is named by label \(\* \* \* \* \*\) needs nothing\n/)
  assert.match(plan.stderr, /maxExecutions of warmup \(src\/warmup\.js:2\) counts in each process by itself/)
  assert.match(
    plan.stderr,
    /noOverlap of warmup \(src\/warmup\.js:2\) looks at its own process only.* overlap: 'fleet'/,
  )
  assert.match(plan.stderr, /two copies of node-cron/)
  const dropIn = await say('--drop-in')
  assert.match(dropIn.stderr, /noOverlap of warmup \(src\/warmup\.js:2\) looks at all processes/)
  assert.doesNotMatch(dropIn.stderr, /two copies/)
  const both = 'cron.setRunCoordinator(c)\nrequired.setRunCoordinator(c)\n'
  writeFileSync(join(cwd, 'src/coordinator.js'), IMPORT + both)
  assert.doesNotMatch((await say()).stderr, /two copies|setRunCoordinator/)
})
