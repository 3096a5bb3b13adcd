import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Cronce } from 'cronce'
import { Interrupted } from '../src/interrupt.ts'
import { type Bench, benchOn, fleetOn, scratch, until } from './steer-kit.ts'

describe('cronce run', { concurrency: 6 }, () => {
  let folder: string
  let app: Cronce
  let bench: Bench
  before(async () => {
    folder = scratch()
    const store = `sqlite:${join(folder, 'run.db')}`
    app = fleetOn(store)
    await app.start()
    bench = await benchOn(store)
  })
  after(async () => {
    await bench.client.close()
    await app.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  const make = async (name: string, job: string, more = {}): Promise<void> => {
    await bench.client.schedules.create(name, { job, ...more })
  }

  test('requests a fire, prints how to look at it, and records the requester', async () => {
    await make('asked', 'good', { input: { full: false } })
    const { status, stdout, stderr } = await bench.say('run', 'asked', '--note', 'ticket 17')
    assert.deepEqual([status, stderr], [0, ''])
    const due = /^asked is to be run now\. See cronce show asked (\S+Z)\n$/.exec(stdout)?.[1]
    const shown = await bench.say('show', 'asked', due!)
    assert.equal(shown.status, 0)
    const { items } = await bench.client.fires.list({ schedule: 'asked' })
    assert.deepEqual([items.length, items[0]!.asked], [1, { author: 'ada@desk', note: 'ticket 17' }])
  })

  test('with --wait follows it: its log on stderr, its result on stdout, exit code 0', async () => {
    await make('followed', 'good')
    const { status, stdout, stderr } = await bench.say('run', 'followed', '--wait', '--input', '{"full":true}')
    assert.deepEqual([status, stdout], [0, '{"rows":3}\n'])
    assert.match(
      stderr,
      /run \d+ \(attempt 1\) on \S+\n.* begins with {"full":true}\n.* warn careful <U\+001B>\[31mred\n/,
    )
    assert.match(stderr, /\nsucceeded after .*\n$/)
    const json = await bench.say('trigger', 'followed', '-w', '--json')
    const { version, created, fire, run } = JSON.parse(json.stdout)
    assert.deepEqual([json.status, version, created, fire.state, run.result], [0, 1, true, 'succeeded', { rows: 3 }])
  })

  test('exit code 20 if it does not succeed, with the error and the number of attempts', async () => {
    await make('failing', 'bad', { retry: { attempts: 1, backoff: { base: '10ms' } } })
    await make('recovers', 'flaky', { retry: { attempts: 1, backoff: { base: '10ms' } } })
    const failed = await bench.say('run', 'failing', '--wait')
    assert.deepEqual([failed.status, failed.stdout], [20, ''])
    assert.match(
      failed.stderr,
      /Error: no such file\n.*attempt 2.*\n.*Error: no such file\nfailed \(error\).*, in 2 runs: no such file\n$/,
    )
    const recovered = await bench.say('run', 'recovers', '--wait')
    assert.equal(recovered.status, 0)
    assert.match(recovered.stderr, /Error: not yet\n.*attempt 2/)
  })

  test('a terminal shows the progress', async () => {
    await make('watched', 'halfway')
    const controller = new AbortController()
    const { stderr, ended } = bench.sayAloud({ columns: 80, signal: controller.signal }, 'run', 'watched', '--wait')
    await until(async () => /\[2K40% of the way, \d+m?s/.test(stderr()))
    controller.abort(new Interrupted('Interrupted by SIGINT.', 130))
    assert.equal(await ended, 130)
  })

  test('waits no longer than --timeout, and the fire goes on', async () => {
    await make('long', 'slow')
    const { status, stderr } = await bench.say('run', 'long', '--wait', '--timeout', '300ms')
    assert.equal(status, 1)
    assert.match(stderr, /had not ended after 300ms\.\nhint: It goes on: .* cronce cancel long /)
    assert.equal((await bench.client.schedules.get('long')).open.length, 1)
    assert.equal((await bench.say('run', 'long', '--timeout', '1s')).status, 2)
  })

  test('an interrupt ends the waiting with 130, not the run', async () => {
    await make('interrupted', 'slow')
    const controller = new AbortController()
    const waiting = bench.sayWith({ signal: controller.signal }, 'run', 'interrupted', '--wait')
    await until(async () =>
      (await bench.client.schedules.get('interrupted')).open.some(({ state }) => state === 'running'),
    )
    controller.abort(new Interrupted('Interrupted by SIGINT.', 130))
    const { status, stderr } = await waiting
    assert.equal(status, 130)
    assert.match(stderr, /note: The fire goes on: cronce show interrupted /)
    assert.equal((await bench.client.schedules.get('interrupted')).open.length, 1)
  })

  test('reports that no instance can run it instead of waiting silently', async () => {
    await make('homeless', 'nowhere')
    const asked = await bench.say('run', 'homeless')
    assert.equal(asked.status, 0)
    assert.match(asked.stderr, /warning: None of the 1 live instances has job "nowhere"/)
    const waited = await bench.say('run', 'homeless', '--wait', '--timeout', '1')
    assert.equal(waited.status, 1)
    assert.match(waited.stderr, /^warning: None of the 1 live instances has job "nowhere"/)
    const json = JSON.parse((await bench.say('run', 'homeless', '--json')).stdout)
    assert.equal(json.runnable, false)
  })

  test('one fire for a key, however often it is requested', async () => {
    await make('keyed', 'good')
    const first = await bench.say('run', 'keyed', '--dedupe', 'ticket-17', '--wait')
    const second = await bench.say('run', 'keyed', '--dedupe', 'ticket-17', '--wait')
    assert.deepEqual([first.status, second.status, second.stdout], [0, 0, '{"rows":3}\n'])
    assert.match(second.stderr, /note: The key ticket-17 is on record/)
    assert.equal((await bench.client.fires.list({ schedule: 'keyed' })).items.length, 1)
  })

  test('a fire that overlap prevents is refused with 4, or 20 with --wait, unless overlap is ignored', async () => {
    await make('busy', 'slow')
    await bench.say('run', 'busy')
    await until(async () => (await bench.client.schedules.get('busy')).open.some(({ state }) => state === 'running'))
    const plan = await bench.say('run', 'busy', '--dry-run')
    assert.match(plan.stdout, /1 fire of it is active: by its overlap policy this one is skipped, unless/)
    const refused = await bench.say('run', 'busy')
    assert.equal(refused.status, 4)
    assert.match(refused.stdout, /busy was not run now: skipped \(overlap\)/)
    assert.equal((await bench.say('run', 'busy', '--wait')).status, 20)
    assert.equal((await bench.say('run', 'busy', '--ignore-overlap')).status, 0)
    await until(
      async () =>
        (await bench.client.schedules.get('busy')).open.filter(({ state }) => state === 'running').length === 2,
    )
  })

  test('--dry-run prints what it would do, and changes nothing', async () => {
    await make('planned', 'good')
    await bench.client.schedules.pause('planned')
    const { status, stdout } = await bench.say('run', 'planned', '--dry-run', '--input', '[1]', '--dedupe', 'k')
    assert.equal(status, 0)
    assert.match(
      stdout,
      /^Nothing is changed\. This would be:\n {2}Run planned now, once, besides its instants: job "good", with input \[1\]\.\n/,
    )
    assert.match(
      stdout,
      /Only if no fire has the key k\.\n {2}The schedule is paused; this fire is run all the same\.\n$/,
    )
    const json = JSON.parse((await bench.say('run', 'planned', '--dry-run', '--json')).stdout)
    assert.deepEqual([json.dryRun, json.schedule, json.job], [true, 'planned', 'good'])
    assert.equal((await bench.client.fires.list({ schedule: 'planned' })).items.length, 0)
  })

  test('input is JSON, from the command line, a file or stdin; invalid input is reported with its place', async () => {
    await make('fed', 'good')
    writeFileSync(join(folder, 'input.json'), '{"from":"file"}')
    writeFileSync(join(folder, 'broken.json'), '{\n  "a": 1,\n}')
    writeFileSync(join(folder, 'latin1.json'), Buffer.from([0x22, 0xe9, 0x22]))
    writeFileSync(join(folder, 'huge.json'), JSON.stringify('x'.repeat(2_000_000)))
    const here = { cwd: folder, input: '{"from":"stdin"}' }
    const file = await bench.sayWith(here, 'run', 'fed', '--wait', '--input', '@input.json')
    assert.match(file.stderr, /begins with {"from":"file"}/)
    const stdin = await bench.sayWith(here, 'run', 'fed', '--wait', '--input', '@-')
    assert.match(stdin.stderr, /begins with {"from":"stdin"}/)
    const wrong = await Promise.all(
      [
        '{"a":',
        '@broken.json',
        '@latin1.json',
        '@huge.json',
        '@missing.json',
        '@.',
        JSON.stringify('x'.repeat(70_000)),
      ].map((input) => bench.sayWith(here, 'run', 'fed', '--input', input)),
    )
    assert.deepEqual(
      wrong.map(({ status }) => status),
      wrong.map(() => 2),
    )
    const [, broken, latin1, huge, missing] = wrong.map(({ stderr }) => stderr)
    assert.match(broken!, /broken\.json, line 3, column 1, is not JSON/)
    assert.match(latin1!, /is not UTF-8/)
    assert.match(huge!, /larger than 64 KB/)
    assert.match(missing!, /can't be read/)
  })

  test('an unknown name: exit code 3, and a suggestion', async () => {
    await make('nightly-report', 'good')
    const { status, stdout, stderr } = await bench.say('run', 'nightly-reprot')
    assert.deepEqual([status, stdout], [3, ''])
    assert.match(stderr, /There is no schedule "nightly-reprot"\.\nhint: Did you mean nightly-report\?/)
    assert.equal((await bench.say('run')).status, 2)
    assert.equal((await bench.say('run', 'a', 'b')).status, 2)
  })
})
