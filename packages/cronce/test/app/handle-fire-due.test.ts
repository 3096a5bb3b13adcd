import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { runDueTogether } from '../../src/app/handle-fire-due.ts'
import { CronceError } from '../../src/errors.ts'
import { type Cronce, cronce, type Duration, type JobOptions } from '../../src/index.ts'
import { memory } from '../../src/memory.ts'
import { sqlite } from '../../src/sqlite.ts'
import type { StoreSource } from '../../src/store/store.ts'
import { testKit } from '../../src/testing/test-kit.ts'
import { answerOf, fireRequest } from './fire-request.ts'

const folder = mkdtempSync(join(tmpdir(), 'cronce-fires-'))
after(() => rmSync(folder, { recursive: true, force: true }))
let files = 0

const STORES: Readonly<Record<string, () => StoreSource>> = {
  memory: () => memory() as StoreSource,
  SQLite: () => sqlite(join(folder, `${++files}.db`)) as StoreSource,
}

interface Worker {
  readonly app: Cronce
  readonly ran: number[]
}

/** An app as a function of a cloud has it: declared, never started. */
function worker(context: TestContext, store: StoreSource, options: JobOptions = {}): Worker {
  const app = cronce({ store, app: 'shop', signals: false, logger: false })
  const ran: number[] = []
  app.job('outside', options, (run) => {
    ran.push(run.fire.dueAt)
    return 'done'
  })
  context.after(() => app.stop())
  return { app, ran }
}

/** The whole second before now: what an external scheduler would call due. */
function justNow(): number {
  return Math.floor(Date.now() / 1_000) * 1_000
}

for (const [name, open] of Object.entries(STORES)) {
  test(`on ${name}, an app that has not started runs the fire and answers how it ended, also the first one ever`, async (context) => {
    const { app, ran } = worker(context, open())
    const dueAt = justNow()
    const byDue = await answerOf(app, fireRequest('', { body: { schedule: 'outside', dueAt } }))
    assert.deepEqual([byDue.status, byDue.body.fire?.state, byDue.body.fire?.dueAt], [200, 'succeeded', dueAt])
    const byId = await answerOf(app, fireRequest('?schedule=outside&id=17'))
    assert.deepEqual([byId.status, byId.body.fire?.state, byId.body.fire?.nonce], [200, 'succeeded', '17'])
    assert.equal(ran.length, 2)
    const unknown = await answerOf(app, fireRequest('?schedule=gone&id=17'))
    assert.deepEqual([unknown.status, unknown.body.error?.code], [404, 'SCHEDULE_NOT_FOUND'])
  })

  test(`on ${name}, fifty deliveries of the same fire at once, to two apps, are one run`, async (context) => {
    const store = open()
    const workers = [worker(context, store), worker(context, store)]
    const dueAt = justNow()
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) => {
        const body = index % 4 < 2 ? { schedule: 'outside', dueAt } : { schedule: 'outside', id: 'order-17' }
        return answerOf(workers[index % 2]!.app, fireRequest('', { body }))
      }),
    )
    assert.deepEqual(new Set(answers.map(({ body }) => body.error?.code)), new Set([undefined]))
    // One of each kind.
    assert.equal(answers.filter(({ body }) => body.created).length, 2)
    assert.equal(workers.flatMap(({ ran }) => ran).length, 2)
    const { items } = await workers[0]!.app.runs.list({ schedule: 'outside' })
    assert.deepEqual(
      items.map(({ state, attempt }) => [state, attempt]),
      [
        ['succeeded', 1],
        ['succeeded', 1],
      ],
    )
  })
}

test('what an instant of its own trigger is, is run by a delivery at the latest, and once', async (context) => {
  const { app, ran } = worker(context, memory() as StoreSource, { every: '1s' })
  // Declares it: instants count from here on.
  await app.runDue()
  const created = (await app.schedules.get('outside')).createdAt
  const dueAt = Math.ceil(created / 1_000) * 1_000
  const answers = await Promise.all(
    Array.from({ length: 5 }, () => answerOf(app, fireRequest('', { body: { schedule: 'outside', dueAt } }))),
  )
  for (const { status, body } of answers) assert.deepEqual([status, body.fire?.state], [200, 'succeeded'])
  assert.deepEqual(
    ran.filter((at) => at === dueAt),
    [dueAt],
  )
})

test('a host that is a little early is waited for, and its fire is the one that was meant', async (context) => {
  const { app, ran } = worker(context, memory() as StoreSource)
  await app.runDue()
  const dueAt = Date.now() + 300
  const { status, body } = await answerOf(app, fireRequest('', { body: { schedule: 'outside', dueAt } }))
  assert.deepEqual([status, body.fire?.state, ran], [200, 'succeeded', [dueAt]])
})

