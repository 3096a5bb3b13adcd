import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const INDEX = fileURLToPath(new URL('../../src/index.ts', import.meta.url))

/** Run this as a program of its own. Answers its exit code and what it wrote. */
function run(program: string): Promise<{ readonly code: number | null; readonly text: string }> {
  const code = `import { cronce } from ${JSON.stringify(INDEX)}\n${program}`
  const child = spawn(process.execPath, ['--no-warnings', '--input-type=module', '--eval', code], {
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
