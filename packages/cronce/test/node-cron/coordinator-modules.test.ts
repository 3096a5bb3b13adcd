import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'

const run = promisify(execFile)
const LIBRARY = join(import.meta.dirname, '../../src/node-cron.ts')
const MODULES = join(import.meta.dirname, '../../../../node_modules')
const COMPILED = join(MODULES, '.cache/cronce-processes')

/** As docs/node-cron.md has it. */
const COORDINATOR = `
import { createRequire } from 'node:module'
import cron from 'node-cron'
import { runCoordinator } from '${LIBRARY}'

const required = createRequire(import.meta.url)('node-cron')
const getTasks = () => new Map([...cron.getTasks(), ...required.getTasks()])
export const coordinator = runCoordinator('memory:', { cron: { getTasks } })
cron.setRunCoordinator(coordinator)
required.setRunCoordinator(coordinator)
await coordinator.ready()
`
const IMPORTED = `
import cron from 'node-cron'
cron.schedule('* * * * * *', () => console.log('imported'), { name: 'imported', distributed: true })
`
const REQUIRED = `
const cron = require('node-cron')
const logger = { info() {}, warn() {}, error() {}, debug() {} }
const work = () => { throw new Error('required') }
cron.schedule('* * * * * *', work, { name: 'required', distributed: true, logger })
`
const INDEX = `
import { coordinator } from './coordinator.mjs'
import './imported.mjs'
import './required.cjs'
const names = new Set()
coordinator.on('decision', ({ name, verdict }) => {
  names.add(name + ' ' + verdict)
  // What fails is reported a moment later.
  if (names.size === 2) setTimeout(() => console.log([...names].sort().join()) || process.kill(process.pid, 'SIGTERM'), 500)
})
`
/** ES modules load all imports before their own first line. */
const TOO_LATE = `
import cron from 'node-cron'
import { runCoordinator } from '${LIBRARY}'
import './imported.mjs'
cron.setRunCoordinator(runCoordinator('memory:', { cron }))
`

test('a coordinator in a file of its own that is imported first serves both copies of node-cron; below imports it is too late', async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'cronce-modules-'))
  context.after(() => rm(folder, { recursive: true, force: true }))
  await symlink(MODULES, join(folder, 'node_modules'))
  const files = { 'coordinator.mjs': COORDINATOR, 'imported.mjs': IMPORTED, 'required.cjs': REQUIRED }
  const all = { ...files, 'index.mjs': INDEX, 'late.mjs': TOO_LATE }
  for (const [name, text] of Object.entries(all)) await writeFile(join(folder, name), text)
  const node = async (file: string): Promise<{ readonly stdout: string; readonly stderr: string }> => {
    const options = { cwd: folder, env: { ...process.env, NODE_COMPILE_CACHE: COMPILED }, timeout: 60_000 }
    return run(process.execPath, [file], options).catch((error) => error)
  }
  const { stdout, stderr } = await node('index.mjs')
  assert.match(stdout, /^imported run,required run$/m, stderr)
  assert.match(stderr, /Started: coordinator of node-cron\./)
  assert.match(stderr, /node-cron:required .* failed: Error: required/)
  assert.doesNotMatch(stderr, /attempt/)
  assert.match((await node('late.mjs')).stderr, /a `distributed` task needs NODE_CRON_RUN set/)
})

test('the files for CommonJS in docs/node-cron.md work as they are pasted', async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'cronce-pasted-'))
  context.after(() => rm(folder, { recursive: true, force: true }))
  await symlink(MODULES, join(folder, 'node_modules'))
  const page = await readFile(join(import.meta.dirname, '../../../../docs/node-cron.md'), 'utf8')
  const blocks = [...page.matchAll(/^```js\n\/\/ (\S+\.js)\n([\s\S]*?)^```/gm)].filter(([, , code]) =>
    code!.includes('require('),
  )
  assert.deepEqual(
    blocks.map(([, name]) => name),
    ['coordinator.js', 'index.js', 'tasks.js'],
  )
  for (const [, name, code] of blocks) {
    const text = code!
      .replaceAll("'cronce/node-cron'", JSON.stringify(LIBRARY))
      .replace("'0 3 * * *'", "'* * * * * *'")
      .replace(/console\.log\(.*\)/, "$&, process.kill(process.pid, 'SIGTERM')")
    await writeFile(join(folder, name!), text)
  }
  const env = { ...process.env, NODE_COMPILE_CACHE: COMPILED, REDIS_URL: 'memory:' }
  const options = { cwd: folder, env, timeout: 60_000 }
  // It ends by its signal.
  const { stdout, stderr } = await run(process.execPath, ['index.js'], options).catch((error) => error)
  assert.match(stdout, /^backup by process \d+$/m, stderr)
  assert.match(stderr, /Started: coordinator of node-cron\./)
})
