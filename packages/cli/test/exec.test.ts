import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Connection, connect, cron } from 'cronce'
import { isOfExec, needsInstance } from 'cronce/internal'
import { type Server, startPostgres, startRedis } from '../../../scripts/servers/index.ts'
import { readArgs } from '../src/args.ts'
import { exitOf } from '../src/service/exec/exec-exit.ts'
import { EXEC_FLAGS, readPlan } from '../src/service/exec/exec-plan.ts'
import { findDue } from '../src/service/exec/find-due.ts'
import { ask, type Result } from './cronce.ts'
import { type Running, running, scratch } from './fixtures/service/running.ts'

/** Writes to a file when it starts, and for which fire; and when it ends, unless it is ended before. */
const SLOW = [
  'echo "begun $CRONCE_DUE $CRONCE_ATTEMPT" >> said',
  'while [ ! -e go ]; do sleep 0.05; done',
  'echo "ended $CRONCE_DUE $CRONCE_ATTEMPT" >> said',
].join('; ')

interface Context {
  after(work: () => unknown): void
}

/** A folder with a store in it, and what is needed to look at both. */
function place(context: Context, url?: string, namespace = 'default') {
  const folder = scratch(context)
  const store = url ?? `sqlite:${join(folder, 'cronce.db')}`
  return {
    folder,
    store,
    exec(flags: readonly string[], command: readonly string[], name = 'nightly'): Running {
      const started = running(['exec', '--name', name, ...flags, '--', ...command], {
        cwd: folder,
        env: { CRONCE_STORE: store, CRONCE_NAMESPACE: namespace },
      })
      context.after(() => started.end('SIGKILL'))
      return started
    },
    /** Without a process, where nothing is about its end or its streams; the command must write nothing to them. */
    execHere: (flags: readonly string[], command: readonly string[], name = 'nightly'): Promise<Result> =>
      ask(['exec', '--name', name, ...flags, '--', ...command], {
        CRONCE_STORE: store,
        CRONCE_NAMESPACE: namespace,
      }),
    said: (): string[] =>
      (existsSync(join(folder, 'said')) ? readFileSync(join(folder, 'said'), 'utf8') : '').split('\n').filter(Boolean),
    go: (): void => writeFileSync(join(folder, 'go'), ''),
    async client(): Promise<Connection> {
      const client = await connect({ store, namespace, logger: false })
      context.after(() => client.close())
      return client
    },
  }
}

async function until(is: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 2_400; tries++) {
    if (await is()) return
    await sleep(50)
  }
  assert.fail('it did not come to that in two minutes')
}

function justNow(): string {
  return new Date(Math.floor(Date.now() / 1_000) * 1_000).toISOString()
}

const { CRONCE_LONG } = process.env
const isLong = CRONCE_LONG === '1'
const HOSTS = isLong ? 5 : 3

