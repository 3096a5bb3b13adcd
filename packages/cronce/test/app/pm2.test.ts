import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { cronce } from '../../src/app/cronce.ts'
import { pm2Warning, withPm2Hint } from '../../src/app/pm2.ts'
import { surround } from '../../src/app/surroundings.ts'
import { memory } from '../../src/memory.ts'
import type { CronceEvent } from '../../src/model/event.ts'
import { until } from '../processes/fleet.ts'

const run = promisify(execFile)
const PM2 = createRequire(import.meta.url).resolve('pm2/bin/pm2')
const LIBRARY = join(import.meta.dirname, '../../src/index.ts')
const LIMIT_MS = 60_000

/**
 * Each line that it writes: its warnings, its deployment, and the outcome of a run that takes longer than PM2's own
 * patience.
 */
const PROGRAM = `
import { appendFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { cronce } from '${LIBRARY}'
const note = (line) => appendFileSync(process.env.NOTES, line + '\\n')
let isStopping = false
const info = (message) => {
  note('info ' + message)
  isStopping ||= message.startsWith('Stopping')
}
const app = cronce({ store: 'memory:', logger: { error: () => {}, warn: (message) => note('warn ' + message), info } })
app.job('long', {}, async () => {
  note('begun')
  while (!isStopping) await sleep(50)
  // Longer than PM2 waits by default.
  await sleep(2_500)
  note('ended')
})
await app.start()
const [instance] = await app.instances.list()
note('deployment ' + instance.deployment)
await app.schedules.trigger('long')
`

test('under PM2, a warning names a kill timeout that is not longer than drain', () => {
  const drainMs = 30_000
  assert.equal(pm2Warning({}, drainMs), null)
  assert.equal(
    pm2Warning({ pm_id: '0' }, drainMs),
    'PM2 kills this process 1600 ms after the stop signal, but drain lets runs finish for 30000 ms. Set kill_timeout: 35000 in the ecosystem file, or a shorter drain.',
  )
  assert.equal(pm2Warning({ pm_id: '0', kill_timeout: '35000' }, drainMs), null)
  assert.match(pm2Warning({ pm_id: '0', kill_timeout: '30000' }, drainMs) ?? '', /^PM2 kills this process 30000 ms/)
  assert.equal(pm2Warning({ pm_id: '0', PM2_KILL_TIMEOUT: '40000' }, drainMs), null)
  assert.equal(pm2Warning({ pm_id: '0' }, 1_000), null)
})

test('under PM2, a schedule that is defined twice comes with the flag that a reload needs', () => {
  const event = {
    ...{ type: 'schedule.refused', schedule: 'a', job: 'a', code: 'SCHEDULE_DEFINED_TWICE', message: 'Twice.' },
  } as CronceEvent
  assert.equal(withPm2Hint(event, {}), event)
  assert.deepEqual(withPm2Hint(event, { pm_id: '0' }), {
    ...event,
    message: 'Twice. Under PM2, reload with --update-env.',
  })
  const other = { ...event, code: 'SCHEDULE_SUPERSEDED' } as CronceEvent
  assert.equal(withPm2Hint(other, { pm_id: '0' }), other)
})

test('an app under PM2 reports the flag with the refused declaration, and its kill timeout when it starts', async (context) => {
  const store = surround(memory(), { environment: { pm_id: '0', CRONCE_DEPLOYMENT: 'one' } })
  const told: string[] = []
  const logger = { error: (line: string) => void told.push(line), warn: (line: string) => void told.push(line) }
  const apps = ['0 3 * * *', '0 4 * * *'].map((rule) =>
    cronce({ store, app: 'shop', signals: false, logger }).job('report', rule, () => {}),
  )
  context.after(() => Promise.all(apps.map((app) => app.stop())))
  for (const app of apps) await app.start()
  assert.equal(told.filter((line) => line.startsWith('PM2 kills this process 1600 ms')).length, 2)
  await until('it is refused', () => told.some((line) => /--update-env\. \(SCHEDULE_DEFINED_TWICE\)$/.test(line)))
})

for (const [mode, flags] of [
  ['fork', []],
  ['cluster', ['-i', '1']],
] as const) {
  test(`under the real PM2 in ${mode} mode: the warning, a stop that lets a run finish, a reload with another deployment`, {
    timeout: 4 * LIMIT_MS,
  }, async (context) => {
    const { notes, pm2 } = await startPm2(context)
    await pm2({}, 'start', 'program.mjs', '--name', 'short', ...flags)
    await until('it has warned', async () => /^warn PM2 kills this process 1600 ms/m.test(await notes()))
    await pm2({}, 'delete', 'short')
    const before = (await notes()).length
    const own = async (): Promise<string> => (await notes()).slice(before)
    await pm2(
      { CRONCE_DEPLOYMENT: 'one' },
      'start',
      'program.mjs',
      '--kill-timeout',
      '35000',
      '--name',
      'long',
      ...flags,
    )
    await until('a run has begun', async () => /^begun$/m.test(await own()))
    await pm2({ CRONCE_DEPLOYMENT: 'two' }, 'reload', 'long', '--update-env')
    await until('the new process has begun one, too', async () => (await own()).match(/^begun$/gm)?.length === 2)
    await pm2({}, 'stop', 'long')
    const lines = (await own()).split('\n')
    assert.deepEqual(
      lines.filter((line) => line.startsWith('deployment')),
      ['deployment one', 'deployment two'],
    )
    assert.equal(lines.filter((line) => line === 'ended').length, 2, 'no run was cut off')
    assert.equal(lines.filter((line) => line.startsWith('warn')).length, 0)
    const stops = lines.filter((line) => line.startsWith('info Stopping'))
    assert.deepEqual(
      [...new Set(stops)],
      ['info Stopping: 1 run may finish within 30 s (long). Send SIGINT again to stop now.'],
    )
  })
}

async function startPm2(context: TestContext) {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'cronce-pm2-')))
  const home = join(folder, 'home')
  const file = join(folder, 'notes')
  await writeFile(file, '')
  await writeFile(join(folder, 'program.mjs'), PROGRAM)
  const pm2 = async (more: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<void> => {
    const env = { ...process.env, PM2_HOME: home, PM2_DISABLE_VERSION_CHECK: 'true', NOTES: file, ...more }
    await run(process.execPath, [PM2, ...args], { cwd: folder, env, timeout: LIMIT_MS })
  }
  context.after(async () => {
    await endDaemon(home)
    await rm(folder, { recursive: true, force: true })
  })
  return { pm2, notes: () => readFile(file, 'utf8') }
}

/** By its id, since the machine may run other daemons of PM2. */
async function endDaemon(home: string): Promise<void> {
  const pid = Number(await readFile(join(home, 'pm2.pid'), 'utf8'))
  process.kill(pid, 'SIGTERM')
  await until('the daemon has ended', async () => !isAlive(pid))
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
