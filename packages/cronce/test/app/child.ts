/**
 * A program as users write it, for tests that send it signals. Prints what happens; its argument selects its behavior.
 */
import { once } from 'node:events'
import { readSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { cronce } from '../../src/index.ts'

const [, , kind] = process.argv
/** How long the run takes that a signal finds. */
const DURATIONS_MS: Readonly<Record<string, number>> = { endless: 600_000, slow: 1_500, blocked: 5_000 }
const say = (line: string): void => void process.stdout.write(`${line}\n`)

const app = cronce({ store: 'memory:', app: 'child', keepAlive: kind !== 'fleeting' })
app.on('instance.draining', () => {
  say('draining')
  if (kind === 'blocked') block()
})
app.on('instance.left', () => say('left'))
app.job('slow', {}, async () => {
  say('running')
  if (kind === 'stopping') {
    void app.stop()
    await once(process, 'SIGTERM')
  } else await sleep(DURATIONS_MS[kind!] ?? 300)
  say('finished')
})
app.job('often', { every: '100ms' }, () => {
  if (kind === 'failing') throw new Error('out of paper')
  if (kind === 'alive') say('fired')
})

/** Until the test has sent the second signal, and longer than two signals that are one are apart. */
function block(): void {
  readSync(0, Buffer.alloc(1))
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000)
}

if (kind === 'own') {
  process.on('SIGTERM', () => {
    say('mine')
    process.exitCode = 7
  })
  // Long enough to receive a second one, if there were one.
  app.on('instance.left', () => void sleep(300))
}
if (kind === 'two') {
  const brief = cronce({ store: 'memory:', app: 'brief' }).job('idle', {}, () => {})
  brief.on('instance.left', () => say('brief left'))
  await brief.start()
}
await app.start()
if (kind !== 'alive' && kind !== 'fleeting') await app.schedules.trigger('slow')
say('started')
