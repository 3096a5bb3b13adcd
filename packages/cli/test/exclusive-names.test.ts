import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { type Cronce, cronce } from 'cronce'
import { runCoordinator } from 'cronce/node-cron'
import nodeCron from 'node-cron'
import { type Bench, benchOn, scratch, until } from './steer-kit.ts'

const folder = scratch()
const store = `sqlite:${join(folder, 'asides.db')}`
let app: Cronce
let bench: Bench
let release = (): void => {}

before(async () => {
  const channels = [() => {}]
  app = cronce({ store, app: 'shop', signals: false, logger: false, alerts: { channels }, heartbeat: '1h' }).job(
    'report',
    { every: '1h', timeout: '1m' },
    () => {},
  )
  await app.start()
  bench = await benchOn(store)
  app.elect('poller')
  await until(async () => app.isLeader('poller'))
  const held = Promise.withResolvers<void>()
  void app.lock('importer', () => {
    held.resolve()
    return new Promise<void>((resolve) => {
      release = resolve
    })
  })
  await held.promise
  await app.once('order-17', () => 'paid')
  await app.detect('legacy', { window: '1h' }, () => {})
  await app.alerts.mute('clock')
  // Their names sort before all others that there are.
  for (let count = 0; count < 60; count++) await app.lock(`order:${count}`, () => {})
})

after(async () => {
  release()
  await bench.client.close()
  await app.stop()
  rmSync(folder, { recursive: true, force: true })
})

describe('what stands behind locks, leaders and keys', () => {
  test('gives the doctor nothing to report or to remove', async () => {
    const { stdout } = await bench.say('doctor', '--json')
    const { findings } = JSON.parse(stdout) as { findings: { check: string; level: string; message: string }[] }
    const about = findings.filter(({ message }) => message.includes('cronce:'))
    assert.deepEqual(about, [])
    for (const check of ['orphans', 'timeouts', 'failing', 'stuck']) {
      assert.equal(findings.find((each) => each.check === check)?.level, 'ok', check)
    }
  })

  test('is listed when it is asked for, and counted when it is left out', async () => {
    const plain = await bench.say('list', '-o', 'name')
    assert.equal(plain.stdout, 'report\n')
    assert.match(plain.stderr, /66 .*of cronce itself .*--all/)
    const next = await bench.say('list', '--next', '-o', 'name')
    assert.deepEqual([next.stdout, /66 /.test(next.stderr)], ['report\n', true])
    const one = JSON.parse((await bench.say('list', '--json', '-n', '1')).stdout)
    assert.deepEqual([one.items.map(({ name }: { name: string }) => name), one.next], [['report'], null])

    const names = async (...args: string[]): Promise<string[]> =>
      (await bench.say('list', '-o', 'name', ...args)).stdout.split('\n').slice(0, -1)
    assert.equal((await names('--all')).length, 67)
    assert.equal((await names('--all', '--next')).length, 67)
    assert.deepEqual(await names('cronce:leader:'), ['cronce:leader:poller'])
    assert.deepEqual(await names('cronce:lock:importer'), ['cronce:lock:importer'])
    assert.deepEqual(await names('cronce:heartbeat'), ['cronce:heartbeat:shop'])
    assert.deepEqual(await names('cronce:alerts'), ['cronce:alerts:shop'])
    assert.deepEqual(await names('cron*'), [], 'a pattern that is not about them')
    assert.deepEqual(await names('--job', 'cronce:leader'), ['cronce:leader:poller'])
    assert.equal((await bench.say('list', '--all', '-o', 'name')).stderr, '')
  })

  test('is in no other list of schedules, unless it is asked for', async () => {
    const own = (await bench.client.schedules.list()).items.map(({ name }) => name)
    assert.deepEqual(own, ['report'])
    assert.equal((await bench.client.schedules.list({ internal: true })).items.length, 67)
    assert.equal((await bench.client.schedules.list({ job: 'cronce:detect' })).items.length, 1)
    const { schedules } = JSON.parse((await bench.say('forecast', '--json')).stdout)
    assert.equal(schedules, 1)
    const offered = await bench.say('__complete', '--', 'pause', '')
    assert.doesNotMatch(offered.stdout, /cronce:/)
    assert.match((await bench.say('pause', '*', '--dry-run')).stdout, /report/)
    assert.match((await bench.say('pause', '--all', '--yes')).stdout, /^1 schedule paused\./)
    assert.match((await bench.say('resume', '--all', '--yes')).stdout, /^1 schedule resumed\./)
  })

  test('tasks of node-cron are listed beside jobs', async () => {
    const coordinator = runCoordinator(app)
    const key = `nightly:${new Date(Math.floor(Date.now() / 1_000) * 1_000).toISOString()}`
    assert.equal(await coordinator.shouldRun(key, 30_000), true)
    await coordinator.onComplete(key)
    const { stdout } = await bench.say('list')
    assert.match(stdout, /\nnode-cron:nightly +active +When node-cron asks +- /)
    assert.match(stdout, /\nreport /)
  })

  test('a task of node-cron is offered if it is asked for by its own name', async () => {
    const offer = 'There is no schedule "nightly"; there is node-cron:nightly.'
    for (const command of ['runs', 'fires', 'describe', 'pause']) {
      const { status, stderr } = await bench.say(command, 'nightly')
      assert.deepEqual([status, stderr.includes(offer)], [3, true], `${command}: ${stderr}`)
    }
    const listed = await bench.say('list', 'nightly')
    assert.ok(`${listed.stdout}${listed.stderr}`.includes(offer), `${listed.stdout}${listed.stderr}`)
    assert.match((await bench.say('runs', 'nothing')).stderr, /There is no schedule "nothing"\./)
  })

  test('slots of node-cron that overlap, as its tasks may by default, are sound', async () => {
    const coordinator = runCoordinator(app)
    const now = Math.floor(Date.now() / 1_000) * 1_000
    const keys = [now - 4_000, now].map((dueAt) => `invoices:${new Date(dueAt).toISOString()}`)
    for (const key of keys) assert.equal(await coordinator.shouldRun(key, 30_000), true)
    // Longer than clocks of stores may be apart.
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    for (const key of keys) await coordinator.onComplete(key)
    const { status, stdout } = await bench.say('fires', 'node-cron:invoices', '--verify')
    assert.deepEqual([status, /Sound/.test(stdout)], [0, true], stdout)
  })

  test('with { cron } a task has a next due time, and the doctor expects it to be asked for', async () => {
    const coordinator = runCoordinator(app, { cron: nodeCron })
    const task = nodeCron.createTask('0 3 * * *', () => {}, {
      ...{ name: 'backup', distributed: true, runCoordinator: coordinator, timezone: 'UTC' },
    })
    const key = `backup:${new Date(Math.floor(Date.now() / 1_000) * 1_000).toISOString()}`
    assert.equal(await coordinator.shouldRun(key, 30_000), true)
    await coordinator.onComplete(key)
    void task.destroy()
    const { stdout } = await bench.say('list', '--tz', 'UTC')
    assert.match(stdout, /\nnode-cron:backup +active +At 03:00.*, by node-cron +\w+ \d{4}-\d\d-\d\d 03:00:00 UTC/)
    assert.match((await bench.say('describe', 'node-cron:backup')).stdout, /by the coordinator of node-cron/)
    assert.doesNotMatch((await bench.say('doctor')).stdout, /backup/)
  })
})
