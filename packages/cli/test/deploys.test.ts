import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { type Cronce, type CronceOptions, cronce, type Duration } from 'cronce'
import type { Finding } from '../src/doctor/finding.ts'
import { ask } from './cronce.ts'
import { scratch, until } from './steer-kit.ts'

interface Deploys {
  readonly store: string
  /** A process of the app: its deployment and how often each of its jobs runs. */
  start(
    deployment: string | undefined,
    jobs: Readonly<Record<string, Duration>>,
    was?: Readonly<Record<string, string>>,
  ): Promise<Cronce>
}

function deploysOn(context: TestContext): Deploys {
  const folder = scratch()
  const store = `sqlite:${join(folder, 'deploys.db')}`
  const started: Cronce[] = []
  context.after(async () => {
    await Promise.all(started.map((app) => app.stop()))
    rmSync(folder, { recursive: true, force: true })
  })
  return {
    store,
    async start(deployment, jobs, was = {}) {
      const options: CronceOptions = { store, app: 'shop', logger: false, signals: false, holdDown: '1s' }
      const app = cronce(deployment === undefined ? options : { ...options, deployment })
      for (const [name, every] of Object.entries(jobs)) app.job(name, { every, was: was[name] }, () => {})
      await app.start()
      started.push(app)
      return app
    },
  }
}

async function findingsOf(store: string, check: string): Promise<{ status: number | null; found: readonly Finding[] }> {
  const { status, stdout } = await ask(['doctor', '--json', '--store', store])
  const { findings } = JSON.parse(stdout) as { findings: readonly Finding[] }
  return { status, found: findings.filter((finding) => finding.check === check) }
}

