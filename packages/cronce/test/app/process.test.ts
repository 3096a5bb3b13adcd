import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'

/** Longer than between two signals that are one. */
const LATER_MS = 1_000

interface Child {
  readonly process: ChildProcess
  readonly output: () => string
  readonly errors: () => string
  /** Resolves when it has printed this. */
  readonly said: (line: string) => Promise<void>
  readonly ended: Promise<[code: number | null, signal: NodeJS.Signals | null]>
}

function start(kind: string): Child {
  const path = fileURLToPath(new URL('./child.ts', import.meta.url))
  const child = spawn(process.execPath, [path, kind], { stdio: ['pipe', 'pipe', 'pipe'] })
  let output = ''
  let errors = ''
  let heard: () => void = () => {}
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
    heard()
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text
    heard()
  })
  const ended = once(child, 'close') as Child['ended']
  const has = (line: string): boolean => output.includes(`${line}\n`) || errors.includes(line)
  const said = async (line: string): Promise<void> => {
    while (!has(line)) {
      const more = new Promise<void>((resolve) => {
        heard = resolve
      })
      const isOver = await Promise.race([ended.then(() => true), more.then(() => false)])
      if (isOver && !has(line)) assert.fail(`it ended without having said ${line}:\n${output}${errors}`)
    }
  }
  return { process: child, output: () => output, errors: () => errors, said, ended }
}

describe('an app in a process', { concurrency: 3, timeout: 600_000 }, () => {
  test('SIGTERM lets runs finish, and the process ends by that signal', async () => {
    const child = start('plain')
    await child.said('running')
    child.process.kill('SIGTERM')
    assert.deepEqual(await child.ended, [null, 'SIGTERM'])
    const lines = child.output().split('\n')
    assert.deepEqual(
      lines.filter((line) => ['draining', 'finished', 'left'].includes(line)),
      ['draining', 'finished', 'left'],
    )
  })

  test('so does SIGINT; and one of two apps in a process does not end it while the other one drains', async () => {
    const child = start('two')
    await child.said('running')
    child.process.kill('SIGINT')
    assert.deepEqual(await child.ended, [null, 'SIGINT'])
    const lines = child.output().split('\n')
    assert.deepEqual(
      lines.filter((line) => ['draining', 'brief left', 'finished', 'left'].includes(line)),
      ['draining', 'brief left', 'finished', 'left'],
    )
  })

  test('a signal while the program stops its app lets that be done', async () => {
    const child = start('stopping')
    await child.said('draining')
    child.process.kill('SIGTERM')
    assert.deepEqual(await child.ended, [null, 'SIGTERM'])
    assert.ok(child.output().includes('left\n'))
  })

  test('a second signal does not wait', async () => {
    const child = start('endless')
    await child.said('running')
    child.process.kill('SIGTERM')
    await child.said('draining')
    // A process that got no CPU time since the first signal takes the second one for its copy.
    const again = setInterval(() => child.process.kill('SIGTERM'), LATER_MS)
    assert.deepEqual(await child.ended.finally(() => clearInterval(again)), [null, 'SIGTERM'])
    assert.ok(!child.output().includes('finished'))
  })

  test('a signal that arrives twice, as npm passes on what the terminal has sent, is one', async () => {
    const child = start('slow')
    await child.said('running')
    child.process.kill('SIGINT')
    await child.said('draining')
    child.process.kill('SIGINT')
    assert.deepEqual(await child.ended, [null, 'SIGINT'])
    assert.ok(child.output().includes('finished\n') && child.output().includes('left\n'))
  })

  test('also if the event loop is blocked when the copy arrives', async () => {
    const child = start('blocked')
    await child.said('running')
    child.process.kill('SIGINT')
    await child.said('draining')
    child.process.kill('SIGINT')
    child.process.stdin!.end('go on')
    assert.deepEqual(await child.ended, [null, 'SIGINT'])
    assert.ok(child.output().includes('finished\n') && child.output().includes('left\n'))
  })

  test("a listener of the user's own decides how the process ends", async () => {
    const child = start('own')
    await child.said('running')
    child.process.kill('SIGTERM')
    assert.deepEqual(await child.ended, [7, null])
    assert.ok(child.output().includes('finished'))
    // It was reported once, and not again when all was done.
    assert.equal(child.output().split('mine').length, 2)
  })

  test('a started app keeps its process alive', async () => {
    const child = start('alive')
    await child.said('started')
    const before = child.output()
    await child.said('fired')
    // Something that happens after the program has come to its end.
    while (child.output() === before) await once(child.process.stdout!, 'data')
    assert.equal(child.process.exitCode, null)
    child.process.kill('SIGTERM')
    assert.deepEqual(await child.ended, [null, 'SIGTERM'])
  })

  test('a started app with keepAlive: false lets its process end', async () => {
    assert.deepEqual(await start('fleeting').ended, [0, null])
  })

  test('failures are printed on stderr, unless there is a logger', async () => {
    const child = start('failing')
    await child.said('failed: Error: out of paper')
    child.process.kill('SIGTERM')
    await child.ended
    assert.match(child.errors(), /^cronce error: often \(due [^)]*\) failed: Error: out of paper\n/m)
  })
})