test('a fire with jitter is waited for, also the first one ever; one that is ready much later is not', async (context) => {
  const deliver = async (jitter: Duration, isDeclared: boolean) => {
    // Ahead of the schedule's creation: what was due before that has no jitter.
    const dueAt = justNow() + 5_000
    const { app, ran } = worker(context, memory() as StoreSource, { at: dueAt, jitter })
    if (isDeclared) await app.runDue()
    const { status, body } = await answerOf(app, fireRequest('', { body: { schedule: 'outside', dueAt } }))
    return { status, state: body.fire?.state, hasRun: ran.includes(dueAt), jitterMs: body.readyAt - dueAt }
  }
  const [first, second, later] = await Promise.all([
    deliver('4s', false),
    deliver('4s', true),
    // Of a name it is always the same part.
    deliver('7d', true),
  ])
  assert.ok(second.jitterMs >= 500, `with a jitter of ${second.jitterMs} ms this proves nothing`)
  assert.deepEqual(second, { status: 200, state: 'succeeded', hasRun: true, jitterMs: second.jitterMs })
  assert.deepEqual(first, second)
  assert.ok(later.jitterMs > 60_000)
  assert.deepEqual(later, { status: 503, state: undefined, hasRun: false, jitterMs: later.jitterMs })
})

/** An app that has not started, whose runs fail `times` times and are retried after `base`. */
function failing(context: TestContext, times: number, base: Duration, kit = testKit()) {
  const app = kit.app()
  const ran: number[] = []
  app.job('outside', { retry: { attempts: 5, backoff: { base, cap: base, jitter: 0 } } }, (run) => {
    ran.push(run.attempt)
    if (ran.length <= times) throw new Error('out of paper')
  })
  context.after(() => app.stop())
  /** Time goes on until it is answered. */
  const deliver = async (query: string) => {
    let answered = false
    const answer = answerOf(app, fireRequest(query)).finally(() => {
      answered = true
    })
    for (let seconds = 0; !answered && seconds < 600; seconds++) await kit.advance('1s')
    return answer
  }
  return { app, kit, ran, deliver }
}

for (const query of ['?schedule=outside&id=1', '?schedule=outside&due=2027-01-01T00:00:00Z']) {
  test(`without a started instance, a retry that is due soon is waited for: ${query}`, async (context) => {
    const { ran, deliver } = failing(context, 3, '10s')
    const { status, body } = await deliver(query)
    assert.deepEqual([status, body.fire?.state, body.fire?.attempt, ran], [200, 'succeeded', 4, [1, 2, 3, 4]])
  })

  test(`without a started instance, the sender is asked to deliver again for a later retry: ${query}`, async (context) => {
    const { ran, kit, deliver } = failing(context, 1, '2h')
    const first = await deliver(query)
    assert.deepEqual([first.status, first.body.fire?.state, ran], [503, 'open', [1]])
    assert.equal(first.body.readyAt, first.body.fire?.readyAt)
    const inSeconds = Number(first.headers.get('retry-after'))
    const at = kit.now() + inSeconds * 1_000
    assert.ok(at >= first.body.readyAt && at < first.body.readyAt + 2_000, `${inSeconds} s`)
    // Too early is harmless.
    const early = await deliver(query)
    assert.deepEqual([early.status, early.body.readyAt, ran], [503, first.body.readyAt, [1]])
    await kit.advanceTo(at)
    const second = await deliver(query)
    assert.deepEqual([second.status, second.body.fire?.state, ran], [200, 'succeeded', [1, 2]])
  })
}

test('without a started instance, retries are waited for up to a minute in all', async (context) => {
  const { ran, deliver } = failing(context, 4, '25s')
  const first = await deliver('?schedule=outside&id=1')
  assert.deepEqual([first.status, first.body.fire?.state, ran], [503, 'open', [1, 2, 3]])
  const second = await deliver('?schedule=outside&id=1')
  assert.deepEqual([second.status, second.body.fire?.state, ran], [200, 'succeeded', [1, 2, 3, 4, 5]])
})

test('a fire that another process runs, or that is paused, needs no further delivery', async (context) => {
  const kit = testKit()
  const release = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const other = kit.app()
  other.job('outside', {}, () => {
    begun.resolve()
    return release.promise
  })
  await other.start()
  context.after(() => other.stop())
  const { app, deliver } = failing(context, 1, '2h', kit)
  await app.schedules.trigger('outside', { dedupe: '1' })
  const advanced = kit.advance('2s')
  await begun.promise
  const running = await answerOf(app, fireRequest('?schedule=outside&id=1'))
  assert.deepEqual([running.status, running.body.fire?.state], [202, 'open'])
  release.resolve()
  await advanced
  await other.stop()

  assert.equal((await deliver('?schedule=outside&id=2')).status, 503)
  await app.schedules.pause('outside')
  assert.equal((await deliver('?schedule=outside&id=2')).status, 202)
})