describe('cronce exec', { concurrency: 3 }, () => {
  let postgres: Server
  let redis: Server | undefined
  before(async () => {
    ;[postgres, redis] = await Promise.all([
      startPostgres({ settings: { fsync: 'off' } }),
      isLong ? startRedis() : undefined,
    ])
    const { status, stderr } = await ask(['migrate', 'up', '--store', postgres.url])
    assert.equal(status, 0, stderr)
  })
  after(() => Promise.all([postgres.stop(), redis?.stop()]))

  for (const kind of ['sqlite', 'postgres', 'redis'] as const) {
    const skip = kind === 'redis' && !isLong ? 'takes long: set CRONCE_LONG=1' : false
    test(`of ${HOSTS} hosts with the same due time, one runs the command: ${kind}`, { skip }, async (context) => {
      const { exec, execHere, said, client, store } = place(
        context,
        { sqlite: undefined, postgres: postgres.url, redis: redis?.url }[kind],
      )
      const due = justNow()
      const command = ['sh', '-c', 'echo "$CRONCE_FIRE_ID" >> said; echo out; echo err >&2; sleep 1; exit 7']
      const all = Array.from({ length: HOSTS }, () => exec(['--due', due], command))
      const codes = await Promise.all(all.map((one) => one.ended))
      const expected = Array.from({ length: HOSTS }, (_, index) => (index === HOSTS - 1 ? 7 : 0))
      assert.deepEqual(codes.toSorted(), expected, all.map((one) => one.said()).join())
      assert.deepEqual(said(), [`nightly@${due}`])
      for (const [index, one] of all.entries()) {
        if (codes[index] === 7)
          assert.deepEqual([one.stdout(), one.stderr()], ['out\n', 'err\n'], 'quiet but for the command')
        else
          assert.match(one.stderr(), /^cronce: another (runs|ran) it: nightly \(due .*\) .* on .*\(process \d+\)\.\n$/)
      }
      const late = await execHere(['--due', due], command)
      assert.equal(late.status, 0)
      assert.match(late.stderr, /another ran it: nightly \(due .*\) failed at /)
      assert.equal(said().length, 1)

      const { fires, runs, schedules } = await client()
      const made = await schedules.get('nightly')
      const triggered = { ...made, trigger: { kind: 'cron', expression: '0 3 * * *' } as const }
      assert.deepEqual(
        [
          isOfExec(made),
          needsInstance({ ...made, app: null }),
          needsInstance({ ...triggered, app: null }),
          needsInstance(triggered),
        ],
        [true, false, true, false],
      )
      const [fire, ...more] = (await fires.list({ schedule: 'nightly' })).items
      assert.deepEqual([fire?.state, fire?.attempt, more], ['failed', 1, []])
      const { items } = await runs.list({ schedule: 'nightly' })
      assert.deepEqual(
        items.map(({ error }) => error?.message),
        ['The command "sh" exited with 7.'],
      )
      assert.doesNotMatch(late.stderr, new RegExp(new URL(store).password || 'no password at all'))
    })
  }

  for (const kind of ['sqlite', 'postgres'] as const) {
    test(`a host that stands by takes over from a host that dies, whose command has died with it: ${kind}`, async (context) => {
      const { exec, said, go, client } = place(context, kind === 'postgres' ? postgres.url : undefined, 'standing by')
      const due = justNow()
      // A new instance may have to wait for the lease, if the store does not report at once which instance holds runs.
      const flags = ['--due', due, '--wait', '--lease', '2s']
      const winner = exec(flags, ['sh', '-c', SLOW])
      await until(() => said().length === 1)
      const reserve = exec(flags, ['sh', '-c', SLOW])
      await reserve.until(/another runs it/)
      await winner.end('SIGKILL')
      await until(() => said().length === 2)
      go()
      assert.equal(await reserve.ended, 0, reserve.said())
      assert.deepEqual(said(), [`begun ${due} 1`, `begun ${due} 2`, `ended ${due} 2`])
      assert.match(reserve.stderr(), /nightly \(due .*\) is run here, attempt 2\./)
      const { fires } = await client()
      assert.deepEqual(
        (await fires.list()).items.map(({ state, attempt }) => [state, attempt]),
        [['succeeded', 2]],
      )
    })
  }

  test('SIGTERM is passed on, and what it ends is given back to a host that stands by', async (context) => {
    const { exec, said, go } = place(context)
    const due = justNow()
    const winner = exec(['--due', due], ['sh', '-c', `trap 'echo told >> said; exit 9' TERM; ${SLOW}`])
    await until(() => said().length === 1)
    const reserve = exec(['--due', due, '--wait'], ['sh', '-c', SLOW])
    await reserve.until(/another runs it/)
    assert.equal(await winner.end('SIGTERM'), 9, 'the code is that of the command')
    go()
    assert.equal(await reserve.ended, 0, reserve.said())
    assert.deepEqual(said(), [`begun ${due} 1`, 'told', `begun ${due} 2`, `ended ${due} 2`])
  })

  test('a command that was interrupted has failed, and does not run again', async (context) => {
    const { exec, said, client } = place(context)
    const due = justNow()
    const winner = exec(['--due', due, '--retry', '3'], ['sh', '-c', SLOW])
    await until(() => said().length === 1)
    assert.equal(await winner.end('SIGINT'), 130)
    const { fires } = await client()
    const { items } = await fires.list()
    assert.deepEqual(
      items.map(({ state, reason }) => [state, reason]),
      [['failed', 'error']],
    )
    await until(() => new Date(justNow()) > new Date(due))
    const deaf = exec(['--due', justNow()], ['sh', '-c', `trap 'echo fine >> said; exit 0' TERM; ${SLOW}`])
    await until(() => said().length === 2)
    assert.equal(await deaf.end('SIGTERM'), 0, 'what ends well has ended well')
    assert.equal((await fires.list({ outcome: 'succeeded' })).items.length, 1)
  })

  test('what a dead host has left is run first by the next one, whose own fire is skipped or waits', async (context) => {
    for (const [overlap, expected] of [
      ['skip', ['succeeded', 'skipped']],
      ['queue', ['succeeded', 'succeeded']],
    ] as const) {
      const { exec, said, client, go } = place(context)
      const due = justNow()
      const lost = exec(['--due', due, '--overlap', overlap], ['sh', '-c', SLOW])
      await until(() => said().length === 1)
      await lost.end('SIGKILL')
      await until(() => new Date(justNow()) > new Date(due))
      const next = exec(['--due', justNow(), '--overlap', overlap], ['sh', '-c', SLOW])
      const { fires } = await client()
      // What was left must not be over before its own fire comes.
      await until(async () => said().length === 2 && (await fires.list()).items.length === 2)
      go()
      assert.equal(await next.ended, 0, next.said())
      assert.match(next.stderr(), /is run here, attempt 2\./)
      const { items } = await fires.list({ order: 'earliest' })
      assert.deepEqual([items.map(({ state }) => state), items[0]?.dueAt], [expected, Date.parse(due)])
      assert.equal(said().filter((line) => line.startsWith('ended')).length, overlap === 'queue' ? 2 : 1)
    }
  })

  test('exit codes: of the command, of signals, of timeouts, of programs that are not there', async (context) => {
    const { execHere, said, folder } = place(context)
    writeFileSync(join(folder, 'no-program'), 'text', { mode: 0o644 })
    const cases: readonly [flags: string[], command: string[], code: number, said: RegExp][] = [
      [[], ['true'], 0, /^$/],
      [[], ['sh', '-c', 'kill -9 $$'], 137, /^$/],
      [['--timeout', '1s', '--grace', '1s'], ['sleep', '600'], 124, /it took longer than --timeout/],
      [[], ['no-such-program'], 127, /could not be started: there is no such program/],
      [[], [join(folder, 'no-program')], 126, /could not be started: it may not be executed/],
      [['--retry', '1'], ['sh', '-c', `echo x >> '${folder}/said'; test $CRONCE_ATTEMPT = 2`], 0, /attempt 2/],
    ]
    const ended = await Promise.all(
      cases.map(async ([flags, command], index) => {
        const { status, stderr } = await execHere(['--due', justNow(), ...flags], command, `case ${index}`)
        return [status, stderr] as const
      }),
    )
    assert.deepEqual(
      ended.map(([code]) => code),
      cases.map(([, , code]) => code),
    )
    for (const [index, [, stderr]] of ended.entries()) assert.match(stderr, cases[index]![3])
    assert.deepEqual(said(), ['x', 'x'])
  })

  test('whose schedule is removed meanwhile is ended, and reports it', async (context) => {
    const { exec, said, client } = place(context)
    const begun = exec(['--due', justNow()], ['sh', '-c', SLOW])
    await until(() => said().length === 1)
    await (await client()).schedules.remove('nightly', { force: true })
    assert.equal(await begun.ended, 5, begun.said())
    // Its own process declares the schedule again, so it may find it there.
    assert.match(begun.stderr(), /removed/)
    assert.match(begun.stderr(), /The command was ended: /)
    assert.equal(said().length, 1)
  })

  test('the nearest instant is meant, also if it is just ahead; none is guessed', async (context) => {
    const trigger = cron('0 3 * * *', { tz: 'UTC' })
    const three = Date.UTC(2027, 0, 1, 3)
    const at = (now: number, toleranceMs = 60_000, job: string | undefined = undefined) =>
      findDue({ due: null, trigger, zone: 'UTC', toleranceMs, job }, now)
    assert.equal(at(three - 1_000), three, 'a host that is one second early')
    assert.equal(at(three + 59_000), three)
    assert.throws(() => at(three + 61_000), { code: 'DUE_UNKNOWN', message: /in the zone UTC/, hint: /--tz/ })
    assert.equal(at(three + 61_000, 3_600_000), three)
    const job = `nightly-${three / 60_000}`
    assert.equal(at(three + 7_200_000, 60_000, job), three, 'Kubernetes says it, however late the pod is')
    assert.throws(() => at(three + 7_200_000, 60_000, 'nightly-by-hand'), { code: 'DUE_UNKNOWN' })

    const { execHere, folder, said } = place(context)
    const early = await execHere(
      ['--cron', '*/4 * * * * *'],
      ['sh', '-c', `(echo $CRONCE_DUE; date +%s%3N) > '${folder}/said'`],
    )
    assert.equal(early.status, 0, early.stderr)
    const [due, begun] = said()
    assert.equal(Date.parse(due!) % 4_000, 0)
    assert.ok(Number(begun) >= Date.parse(due!), 'not before its time')
  })

  test('a run that is over before the program starts is not a program that may not be executed', () => {
    const exitAfter = (aborted: string) => exitOf({ dueAt: 0, end: null, refused: null, aborted })
    assert.deepEqual(
      ['LEASE_LOST', 'RUN_FENCED', 'RUN_TIMEOUT', 'RUN_CANCELLED', ''].map((code) => exitAfter(code).code),
      [5, 5, 124, 143, 143],
    )
    assert.match(exitAfter('LEASE_LOST').words ?? '', /^The command was not started: the store could not be reached/)
  })

  test('--cron is read in the zone that cron reads it in', () => {
    const zoneOf = (env: Record<string, string>, ...flags: string[]) =>
      readPlan(readArgs(['--name', 'a', '--cron', '0 3 * * *', ...flags, '--', 'true'], EXEC_FLAGS), env).zone
    const berlin = { TZ: ':Europe/Berlin' }
    assert.deepEqual(
      [zoneOf(berlin), zoneOf({ ...berlin, CRON_TZ: 'Asia/Tokyo' }), zoneOf(berlin, '--tz', 'UTC')],
      ['Europe/Berlin', 'Asia/Tokyo', 'UTC'],
    )
    assert.equal(zoneOf({ ...berlin, CRON_TZ: 'Asia/Tokyo' }, '--tz', 'local'), 'Europe/Berlin')
  })

  test('without a store, a time or a name of its own the command is not run', async (context) => {
    const { folder, client, store } = place(context)
    const { schedules } = await client()
    await schedules.create('taken', { job: 'taken', every: '1h' })
    const command = ['--', 'touch', join(folder, 'ran')]
    const due = ['--due', justNow()]
    const env = { CRONCE_STORE: store }
    const [away, unknown, far, taken, old] = await Promise.all([
      ask(['exec', '--name', 'a', ...due, '--store', 'postgres://me:hush-hush@127.0.0.1:1/x', ...command]),
      ask(['exec', '--name', 'a', ...command], env),
      ask(['exec', '--name', 'a', '--cron', '0 3 29 2 *', ...command], env),
      ask(['exec', '--name', 'taken', ...due, ...command], env),
      ask(['exec', '--name', 'a', '--due', '2020-01-01T00:00Z', ...command], env),
    ])
    assert.deepEqual(
      [away, unknown, far, taken, old].map((result) => result!.status),
      [5, 4, 4, 4, 4],
    )
    for (const { stderr, stdout } of [away!, unknown!, far!, taken!, old!]) {
      assert.match(stderr, /The command was not run\.\nhint: /)
      assert.doesNotMatch(stderr + stdout, /hush/)
    }
    assert.equal((await ask(['exec', '--name', 'known', ...due, '--', 'true'], env)).status, 0)
    const again = ['exec', '--name', 'known', '--retry', '9', '--due', '2020-01-01T00:00Z', ...command]
    assert.equal((await ask(again, env)).status, 4)
    assert.equal((await schedules.get('known')).policy.retry.attempts, 0, 'what is refused changes nothing')
    assert.equal((await ask(['exec', '--name', 'known', ...due, ...command], env)).status, 0, 'it is on record')
    const usage = [
      ['exec', '--name', 'a', ...due],
      ['exec', ...due, ...command],
      ['exec', '--name', 'a', 'stray', ...due, ...command],
      ['exec', '--name', 'a', '--due', 'tomorrow', ...command],
      ['exec', '--name', 'a', '--due', '2027-01-01T00:00Z', '--cron', '* * * * *', ...command],
      ['exec', '--name', 'a', '--tz', 'UTC', ...command],
      ['exec', '--name', 'a', ...due, '--guarantee', 'exactly-once', ...command],
    ]
    for (const args of usage) assert.equal((await ask(args, env)).status, 2, args.join(' '))
    const unnamed = await ask(['exec', 'nightly', '--cron', '0 3 * * *', '--', 'true'], env)
    assert.match(unnamed.stderr, /"nightly" is not a flag[\s\S]*--name nightly/)
    assert.equal(existsSync(join(folder, 'ran')), false)
    const names = (await schedules.list()).items.map(({ name }) => name)
    assert.deepEqual(names, ['known', 'taken'], 'what was refused left no schedule behind')
  })
})
