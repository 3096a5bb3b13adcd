import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { connect as connectSocket, createServer, type Server as SocketServer } from 'node:net'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from 'cronce'
import { redisCommand, startRedis } from '../../../scripts/servers/index.ts'
import { readArgs } from '../src/args.ts'
import { readService, SERVICE_FLAGS } from '../src/service/settings.ts'
import { ask, listener } from './cronce.ts'
import { running, scratch } from './fixtures/service/running.ts'

const TOKEN = '0123456789abcdef-operate'

/** A job that starts at once, writes a file, and continues until another file exists. */
const SLOW = `
import { appendFileSync, existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Cronce } from 'cronce'

export default (app: Cronce): void => {
  app.job('slow', { every: '10ms', overlap: 'skip' }, async (run) => {
    appendFileSync('said', 'begun\\n')
    while (!existsSync('go')) await sleep(20, undefined, { signal: run.signal })
    appendFileSync('said', 'ended\\n')
  })
}
`

async function until(is: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 2_400; tries++) {
    if (await is()) return
    await sleep(50)
  }
  assert.fail('it did not come to that in two minutes')
}

async function statusOf(url: string, headers: Record<string, string> = {}): Promise<number> {
  const { status } = await fetch(url, { headers, signal: AbortSignal.timeout(120_000) })
  return status
}

