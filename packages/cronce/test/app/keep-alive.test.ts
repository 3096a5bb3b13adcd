import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const INDEX = fileURLToPath(new URL('../../src/index.ts', import.meta.url))

/** Run this as a program of its own. Answers its exit code and what it wrote. */
function run(
  program: string,
  ...args: readonly string[]
): Promise<{ readonly code: number | null; readonly text: string }> {
  const code = `import { cronce } from ${JSON.stringify(INDEX)}\n${program}`
  const child = spawn(process.execPath, ['--no-warnings', '--input-type=module', '--eval', code, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    text += piece
  })
  return new Promise((resolve) => child.on('close', (exit) => resolve({ code: exit, text })))
}

test('with keepAlive: false the process stays until stop() has drained', { timeout: 60_000 }, async () => {
  const { code, text } = await run(`
    const app = cronce({ store: 'memory:', app: 'shop', keepAlive: false, signals: false, logger: false, drain: '300ms' })
    let started = () => {}
    const begun = new Promise((resolve) => { started = resolve })
    // Waits for nothing that would keep the process alive.
    app.job('long', {}, (run) => {
      started()
      return new Promise((_, reject) => run.signal.addEventListener('abort', () => reject(run.signal.reason)))
    })
    const held = setInterval(() => {}, 1_000)
    await app.start()
    await app.schedules.trigger('long')
    await begun
    clearInterval(held)
    await app.stop()
    console.log('stopped')`)
  assert.deepEqual([code, text], [0, 'stopped\n'])
})

test('with keepAlive: false the process stays until it has the lock or the key it waits for', {
  timeout: 60_000,
}, async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'cronce-alive-'))
  context.after(() => rmSync(folder, { recursive: true }))
  const program = `
    // Resolves later, and keeps no process alive until then.
    const later = () => new Promise((resolve) => setTimeout(resolve, 300).unref())
    const apps = [1, 2].map(() => cronce({ store: 'sqlite:' + process.argv[1], app: 'shop', keepAlive: false, signals: false, logger: false }))
    await Promise.all(apps.map((app) => app.start()))
    for (const wait of ['lock', 'once']) {
      const held = Promise.withResolvers()
      const first = apps[0][wait]('billing', async () => { held.resolve(); await later(); return 1 })
      await held.promise
      const second = apps[1][wait]('billing', () => 2)
      console.log(wait, await first, await second)
    }
    await Promise.all(apps.map((app) => app.stop()))`
  const { code, text } = await run(program, join(folder, 'cronce.db'))
  assert.deepEqual([code, text], [0, 'lock 1 2\nonce 1 1\n'])
})
