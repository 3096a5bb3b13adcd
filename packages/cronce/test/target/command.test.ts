import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { cronce } from '../../src/index.ts'
import { idempotencyKey } from '../../src/run/idempotency-key.ts'
import { Output } from '../../src/target/command/output.ts'
import { withoutSecrets } from '../../src/target/command/run-environment.ts'
import { endOf, eventually, folderFor, isAlive, linesOf, openApp, runToEnd } from './kit.ts'

const sh = (command: string) => ({ command, shell: true })
const FAST = { backoff: { base: 1, jitter: 0 } }
/** Numbers that a command has written, such as the ids of its processes. */
const numbersIn = (text: string): number[] => (text.match(/\d+/g) ?? []).map(Number)

describe('a command', { concurrency: 2, timeout: 600_000 }, () => {
  test('knows which fire it runs', async (context) => {
    const app = openApp(context)
    let key = ''
    app.use((run, next) => {
      key = run.idempotencyKey()
      return next()
    })
    const { fire, run } = await runToEnd(
      app,
      sh('env | grep ^CRONCE_ | grep -v -e SUPERVISED -e CRONCE_LONG; echo "$OWN $HOME"'),
      {
        full: true,
      },
    )
    const told = Object.fromEntries(linesOf(run, 'info').map((line) => line.split(/=(.*)/)))
    const due = new Date(fire.dueAt).toISOString()
    const { HOME } = process.env
    assert.deepEqual(told, {
      CRONCE_SCHEDULE: 'work',
      CRONCE_JOB: 'work',
      CRONCE_FIRE_ID: `work@${due}#${fire.nonce}`,
      CRONCE_DUE: due,
      CRONCE_ATTEMPT: '1',
      CRONCE_TOKEN: run.token,
      CRONCE_IDEMPOTENCY_KEY: key,
      CRONCE_SCHEDULE_KEY: told.CRONCE_SCHEDULE_KEY,
      CRONCE_INPUT: '{"full":true}',
      [` ${HOME}`]: undefined,
    })
  })

  test("does not get the scheduler's secrets, unless they are named", async (context) => {
    const secrets = ['CRONCE_STORE', 'CRONCE_FIRE_TOKEN', 'CRONCE_CALLBACK_SECRET', 'CRONCE_OPERATE_TOKEN']
    const others = { CRONCE_NAMESPACE: 'a', CRONCE_STORED: 'b', OTHER_TOKEN: 'c' }
    const given = Object.fromEntries(secrets.map((name) => [name, 'inherited']))
    assert.deepEqual(Object.keys(withoutSecrets({ ...given, ...others })), secrets)
    Object.assign(process.env, given)
    context.after(() => {
      for (const name of secrets) delete process.env[name]
    })
    const env = { CRONCE_STORE: 'named' }
    const { run } = await runToEnd(openApp(context), { ...sh('env | grep -E "=(inherited|named)$"'), env })
    assert.deepEqual(linesOf(run, 'info'), ['CRONCE_STORE=named'])
  })

  test('runs without a shell, in its folder, with its environment and nothing to read', async (context) => {
    const folder = await folderFor(context)
    const script = join(folder, 'show args')
    await writeFile(script, '#!/bin/sh\nprintf "%s\\n" "$@"\npwd\necho "$GIVEN $HOME"\ncat\n')
    await chmod(script, 0o755)
    const { run } = await runToEnd(openApp(context), {
      command: ['./show args', '$HOME; exit 1', '', '*'],
      cwd: folder,
      env: { GIVEN: 'a b', HOME: null },
    })
    const lines = ['$HOME; exit 1', '', '*', folder, 'a b ']
    assert.deepEqual(run.result, { exitCode: 0, output: `${lines.join('\n')}\n` })
    assert.deepEqual(linesOf(run, 'info'), lines)
  })

  test('can read the input, or a text', async (context) => {
    const app = openApp(context)
    app.job('input', { command: 'cat', stdin: 'input', input: { a: 'ä' } })
    app.job('text', { command: ['cat'], stdin: { text: 'two\nlines' } })
    app.job('deaf', { command: 'true', stdin: { text: 'x'.repeat(1_000_000) } })
    await app.start()
    const outputOf = async (name: string): Promise<unknown> =>
      (await endOf(app, (await app.schedules.trigger(name)).fire)).run.result
    assert.deepEqual(await outputOf('input'), { exitCode: 0, output: '{"a":"ä"}' })
    assert.deepEqual(await outputOf('text'), { exitCode: 0, output: 'two\nlines' })
    assert.deepEqual(await outputOf('deaf'), { exitCode: 0, output: '' })
  })

  test('succeeds or fails by its exit code', async (context) => {
    const app = openApp(context)
    app.job('three', { ...sh('echo warm; echo cold >&2; exit 3'), retry: { attempts: 1, ...FAST } })
    app.job('allowed', { ...sh('exit 3'), successCodes: [0, 3] })
    app.job('signal', sh('kill -USR1 $$'))
    await app.start()
    const endOfJob = async (name: string) => endOf(app, (await app.schedules.trigger(name)).fire)
    const three = await endOfJob('three')
    assert.equal(three.runs.length, 2)
    assert.equal(three.run.error?.code, 'COMMAND_FAILED')
    assert.match(three.run.error?.message ?? '', /exited with 3: cold$/)
    assert.deepEqual([linesOf(three.run, 'info'), linesOf(three.run, 'warn')], [['warm'], ['cold']])
    assert.deepEqual((await endOfJob('allowed')).run.result, { exitCode: 3, output: '' })
    assert.match((await endOfJob('signal')).run.error?.message ?? '', /was ended by SIGUSR1\.$/)
  })

  test('that fails is reported in its own words: the error of a Node.js program, and no frames of cronce', async (context) => {
    const app = openApp(context)
    app.job('node', { command: [process.execPath, '-e', "throw new RangeError('no invoices')"] })
    app.job('cause', {
      command: [process.execPath, '-e', "process.stderr.write('cold\\nNode.js v24.0.0\\n'); process.exit(1)"],
    })
    await app.start()
    const errorOf = async (name: string) => (await endOf(app, (await app.schedules.trigger(name)).fire)).run.error
    const error = await errorOf('node')
    assert.match(error?.message ?? '', /exited with 1: RangeError: no invoices$/)
    assert.match(
      error?.stack ?? '',
      /^CronceError \[COMMAND_FAILED\]: The command .* exited with 1: RangeError: no invoices/,
    )
    assert.doesNotMatch(error?.stack ?? '', /\n\s+at /)
    assert.match((await errorOf('cause'))?.message ?? '', /exited with 1: Node\.js v24\.0\.0$/)
  })

  test('that cannot be started is not tried again', async (context) => {
    const folder = await folderFor(context)
    const plain = join(folder, 'plain')
    await writeFile(plain, 'no program')
    const app = openApp(context)
    app.job('missing', { command: ['no-such-program'], retry: 3 })
    app.job('forbidden', { command: [plain], retry: 3 })
    app.job('nowhere', { command: ['ls'], cwd: join(folder, 'gone'), retry: 3 })
    await app.start()
    for (const [name, why] of [
      ['missing', /"no-such-program" could not be started: there is no such program\.$/],
      ['forbidden', /it may not be executed\.$/],
      ['nowhere', /there is no folder .*gone\.$/],
    ] as const) {
      const { run, runs } = await endOf(app, (await app.schedules.trigger(name)).fire)
      assert.equal(run.error?.code, 'COMMAND_NOT_STARTED', name)
      assert.match(run.error?.message ?? '', why)
      assert.equal(runs.length, 1, name)
    }
  })

  test('may write what it likes: a text is kept, and not too much of it', async (context) => {
    const app = openApp(context)
    app.job(
      'bytes',
      sh(String.raw`printf 'a\377b\000c\nred \033[31mrose\033[0m\n10%%\r20%%\r\n\303'; sleep 0.2; printf '\244'`),
    )
    app.job('flood', sh("head -c 120000000 /dev/zero | tr '\\0' x; echo; echo the end"))
    await app.start()
    const bytes = await endOf(app, (await app.schedules.trigger('bytes')).fire)
    assert.deepEqual(linesOf(bytes.run, 'info'), ['a\uFFFDb\uFFFDc', 'red rose', '20%', 'ä'])
    const before = process.memoryUsage().rss
    let most = 0
    const looking = setInterval(() => {
      most = Math.max(most, process.memoryUsage().rss - before)
    }, 20)
    const flood = await endOf(app, (await app.schedules.trigger('flood')).fire)
    clearInterval(looking)
    const [cut, ...more] = linesOf(flood.run, 'info')
    assert.match(cut ?? '', /^x+… \(cut\)$/)
    assert.equal(cut?.length, 4_096)
    assert.deepEqual(more, ['the end'])
    assert.deepEqual(flood.run.result, { exitCode: 0, output: 'the end\n' })
    assert.ok(most < 100_000_000, `${most} bytes more than before`)
  })

  test('ends with all that it has started, when its time is over', async (context) => {
    const deaf = "trap '' TERM; while :; do sleep 0.1; done"
    const { fire, run } = await runToEnd(openApp(context), {
      ...sh(
        `echo main $$; sh -c "echo child \\$\\$; ${deaf}" & setsid sh -c "echo apart \\$\\$; ${deaf}" & env -i setsid sh -c "echo bare \\$\\$; ${deaf}" & ${deaf}`,
      ),
      timeout: { run: '2s', grace: '2s' },
    })
    assert.deepEqual([fire.state, fire.reason], ['failed', 'timeout'])
    const pids = linesOf(run, 'info').flatMap(numbersIn)
    assert.equal(pids.length, 4, linesOf(run, 'info').join())
    assert.deepEqual(pids.filter(isAlive), [])
    assert.deepEqual(linesOf(run, 'warn'), ['[cronce] It was ended with SIGKILL.'])
  })

  test('is asked to end before it is made to', async (context) => {
    const { fire, run } = await runToEnd(openApp(context), {
      ...sh("trap 'echo tidied up; exit 1' TERM; echo ready; while :; do sleep 0.1; done"),
      timeout: { run: '2s', grace: '30s' },
    })
    assert.equal(fire.reason, 'timeout')
    assert.deepEqual(linesOf(run, 'info'), ['ready', 'tidied up'])
  })

  test('that has ended leaves no process behind', async (context) => {
    const { run } = await runToEnd(
      openApp(context),
      sh('sleep 100 & echo $!; setsid sleep 100 & echo $!; (nohup sleep 100 >/dev/null 2>&1 & echo $!)'),
    )
    const pids = linesOf(run, 'info').map(Number)
    assert.equal(pids.length, 3)
    assert.deepEqual(pids.filter(isAlive), [])
    assert.deepEqual(linesOf(run, 'warn'), ['[cronce] It left 3 processes behind, which cronce ended.'])
    assert.equal(run.state, 'succeeded')
  })

  test('ends when its supervisor is killed', async (context) => {
    const app = openApp(context)
    app.job('work', sh('sleep 100 & echo $$ $! $PPID; setsid sleep 100 & echo $!; wait'))
    await app.start()
    const { fire } = await app.schedules.trigger('work')
    const pids = await eventually(async () => {
      const { items } = await app.runs.list({ schedule: 'work' })
      const found = items[0] === undefined ? [] : linesOf(items[0], 'info').flatMap(numbersIn)
      return found.length === 4 ? found : null
    })
    process.kill(pids[2] as number, 'SIGKILL')
    const { run } = await endOf(app, fire)
    assert.equal(run.error?.code, 'COMMAND_FAILED')
    assert.match(run.error?.message ?? '', /since the process that watched over it was killed/)
    assert.deepEqual(pids.filter(isAlive), [])
  })

  test('starts when those of earlier fires have ended, if there is to be one at a time', async (context) => {
    const file = join(await folderFor(context), 'order')
    const { PATH } = process.env
    const key = idempotencyKey(['default', 'work'])
    // As a scheduler leaves it that was killed a moment ago.
    const env = { PATH, CRONCE_SCHEDULE_KEY: key, CRONCE_SUPERVISED: `${spawnSync('true').pid}-x` }
    const earlier = spawn('/bin/sh', ['-c', `sleep 3; echo earlier >> ${file}`], { env, stdio: 'ignore' })
    context.after(() => earlier.kill('SIGKILL'))
    const { run } = await runToEnd(openApp(context), sh(`echo "later $CRONCE_SCHEDULE_KEY" >> ${file}`))
    assert.equal(run.state, 'succeeded')
    assert.equal(await readFile(file, 'utf8'), `earlier\nlater ${key}\n`)
  })

  test('is declared with options that mean something', () => {
    const app = cronce({ store: 'memory:' })
    const refusals: [object, string][] = [
      [{ command: [] }, 'OPTION_INVALID'],
      [{ command: ['ls', 1] }, 'OPTION_INVALID'],
      [{ command: ['a\0b'] }, 'OPTION_INVALID'],
      [{ command: 'ls -l' }, 'OPTION_INVALID'],
      [{ command: ['ls', '-l'], shell: true }, 'OPTION_CONFLICT'],
      [{ command: 'ls', shell: 1 }, 'OPTION_INVALID'],
      [{ command: 'ls', env: { 'A=B': 'c' } }, 'OPTION_INVALID'],
      [{ command: 'ls', env: { A: 1 } }, 'OPTION_INVALID'],
      [{ command: 'ls', stdin: 'pipe' }, 'OPTION_INVALID'],
      [{ command: 'ls', stdin: { txt: '' } }, 'OPTION_UNKNOWN'],
      [{ command: 'ls', successCodes: [] }, 'OPTION_INVALID'],
      [{ command: 'ls', successCodes: [256] }, 'OPTION_INVALID'],
    ]
    // An inherited property is not an option, under any name.
    app.job('plain', { command: 'ls', cwd: undefined, env: undefined })
    for (const [options, code] of refusals) {
      assert.throws(() => app.job('work', options as never), { code }, JSON.stringify(options))
    }
  })
})

test('output in pieces of any size is the same output', () => {
  const text = `${'ä€𝄞\r\n'.repeat(50)}${'y'.repeat(10_000)}\n\nlast`
  const bytes = Buffer.from(text)
  const linesBy = (size: number): [string[], string] => {
    const lines: string[] = []
    const output = new Output((line) => lines.push(line))
    for (let at = 0; at < bytes.length; at += size) output.write(bytes.subarray(at, at + size))
    output.end()
    return [lines, output.tail()]
  }
  const [lines, tail] = linesBy(bytes.length)
  assert.deepEqual(lines.slice(0, 50), new Array(50).fill('ä€𝄞'))
  assert.deepEqual(
    lines.slice(50).map((line) => line.length),
    [4_097, 0, 4],
  )
  assert.equal(tail, '\nlast')
  for (const size of [1, 2, 3, 7, 4_096]) assert.deepEqual(linesBy(size), [lines, tail])
})
