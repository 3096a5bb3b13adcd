import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from 'cronce'
import { readKeys } from '../src/service/dev-keys.ts'
import { MAIN } from './cronce.ts'
import { running, scratch } from './fixtures/service/running.ts'

const JOBS = `import { word } from './lib/word.ts'
export default (app: { job: Function }): void => {
  app.job('tick', { every: '200ms' }, () => console.log('said', word))
  app.job('manual', {}, () => console.log('by hand'))
  // Something is always running when it is to end, and does not end at once.
  app.job('slow', { every: '100ms' }, ({ signal }: { signal: AbortSignal }) =>
    new Promise((resolve) => signal.addEventListener('abort', () => setTimeout(resolve, 1200))))
}
`

function project(context: Parameters<typeof scratch>[0]): {
  folder: string
  write: (name: string, text: string) => void
} {
  const folder = scratch(context)
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text)
  mkdirSync(join(folder, 'lib'))
  write('package.json', '{ "name": "shop", "type": "module" }')
  write('jobs.ts', JOBS)
  write('lib/word.ts', "export const word = 'one'\n")
  return { folder, write }
}

describe('cronce dev', { concurrency: 2 }, () => {
  test('starts anew when a file changes that the jobs import, outlives mistakes, and never runs two at a time', async (context) => {
    const { folder, write } = project(context)
    const dev = running(['dev', '--drain', '10ms'], { cwd: folder })
    context.after(() => dev.end('SIGKILL'))
    await dev.until(/said one/)
    write('lib/word.ts', "export const word = 'two'\n")
    await dev.until(/word\.ts has changed\.[\s\S]*Stopped\.[\s\S]*said two/)
    write('lib/word.ts', 'export const word = ;\n')
    await dev.until(/export const word = ;\n[\s\S]*error: .*jobs\.ts can't be loaded[\s\S]*Waiting for a change\./)
    write('lib/word.ts', "export const word = 'four'\n")
    await dev.until(/said four/)
    // What is not there yet is waited for, too.
    write('jobs.ts', JOBS.replace('./lib/word.ts', './lib/other.ts'))
    await dev.until(/Cannot find module[\s\S]*Waiting for a change\./)
    write('lib/other.ts', "export const word = 'five'\n")
    await dev.until(/said five/)
    assert.equal(await dev.end('SIGTERM'), 0)

    const client = await connect({ store: `sqlite:${join(folder, 'cronce.db')}` })
    context.after(() => client.close())
    assert.deepEqual(
      (await client.instances.list()).map(({ state, app }) => [state, app]),
      Array.from({ length: 4 }, () => ['left', 'shop']),
    )
    const order = [...dev.stderr().matchAll(/has joined|Stopped/g)].map(([word]) => word)
    assert.deepEqual(
      order,
      Array.from({ length: 4 }, () => ['has joined', 'Stopped']).flat(),
      'the one before has left when the next one comes',
    )
  })

  test('a changed declaration takes effect at once', async (context) => {
    const { folder, write } = project(context)
    const dev = running(['dev', 'jobs.ts', '--drain', '10ms'], { cwd: folder })
    context.after(() => dev.end('SIGKILL'))
    await dev.until(/said one/)
    write('jobs.ts', JOBS.replace("every: '200ms'", "every: '1d'"))
    await dev.until(/tick has changed/)
    write('jobs.ts', JOBS)
    await dev.until(/tick has changed[\s\S]*tick has changed[\s\S]*said one/)
    assert.equal(await dev.end('SIGINT'), 130)
  })

  test('the process with the jobs ends with that which watches over it', async (context) => {
    const { folder } = project(context)
    const dev = running(['dev', '--drain', '10ms'], { cwd: folder })
    await dev.until(/said one/)
    // The process with the jobs shares its streams: they are closed when both have ended.
    await dev.end('SIGKILL')
    assert.match(dev.stderr(), /Stopped\.\n$/)
  })

  const hasScript = spawnSync('script', ['--version']).status === 0
  test('a key at a terminal fires a job', {
    skip: hasScript ? false : 'no script(1), which makes terminals',
  }, async (context) => {
    const { folder } = project(context)
    const terminal = spawn('script', ['-qec', `"${process.execPath}" "${MAIN}" dev --drain 10ms`, '/dev/null'], {
      cwd: folder,
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...process.env, TERM: 'xterm', NO_COLOR: '1', CRONCE_STORE: 'memory:' },
    })
    context.after(() => terminal.kill('SIGKILL'))
    let shown = ''
    terminal.stdout.setEncoding('utf8').on('data', (text: string) => (shown += text))
    const until = async (pattern: RegExp, key?: string): Promise<void> => {
      for (let tries = 1; tries <= 2_400; tries++) {
        if (pattern.test(shown)) return
        // Lines of the jobs may come in between.
        if (key !== undefined && tries % 40 === 0) terminal.stdin.write(key)
        await sleep(50)
      }
      assert.fail(`two minutes without ${pattern}: ${shown.slice(-2_000)}`)
    }
    await until(/a {2}fire manual\s+b {2}fire slow\s+c {2}fire tick[\s\S]*q {2}quit/, 'l')
    terminal.stdin.write('a')
    await until(/by hand/)
    const ended = new Promise((resolve) => terminal.on('exit', resolve))
    terminal.stdin.write('q')
    assert.equal(await ended, 0)
    assert.match(shown, /Stopped\./)
  })

  test('keys: letters fire, q and Ctrl-C quit, others do nothing', () => {
    const modes: boolean[] = []
    const input = Object.assign(new PassThrough(), { setRawMode: (mode: boolean) => modes.push(mode) })
    const done: string[] = []
    const keys = readKeys(input as unknown as NodeJS.ReadStream, {
      fire: (schedule) => done.push(`fire ${schedule}`),
      restart: () => done.push('restart'),
      quit: (isInterrupt) => done.push(isInterrupt ? 'interrupt' : 'quit'),
      show: (text) => done.push(text),
    })
    const press = (text: string): unknown => input.emit('data', Buffer.from(text))
    press('a')
    keys.offer(['one', 'two'])
    for (const key of ['ab', '\x1b[A', 'c', 'é', 'r', 'q', '\x03']) press(key)
    keys.close()
    press('a')
    const list = '  a  fire one\n  b  fire two\n  l  this list   r  restart   q  quit'
    assert.deepEqual(done, [list, 'fire one', 'fire two', 'restart', 'quit', 'interrupt'])
    assert.deepEqual(modes, [true, false])
  })
})
