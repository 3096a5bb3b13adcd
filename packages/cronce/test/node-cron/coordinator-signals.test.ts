import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { connect } from '../../src/app/connect.ts'
import { until } from './drop-in-kit.ts'

const LIBRARY = join(import.meta.dirname, '../../src/node-cron.ts')
const MODULES = join(import.meta.dirname, '../../../../node_modules')
const COMPILED = join(MODULES, '.cache/cronce-processes')

/** Its run lasts over several slots. */
const PROGRAM = `
import { setTimeout as sleep } from 'node:timers/promises'
import cron from 'node-cron'
import { runCoordinator } from '${LIBRARY}'
const coordinator = runCoordinator(process.env.STORE, { cron })
cron.setRunCoordinator(coordinator)
await coordinator.ready()
const work = async () => {
  console.log('begun')
  await sleep(2_500)
}
cron.schedule('* * * * * *', work, { name: 'slow', distributed: true })
`

test('a process with the coordinator that is asked to stop finishes its runs, refuses further slots without an error, and ends', async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'cronce-signals-'))
  await symlink(MODULES, join(folder, 'node_modules'))
  await writeFile(join(folder, 'program.mjs'), PROGRAM)
  const store = `sqlite:${join(folder, 'store.db')}`
  const env = { ...process.env, NODE_COMPILE_CACHE: COMPILED, STORE: store }
  const child = spawn(process.execPath, ['program.mjs'], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
  context.after(async () => {
    child.kill('SIGKILL')
    await rm(folder, { recursive: true, force: true })
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text))
  const ended = once(child, 'exit')
  await until(() => output.includes('begun'), 'a run has begun')
  child.kill('SIGTERM')
  assert.deepEqual(await ended, [null, 'SIGTERM'])
  assert.match(output, /^cronce: Started: coordinator of node-cron\. Store sqlite:/m)
  assert.match(output, /^cronce: Stopping: \d runs? may finish within 30 s \(node-cron:slow\)\. Send SIGTERM again/m)
  assert.doesNotMatch(output, /Run coordinator failed|LEASE_LOST/)
  const client = await connect({ store })
  const { items } = await client.runs.list({ schedule: 'node-cron:slow' })
  await client.close()
  assert.deepEqual([...new Set(items.map(({ state }) => state))], ['succeeded'])
})
