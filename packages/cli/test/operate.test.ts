import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { type Cronce, cronce } from 'cronce'
import { ask } from './cronce.ts'
import { type Bench, benchOn, fleetOn, scratch, until } from './steer-kit.ts'

describe('schedules at run time, steps, deployments and patterns', { concurrency: 4 }, () => {
  let folder: string
  let app: Cronce
  let bench: Bench
  before(async () => {
    folder = scratch()
    const store = `sqlite:${join(folder, 'operate.db')}`
    app = fleetOn(store)
    await app.start()
    bench = await benchOn(store)
  })
  after(async () => {
    await bench.client.close()
    await app.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  const get = (name: string) => bench.client.schedules.get(name)

  test('schedule put creates a schedule, and a dry run shows what would be created', async () => {
    const args = ['schedule', 'put', 'made', '--job', 'good', '--cron', '0 8 * * MON', '--tz', 'Europe/Berlin'] as const
    const plan = await bench.say(...args, '--dry-run')
    assert.equal(plan.status, 0, plan.stderr)
    assert.match(plan.stdout, /Create made for job "good": 0 8 \* \* MON \(Europe\/Berlin\)\.\n$/)
    assert.equal(await bench.client.schedules.find('made'), null, '--dry-run changes nothing')
    const done = await bench.say(...args, '--input', '{"full":true}', '--retry', '2', '--note', 'for ada')
    assert.match(done.stdout, /^made is created: At 08:00.*It is due next at .*\. By ada@desk: for ada\n$/)
    const { trigger, input, policy, job, app: owner } = await get('made')
    assert.deepEqual([job, input, owner, policy.retry.attempts], ['good', { full: true }, null, 2])
    assert.deepEqual(trigger, { kind: 'cron', expression: '0 8 * * MON', tz: 'Europe/Berlin' })
  })

  test('schedule put changes what is named, and keeps everything else', async () => {
    await bench.client.schedules.create('kept', {
      job: 'good',
      cron: '0 8 * * *',
      tz: 'Europe/Berlin',
      input: { user: 'ada' },
      tenant: 'acme',
      limit: 9,
      overlap: { kind: 'allow', limit: 7 },
      misfire: { late: 'all', limit: 3, window: '2d' },
      retry: { attempts: 4, backoff: { base: '2s' }, deadline: '1h' },
      timeout: '5m',
      jitter: '30s',
      pauseAfter: 3,
      retention: { keep: { failed: '90d' }, count: 50 },
      concurrency: 2,
      group: { name: 'reports', limit: 4 },
      unknownStep: 'rerun',
    })
    await bench.client.schedules.pause('kept', { note: 'wait' })
    const before = await get('kept')
    const plan = await bench.say('schedule', 'put', 'kept', '--timeout', '1m', '--dry-run')
    assert.match(plan.stdout, /\n {2}Change timeout of kept: from \{"run":300000,.*\} to \{"run":60000,.*\}\.\n$/)
    const json = JSON.parse((await bench.say('schedule', 'put', 'kept', '--timeout', '1m', '--json')).stdout)
    assert.deepEqual([json.version, json.created, json.warnings], [1, false, []])
    const after = await get('kept')
    const { timeout } = after.policy
    assert.deepEqual(timeout, { ...before.policy.timeout, runMs: 60_000 })
    assert.deepEqual({ ...after.policy, timeout: before.policy.timeout }, before.policy)
    for (const part of ['trigger', 'input', 'tenant', 'limit', 'pause', 'job', 'startAt', 'endAt'] as const)
      assert.deepEqual(after[part], before[part], part)
    await bench.say('schedule', 'put', 'kept', '--tz', 'UTC')
    assert.deepEqual((await get('kept')).trigger, { kind: 'cron', expression: '0 8 * * *', tz: 'UTC' })
    await bench.say('schedule', 'put', 'kept', '--every', '15m')
    const every = await get('kept')
    assert.deepEqual([every.trigger?.kind, every.pause?.note], ['every', 'wait'])
    const same = await bench.say('schedule', 'put', 'kept', '--every', '15m', '--dry-run')
    assert.match(same.stdout, /kept stays as it is\./)
  })

  test('schedule put refuses what makes no sense, in words of flags', async () => {
    const refused: readonly [number, RegExp, ...string[]][] = [
      [2, /so --job is needed/, 'put', 'nothing'],
      [2, /when it is due/, 'put', 'nothing', '--job', 'good'],
      [2, /are two triggers/, 'put', 'nothing', '--job', 'good', '--every', '1m', '--at', '+1h'],
      [2, /is in the past/, 'put', 'nothing', '--job', 'good', '--at', 'yesterday'],
      [2, /Expected|field/, 'put', 'nothing', '--job', 'good', '--cron', '0 8 * *'],
      [2, /Which schedule/, 'put'],
      [2, /neither put nor remove/, 'make', 'x'],
      [2, /--cron is for put/, 'remove', 'x', '--cron', '* * * * *'],
      [4, /declared in the code of shop/, 'put', 'slow', '--every', '1m'],
      [3, /no schedule/, 'remove', 'never-there', '--yes'],
    ]
    for (const [status, words, ...args] of refused) {
      const said = await bench.say('schedule', ...args)
      assert.equal(said.status, status, said.stderr)
      assert.match(said.stderr, words, args.join(' '))
    }
    assert.match(
      (await bench.say('schedule', 'put', 'typo', '--job', 'goood', '--every', '1h')).stderr,
      /warning: No live instance has the job "goood"; did you mean good\?/,
    )
    assert.equal((await bench.say('schedule', 'remove', 'typo', '--yes')).status, 0)
    assert.equal(await bench.client.schedules.find('typo'), null)
  })

  test('a pattern stands for the schedules that match it', async () => {
    for (const name of ['eu:nightly', 'us:nightly', 'us:hourly'])
      await bench.client.schedules.create(name, { job: 'good', cron: '0 3 1 1 *' })
    const names = async (...args: string[]) => (await bench.say('list', ...args, '-o', 'name')).stdout.split('\n')
    assert.deepEqual(await names('*:nightly'), ['eu:nightly', 'us:nightly', ''])
    assert.deepEqual(await names('us:*'), ['us:hourly', 'us:nightly', ''])
    assert.deepEqual(await names('?s:*ly', '-n', '1'), ['us:hourly', ''])
    assert.deepEqual(await names('us.*'), [''], 'it is not a regular expression')
    const plan = await bench.say('pause', '*:nightly', '--dry-run')
    assert.match(plan.stdout, /Pause 2 schedules that match "\*:nightly": eu:nightly, us:nightly/)
    assert.equal((await bench.say('pause', '*:nightly')).status, 4, 'it wants a yes')
    assert.equal((await bench.say('pause', '*:nightly', '--yes')).status, 0)
    assert.deepEqual([(await get('us:nightly')).state, (await get('us:hourly')).state], ['paused', 'active'])
    assert.equal((await bench.say('pause', 'no:*', '--yes')).status, 3)
    assert.equal((await bench.say('pause', 'us:*', 'eu:nightly', '--yes')).status, 2)
    assert.equal((await bench.say('remove', '?s:*ly', '--yes')).status, 0)
    assert.equal(await bench.client.schedules.find('us:hourly'), null)
    assert.equal((await bench.say('runs', 'no:*')).status, 3)
  })

  test('runs and fires of several names and outcomes are one list, page by page', async () => {
    for (const [name, job] of [
      ['p:good', 'good'],
      ['p:bad', 'bad'],
      ['p:bad2', 'bad'],
    ] as const)
      await bench.client.schedules.create(name, { job })
    for (let round = 0; round < 3; round++)
      for (const name of ['p:good', 'p:bad', 'p:bad2']) {
        const { fire } = await bench.client.schedules.trigger(name)
        await until(async () => (await bench.client.fires.get(fire)).state !== 'open')
      }
    type Item = { schedule: string; state: string; dueAt: number; token?: string; host?: string; pid?: number }
    for (const command of ['runs', 'fires']) {
      const read = async (...args: string[]) => {
        const { stdout, stderr } = await bench.say(command, 'p:*', '--json', ...args)
        assert.equal(stderr, '')
        return JSON.parse(stdout) as { items: Item[]; next: string | null }
      }
      const all = await read('--outcome', 'succeeded,failed')
      assert.deepEqual(all.items.map(({ state }) => state).sort(), [
        ...Array(6).fill('failed'),
        ...Array(3).fill('succeeded'),
      ])
      const due = all.items.map(({ dueAt }) => dueAt)
      assert.deepEqual(
        due,
        [...due].sort((a, b) => b - a),
        'the latest first',
      )
      const paged: Item[] = []
      for (let after: string | null = null; ; ) {
        const page: Awaited<ReturnType<typeof read>> = await read(
          ...['--outcome', 'succeeded,failed', '-n', '2'],
          ...(after === null ? [] : ['--after', after]),
        )
        paged.push(...page.items)
        after = page.next
        if (after === null) break
        assert.ok(paged.length < 20)
      }
      assert.deepEqual(paged, all.items)
      const failed = await read('--failed', '--all')
      assert.deepEqual(new Set(failed.items.map(({ state }) => state)), new Set(['failed']))
      assert.equal((await bench.say(command, '--failed', '--outcome', 'open')).status, 2)
      assert.match(
        (await bench.say(command, '--outcome', 'failed,opne')).stderr,
        /cannot be "opne"\. Did you mean open/,
      )
      assert.equal((await bench.say(command, 'p:*', '--after', 'nonsense')).status, 2)
    }
    const list = await bench.say('list', 'p:*', '--failed', '-o', 'name')
    assert.equal(list.stdout, 'p:bad\np:bad2\n')
  })

  test('runs and tail show the host and the process', async () => {
    await bench.client.schedules.create('where', { job: 'good' })
    const { fire } = await bench.client.schedules.trigger('where')
    await until(async () => (await bench.client.fires.get(fire)).state !== 'open')
    const place = `${hostname()}:${process.pid}`
    assert.ok((await bench.say('runs', 'where')).stdout.includes(place))
    const [run] = JSON.parse((await bench.say('runs', 'where', '--json')).stdout).items
    assert.deepEqual([run.host, run.pid], [hostname(), process.pid])
    const tailed = await bench.say('tail', 'wher*', '--from', 'now-1h', '-n', '2')
    assert.match(tailed.stdout, /started/)
    assert.equal(tailed.stdout.split(` on ${place}`).length - 1, 2, tailed.stdout)
    const [line] = (await bench.say('tail', 'where', '--from', 'now-1h', '-n', '1', '--jsonl')).stdout.split('\n')
    assert.equal(JSON.parse(line!).run.pid, process.pid)
  })

  test('step resolve records how a step ended whose run died', async () => {
    const dying = cronce({
      store: bench.store,
      app: 'frail',
      deployment: 'v1',
      logger: false,
      signals: false,
      drain: 0,
    })
    const begun = Promise.withResolvers<void>()
    dying.job('frail', { retry: { crashes: 0 } }, async (run) => {
      await run.once('charge', () => {
        begun.resolve()
        return new Promise(() => {})
      })
    })
    await dying.start()
    const { fire } = await bench.client.schedules.trigger('frail')
    await begun.promise
    const running = await bench.say('step', 'resolve', 'frail', 'charge', '--failed')
    assert.equal(running.status, 4, running.stderr)
    await dying.stop()
    await bench.client.fires.get(fire)
    await bench.say('cancel', 'frail', '--all', '--yes')
    await until(async () => (await bench.client.fires.get(fire)).state !== 'open')
    const say = (...args: string[]) => bench.say('step', 'resolve', 'frail', ...args)
    assert.equal((await say('charge')).status, 2)
    assert.equal((await say('charge', '--failed', '--result', '1')).status, 2)
    const unknown = await say('charg', '--failed')
    assert.deepEqual([unknown.status, /Did you mean charge/.test(unknown.stderr)], [3, true])
    const plan = await say('charge', '--result', '{"id":17}', '--dry-run')
    assert.match(plan.stdout, /Record step charge of the fire of frail due .* as done, with the result \{"id":17\}\./)
    const done = await say('charge', '--result', '{"id":17}', '--note', 'seen in the bank')
    assert.deepEqual([done.status, done.stderr], [0, ''])
    assert.match(done.stdout, /Run the fire again: cronce retry frail \S+ By \S+: seen in the bank\n/)
    const [step] = await bench.client.steps.list(fire)
    assert.deepEqual([step!.state, step!.result], ['done', { id: 17 }])
    assert.equal((await say('charge', '--failed')).status, 4, 'its end is on record')
    const { items } = await bench.client.activity.list({ schedule: 'frail' })
    const lines = items.filter(({ action }) => action === 'resolve')
    assert.deepEqual(
      lines.map(({ note, origin }) => [note, origin]),
      [['seen in the bank', 'cli']],
    )
  })

  test('ls and ps are list and instances', async () => {
    assert.equal((await bench.say('ls', '-o', 'name')).status, 0)
    assert.match((await bench.say('ps')).stdout, /^ID .*HOST/)
  })
})

test('deployments are listed, and one of them is activated', async (context) => {
  const folder = scratch()
  const store = `sqlite:${join(folder, 'deployments.db')}`
  const started: Cronce[] = []
  context.after(async () => {
    await Promise.all(started.map((app) => app.stop()))
    rmSync(folder, { recursive: true, force: true })
  })
  const start = async (deployment: string, ...jobs: string[]): Promise<Cronce> => {
    const app = cronce({ store, app: 'shop', deployment, logger: false, signals: false })
    for (const name of jobs) app.job(name, { cron: '0 3 * * *' }, () => {})
    await app.start()
    started.push(app)
    return app
  }
  const say = (...args: string[]) => ask(['deployments', ...args], { CRONCE_STORE: store, CRONCE_AUTHOR: 'ada' })
  await start('v1', 'a')
  const second = await start('v2', 'a', 'b')
  const activeIs = (id: string) => until(async () => (await second.deployments.get('shop')).active === id)
  await activeIs('v2')
  const listed = await say()
  assert.match(listed.stdout, /^APP +DEPLOYMENT +STATE +INSTANCES/)
  assert.match(listed.stdout, /\nshop +v1 +live +1 +1 /)
  assert.match(listed.stdout, /\nshop +v2 +active +1 +2 /)
  assert.equal((await say('-o', 'name')).stdout, 'v1\nv2\n')
  const plan = await say('activate', 'v1', '--dry-run')
  assert.match(plan.stdout, /Activate v1 of shop instead of v2: .*\n {2}Only v2 declares 1 schedule: b\.\n/)
  assert.equal((await say('activate', 'v1')).status, 4, 'it wants a yes')
  const done = await say('activate', 'v1', '--yes', '--json')
  assert.deepEqual([done.status, JSON.parse(done.stdout).activated], [0, 'v1'])
  await activeIs('v1')
  assert.equal((await say('activate', 'v3', '--yes')).status, 3)
  assert.equal((await say('activate')).status, 2)
  assert.equal((await say('--app', 'nobody')).status, 3)
  await second.stop()
  await until(async () => (await say('activate', 'v2', '--yes')).status === 4)
})
