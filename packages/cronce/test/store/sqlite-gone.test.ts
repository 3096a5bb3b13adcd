import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { connect } from '../../src/index.ts'

const INDEX = fileURLToPath(new URL('../../src/index.ts', import.meta.url))

test('the last instance is shown as silent as soon as its process has ended', { timeout: 60_000 }, async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'cronce-gone-'))
  context.after(() => rmSync(folder, { recursive: true, force: true }))
  const store = `sqlite:${join(folder, 'jobs.db')}?ephemeral`
  const code = `import { cronce } from ${JSON.stringify(INDEX)}
    const app = cronce({ store: ${JSON.stringify(store)}, app: 'shop', lease: '10m', logger: false })
    app.job('bill', '0 0 1 1 *', () => {})
    await app.start()
    console.log('started')`
  const child = spawn(process.execPath, ['--no-warnings', '--input-type=module', '--eval', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  context.after(() => child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  const client = await connect({ store, logger: false })
  context.after(() => client.close())
  const states = async (): Promise<string[]> => (await client.instances.list()).map(({ state }) => state)
  assert.deepEqual(await states(), ['live'])
  const exit = once(child, 'exit')
  child.kill('SIGKILL')
  await exit
  assert.deepEqual(await states(), ['silent'])
})