describe('what the command line reports about deploys', { concurrency: 3, timeout: 300_000 }, () => {
  test('fires --verify finds what a renamed job ran under its other name', async (context) => {
    const { store, start } = deploysOn(context)
    const hasRun = (app: Cronce, schedule: string, count: number) =>
      until(async () => (await app.fires.list({ schedule, outcome: 'succeeded' })).items.length > count)
    const first = await start('v1', { tick: '100ms' })
    await hasRun(first, 'tick', 2)
    await first.stop()
    const second = await start('v2', { tock: '100ms' }, { tock: 'tick' })
    await hasRun(second, 'tock', 2)
    await second.stop()
    const third = await start('v1', { tick: '100ms' })
    await until(async () => (await third.schedules.get('tick')).state === 'active')
    await hasRun(third, 'tick', 5)
    const { status, stdout } = await ask(['fires', '--verify', '--store', store])
    assert.equal(status, 0, stdout)
    assert.match(stdout, /tick {2}its job had the name tock from .*; 0 of \d+ instants due then are on no record/)
    assert.match(stdout, /tock {2}retired, its job goes on as tick, since .*: deployment v1 renamed it\n/)
  })

  test('fires --verify names a stretch in which a job was retired, and does not call it sound', async (context) => {
    const { store, start } = deploysOn(context)
    const verify = (...args: string[]) => ask(['fires', 'tick', '--verify', '--store', store, ...args])
    const first = await start('v1', { tick: '100ms', other: '1h' })
    await until(async () => (await first.fires.list({ schedule: 'tick', outcome: 'succeeded' })).items.length > 2)
    await first.stop()
    const second = await start('v2', { other: '1h' })
    await until(async () => (await second.schedules.get('tick')).state === 'retired')
    const { now: retiredBy } = await second.store.check()
    await until(async () => (await second.store.check()).now > retiredBy + 1_000)

    const during = await verify()
    assert.equal(during.status, 0, during.stdout)
    assert.match(
      during.stdout,
      /^! tick {2}retired since .*: deployment v2 does not declare it; \d+ of \d+ instants due/,
    )
    assert.match(during.stdout, /\nSound: .* 1 schedule is retired: no instant since then is looked for\.\n$/)

    const third = await start('v3', { tick: '100ms', other: '1h' })
    await until(async () => (await third.schedules.get('tick')).state === 'active')
    const [retirement] = (await third.schedules.get('tick')).retirements
    const { from } = retirement!
    const to = retirement!.to!
    await until(async () => (await third.fires.list({ schedule: 'tick', from: to })).items.length > 2)

    const after = await verify()
    assert.equal(after.status, 1, after.stdout)
    assert.match(
      after.stdout,
      /^! tick {2}retired from .* to .* \(.*\): deployment v2 does not declare it; \d+ of \d+ instants/,
    )
    assert.match(after.stdout, /\nInterrupted: no record contradicts another, but 1 schedule was retired for a while/)
    assert.doesNotMatch(after.stdout, /Sound/)
    const json = JSON.parse((await verify('--json')).stdout)
    const [stretch] = json.items[0].retired
    assert.deepEqual([json.sound, json.interrupted, stretch.from, stretch.to], [true, 1, from, to])
    assert.ok(stretch.due >= 10 && stretch.unrecorded === stretch.due, JSON.stringify(stretch))
    assert.equal((await verify('--from', String(to + 1))).status, 0, 'what came after it is sound')
  })

  test('describe tells since when and why a schedule is retired, and with show when what waits there ends', async (context) => {
    const { store, start } = deploysOn(context)
    const first = await start('v1', { tick: '1h', other: '1h' })
    await first.stop()
    const second = await start('v2', { other: '1h' })
    await second.schedules.trigger('tick')
    await until(async () => (await second.schedules.get('tick')).state === 'retired')
    const { from } = (await second.schedules.get('tick')).retirements[0]!
    const { stdout } = await ask(['describe', 'tick', '--store', store])
    assert.match(stdout, /state +retired since .*: deployment v2 does not declare it\n/)
    assert.match(stdout, /waiting +due .*, attempt 1, frozen\n/)
    const ends = new Date(from + 86_400_000).toISOString().slice(0, 16).replace('T', ' ')
    const shown = await ask(['show', 'tick', '--store', store])
    for (const text of [stdout, shown.stdout]) {
      const words = /ends as cancelled \(retired\) \w+ (.{16})/.exec(text.replace(/\s+/g, ' '))
      assert.equal(words?.[1], ends, text)
    }
    assert.match(shown.stdout, /waits +Frozen, since the schedule is retired/)
    await second.schedules.pause('tick')
    const paused = await ask(['describe', 'tick', '--store', store])
    assert.match(paused.stdout, /state +retired since .*: deployment v2 does not declare it; paused since /)
  })

  test('doctor warns at once about processes of one app that declare no job in common', async (context) => {
    const { store, start } = deploysOn(context)
    await start(undefined, { web: '1h' })
    const alone = await findingsOf(store, 'deployments')
    assert.deepEqual(
      alone.found.map(({ level }) => level),
      ['ok'],
    )
    await start(undefined, { worker: '1h' })
    const { found } = await findingsOf(store, 'deployments')
    assert.deepEqual(
      found.map(({ level }) => level),
      ['warn'],
    )
    // In the order of their ids, which differ from run to run.
    assert.match(found[0]!.message, /declare no job in common: .+ and .+\.$/)
    for (const job of ['web', 'worker']) assert.ok(found[0]!.message.includes(`:${process.pid} (${job})`), job)
    assert.match(found[0]!.hint!, /cronce\(\{ app: 'worker' \}\)/)
  })

  test('doctor fails when some processes of an app have a deployment id and some have none', async (context) => {
    const { store, start } = deploysOn(context)
    await start('v1', { web: '1h' })
    await start(undefined, { web: '1h', worker: '1h' })
    const { status, found } = await findingsOf(store, 'deployments')
    assert.deepEqual([status, found.map(({ level }) => level)], [1, ['fail']])
    assert.match(found[0]!.message, /App shop mixes processes with a deployment id \(v1\) and without/)
  })

  test('doctor fails on a refused declaration while its process lives', async (context) => {
    const { store, start } = deploysOn(context)
    await start('v1', { web: '1h' })
    const other = await start('v1', { web: '2h' })
    await until(async () => (await findingsOf(store, 'declarations')).found[0]?.level === 'fail')
    const { status, found } = await findingsOf(store, 'declarations')
    assert.equal(status, 1)
    assert.match(
      found[0]!.message,
      /1 declaration of app shop is refused: web\. On .*:\d+: .* \(SCHEDULE_DEFINED_TWICE\)/,
    )
    await other.stop()
    const healed = await findingsOf(store, 'declarations')
    assert.deepEqual(
      healed.found.map(({ level }) => level),
      ['ok'],
    )
  })
})
