import assert from 'node:assert/strict'
import { after, before, describe, type TestContext, test } from 'node:test'
import { redisCommand, type Server, startRedis } from '../../../../scripts/servers/index.ts'
import { redis } from '../../src/store/redis/redis.ts'
import {
  applyAll,
  type applyOne,
  create,
  firesOf,
  join,
  loadOne,
  running,
  runsOf,
} from '../../src/testing/conformance/bench.ts'
import {
  after as afterChange,
  beat,
  change,
  claim,
  creation,
  definition,
  endedLine,
  HOUR_MS,
  JOB,
  NOON,
  schedule,
  settlement,
  withFires,
} from '../../src/testing/conformance/samples.ts'
import { callsOf, membersOf, openAt } from './redis-races-kit.ts'

const ALL = '1'.repeat(256)
const FAR = 9_000_000_000_000

let server: Server
before(async () => {
  server = await startRedis({ appendonly: false })
})
after(() => server?.stop())

describe('what is in no record any more is in no key of Redis either', () => {
  test('a fire that is written and trimmed by one change, behind one that only trims', async (context) => {
    const { store, key } = await openAt(context, server.url)
    const [a, b] = [await create(store, schedule('a')), await create(store, schedule('b'))]
    const first = withFires(change(a), [endedLine('a', NOON, { number: 1, expiresAt: FAR })])
    await applyAll(store, [first])
    const trim = { belowNumber: 100, endedBefore: NOON + HOUR_MS }
    await applyAll(store, [
      change(afterChange(first), {}, { trim }),
      withFires(change(b, {}, { trim }), [endedLine('b', NOON, { number: 1, expiresAt: FAR })]),
    ])
    for (const list of ['f', 'f:a', 'f:b', 'h:a', 'h:b']) {
      assert.deepEqual(await membersOf(server, `${key}:${list}`), [], list)
    }
  })

  test('a slot without a server', async (context) => {
    const { store, key } = await openAt(context, server.url)
    await join(store, 'i')
    const { state, run } = await running(store, 's', { instance: 'i', slots: ['group:acme', 'job:report'] })
    const holders = async () =>
      Promise.all(
        ['group:acme', 'job:report'].map(async (slot) => (await membersOf(server, `${key}:slot:${slot}`)).length),
      )
    assert.deepEqual(await holders(), [1, 1])
    await applyAll(store, [settlement(state, run)])
    assert.deepEqual(await holders(), [0, 0])
  })
})

test('an instance without a record in Redis does not exist, and prevents no other from renewing', async (context) => {
  const { store, key } = await openAt(context, server.url)
  await join(store, 'i', 'j')
  await redisCommand(server, 'DEL', `${key}:instance:j`)
  const { alive, instances } = await store.beat(beat('i'))
  const names = (list: readonly { readonly id: string }[]) => list.map(({ id }) => id)
  assert.deepEqual([alive, names(instances)], [true, ['i']])
  assert.deepEqual(names((await store.listInstances()).instances), ['i'])
})

describe('an invalid number is refused by Redis before any of its batch is written', () => {
  const refuses = async (
    context: TestContext,
    bad: (good: ReturnType<typeof schedule>) => Parameters<typeof applyOne>[1],
  ) => {
    const { store } = await openAt(context, server.url)
    const state = await create(store, schedule('bad'))
    await assert.rejects(store.apply([creation(schedule('good')), bad(state)]), {
      code: 'STORE_FAILED',
      notApplied: true,
    })
    assert.deepEqual([await loadOne(store, 'good'), await loadOne(store, 'bad')], [null, state])
    await create(store, schedule('good'))
    const { schedules } = await store.due({ jobs: [{ job: JOB, buckets: ALL }], patienceMs: 0, limit: 9 })
    assert.deepEqual(schedules.map(({ id }) => id).sort(), ['bad', 'good'])
  }

  test('in a schedule', (context) => refuses(context, (state) => change(state, { wakeAt: Number.NaN })))

  test('in a fire', (context) => {
    const past = endedLine('bad', NOON, { number: 1, expiresAt: FAR, endedAt: NOON + 0.5 })
    return refuses(context, (state) => withFires(change(state), [past]))
  })

  test('in a run', (context) =>
    refuses(context, (state) => claim(state, { instance: 'i', startedAt: Number.POSITIVE_INFINITY })))

  test('in what is to be trimmed', (context) =>
    refuses(context, (state) => change(state, {}, { trim: { belowNumber: 1.5, endedBefore: NOON } })))
})

