import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { type Cronce, CronceError, cronce } from 'cronce'
import type { JobsError } from '../src/service/jobs-error.ts'
import { declareJobs, loadJobsFile, readJobs } from '../src/service/load-jobs.ts'
import { ask } from './cronce.ts'
import { scratch } from './fixtures/service/running.ts'

function silentApp(): Cronce {
  return cronce({ store: 'memory:', app: 'test', logger: false, signals: false, keepAlive: false })
}

/** Declares the jobs of a file, and returns what the fleet would see of it. */
async function declared(file: string): Promise<string[]> {
  const app = silentApp()
  await declareJobs(await loadJobsFile(file), app)
  await app.start()
  const { items } = await app.schedules.list()
  await app.stop()
  return items.map(({ name }) => name)
}

async function failure(work: Promise<unknown>): Promise<CronceError> {
  try {
    await work
  } catch (error) {
    assert.ok(error instanceof CronceError, String(error))
    return error
  }
  return assert.fail('nothing was thrown')
}

/** The same of a file that threw. */
async function thrownBy(file: string): Promise<JobsError> {
  const error = await failure(declared(file))
  assert.equal(error.code, 'JOBS_FAILED')
  return error as JobsError
}

test('a function declares on the app that it is given, in every language that Node runs', async (context) => {
  const folder = scratch(context)
  const body = "(app) => { app.job('one', '0 3 * * *', () => {}) }"
  const typed = "(app: { job: Function }): void => { app.job('one', '0 3 * * *', () => {}) }"
  const files = {
    'a.ts': `export default ${typed}`,
    'b.mts': `export default ${typed}`,
    'c.js': `export default ${body}`,
    'd.mjs': `export default ${body}`,
    'e.cjs': `module.exports = ${body}`,
    'f.cjs': `Object.defineProperty(exports, '__esModule', { value: true }); exports.default = ${body}`,
    'g.mjs': "export default async (app) => { await 0; app.job('one', { every: '1h' }, () => {}) }",
  }
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(folder, name), text)
    assert.deepEqual(await declared(join(folder, name)), ['one'], name)
  }
})

test('a record has jobs by name, with functions, commands, and files from where it is written', async (context) => {
  const folder = scratch(context)
  mkdirSync(join(folder, 'tasks'))
  writeFileSync(join(folder, 'tasks/task.mjs'), 'export default () => 1')
  const jobs = {
    $comment: 'what people say',
    nightly: { $comment: ['@daily in the old crontab'], cron: '0 3 * * *', command: ['true'], cwd: 'tasks' },
    task: { every: '1h', file: './tasks/task.mjs' },
  }
  writeFileSync(join(folder, 'jobs.json'), `\ufeff${JSON.stringify(jobs)}`)
  writeFileSync(join(folder, 'jobs.mjs'), "export default { code: { cron: '0 3 * * *', run: () => 1 } }")
  assert.deepEqual(await declared(join(folder, 'jobs.json')), ['nightly', 'task'])
  assert.deepEqual(await declared(join(folder, 'jobs.mjs')), ['code'])
})

test('an app is taken as it is, whichever copy of the library made it', () => {
  const app = silentApp()
  const jobs = readJobs(app, 'jobs.ts', '/')
  assert.ok(jobs.kind === 'app' && jobs.app === app)
})