describe('cronce start', { concurrency: 3 }, () => {
  test('runs TypeScript directly; SIGTERM lets a run finish, while the API reports that it is not ready', async (context) => {
    const folder = scratch(context)
    writeFileSync(join(folder, 'jobs.ts'), SLOW)
    writeFileSync(join(folder, 'package.json'), '{ "name": "shop", "type": "module" }')
    const service = running(['start', 'jobs.ts', '--listen', '127.0.0.1:0', '--verbose'], { cwd: folder })
    context.after(() => service.end('SIGKILL'))
    const [, url] = await service.until(/The HTTP API is at (\S+)/)
    await service.until(/runs the jobs of shop in .*jobs\.ts on sqlite:cronce\.db/)
    await service.until(/slow \(due .*\) starts/)
    assert.match(service.stderr(), /^note: No store was named, so it is sqlite:cronce\.db here/)
    await until(async () => (await statusOf(`${url}/readyz`)) === 200)
    const [, token] = await service.until(/Its token until it stops .*: ([0-9a-f]{48})\n/)
    assert.equal(await statusOf(`${url}/api/v1/schedules`, { authorization: `Bearer ${token}` }), 200)
    assert.equal(await statusOf(`${url}/api/v1/schedules`), 401, 'also on loopback the API wants a token')

    service.child.kill('SIGTERM')
    await service.until(/Interrupted by SIGTERM: nothing new is taken/)
    assert.deepEqual([await statusOf(`${url}/readyz`), await statusOf(`${url}/livez`)], [503, 200])
    writeFileSync(join(folder, 'go'), '')
    assert.equal(await service.ended, 0)
    assert.match(service.stderr(), /succeeded after [\s\S]*Stopped\.\n$/)
    assert.equal(service.stdout(), '')

    const client = await connect({ store: `sqlite:${join(folder, 'cronce.db')}` })
    context.after(() => client.close())
    const runs = (await client.runs.list()).items
    assert.equal(readFileSync(join(folder, 'said'), 'utf8'), 'begun\nended\n'.repeat(runs.length))
    assert.ok(runs.every(({ state }) => state === 'succeeded'))
    assert.deepEqual(
      (await client.instances.list()).map(({ state, app }) => [state, app]),
      [['left', 'shop']],
    )
  })

  test('a file that exports no jobs is started with a warning', async (context) => {
    const folder = scratch(context)
    writeFileSync(join(folder, 'jobs.mjs'), 'export default {}')
    const service = running(['start', 'jobs.mjs', '--store', 'memory:'], { cwd: folder })
    context.after(() => service.end('SIGKILL'))
    await service.until(/runs the jobs/)
    assert.match(service.stderr(), /warning: .*jobs\.mjs declares no jobs, so this instance runs nothing\./)
    assert.equal(await service.end('SIGTERM'), 0)
  })

  test('SIGINT ends with 130; a second signal does not wait for anything', async (context) => {
    const folder = scratch(context)
    writeFileSync(join(folder, 'jobs.ts'), SLOW)
    const service = running(['start', '--verbose'], { cwd: folder })
    context.after(() => service.end('SIGKILL'))
    await service.until(/slow \(due .*\) starts/)
    service.child.kill('SIGINT')
    await service.until(/Interrupted by SIGINT/)
    // At once it would be the same signal, passed on by npx.
    service.child.kill('SIGINT')
    await sleep(1_000)
    assert.equal(service.child.exitCode, null)
    // A process that got no CPU time since the first signal takes the next one for its copy.
    const again = setInterval(() => service.child.kill('SIGINT'), 1_000)
    assert.equal(await service.ended.finally(() => clearInterval(again)), 130)
    assert.doesNotMatch(service.stderr(), /Stopped/)
    assert.equal(readFileSync(join(folder, 'said'), 'utf8'), 'begun\n')

    const quiet = running(['start', '--store', 'memory:', 'other.json'], { cwd: folder })
    context.after(() => quiet.end('SIGKILL'))
    writeFileSync(join(folder, 'other.json'), '{}')
    await quiet.until(/runs the jobs/)
    quiet.child.kill('SIGINT')
    assert.equal(await quiet.ended, 130)
    assert.match(quiet.stderr(), /Stopped\.\n$/)
  })

  test('the reader of the log may die, and a terminal may hang up: runs finish', async (context) => {
    const folder = scratch(context)
    writeFileSync(join(folder, 'jobs.ts'), SLOW)
    const service = running(['start', '--store', 'memory:', '--verbose'], { cwd: folder })
    context.after(() => service.end('SIGKILL'))
    await service.until(/slow \(due .*\) starts/)
    service.child.stderr!.destroy()
    service.child.kill('SIGHUP')
    // Enough time for an unread log line to end the process, if it could.
    await sleep(1_000)
    assert.equal(service.child.exitCode, null)
    writeFileSync(join(folder, 'go'), '')
    assert.equal(await service.ended, 0)
    assert.equal(readFileSync(join(folder, 'said'), 'utf8'), 'begun\nended\n')
  })

  test('handles that a jobs file leaves open do not keep the process alive', async (context) => {
    const folder = scratch(context)
    writeFileSync(join(folder, 'jobs.mjs'), 'setInterval(() => {}, 1000)\nexport default () => {}\n')
    const service = running(['start', '--store', 'memory:'], { cwd: folder })
    context.after(() => service.end('SIGKILL'))
    await service.until(/runs the jobs/)
    assert.equal(await service.end(), 0)
  })

  test('a failed run is logged with its stack, for programs as one object per line; successes only if asked for', async (context) => {
    const folder = scratch(context)
    const jobs = `export default {
      fine: { every: '50ms', run: () => 1 },
      bad: { every: '50ms', run: () => { throw new Error('boom') } },
    }`
    writeFileSync(join(folder, 'jobs.mjs'), jobs)
    const service = running(['start', '--store', 'memory:', '--json'], { cwd: folder })
    context.after(() => service.end('SIGKILL'))
    await service.until(/boom/)
    assert.equal(await service.end(), 0)
    const lines = service
      .stderr()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    const failed = lines.filter(({ event }) => event === 'run.ended')
    assert.ok(failed.length > 0)
    for (const { level, schedule, message, error } of failed) {
      assert.deepEqual([level, schedule, error.message], ['error', 'bad', 'boom'])
      assert.match(message, /^bad \(due .*\) failed: Error: boom\n\s+at /)
    }
    assert.ok(lines.every(({ time, level, message }) => time && level && typeof message === 'string'))
  })

  test('an app is run as it is, and its own options cannot be overridden', async (context) => {
    const folder = scratch(context)
    const library = import.meta.resolve('cronce')
    const app = `import { cronce } from '${library}'
      const app = cronce({ store: 'memory:', app: 'own' })
      app.job('tick', { every: '50ms' }, () => console.log('ticked'))
      export default app`
    writeFileSync(join(folder, 'app.mjs'), app)
    writeFileSync(join(folder, 'started.mjs'), `${app}\nvoid app.start()\n`)
    for (const file of ['app.mjs', 'started.mjs']) {
      const service = running(['start', file], { cwd: folder })
      context.after(() => service.end('SIGKILL'))
      await service.until(/ticked/)
      assert.equal(await service.end(), 0, service.said())
    }
    const refused = await ask(['start', 'app.mjs', '--store', 'sqlite:x.db'], {}, { cwd: folder })
    assert.equal(refused.status, 2)
    assert.match(refused.stderr, /--store does nothing here: .*app\.mjs exports an app/)
  })

  test('off loopback the API needs tokens; a port that is in use is reported', async (context) => {
    const folder = scratch(context)
    writeFileSync(join(folder, 'jobs.json'), '{}')
    const open = await ask(['start', 'jobs.json', '--listen', ':7070', '--store', 'memory:'], {}, { cwd: folder })
    assert.equal(open.status, 4)
    assert.match(open.stderr, /every client that can reach 0\.0\.0\.0[\s\S]*CRONCE_OPERATE_TOKEN/)
    const short = { CRONCE_OPERATE_TOKEN: 'short' }
    const guessed = await ask(['start', 'jobs.json', '--listen', ':7070', '--store', 'memory:'], short, { cwd: folder })
    assert.equal(guessed.status, 2)
    const nonsense = await ask(['start', 'jobs.json', '--listen', 'a b', '--store', 'memory:'], {}, { cwd: folder })
    assert.match(nonsense.stderr, /--listen cannot be "a b"/)

    const service = running(['start', 'jobs.json', '--listen', '0.0.0.0:0', '--store', 'memory:'], {
      cwd: folder,
      env: { CRONCE_OPERATE_TOKEN: TOKEN },
    })
    context.after(() => service.end('SIGKILL'))
    const [, port] = await service.until(/The HTTP API is at http:\/\/0\.0\.0\.0:(\d+)/)
    const schedules = `http://127.0.0.1:${port}/api/v1/schedules`
    assert.ok([401, 403].includes(await statusOf(schedules)))
    assert.equal(await statusOf(schedules, { authorization: `Bearer ${TOKEN}` }), 200)

    const second = running(['start', 'jobs.json', '--listen', `127.0.0.1:${port}`, '--store', 'memory:'], {
      cwd: folder,
    })
    assert.equal(await second.ended, 1)
    assert.match(second.stderr(), /error: Another process listens on 127\.0\.0\.1:\d+ already\.\nhint: /)
    assert.equal(await service.end(), 0)
    assert.doesNotMatch(service.said(), new RegExp(TOKEN))
  })

  test('a store that is away is waited for, without telling its password; or not, if that is wanted', async (context) => {
    const folder = scratch(context)
    writeFileSync(join(folder, 'jobs.json'), '{ "hello": { "cron": "0 3 * * *", "command": ["true"] } }')
    const server = await startRedis()
    context.after(() => server.stop())
    await redisCommand(server, 'CONFIG', 'SET', 'requirepass', 'hush-hush')
    const { port, open } = await closedDoor(server.port)
    const url = `redis://:hush-hush@127.0.0.1:${port}`
    const nowhere = 'redis://:hush-hush@127.0.0.1:1'
    const eager = running(['start', 'jobs.json', '--fail-fast'], { cwd: folder, env: { CRONCE_STORE: nowhere } })
    const waiting = running(['start', 'jobs.json', '--store', nowhere], { cwd: folder })
    context.after(() => Promise.all([eager.end('SIGKILL'), waiting.end('SIGKILL')]))
    const service = running(['start', 'jobs.json', '--listen', '127.0.0.1:0', '--verbose'], {
      cwd: folder,
      env: { CRONCE_STORE: url },
    })
    context.after(() => service.end('SIGKILL'))
    await service.until(/warning: .* Trying again in \d+s\./)
    const [, api] = await service.until(/The HTTP API is at (\S+)/)
    assert.deepEqual([await statusOf(`${api}/readyz`), await statusOf(`${api}/livez`)], [503, 200])
    const door = await open()
    context.after(() => door.close())
    await service.until(/runs the jobs/)
    await until(async () => (await statusOf(`${api}/readyz`)) === 200)
    assert.equal(await service.end(), 0)

    await waiting.until(/Trying again/)
    assert.equal(await waiting.end(), 0, 'a waiting process can be stopped')
    assert.equal(await eager.ended, 5)
    assert.doesNotMatch(service.said() + waiting.said() + eager.said(), /hush/)
  })

  test('in production a store has to be named; jobs have to be named or usual', async (context) => {
    const folder = scratch(context)
    const production = await ask(['start', 'jobs.json'], { NODE_ENV: 'production' }, { cwd: folder })
    assert.deepEqual([production.status, /There is no file/.test(production.stderr)], [3, true])
    writeFileSync(join(folder, 'mine.json'), '{}')
    const refused = await ask(['start', 'mine.json'], { NODE_ENV: 'production' }, { cwd: folder })
    assert.equal(refused.status, 2)
    assert.match(refused.stderr, /In production a store has to be named[\s\S]*CRONCE_STORE/)
    assert.equal(existsSync(join(folder, 'cronce.db')), false)
    const none = await ask(['start'], {}, { cwd: folder })
    assert.deepEqual([none.status, /Which jobs\?/.test(none.stderr)], [2, true])
  })

  test('flags override the environment, which overrides the configuration', async (context) => {
    const folder = scratch(context)
    const config = { store: 'sqlite:config.db', app: 'config', jobs: { hello: { every: '1h', command: ['true'] } } }
    writeFileSync(join(folder, 'cronce.config.json'), JSON.stringify(config))
    const cases: readonly [args: string[], env: Record<string, string>, settled: readonly unknown[]][] = [
      [[], {}, ['config', 'sqlite:config.db', undefined]],
      [
        [],
        { CRONCE_STORE: 'memory:', CRONCE_APP: 'environment', CRONCE_DRAIN: '5s' },
        ['environment', 'memory:', 5_000],
      ],
      [
        ['--app', 'flag', '--drain', '1m'],
        { CRONCE_APP: 'x', CRONCE_DRAIN: '5s' },
        ['flag', 'sqlite:config.db', 60_000],
      ],
    ]
    for (const [args, env, settled] of cases) {
      const { io } = listener({ cwd: folder, env })
      const { options, jobs } = await readService(readArgs(args, SERVICE_FLAGS), io, 'start')
      assert.deepEqual([options?.app, options?.store, options?.drain], settled)
      assert.equal(jobs.place, `${join(folder, 'cronce.config.json')} (option jobs)`)
    }
    for (const [flag, value] of [
      ['--concurrency', 'many'],
      ['--lease', 'long'],
      ['--listen', '1:2:3'],
    ] as const) {
      const wrong = await ask(['start', flag, value], {}, { cwd: folder })
      assert.deepEqual([wrong.status, wrong.stderr.includes(`${flag} cannot be "${value}"`)], [2, true], wrong.stderr)
    }
  })
})

/** A closed port, until it is opened: then it forwards to another one. */
async function closedDoor(to: number): Promise<{ port: number; open: () => Promise<SocketServer> }> {
  const door = createServer((socket) => {
    const other = connectSocket(to, '127.0.0.1')
    socket.on('error', () => other.destroy()).on('close', () => other.destroy())
    other.on('error', () => socket.destroy()).on('close', () => socket.destroy())
    socket.pipe(other).pipe(socket)
  })
  const listen = (port: number): Promise<number> =>
    new Promise((resolve) => door.listen(port, '127.0.0.1', () => resolve((door.address() as { port: number }).port)))
  const port = await listen(0)
  await new Promise((resolve) => door.close(resolve))
  return {
    port,
    open: async () => {
      await listen(port)
      return door
    },
  }
}