test('a failed fire is answered as failed: its policy decides whether it is retried', async (context) => {
  const app = cronce({ store: 'memory:', signals: false, logger: false })
  context.after(() => app.stop())
  app.job('outside', {}, () => {
    throw new Error('out of paper')
  })
  const once = await answerOf(app, fireRequest('?schedule=outside&id=1'))
  assert.deepEqual([once.status, once.body.fire?.state, once.body.fire?.detail], [200, 'failed', 'out of paper'])
  const again = await answerOf(app, fireRequest('?schedule=outside&id=1'))
  assert.deepEqual([again.status, again.body.created, again.body.fire?.attempt], [200, false, 1])
})

test('a delivery while the app runs what is due waits for its own turn', async (context) => {
  const app = cronce({ store: 'memory:', signals: false, logger: false })
  context.after(() => app.stop())
  const begun = Promise.withResolvers<void>()
  const release = Promise.withResolvers<void>()
  const ran: string[] = []
  app
    .job('slow', {}, async () => {
      begun.resolve()
      await release.promise
      ran.push('slow')
    })
    .job('quick', {}, () => void ran.push('quick'))
  const slow = answerOf(app, fireRequest('?schedule=slow&id=1'))
  await begun.promise
  const quick = [1, 2, 3].map((id) => answerOf(app, fireRequest(`?schedule=quick&id=${id}`)))
  release.resolve()
  assert.equal((await slow).body.fire?.state, 'succeeded')
  for (const answer of await Promise.all(quick)) assert.notEqual(answer.body.fire?.state, 'open')
  assert.equal(ran[0], 'slow')
})

test('a delivery that comes while due fires run shares the next round, since this one may have looked before', async () => {
  const rounds: PromiseWithResolvers<void>[] = []
  const runner = {
    isStarted: () => false,
    runDue: () => {
      rounds.push(Promise.withResolvers())
      return rounds.at(-1)!.promise
    },
  }
  const app = {}
  const first = runDueTogether(app, runner)
  const others = [1, 2, 3].map(() => runDueTogether(app, runner))
  assert.equal(rounds.length, 1)
  // How the first round ends is of no matter to the others.
  rounds[0]!.reject(new Error('no store'))
  await assert.rejects(first, { message: 'no store' })
  await turns()
  assert.equal(rounds.length, 2)
  rounds[1]!.resolve()
  await Promise.all(others)
  const later = runDueTogether(app, runner)
  assert.equal(rounds.length, 3)
  rounds[2]!.resolve()
  await later
})

/** Until all promises that can settle have settled. */
function turns(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

test('a delivery beside a runDue() of your own is run as well, and no error', async (context) => {
  const app = cronce({ store: 'memory:', signals: false, logger: false })
  context.after(() => app.stop())
  const begun = Promise.withResolvers<void>()
  const release = Promise.withResolvers<void>()
  app.job('slow', { overlap: 'queue-all' }, async () => {
    begun.resolve()
    await release.promise
  })
  await app.runDue()
  await app.schedules.trigger('slow')
  const own = app.runDue()
  await begun.promise
  const delivered = answerOf(app, fireRequest('?schedule=slow&id=1'))
  release.resolve()
  await own
  const { status, body } = await delivered
  assert.deepEqual([status, body.error, body.fire?.state], [200, undefined, 'succeeded'])
})

test('an app that is starting or stopping is asked again; one that has started runs it by itself', async () => {
  let asked = 0
  let isStarted = false
  const runner = {
    isStarted: () => isStarted,
    async runDue() {
      asked++
      if (asked === 5) isStarted = true
      if (asked !== 3) throw new CronceError('ALREADY_STARTED', 'runDue() comes too late.')
    },
  }
  await runDueTogether({}, runner)
  assert.equal(asked, 3)
  await runDueTogether({}, runner)
  assert.equal(asked, 5)
})

test('a started app takes deliveries and runs them itself', async (context) => {
  const { app, ran } = worker(context, memory() as StoreSource, { overlap: 'queue-all' })
  await app.start()
  const ended = Promise.withResolvers<void>()
  app.on('fire.ended', () => {
    if (ran.length === 3) ended.resolve()
  })
  for (const id of ['a', 'b', 'a', 'c', 'b']) {
    const { status } = await answerOf(app, fireRequest(`?schedule=outside&id=${id}`))
    assert.ok(status === 202 || status === 200, String(status))
  }
  await ended.promise
  assert.equal((await app.runs.list()).items.length, 3)
})