test('an invalid job is reported with its file and its name', async (context) => {
  const folder = scratch(context)
  const wrong = {
    'unknown.json': ['{ "a": { "corn": "0 3 * * *", "command": ["true"] } }', 'OPTION_UNKNOWN', /Did you mean cron\?/],
    'target.json': ['{ "a": { "cron": "0 3 * * *", "comand": ["true"] } }', 'OPTION_UNKNOWN', /Did you mean command\?/],
    'cron.json': ['{ "a": { "cron": "61 * * * *", "command": ["true"] } }', null, /61/],
    'none.json': ['{ "a": { "cron": "0 3 * * *" } }', 'HANDLER_MISSING', /Job "a" in .*none\.json: /],
    'file.json': [
      '{ "a": { "cron": "0 3 * * *", "file": "nope.js" } }',
      'FILE_MISSING',
      /nope\.js.* relative to the folder of the jobs file/,
    ],
    'wrapped.json': [
      '{ "jobs": { "a": { "every": "1h", "command": ["true"] } } }',
      'JOBS_INVALID',
      /Leave out the outer/,
    ],
    'equal.json': [
      '{\n"a": { "every": "1h", "command": ["true"] },\n"a": { "every": "2h", "command": ["true"] } }',
      'JOBS_INVALID',
      /equal\.json, line 3, has "a" a second time/,
    ],
    'nested.json': ['{ "a": { "every": "1h", "every": "2h", "command": ["a"] } }', 'JOBS_INVALID', /"every" a second/],
    'handler.mjs': [
      "export default { a: { cron: '0 3 * * *', handler: () => {} } }",
      'OPTION_UNKNOWN',
      /"handler".*the function is run: \{ run: async/,
    ],
    'record.mjs': [
      "export default { a: { cron: '0 3 * * *' } }",
      'HANDLER_MISSING',
      /Add command: .* in code also run:/,
    ],
    'prefix.json': [
      '{ "a": { "retry": -1, "command": ["a"] } }',
      'OPTION_INVALID',
      /^Job "a" in \S+prefix\.json: The option/,
    ],
    'run.json': [
      '{ "a": { "cron": "0 3 * * *", "run": "echo" } }',
      'OPTION_INVALID',
      /The option run can't be a string/,
    ],
    'text.json': ['{ "a": "0 3 * * *" }', 'JOBS_INVALID', /Job "a" in .* is a string/],
    'list.json': ['[]', 'JOBS_INVALID', /exports no jobs, but a list/],
    'syntax.json': ['{\n  "a": {,\n}', 'JOBS_INVALID', /syntax\.json, line 2, column 9, is not JSON/],
    'nothing.mjs': ['export const jobs = {}', 'JOBS_INVALID', /has no default export/],
    'twice.mjs': [
      "export default (app) => { for (const x of [1, 2]) app.job('a', '0 3 * * *', () => {}) }",
      'JOB_EXISTS',
      /twice\.mjs: Job "a" is declared twice/,
    ],
    'jobs.yaml': ['a: b', 'JOBS_INVALID', /not a file that jobs can be loaded from/],
  } as const
  for (const [name, [text, code, pattern]] of Object.entries(wrong)) {
    const file = join(folder, name)
    writeFileSync(file, text)
    const error = await failure(declared(file))
    if (code !== null) assert.equal(error.code, code, name)
    assert.match(`${error.message} ${error.hint}`, pattern, name)
    assert.ok(error.message.includes(name), `${name}: ${error.message}`)
  }
  assert.equal((await failure(declared(join(folder, 'nope.ts')))).code, 'JOBS_NOT_FOUND')
})

test('equal keys in different objects, and within texts, are no repetition', async (context) => {
  const file = join(scratch(context), 'jobs.json')
  const text =
    '{ "a": { "every": "1h", "command": ["{", "\\"a\\":", "a"] }, "b": { "every": "1h", "command": ["true"] } }'
  writeFileSync(file, text)
  assert.deepEqual(await declared(file), ['a', 'b'])
})

test('every invalid job of a file is reported', async (context) => {
  const file = join(scratch(context), 'jobs.json')
  writeFileSync(
    file,
    '{ "a": { "every": "1x", "command": ["a"] }, "b": { "every": "1h" }, "c": { "every": "1h", "command": [] } }',
  )
  const error = (await failure(declared(file))) as JobsError
  assert.match(error.message, /^3 jobs in \S+ are wrong\.$/)
  assert.match(error.hint ?? '', /beginning with this: Job "a" in .*1x/)
  assert.deepEqual(
    error.detail.split('\n').map((line) => line.slice(0, 7)),
    ['Job "a"', 'Job "b"', 'Job "c"'],
  )
})

test('how many jobs a function declares is known, and what never ends is reported', async (context) => {
  const folder = scratch(context)
  const load = async (name: string, text: string) => {
    writeFileSync(join(folder, name), text)
    return loadJobsFile(join(folder, name))
  }
  assert.equal(await declareJobs(await load('none.mjs', 'export default (app) => {}'), silentApp()), 0)
  const one = await load('one.mjs', "export default (app) => { app.job('a', { every: '1h' }, () => {}) }")
  assert.equal(await declareJobs(one, silentApp()), 1)
  const ever = await load('ever.mjs', 'export default () => new Promise(() => {})')
  const error = await failure(declareJobs(ever, silentApp(), 10))
  assert.match(`${error.message} ${error.hint}`, /^\S+ever\.mjs has not finished declaring .* leave out app\.start\(\)/)
})

test('what a file throws is reported with its inner errors', async (context) => {
  const file = join(scratch(context), 'inner.ts')
  writeFileSync(file, 'throw new AggregateError([new Error("one"), new Error("two", { cause: "three" })], "all")\n')
  const { detail } = await thrownBy(file)
  const texts = detail.split('\n').filter((line) => /^(caused by: |AggregateError)/.test(line))
  assert.deepEqual(texts, ['AggregateError: all', 'caused by: Error: one', 'caused by: Error: two', 'caused by: three'])
})

test('an error of a file is printed with its own stack, without frames of cronce', async (context) => {
  const folder = scratch(context)
  const write = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const thrown = await thrownBy(write('throws.ts', 'const fail = () => { throw new Error("boom") }\nfail()\n'))
  assert.match(thrown.message, /throws\.ts can't be loaded: Error: boom$/)
  const frames = thrown.detail.split('\n').filter((line) => line.startsWith('    at '))
  assert.ok(frames.length >= 2 && frames.every((line) => line.includes(folder)), thrown.detail)

  const inside = await thrownBy(write('inside.mjs', 'export default () => {\n  null.x\n}'))
  assert.match(inside.detail, /inside\.mjs:2:/)

  for (const name of ['syntax.mjs', 'syntax.ts']) {
    const syntax = await thrownBy(write(name, 'const fine = 1\nconst x = ;\n'))
    assert.match(syntax.detail, new RegExp(`${name}:2\\n[^]*const x = ;\\n`), name)
  }
  const kept = await thrownBy(write('enum.ts', 'enum A { b }\nexport default {}'))
  assert.match(kept.hint ?? '', /no enum/)
  const missing = await thrownBy(write('missing.ts', "import './not-there.ts'\nexport default {}"))
  assert.match(missing.hint ?? '', /Install what is missing/)
})

test('start takes one file, and explains what to do with two', async () => {
  const { status, stderr } = await ask(['start', 'jobs.mts', 'jobs.json', '--store', 'memory:'])
  assert.equal(status, 2)
  assert.match(stderr, /takes one file with jobs, got "jobs\.json" as well/)
  assert.match(stderr, /run a process for each, with its own name: cronce start jobs\.json --app NAME/)
})
