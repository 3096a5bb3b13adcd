import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, test } from 'node:test'
import { connect, cronce as cronceApp } from 'cronce'
import { obtain, type Server, startPostgres, startRedis } from '../../../scripts/servers/index.ts'
import { run } from '../src/run.ts'
import { ask, cronce, listener, MAIN } from './cronce.ts'
import { makeRecords, type Records } from './records.ts'

/** Looks at what is on record, with the real binary on each store, and more of it in this process. */
describe('seeing what is on record', { concurrency: 1 }, () => {
  let folder: string
  const servers: Server[] = []
  const stores = new Map<string, { readonly url: string; readonly records: Records }>()
  const storeOf = (kind: string) => stores.get(kind)!
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'cronce-see-'))
    const [postgres, redis] = await Promise.all([startPostgres({ settings: { fsync: 'off' } }), startRedis()])
    servers.push(postgres, redis)
    await ask(['migrate', 'up', '--store', postgres.url])
    const urls = { sqlite: `sqlite:${join(folder, 'jobs.db')}`, postgres: postgres.url, redis: redis.url }
    await Promise.all(
      Object.entries(urls).map(async ([kind, url]) => {
        stores.set(kind, { url, records: await makeRecords(url) })
      }),
    )
  })
  after(async () => {
    await Promise.all(servers.map((server) => server.stop()))
    rmSync(folder, { recursive: true, force: true })
  })
  const now = { now: Date.now() + 60_000 }
  const sqlite = (...args: string[]) => ask(args, { CRONCE_STORE: storeOf('sqlite').url }, now)

  for (const kind of ['sqlite', 'postgres', 'redis']) {
    test(`${kind}: the binary lists, shows and judges`, async () => {
      const { url, records } = storeOf(kind)
      const env = { CRONCE_STORE: url, NODE_NO_WARNINGS: '1' }
      const also = kind === 'sqlite' ? cronce : ask
      const [list, show, verify] = await Promise.all([
        cronce(['list', '--json'], env),
        also(['show', 'manual', records.token, '--utc'], env),
        also(['fires', '--verify', '--json', '--to', String(records.stoppedAt)], env),
      ])
      assert.deepEqual([list.status, show.status, verify.status], [0, 0, 0], list.stderr + show.stderr + verify.stdout)
      const { version, items, next } = JSON.parse(list.stdout)
      assert.deepEqual([version, next], [1, null])
      assert.deepEqual(
        items.map(({ name, state }: { name: string; state: string }) => `${name} ${state}`),
        ['burst active', 'digest active', 'manual active', 'paused paused', 'report active', 'tick active'],
      )
      const [burst, , manual] = items
      assert.ok(
        burst.recent.some(({ state, count }: { state: string; count: number }) => state === 'skipped' && count > 1),
      )
      assert.deepEqual([manual.recent[0].state, manual.words], ['succeeded', 'When triggered'])
      assert.match(
        show.stdout,
        /^manual {2}succeeded\ndue .* UTC \(.*\nwhat {8}manual, key request-17, job manual\nasked {7}by eve: again\n/,
      )
      assert.match(
        show.stdout,
        /\ndue +│\nattempt 1 +-*█+ .*\n +│ {2}ended after .*\n· not ready yet {2}- waiting for a start {2}█ running {2}▸ still running\n/,
      )
      assert.match(show.stdout, /\nSteps\ndone {8}charge \(.*\) → 4711\n/)
      assert.match(show.stdout, /\nResult\n\{"done":true\}\n/)
      assert.match(show.stdout, /warn {2}by hand\n {19}and in two lines\n$/)
      const verdict = JSON.parse(verify.stdout)
      assert.deepEqual([verdict.sound, verdict.items.length], [true, 6])
      assert.ok(verdict.counts.expected >= 3 && verdict.counts.retried >= 1, JSON.stringify(verdict.counts))
    })
  }

  test('the list is a table for people, cut to their terminal, and names for scripts', async () => {
    const wide = await sqlite('list')
    const narrow = await ask(['list'], { CRONCE_STORE: storeOf('sqlite').url }, { ...now, columns: 80 })
    const names = await sqlite('list', '-o', 'name', '--state', 'paused')
    const first = await sqlite('list', '--next', '-n', '1', '-o', 'name')
    const none = await sqlite('list', 'nothing-like-it')
    assert.match(wide.stdout, /^NAME {4}STATE {3}WHEN +NEXT +IN +LAST +LATEST 20\nburst /)
    assert.match(
      wide.stdout,
      /\nreport +active +At 01:30, every day \(Europe\/London\) +\w{3} \d{4}-\d\d-\d\d \d\d:\d\d:00 UTC /,
    )
    // On a busy machine some of its fires are late and skipped.
    assert.match(wide.stdout, /\ntick .*█[█░▁▂▄▒▸]*\n$/)
    for (const line of narrow.stdout.trimEnd().split('\n')) assert.ok(line.length <= 80, line)
    assert.match(narrow.stdout, /At 01:30…|…/)
    // The legend is for people: a script gets none.
    assert.match(narrow.stderr, /^note: LATEST 20: █ succeeded {2}▄ failed .* ▸ open\.\n/)
    assert.equal(wide.stderr, '')
    assert.deepEqual(names, { status: 0, stdout: 'paused\n', stderr: '' })
    assert.match(first.stdout, /^(burst|tick)\n$/)
    assert.deepEqual(none, { status: 0, stdout: '', stderr: 'No schedules.\n' })
  })

  test("times are measured by the store's clock, however wrong the operator's is", async () => {
    for (const hours of [-5, 5]) {
      const wrong = { now: Date.now() + hours * 3_600_000 }
      const say = (...args: string[]) => ask(args, { CRONCE_STORE: storeOf('sqlite').url }, wrong)
      const listed = await say('list', 'report')
      const fires = await say('fires', 'manual', '--from', 'now-1h', '--to', 'now+1h', '-o', 'name')
      const runs = await say('runs', 'manual', '--from', 'now-1h', '-o', 'name')
      const described = await say('describe', 'manual')
      const instances = await say('instances', '--all')
      assert.doesNotMatch(listed.stdout, /overdue/)
      assert.match(fires.stdout, /^manual .* request-17\n$/)
      assert.match(runs.stdout, /^manual \d+\n$/)
      assert.doesNotMatch(described.stdout + instances.stdout, /\b[45] h\b/)
    }
  })

  test('a schedule is described, and what came from outside has no power over the terminal', async () => {
    const paused = await sqlite('describe', 'paused')
    const report = await sqlite('describe', 'report', '-n', '2')
    const json = JSON.parse((await sqlite('describe', 'tick', '--json', '-n', '1')).stdout)
    assert.match(paused.stdout, /\nstate +paused since .* by bob, until it is resumed:\s+because<U\+001B>\[31m\n/)
    assert.match(report.stdout, /\nwhen +At 01:30, every day \(Europe\/London\)\n/)
    assert.match(report.stdout, /\ndeclared +in the code of shop\n/)
    assert.match(report.stdout, /\nNext\n.*01:30 \+0\d:00.*\n.*01:30 \+0\d:00.*\n\nPolicies\n/)
    assert.match(report.stdout, /\ntimeout +5m, then 10s of grace\n/)
    assert.deepEqual([json.schedule.name, json.next.length, json.words], ['tick', 1, 'Every 500ms'])
    assert.ok(json.runs.length > 0)
  })

  test('runs are filtered and come in pages', async () => {
    const failed = await sqlite('runs', 'tick', '--outcome', 'failed')
    const page = JSON.parse((await sqlite('runs', '--json', '-n', '2')).stdout)
    const following = JSON.parse((await sqlite('runs', '--json', '-n', '2', '--after', page.next)).stdout)
    const all = JSON.parse((await sqlite('runs', '--json', '--all')).stdout)
    const later = await sqlite('runs', '--from', 'now')
    assert.match(
      failed.stdout,
      /^DUE +SCHEDULE +TOKEN +STATE +DURATION +LATE +ATTEMPT +HOST:PID +DETAIL\n.* tick +\d+ +failed \(error\) .* the disk is full\n/,
    )
    assert.deepEqual(
      [...page.items, ...following.items].map(({ token }) => token),
      all.items.slice(0, 4).map(({ token }: { token: string }) => token),
    )
    assert.deepEqual([all.next, later.stdout, later.stderr], [null, '', 'No runs.\n'])
  })

  test('a fire is found by its due time, too, and the latest without saying more', async () => {
    const { items } = JSON.parse((await sqlite('fires', 'tick', '--json', '-n', '1')).stdout)
    const byTime = JSON.parse((await sqlite('show', 'tick', new Date(items[0].dueAt).toISOString(), '--json')).stdout)
    const byNumber = JSON.parse((await sqlite('show', 'tick', String(items[0].dueAt), '--json')).stdout)
    const latest = JSON.parse((await sqlite('show', 'tick', '--json')).stdout)
    for (const shown of [byTime, byNumber, latest]) assert.equal(shown.fire.dueAt, items[0].dueAt)
    const manual = JSON.parse((await sqlite('show', 'manual', '--json')).stdout)
    const second = new Date(manual.fire.dueAt).toISOString().replace(/\.\d+/, '')
    const bySecond = JSON.parse((await sqlite('show', 'manual', second, '--json')).stdout)
    assert.deepEqual(bySecond.fire, manual.fire)
    const range = await sqlite('fires', 'burst', '--outcome', 'skipped', '-o', 'wide')
    assert.match(range.stdout, /burst +skipped \(paused\) +0 +[\d,]{1,6} +\w{3} \d{4}/)
  })

  test('an unknown name is exit code 3, with what to do', async () => {
    const results = await Promise.all([
      sqlite('describe', 'tik'),
      sqlite('runs', 'tik'),
      sqlite('fires', 'tik'),
      sqlite('fires', 'tik', '--verify'),
      sqlite('show', 'tik'),
      sqlite('show', 'tick', '99999999999999'),
      sqlite('show', 'tick', '2027-01-01'),
      sqlite('logs', 'report'),
      sqlite('tail', 'tik'),
      sqlite('next', 'tik'),
    ])
    for (const { status, stdout, stderr } of results) {
      assert.deepEqual([status, stdout], [3, ''])
      assert.match(stderr, /^error: .*\nhint: /)
    }
  })

  test('logs prints what a run logged; with -f it ends with the run or with a signal', async () => {
    const { token } = storeOf('sqlite').records
    const plain = await sqlite('logs', 'manual')
    const jsonl = await sqlite('logs', 'manual', token, '--jsonl')
    const ended = await sqlite('logs', 'manual', token, '-f')
    const controller = new AbortController()
    const { io, said } = listener({ env: { CRONCE_STORE: storeOf('sqlite').url }, signal: controller.signal })
    const hear = io.out
    // Not of `tick`: its latest run may have been handed back before it wrote anything.
    const following = run(['logs', 'manual', '-f', '-n', '1'], {
      ...io,
      out(text) {
        hear(text)
        controller.abort()
      },
    })
    const followed = { status: await following, ...said() }
    assert.match(plain.stdout, /^\d\d:\d\d:\d\d\.\d{3} warn {2}by hand\n {19}and in two lines\n$/)
    assert.match(plain.stderr, /^── manual due .* UTC, attempt 1, token \d+\n$/)
    assert.equal(JSON.parse(jsonl.stdout).message, 'by hand\nand in two lines')
    assert.deepEqual([ended.status, ended.stdout], [0, plain.stdout])
    assert.match(ended.stderr, /note: The run has ended: succeeded\.\n$/)
    assert.equal(followed.status, 130)
    assert.equal(followed.stdout, plain.stdout)
  })

  test('tail prints what happened since, as lines or as JSON, and ends with a signal', async () => {
    const lines = await sqlite('tail', 'manual', '--from', 'now-1h', '-n', '2')
    const jsonl = await sqlite('tail', '--job', 'manual', '--from', 'now-1h', '-n', '2', '--jsonl')
    const over = await ask(['tail'], { CRONCE_STORE: storeOf('sqlite').url }, { signal: AbortSignal.abort() })
    assert.match(lines.stdout, /^.* UTC {2}▸ manual {2}started on \S+.*\n.* UTC {2}█ manual {2}succeeded in .*\n$/)
    const kinds = jsonl.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).kind)
    assert.deepEqual(kinds, ['run.started', 'run.ended'])
    assert.deepEqual(over, { status: 130, stdout: '', stderr: '' })
  })

  test('Ctrl-C ends what goes on with exit code 130', async (context) => {
    const { NO_COLOR: _none, FORCE_COLOR: _force, ...inherited } = process.env
    const env = { ...inherited, CRONCE_STORE: storeOf('sqlite').url }
    const child = spawn(process.execPath, [MAIN, 'tail', '--from', 'now-1h'], {
      env,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    context.after(() => child.kill('SIGKILL'))
    const exit = once(child, 'exit')
    await once(child.stdout, 'data')
    child.kill('SIGINT')
    assert.deepEqual(await exit, [130, null])
  })

  test('instances that left are listed when asked for', async () => {
    const hidden = await sqlite('instances')
    const all = await sqlite('instances', '--all', '--json')
    assert.equal(hidden.stdout, '')
    assert.match(hidden.stderr, /^No instances: nothing runs jobs\.\nnote: 1 left or died within a day: add --all\.\n$/)
    const { items } = JSON.parse(all.stdout)
    assert.deepEqual([items[0].id, items[0].state], [storeOf('sqlite').records.instance, 'left'])
  })

  test('next knows schedules by their names, in their own zone', async () => {
    const next = await sqlite('next', 'report', '-n', '2', '--from', '2027-03-27')
    const never = await sqlite('next', 'manual')
    const rule = await sqlite('next', 'report', '--dst', 'wall')
    assert.equal(
      next.stdout,
      'Sat 2027-03-27 01:30 +00:00  2027-03-27T01:30:00Z  in 1h30m\nSun 2027-03-28 02:00 +01:00  2027-03-28T01:00:00Z  in 1d1h   moved from 01:30: the clock skips it\n',
    )
    assert.match(never.stderr, /manual is run only when it is triggered/)
    assert.deepEqual([rule.status, /--dst is a rule of the schedule report/.test(rule.stderr)], [2, true])
  })

  test('the forecast counts, finds what is due together, and suggests how to spread it', async () => {
    const text = await sqlite('forecast', '--days', '2', '--from', '2027-01-01')
    const json = JSON.parse((await sqlite('forecast', 're', '--days', '3', '--from', '2027-01-01', '--json')).stdout)
    assert.match(
      text.stdout,
      /^\d schedules, about [\d,]+ fires in 2 days\n\nUTC {13}00 {4}06 {4}12 {4}18\nFri 2027-01-01 {2}[▁-█]{24} /,
    )
    assert.match(text.stdout, /\n {2}01:30 {2}2 schedules, 2 times: digest and report\n/)
    assert.match(text.stdout, /\n {2}report: "H 1 \* \* \*", which is minute \d+, instead of "30 1 \* \* \*"\n/)
    assert.match(text.stderr, /estimated: burst and tick/)
    assert.deepEqual([json.schedules, json.fires, json.hours.length, json.collisions], [1, 3, 72, []])
  })

  test('a ledger is sound at every moment while it is being written', async (context) => {
    const store = storeOf('postgres').url
    const app = cronceApp({ store, namespace: 'busy', logger: false, signals: false })
    for (const name of ['one', 'two', 'three']) {
      app.job(name, { every: '50ms', overlap: 'queue', retry: { attempts: 1, backoff: { base: '10ms' } } }, (run) => {
        if (run.attempt === 1 && run.fire.dueAt % 150 === 0) throw new Error('once more')
      })
    }
    await app.start()
    context.after(() => app.stop())
    let judged = 0
    for (let look = 0; look < 40 && judged < 50; look++) {
      const { status, stdout } = await ask(['fires', '--verify', '--json', '--namespace', 'busy', '--store', store])
      const { sound, counts, items } = JSON.parse(stdout)
      assert.deepEqual([status, sound], [0, true], JSON.stringify(items))
      judged = counts.expected
    }
    assert.ok(judged > 0, 'nothing was judged')
  })

  test('a ledger that was tampered with is found out', async () => {
    const file = join(folder, 'tampered.db')
    const source = new DatabaseSync(join(folder, 'jobs.db'))
    source.exec(`vacuum into '${file}'`)
    source.close()
    const { stoppedAt } = storeOf('sqlite').records
    const verify = (...args: string[]) =>
      ask(['fires', ...args, '--verify', '--store', `sqlite:${file}?adopt`], {}, now)
    const sound = await verify('tick', '--to', String(stoppedAt))
    assert.deepEqual([sound.status, /\nSound: every instant is on record once/.test(sound.stdout)], [0, true])
    const manual = await verify('manual')
    assert.match(manual.stdout, /\nSound: no record contradicts another\. Of no instant/)
    const client = await connect({ store: `sqlite:${file}`, logger: false })
    await client.schedules.create('behind', { job: 'nobody has it', every: '10s' })
    await client.close()
    const db = new DatabaseSync(file)

    // No instance has looked at it for a while: the records are true, but incomplete.
    const since = Math.floor(Date.now() / 10_000) * 10_000 - 90_000
    db.exec(`update cronce_schedules set state = json_set(state, '$.nextAt', ${since}) where id = 'behind'`)
    const behind = await verify('behind')
    assert.equal(behind.status, 1, behind.stdout)
    assert.match(behind.stdout, /^! behind {2}judged up to .*; \d+ instants due since then are on no record yet\n/)
    assert.match(
      behind.stdout,
      /\nBehind: no record contradicts another, but 1 schedule is overdue: see cronce doctor\.\n$/,
    )
    assert.equal((await verify('behind', '--to', String(since))).status, 0)
    const tick = "schedule = 'tick' and outcome = 'succeeded'"
    const latest = `select max(due_at) from cronce_history where ${tick}`

    // A second success of a fire, as if two instances had run it.
    db.exec(`
      create temp table again as select * from cronce_history where ${tick} and due_at = (${latest});
      update again set position = null, number = 99999, is_final = 0, token = '99992186044417',
        line = json_set(line, '$.number', 99999, '$.run.token', '99992186044417', '$.attempt', 9);
      insert into cronce_history select * from again`)
    const doubled = await verify('tick')
    assert.equal(doubled.status, 1)
    assert.match(
      doubled.stdout,
      /✗ tick {2}C2 no duplicate.*\n {4}Of the fire due \S+, run 99992186044417 was claimed after the success of run \d+\./,
    )

    // A run whose fire is not on record.
    db.exec(`
      delete from cronce_history where token = '99992186044417';
      update cronce_history set is_final = 0 where ${tick} and due_at = (${latest})`)
    db.close()
    const lost = await verify('tick')
    assert.equal(lost.status, 1)
    assert.match(lost.stdout, /✗ tick {2}C1 no miss.*\n {4}The instant \S+ is on no record/)
    assert.match(lost.stdout, /C9 .*\n {4}Run \d+ of the fire due \S+ belongs to no fire on record\./)
    assert.match(
      lost.stdout,
      /\n\d violations: these records are not those of a scheduler that keeps its promises\.\n$/,
    )

    const nothing = await verify('report')
    assert.deepEqual([nothing.status, /Nothing is on record there/.test(nothing.stdout)], [0, true])
  })

  test('on PostgreSQL as well', async () => {
    const { url } = storeOf('postgres')
    const psql = await obtain('psql')
    const sql = `delete from cronce._history h using cronce._names n
      where n.key = h.key and n.name = 'tick' and h.due_at =
        (select max(x.due_at) from cronce._history x where x.key = n.key and x.is_final and x.reason = 1)`
    execFileSync(psql, [url, '-XAtq', '--set', 'ON_ERROR_STOP=1', '-c', sql])
    const { status, stdout } = await ask(['fires', 'tick', '--verify', '--store', url])
    assert.equal(status, 1)
    assert.match(stdout, /✗ tick {2}C1 no miss/)
  })
})
