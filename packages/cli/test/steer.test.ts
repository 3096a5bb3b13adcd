import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { type Cronce, cronce } from 'cronce'
import { type Bench, benchOn, fleetOn, scratch, until } from './steer-kit.ts'

const MINUTE = 60_000
const DAY = 86_400_000

describe('steering', { concurrency: 6 }, () => {
  let folder: string
  let app: Cronce
  let bench: Bench
  before(async () => {
    folder = scratch()
    const store = `sqlite:${join(folder, 'steer.db')}`
    app = fleetOn(store)
    await app.start()
    bench = await benchOn(store)
  })
  after(async () => {
    await bench.client.close()
    await app.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  const make = async (name: string, more = {}): Promise<void> => {
    await bench.client.schedules.create(name, { job: 'good', cron: '0 3 * * *', ...more })
  }
  const get = (name: string) => bench.client.schedules.get(name)

  test('pause prints its end and what falls into it; describe shows note and author', async () => {
    await make('audit')
    const args = ['pause', 'audit', '--until', '+2d', '--missed', 'latest', '--note', 'wrong prices'] as const
    const plan = await bench.say(...args, '--dry-run')
    assert.equal(plan.status, 0)
    assert.match(
      plan.stdout,
      /Pause audit until .* UTC: 2 instants fall into it, the latest of them is run when it ends\.\n$/,
    )
    assert.equal((await get('audit')).pause, null, '--dry-run changes nothing')
    const done = await bench.say(...args)
    assert.match(
      done.stdout,
      /^audit is paused until .* UTC: 2 instants fall into it, the latest of them is run when it ends\.\n$/,
    )
    const { pause } = await get('audit')
    assert.deepEqual([pause!.note, pause!.author, pause!.missed], ['wrong prices', 'ada@desk', 'latest'])
    assert.match((await bench.say('describe', 'audit')).stdout, /wrong prices/)
    const again = await bench.say('pause', 'audit', '--dry-run', '--author', 'bob')
    assert.match(again.stdout, /which is paused by ada@desk \(wrong prices\) and gets this end and note instead/)
    assert.equal((await bench.say('pause', 'audit', '--until', 'yesterday')).status, 2)
  })

  test('resume prints what fell into the pause, and is not a toggle', async () => {
    await make('hourly', { cron: '0 * * * *' })
    await bench.client.schedules.create('often', { job: 'good', every: '100ms' })
    await bench.client.schedules.pause('often', { missed: 'all' })
    const plan = await until(async () => {
      const { stdout } = await bench.say('resume', 'often', '--dry-run')
      return /[2-9] instants/.test(stdout) && stdout
    })
    assert.match(
      plan,
      /Resume often, paused .*: \d+ instants fell into the pause, and all are run now, one after the other\.\n$/,
    )
    const chosen = await bench.say('resume', 'often', '--dry-run', '--missed', 'skip')
    assert.match(chosen.stdout, /\d+ instants fell into the pause, and none is run\.\n$/)
    await bench.client.schedules.pause('hourly', { missed: 'all' })
    const done = await bench.say('resume', 'hourly', '--note', 'fixed')
    assert.match(done.stdout, /^hourly is resumed\. Next: .* UTC \(in .*\)\. By ada@desk: fixed\n$/)
    const again = await bench.say('resume', 'hourly', '--json')
    assert.deepEqual(JSON.parse(again.stdout), { version: 1, changed: 0, unchanged: 1, items: [], author: 'ada@desk' })
    assert.match(again.stderr, /note: hourly is not paused\./)
  })

  test('a change of several schedules needs a yes, from a flag or a terminal; one wrong name changes none', async () => {
    await make('one')
    await make('two')
    const states = async () => [(await get('one')).state, (await get('two')).state]
    const refused = await bench.say('pause', 'one', 'two')
    assert.equal(refused.status, 4)
    assert.match(
      refused.stderr,
      /It was not confirmed: Pause one .*Pause two .*\nhint: Look at it with --dry-run, then add --yes\.\n$/,
    )
    const slip = await bench.say('pause', 'one', 'twoo', '--yes')
    assert.equal(slip.status, 3)
    const no = await bench.sayWith({ answers: ['n'] }, 'pause', 'one', 'two')
    assert.equal(no.status, 4)
    const noInput = await bench.sayWith({ answers: ['y'] }, 'pause', 'one', 'two', '--no-input', '--json')
    assert.equal(JSON.parse(noInput.stderr).error.code, 'CONFIRMATION_NEEDED')
    assert.deepEqual(await states(), ['active', 'active'])
    const yes = await bench.sayWith({ answers: ['y'] }, 'pause', 'one', 'two')
    assert.deepEqual([yes.status, await states()], [0, ['paused', 'paused']])
    const json = JSON.parse((await bench.say('resume', 'one', 'two', '--yes', '--json')).stdout)
    assert.deepEqual([json.version, json.changed, json.items.length], [1, 2, 2])
    assert.deepEqual(await states(), ['active', 'active'])
  })

  test('many by what they have in common: counted before, counted after, those of others left alone', async () => {
    await bench.client.schedules.createMany(
      Array.from({ length: 300 }, (_, i) => [`bulk:${String(i).padStart(3, '0')}`, { job: 'good', cron: '0 3 * * *' }]),
    )
    await bench.client.schedules.pause('bulk:007', { note: 'mine', author: 'bob' })
    const plan = await bench.say('pause', '--prefix', 'bulk:', '--dry-run')
    assert.match(
      plan.stdout,
      /Pause 299 schedules that begin with "bulk:": bulk:000, bulk:001, bulk:002, bulk:003, bulk:004, …\. Left alone: 1 that is paused\.\n/,
    )
    const refused = await bench.say('pause', '--prefix', 'bulk:')
    assert.equal(refused.status, 4)
    const done = await bench.sayWith({ columns: 80 }, 'pause', '--prefix', 'bulk:', '--yes', '--note', 'upgrade')
    assert.deepEqual([done.status, done.stdout], [0, '299 schedules paused. Left alone: 1 that is paused.\n'])
    assert.match(done.stderr, /\[2K\d+ of 299 schedules paused/)
    assert.equal((await get('bulk:007')).pause!.note, 'mine')
    assert.equal((await get('bulk:299')).pause!.note, 'upgrade')
    const back = ['resume', '--prefix', 'bulk:', '--job', 'good', '--yes', '--json', '--note', 'done'] as const
    const json = JSON.parse((await bench.say(...back)).stdout)
    const why = { author: 'ada@desk', note: 'done' }
    assert.deepEqual(json, { version: 1, changed: 300, unchanged: 0, failed: [], ...why }, 'it is kept nowhere else')
    const rest = await bench.say('resume', '--prefix', 'bulk:', '--yes')
    assert.match(
      rest.stderr,
      /note: Nothing to do among the schedules that begin with "bulk:"\. Left alone: 300 that are active\./,
    )
    const none = await bench.say('pause', '--job', 'no-such-job', '--yes')
    assert.equal(none.status, 3)
    assert.match(none.stderr, /There are no schedules of job "no-such-job"/)
  })

  test('the schedules must be selected, and in one way only', async () => {
    const wrong = [
      [],
      ['a', '--all'],
      ['--all', '--prefix', 'x'],
      ['--prefix', ''],
      ['a', '--missed', 'some'],
      ['a', '--unitl', 'tomorrow'],
    ]
    for (const args of wrong) assert.equal((await bench.say('pause', ...args)).status, 2, args.join(' '))
  })

  test('flags and times are called as they are typed', async () => {
    const note = await bench.say('pause', 'good', '--note', 'x'.repeat(2_000))
    assert.match(note.stderr, /^error: --note can't be .*\nhint: Write --note '…'\.\n$/)
    const range = await bench.say('backfill', 'good', '--from', 'now-1h', '--to', 'now-2h')
    assert.match(range.stderr, /\nhint: Make --to later than --from\.\n$/)
    const none = await bench.say('show', 'good', '2020-01-01')
    assert.match(none.stderr, /no record of a fire of "good" due 2020-01-01T00:00:00\.000Z\./)
  })

  test('skip-next names the instant, leaves out that one only, and refuses another', async () => {
    await make('daily')
    const { nextAt } = await get('daily')
    const plan = await bench.say('skip-next', 'daily', '--dry-run')
    assert.match(
      plan.stdout,
      /Skip one fire of daily: the one due \w+ .* 03:00 UTC \(in .*\)\.\n {2}The next is then due \w+ .* 03:00 UTC/,
    )
    assert.equal((await get('daily')).nextAt, nextAt)
    const done = await bench.say('skip-next', 'daily', '--due', new Date(nextAt!).toISOString(), '--note', 'holiday')
    assert.equal(done.status, 0)
    assert.match(done.stdout, /^daily skips the fire due .* 03:00 UTC \(in .*\)\. Next: .* 03:00 UTC/)
    assert.equal((await get('daily')).nextAt, nextAt! + DAY)
    const { state, detail } = await bench.client.fires.get({ schedule: 'daily', dueAt: nextAt! })
    assert.deepEqual([state, detail], ['skipped', 'by ada@desk: holiday'])
    const late = await bench.say('skip-next', 'daily', '--due', new Date(nextAt!).toISOString())
    assert.equal(late.status, 4)
    assert.match(late.stderr, /is due next at .*, not at .*\nhint: Look again/)
    await bench.client.schedules.create('never', { job: 'good' })
    assert.equal((await bench.say('skip-next', 'never')).status, 2)
  })

  test('backfill counts first, asks when it is many, and runs what was not run', async () => {
    await bench.client.schedules.create('gaps', { job: 'good', every: '1m', start: new Date(Date.now() + DAY) })
    await make('minutely', { cron: undefined, every: '1m' })
    const from = (minutes: number) => new Date(Math.floor(Date.now() / MINUTE - minutes) * MINUTE).toISOString()
    const tooOld = await bench.say('backfill', 'minutely', '--from', from(30))
    assert.equal(tooOld.status, 4)
    assert.match(tooOld.stderr, /was made at .*\nhint: Begin later, or add --force if there was none\./)
    const plan = await bench.say(
      'backfill',
      'minutely',
      '--from',
      from(30),
      '--to',
      from(1),
      '--force',
      '--dry-run',
      '--json',
    )
    assert.deepEqual(JSON.parse(plan.stdout).preview, { instants: 30, toRun: 30, alreadyRun: 0, more: false })
    assert.equal((await bench.say('backfill', 'minutely', '--from', from(30), '--force')).status, 4)
    assert.equal((await get('minutely')).backfills.length, 0)

    const range = ['--from', from(3), '--to', from(1), '--force'] as const
    const done = await bench.say('backfill', 'minutely', ...range)
    assert.equal(done.status, 0)
    assert.match(
      done.stdout,
      /^minutely is filled in from .* to .*: of 3 instants, 3 to be run, 0 run or open already\.\n$/,
    )
    await until(async () => {
      const { items } = await bench.client.fires.list({ schedule: 'minutely', outcome: 'succeeded', to: from(0) })
      return items.length === 3
    })
    const again = await bench.say('backfill', 'minutely', ...range)
    assert.match(again.stdout, /^Nothing to do for minutely .*: of 3 instants, 0 to be run, 3 run or open already\.\n$/)
    const nothing = await bench.say('backfill', 'gaps', '--from', 'now-2m', '--force')
    assert.match(nothing.stdout, /it has no instants there/)
    assert.equal((await bench.say('backfill', 'minutely')).status, 2)
    assert.equal((await bench.say('backfill', 'minutely', '--from', 'now+1h', '--to', 'now+2h')).status, 2)
  })

  test('cancel ends a waiting fire at once, asks a run to end, and asks which of several is meant', async () => {
    await make('queue', { job: 'slow', overlap: 'queue-all', cron: undefined })
    assert.equal((await bench.say('cancel', 'queue')).status, 4, 'nothing is open')
    for (const key of ['first', 'second', 'third']) await bench.client.schedules.trigger('queue', { dedupe: key })
    const running = await until(async () => (await get('queue')).open.find(({ state }) => state === 'running') ?? null)
    const several = await bench.say('cancel', 'queue')
    assert.equal(several.status, 2)
    assert.match(several.stderr, /queue has 3 open fires\.\nhint: Say which, or add --all: .*third/)
    const plan = await bench.say('cancel', 'queue', running.token!, '--dry-run')
    assert.match(
      plan.stdout,
      /Cancel the fire of queue due .*, running for .* \(run \d+\): it has 10s to end after its signal\.\n$/,
    )

    const third = await bench.say('cancel', 'queue', 'third', '--note', 'not this')
    assert.match(third.stdout, /^The fire of queue due .* is cancelled\.\n$/)
    assert.equal(
      (await bench.client.fires.list({ schedule: 'queue', nonce: 'third' })).items[0]!.detail,
      'by ada@desk: not this',
    )
    assert.equal((await bench.say('cancel', 'queue', 'third')).status, 4)
    assert.equal((await bench.say('cancel', 'queue', '2020-01-01')).status, 4)
    assert.equal((await bench.say('cancel', 'queue', '17592186099999')).status, 4)

    const first = await bench.say('cancel', 'queue', new Date(running.dueAt).toISOString())
    assert.match(first.stdout, /was asked to end, and is over in 10s at the latest|is cancelled/)
    await until(async () => (await get('queue')).open.length === 1)
    assert.equal((await bench.say('cancel', 'queue', '--all')).status, 4)
    const all = await bench.say('cancel', 'queue', '--all', '--yes', '--json')
    assert.equal(JSON.parse(all.stdout).items.length, 1)
    await until(async () => (await get('queue')).open.length === 0)
  })

  test('retry opens another round; what succeeded needs --force', async () => {
    await make('again', { job: 'bad', cron: undefined })
    await make('fine', { cron: undefined })
    await bench.say('run', 'again', '--wait')
    await bench.say('run', 'fine', '--wait', '--dedupe', 'ticket')
    const [run] = (await bench.client.runs.list({ schedule: 'again' })).items
    const plan = await bench.say('retry', 'again', run!.token, '--dry-run')
    assert.match(
      plan.stdout,
      /Open round 2 of the fire of again due .*, which ended after 1 run: failed \(error\)\. It is run again/,
    )
    const done = await bench.say('retry', 'again', new Date(run!.dueAt).toISOString(), '--json', '--note', 'fixed')
    const { fire } = JSON.parse(done.stdout)
    assert.deepEqual([done.status, fire.round, fire.state, fire.asked.note], [0, 2, 'open', 'fixed'])
    await until(async () => (await bench.client.fires.get(run!)).state === 'failed')

    const refused = await bench.say('retry', 'fine', 'ticket')
    assert.equal(refused.status, 4)
    assert.match(refused.stderr, /It succeeded, the fire of fine .*\nhint: Add --force/)
    const forced = await bench.say('retry', 'fine', 'latest', '--force')
    assert.match(forced.stdout, /^Round 2 of the fire of fine due .* is open/)
    assert.equal((await bench.say('retry', 'fine', '2020-01-01')).status, 3)
    const none = await bench.say('retry', 'fine')
    assert.deepEqual([none.status, /No fire of "fine" that failed is on record/.test(none.stderr)], [3, true])
    const failed = await bench.say('retry', 'again', '--dry-run')
    assert.match(failed.stdout, /Open round 3 of the fire of again due .*: failed \(error\)/)
    assert.equal((await bench.say('retry')).status, 2)
    assert.equal((await bench.say('retry', 'finee', 'latest')).status, 3)
  })

  test('remove deletes created schedules, prints what goes with them, and refuses those that are in the code', async () => {
    await make('goner')
    await make('busy', { job: 'slow', cron: undefined })
    const unsure = await bench.say('remove', 'goner')
    assert.equal(unsure.status, 4)
    assert.match(unsure.stderr, /It was not confirmed: Remove goner \(active, job "good"\): what is on record stays/)
    assert.equal((await bench.say('remove', 'goner', '--dry-run')).status, 0)
    assert.equal((await bench.say('remove', 'goner', 'gonner', '--yes')).status, 3)
    assert.equal((await get('goner')).name, 'goner', 'a slip in one name removes none')
    const gone = await bench.say('remove', 'goner', '--yes', '--note', 'tidied up')
    assert.deepEqual([gone.status, gone.stdout], [0, 'goner is removed. By ada@desk: tidied up\n'])
    assert.equal(await bench.client.schedules.find('goner'), null)

    const inCode = await bench.say('remove', 'good', '--yes')
    assert.equal(inCode.status, 4)
    assert.match(inCode.stderr, /good is declared in the code of shop, which would make it again\.\nhint: .*--force/)
    await bench.client.schedules.trigger('busy')
    await until(async () => (await get('busy')).open.find(({ state }) => state === 'running') ?? null)
    const busy = await bench.say('remove', 'busy', '--yes')
    assert.deepEqual([busy.status, /has a run that is not over/.test(busy.stderr)], [4, true])
    const forced = await bench.say('remove', 'busy', '--yes', '--force', '--json')
    assert.deepEqual(JSON.parse(forced.stdout).removed, ['busy'])
    assert.equal((await bench.say('remove')).status, 2)
  })

  test('a schedule whose job left the code is shown as not due by every command, and can be removed', async () => {
    const options = { store: bench.store, app: 'leaving', logger: false, signals: false, holdDown: '1s' } as const
    for (const deployment of ['v1', 'v2']) {
      const other = cronce({ ...options, deployment })
      // A process without jobs would retire nothing.
      other.job(deployment === 'v1' ? 'left' : 'stays', { cron: '0 3 * * *' }, () => {})
      await other.start()
      if (deployment === 'v2') await until(async () => (await get('left')).state === 'retired')
      await other.stop()
    }
    for (const command of ['pause', 'resume'])
      assert.match((await bench.say(command, 'left')).stdout, /It is retired: it is not due\.\n$/, command)
    assert.match((await bench.say('resume', 'left')).stderr, /left is not paused\. It is retired: it is not due\./)
    assert.equal((await bench.say('remove', 'left', '--yes')).status, 0)
  })

  test('logs marks where a log was cut', async () => {
    await make('talk', { job: 'chatty', cron: undefined })
    await bench.say('run', 'talk', '--wait')
    const { stdout, stderr } = await bench.say('logs', 'talk')
    assert.doesNotMatch(stdout, / 40 x/)
    assert.match(stderr, /note: The log is cut here: what the run said after that was not kept\.\n$/)
  })

  test('a fire that was skipped ahead of time can be brought back', async () => {
    await make('regretted')
    const { nextAt } = await get('regretted')
    await bench.say('skip-next', 'regretted')
    const due = new Date(nextAt!).toISOString()
    await bench.say('run', 'regretted', '--wait')
    assert.match((await bench.say('show', 'regretted')).stdout, /^regretted {2}succeeded\n/, 'the latest that was due')
    assert.equal((await bench.say('retry', 'regretted', due)).status, 0)
    const [open] = (await get('regretted')).open
    assert.deepEqual([open!.dueAt, open!.readyAt], [nextAt, nextAt])
  })

  test('drain takes the beginning of an id, names the jobs that no other instance runs, and can be undone', async () => {
    const other = fleetOn(bench.store)
    other.job('only here', {}, () => {})
    await other.start()
    try {
      const id = other.instance!
      const isDrained = async () => (await bench.client.instances.list()).find((instance) => instance.id === id)!.drain
      const plan = await bench.say('drain', id, '--dry-run')
      assert.match(
        plan.stdout,
        /Instance \S+ \(shop v1, process \d+ on \S+\) takes nothing new; (?:it runs nothing now|\d+ runs? goe?s? on)\.\n {2}No other instance has only here: /,
      )
      assert.equal(await isDrained(), false)
      const done = await bench.say('drain', id.slice(0, 8), '--note', 'new kernel')
      assert.deepEqual([done.status, await isDrained()], [0, true])
      assert.match(
        done.stdout,
        /takes nothing new; (?:it runs nothing now|\d+ runs? goe?s? on)\. By ada@desk: new kernel\n$/,
      )
      assert.match(done.stderr, /warning: No other instance has only here/)
      await make('lonely', { job: 'only here', cron: undefined })
      const lonely = await bench.say('run', 'lonely')
      assert.match(lonely.stderr, /warning: All live instances that have job "only here" are being drained/)
      const undone = await bench.say('drain', id, '--undo', '--json')
      assert.deepEqual([JSON.parse(undone.stdout).drain, await isDrained()], [false, false])
      const slip = await bench.say('drain', `${id.slice(0, -1)}${id.endsWith('_') ? '-' : '_'}`)
      assert.equal(slip.status, 3)
      assert.match(slip.stderr, new RegExp(`Did you mean ${id}`))
    } finally {
      await other.stop()
    }
  })
})
