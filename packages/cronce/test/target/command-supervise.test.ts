import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { RunLease } from '../../src/engine/parts.ts'
import { CronceError } from '../../src/index.ts'
import { forceAfterMs } from '../../src/target/command/grace.ts'
import { isAnyThere, MARK, ProcessTree } from '../../src/target/command/process-tree.ts'
import { type CommandSpec, superviseCommand } from '../../src/target/command/supervise.ts'
import { eventually, isAlive } from './kit.ts'

const { PATH = '' } = process.env
const sh = (command: string): CommandSpec => ({ file: '/bin/sh', args: ['-c', command], env: { PATH } })

/** A lease that is trusted for `trustMs`, and then for as long as `renew` adds. */
function leaseFor(trustMs: number): RunLease & { renew(trustMs: number): void; readonly losses: number } {
  const listeners = new Set<() => void>()
  let until = performance.now() + trustMs
  let losses = 0
  return {
    left: () => ({ trustMs: Math.max(0, until - performance.now()), spareMs: 20_000, clock: 'boot' }),
    onChange(tell) {
      listeners.add(tell)
      return () => listeners.delete(tell)
    },
    lost() {
      losses++
    },
    renew(ms) {
      until = performance.now() + ms
      for (const tell of listeners) tell()
    },
    get losses() {
      return losses
    },
  }
}