test('a batch is written in order, also where one schedule comes twice: the first that asks has the slot', async (context) => {
  const { store } = await openAt(context, server.url)
  await join(store, 'i')
  const slots = { instance: 'i', slots: ['job:report'], limit: 1 }
  const [twice, once] = [await create(store, schedule('twice')), await create(store, schedule('once'))]
  const first = change(twice, { fired: 1 })
  const { results } = await store.apply([first, claim(afterChange(first), slots), claim(once, slots)])
  assert.deepEqual(results, [{ kind: 'applied' }, { kind: 'applied' }, { kind: 'full', slot: 'job:report' }])
})

for (const [what, begin, endMs] of [
  ['that were written long after they were due', () => NOON, 1],
  ['that were written when they were due', () => Date.now() - 5_000, 4_000],
] as const) {
  test(`runs ${what} are listed in order, also where one script does not read them all`, async (context) => {
    const { store } = await openAt(context, server.url)
    const from = begin()
    for (const id of ['a', 'b']) {
      const state = await create(store, schedule(id))
      // Twelve due times, and of each fifty runs, in an order of their own.
      const history = Array.from({ length: 600 }, (_, index) => {
        const place = (index * 347) % 600
        const dueAt = from + Math.floor(place / 50)
        const run = {
          token: String(9_900 + place),
          instance: 'i',
          startedAt: dueAt,
          cancel: null,
          error: null,
          result: null,
        }
        const times = { endedAt: from + endMs, expiresAt: FAR }
        return endedLine(id, dueAt, { number: index + 1, isFinal: place % 50 === 49, run, ...times })
      })
      await applyAll(store, [change(state, { ended: 600 }, { history })])
    }
    const expected = Array.from({ length: 600 }, (_, place) => String(9_900 + place))
    for (const limit of [70, 1_000]) {
      assert.deepEqual(
        (await runsOf(store, { schedule: 'a', order: 'earliest' }, limit)).map(({ token }) => token),
        expected,
      )
      assert.deepEqual(
        (await runsOf(store, {}, limit)).flatMap((run) => (run.schedule === 'b' ? run.token : [])),
        expected.toReversed(),
      )
      assert.equal((await firesOf(store, {}, limit)).length, 24)
    }
  })
}

test('a look for what is due costs no more for the jobs that have nothing', async (context) => {
  const { store } = await openAt(context, server.url)
  const jobs = Array.from({ length: 200 }, (_, number) => ({ job: `job-${number}`, buckets: ALL }))
  const { now } = await store.load([])
  const look = async () => {
    const before = await callsOf(server, 'zrangebyscore')
    const { mineAt } = await store.due({ jobs, patienceMs: 0, limit: 500 })
    return { mineAt, reads: (await callsOf(server, 'zrangebyscore')) - before }
  }
  assert.deepEqual(await look(), { mineAt: null, reads: 0 })

  // All of them have something later on: a few are enough to know when to look again.
  await applyAll(
    store,
    jobs.map(({ job }, index) => {
      const wakeAt = now + (1 + ((index * 7) % jobs.length)) * HOUR_MS
      return creation(schedule(job, { wakeAt, definition: definition({ job }) }))
    }),
  )
  const { mineAt, reads } = await look()
  assert.equal(mineAt, now + HOUR_MS)
  assert.ok(reads < jobs.length / 4, `${reads} reads`)
})

describe('a namespace in another format', () => {
  test('is not opened, and the error has a hint', async (context) => {
    const { namespace, key } = await openAt(context, server.url)
    for (const [format, code, hint] of [
      ['3', 'STORE_SCHEMA_NEWER', /newer version/],
      ['1', 'STORE_SCHEMA_OLDER', /another namespace or prefix/],
    ] as const) {
      await redisCommand(server, 'HSET', key, 'format', format)
      const opening = redis(server.url).open({ namespace, adopt: false, production: false, warn: () => {} })
      await assert.rejects(opening, { code, hint })
    }
  })

  test('is neither read nor written by a process that opened it before', async (context) => {
    const { store, key } = await openAt(context, server.url)
    const state = await create(store, schedule('s'))
    await redisCommand(server, 'HSET', key, 'format', '3')
    const refused = { code: 'STORE_SCHEMA_NEWER', notApplied: true }
    await assert.rejects(store.load(['s']), refused)
    await assert.rejects(store.apply([change(state)]), refused)
    await assert.rejects(store.beat(beat('i', { join: true })), refused)
    await redisCommand(server, 'HSET', key, 'format', '2')
    assert.deepEqual(await loadOne(store, 's'), state)
  })
})
