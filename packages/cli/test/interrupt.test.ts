import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { interruptSignal } from '../src/interrupt.ts'

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