describe('a supervised command', { timeout: 600_000 }, () => {
  test('may share the streams of its scheduler, and is sent signals by it', async (context) => {
    const child = spawn(process.execPath, [fileURLToPath(new URL('./inherit.ts', import.meta.url))], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    context.after(() => child.kill('SIGKILL'))
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
    child.stdin.end('this\n')
    await eventually(() => (output === 'heard this\n' ? true : null))
    child.kill('SIGTERM')
    assert.deepEqual(await once(child, 'close'), [5, null])
    assert.equal(output, 'heard this\ntold\nended with 5 null\n')
  })

  test('has nothing in its environment but what it was given, and a mark', async () => {
    const chunks: Buffer[] = []
    const end = await superviseCommand(
      { file: '/usr/bin/env', args: [], env: { GIVEN: 'so' } },
      { signal: new AbortController().signal, graceMs: 0, output: (_, chunk) => chunks.push(chunk) },
    )
    const { isLeaseLost, isSupervisorLost, ...rest } = end
    assert.deepEqual(rest, { exitCode: 0, signal: null, leftBehind: 0, remaining: 0 })
    assert.deepEqual([isLeaseLost, isSupervisorLost], [false, false])
    assert.match(Buffer.concat(chunks).toString(), /^GIVEN=so\nCRONCE_SUPERVISED=\d+-[0-9a-f-]{36}\n$/)
  })

  test('is asked to end when its lease can be trusted no more, and not even started after that', async () => {
    const signal = new AbortController().signal
    const output: string[] = []
    const lease = leaseFor(60_000)
    const tidy = "trap 'echo tidied up; exit 3' TERM; echo ready; while :; do sleep 0.1; done"
    const ending = superviseCommand(sh(tidy), {
      signal,
      graceMs: 20_000,
      lease,
      output(stream, chunk) {
        if (stream === 'stdout') output.push(chunk.toString())
        if (output.length === 1) lease.renew(0)
      },
    })
    const { exitCode, isLeaseLost } = await ending
    assert.deepEqual([exitCode, isLeaseLost, lease.losses], [3, true, 1])
    assert.equal(output.join(''), 'ready\ntidied up\n')
    const late = await superviseCommand(sh('echo started'), {
      signal,
      graceMs: 20_000,
      lease: leaseFor(0),
      output: (_, chunk) => output.push(chunk.toString()),
    })
    assert.deepEqual([late.exitCode, late.isLeaseLost, output.includes('started\n')], [null, true, false])
  })

  test('continues when its supervisor was stopped for that long, and the lease was renewed meanwhile', async () => {
    const lease = leaseFor(4_000)
    let supervisor = Number.NaN
    const ending = superviseCommand(sh('echo $PPID; sleep 6'), {
      signal: new AbortController().signal,
      graceMs: 0,
      lease,
      output: (_, chunk) => {
        supervisor = Number(chunk.toString())
      },
    })
    await eventually(() => (Number.isNaN(supervisor) ? null : true))
    process.kill(supervisor, 'SIGSTOP')
    lease.renew(60_000)
    await sleep(4_500)
    process.kill(supervisor, 'SIGCONT')
    const { exitCode, isLeaseLost } = await ending
    assert.deepEqual([exitCode, isLeaseLost, lease.losses], [0, false, 0])
  })

  test('is not started when its signal is aborted, and ends if that comes while it starts', async () => {
    const output = (): void => {}
    const reason = new Error('not wanted')
    const early = superviseCommand(sh('exit 0'), { signal: AbortSignal.abort(reason), graceMs: 0, output })
    await assert.rejects(early, reason)
    const soon = new AbortController()
    const ending = superviseCommand(sh('sleep 100'), { signal: soon.signal, graceMs: 0, output })
    soon.abort()
    assert.equal((await ending).exitCode, null)
  })

  test('that the system has no file descriptors for is not started, and its scheduler goes on', async (context) => {
    const program = fileURLToPath(new URL('./no-descriptors.ts', import.meta.url))
    const child = spawn('/bin/sh', ['-c', 'ulimit -n 60 && exec "$0" "$1"', process.execPath, program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    context.after(() => child.kill('SIGKILL'))
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
    assert.deepEqual(await once(child, 'close'), [0, null])
    assert.equal(output, '["COMMAND_NOT_STARTED","COMMAND_NOT_STARTED"]')
  })

  test('whose supervisor was lost is ended by its mark: a stranger with the number of its group is left alone', async (context) => {
    const start = (env: NodeJS.ProcessEnv): number => {
      const child = spawn('sleep', ['100'], { detached: true, stdio: 'ignore', env: { PATH, ...env } })
      context.after(() => child.kill('SIGKILL'))
      return child.pid as number
    }
    const stranger = start({})
    const ours = start({ [MARK]: 'of-this-run' })
    assert.deepEqual([stranger, ours].map(isAlive), [true, true])
    const tree = new ProcessTree(stranger, 'of-this-run', { isWatched: false })
    // The marked one is found, wherever it is.
    assert.equal(tree.signal('SIGTERM'), 1)
    await eventually(() => (isAlive(ours) ? null : true))
    assert.equal(isAlive(stranger), true)
  })

  test('waits for those of its schedule whose scheduler is dead, and for no others: names are not unique on a machine', async (context) => {
    const entry = `CRONCE_SCHEDULE_KEY=${randomUUID()}`
    const [name = '', value] = entry.split('=')
    const isWaitedFor = (): boolean => isAnyThere({ after: null, afterOrphans: entry })
    for (const scheduler of [process.pid, spawnSync('true').pid]) {
      const env = { PATH, [name]: value, [MARK]: `${scheduler}-x` }
      const child = spawn('sleep', ['100'], { stdio: 'ignore', env })
      context.after(() => child.kill('SIGKILL'))
      await once(child, 'spawn')
      assert.equal(isAnyThere({ after: entry, afterOrphans: null }), true)
      assert.equal(isWaitedFor(), scheduler !== process.pid)
    }
  })

  test('is made to end before the fleet takes its run as over, and soon if another one may follow at once', () => {
    const error = (code: 'LEASE_LOST' | 'RUN_TIMEOUT' | 'RUN_FENCED' | 'RUN_STOPPED' | 'RUN_CANCELLED'): CronceError =>
      new CronceError(code, 'Stop.')
    assert.equal(forceAfterMs(error('RUN_TIMEOUT'), 10_000), 9_500)
    assert.equal(forceAfterMs(error('RUN_CANCELLED'), 1_000), 750)
    assert.equal(forceAfterMs(error('RUN_TIMEOUT'), 0), 0)
    for (const code of ['LEASE_LOST', 'RUN_FENCED', 'RUN_STOPPED'] as const) {
      assert.equal(forceAfterMs(error(code), 10_000), 1_000)
      assert.equal(forceAfterMs(error(code), 100), 100)
    }
    assert.equal(forceAfterMs(undefined, Number.MAX_SAFE_INTEGER), 2_147_483_647)
  })
})
