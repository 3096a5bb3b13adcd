import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { interruptSignal } from '../src/interrupt.ts'
import { watchParent } from '../src/watch-parent.ts'
import { MAIN } from './cronce.ts'

test('a copy of a signal that arrives while the event loop is blocked ends nothing, and a later one does', async (context) => {
  const { mock } = context.mock.method(process, 'exit', () => {})
  const signal = interruptSignal()()
  context.after(() => process.removeAllListeners('SIGHUP'))
  // The test runner listens to the other signals.
  const hangUp = (): boolean => process.kill(process.pid, 'SIGHUP')
  hangUp()
  await once(signal, 'abort')
  hangUp()
  // Longer than two signals that are one are apart.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000)
  await sleep(100)
  assert.equal(mock.callCount(), 0)
  for (let tries = 0; tries < 600 && mock.callCount() === 0; tries++) {
    hangUp()
    await sleep(100)
  }
  assert.deepEqual(mock.calls[0]?.arguments, [129])
})

describe('a process that npm has started through a shell', () => {
  const NPX = { npm_command: 'exec' }
  const SCRIPT = { npm_command: 'run-script', npm_lifecycle_event: 'start' }

  /** How often `ended` was called after these looks, each with the parent that it finds. */
  function endedAfter(context: TestContext, env: Record<string, string>, parents: readonly number[]): number {
    context.mock.timers.enable({ apis: ['setInterval'] })
    const child = { env, ppid: 7 }
    let ended = 0
    watchParent(child, () => ended++)
    for (const ppid of parents) {
      child.ppid = ppid
      context.mock.timers.tick(500)
    }
    context.mock.timers.reset()
    return ended
  }

  test('stops once when that shell has ended', (context) => {
    assert.equal(endedAfter(context, NPX, [7, 7]), 0)
    assert.equal(endedAfter(context, NPX, [7, 1, 1]), 1)
    assert.equal(endedAfter(context, SCRIPT, [7, 7, 7, 7, 7, 1, 1]), 1)
  })

  test('goes on if the script put it into the background, or npm did not start it', (context) => {
    assert.equal(endedAfter(context, SCRIPT, [1, 1, 1, 1, 1, 1]), 0)
    assert.equal(endedAfter(context, {}, [7, 1, 1]), 0)
  })

  test('lets its runs finish and leaves the fleet, as after SIGTERM', async (context) => {
    const cwd = mkdtempSync(join(tmpdir(), 'cronce-npx-'))
    context.after(() => rmSync(cwd, { recursive: true, force: true }))
    writeFileSync(join(cwd, 'jobs.json'), '{ "ping": { "every": "1h", "command": "true" } }')
    // As npx does it: the shell stays, and does not pass signals on.
    const script = `"${process.execPath}" "${MAIN}" start jobs.json; true`
    const shell = spawn('sh', ['-c', script], {
      cwd,
      env: { ...process.env, ...NPX },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let told = ''
    const closed = once(shell.stderr, 'close')
    for await (const chunk of shell.stderr.setEncoding('utf8')) {
      told += chunk
      if (/runs the jobs/.test(told) && shell.exitCode === null && shell.signalCode === null) shell.kill('SIGTERM')
    }
    await closed
    assert.match(told, /npm has ended: nothing new is taken, runs may finish\.[\s\S]*Stopped\./)
  })
})
