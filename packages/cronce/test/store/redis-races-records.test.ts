import assert from 'node:assert/strict'
import { after, before, describe, type TestContext, test } from 'node:test'
import { redisCommand, type Server, startRedis } from '../../../../scripts/servers/index.ts'
import { makeToken } from '../../src/model/token.ts'
import { redis } from '../../src/store/redis/redis.ts'
import {
  applyAll,
  applyOne,
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
  endedFire,
  fire,
  HOUR_MS,
  JOB,
  NOON,
  removal,
  schedule,
  settlement,
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
    const first = change(a, {}, { creates: [endedFire('a', NOON, { number: 1, expiresAt: FAR })] })
    await applyAll(store, [first])
    const trim = { belowNumber: 100, endedBefore: NOON + HOUR_MS }
    await applyAll(store, [
      change(afterChange(first), {}, { trim }),
      change(b, {}, { creates: [endedFire('b', NOON, { number: 1, expiresAt: FAR })], trim }),
    ])
    for (const list of ['fires', 'fires:a', 'fires:b', 'expiring', 'ended:a', 'ended:b']) {
      assert.deepEqual(await membersOf(server, `${key}:${list}`), [], list)
    }
  })

  test('a slot that nobody holds', async (context) => {
    const { store, key } = await openAt(context, server.url)
    await join(store, 'i')
    const { state, run } = await running(store, 's', { instance: 'i', slots: ['group:acme', 'job:report'] })
    assert.equal((await membersOf(server, `${key}:slots`)).length, 2)
    await applyAll(store, [settlement(state, run)])
    assert.deepEqual(await membersOf(server, `${key}:slots`), [])
  })

  test('but a nonce stays for the fire that has it, whatever else of that name is erased', async (context) => {
    const { store, key } = await openAt(context, server.url)
    await join(store, 'i')
    const state = await create(store, schedule('s'))
    // A run of a fire that is not on record, and a fire with the same nonce that is.
    const [stray] = claim(state, { instance: 'i', nonce: 'n', epoch: store.info.epoch }).runs
    const known = fire('s', NOON + HOUR_MS, { nonce: 'n', kind: 'manual' })
    const both = change(state, { tokens: 1 }, { creates: [known], runs: [stray!] })
    await applyAll(store, [both])
    await applyAll(store, [removal(afterChange(both))])
    assert.equal(await store.erase('s', 1), false)
    assert.deepEqual([await firesOf(store), await runsOf(store)], [[known], []])
    const again = await create(store, schedule('s'))
    const later = { creates: [fire('s', NOON + 2 * HOUR_MS, { nonce: 'n', kind: 'manual' })] }
    assert.deepEqual(await applyOne(store, change(again, {}, later)), { kind: 'exists', fire: known })
    assert.ok((await membersOf(server, `${key}:schedule:s`)).includes('nn'))
  })
})

test('an instance whose record is gone from Redis is nobody, and keeps no other from beating', async (context) => {
  const { store, key } = await openAt(context, server.url)
  await join(store, 'i', 'j')
  await redisCommand(server, 'DEL', `${key}:instance:j`)
  const { alive, instances } = await store.beat(beat('i'))
  const names = (list: readonly { readonly id: string }[]) => list.map(({ id }) => id)
  assert.deepEqual([alive, names(instances)], [true, ['i']])
  assert.deepEqual(names((await store.listInstances()).instances), ['i'])
})

describe('a number that is none is refused by Redis before anything of its batch is written', () => {
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
    const past = endedFire('bad', NOON, { number: 1, expiresAt: FAR })
    return refuses(context, (state) => change(state, {}, { creates: [{ ...past, endedAt: NOON + 0.5 }] }))
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

  // All of them have something later on: a few say when to look again.
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

describe('what a newer version wrote to Redis is left alone', () => {
  const NEWER = '[2,{"all":"different"}]'

  test('a fire is in no list, and whoever wants its place has lost', async (context) => {
    const { store, key } = await openAt(context, server.url)
    const state = await create(store, schedule('s'))
    const fires = [fire('s', NOON, { nonce: 'n', kind: 'manual' }), fire('s', NOON + HOUR_MS)]
    const written = change(state, {}, { creates: fires })
    await applyAll(store, [written])
    await redisCommand(server, 'HSET', `${key}:schedule:s`, `f${NOON}:n`, NEWER)
    assert.deepEqual(await firesOf(store), [fires[1]])
    assert.deepEqual(await firesOf(store, { schedule: 's', nonce: 'n' }), [])
    const again = change(afterChange(written), {}, { creates: [fires[0]!] })
    assert.deepEqual(await applyOne(store, again), { kind: 'conflict' })
  })

  test('a run is in no list, and its instance goes on beating', async (context) => {
    const { store, key } = await openAt(context, server.url)
    await join(store, 'i')
    const { epoch } = store.info
    const { state, run } = await running(store, 's', { instance: 'i', epoch })
    await applyAll(store, [claim(state, { instance: 'i', dueAt: NOON + HOUR_MS, epoch })])
    const newer = makeToken(epoch, 2)
    await redisCommand(server, 'HSET', `${key}:schedule:s`, `r${newer}`, NEWER)
    const tokens = (list: readonly { readonly token: string }[]) => list.map(({ token }) => token)
    const { alive, held } = await store.beat(beat('i'))
    assert.deepEqual([alive, tokens(held)], [true, [run.token]])
    for (const query of [{}, { schedule: 's' }, { instance: 'i', outcome: 'open' }, { outcome: 'open' }] as const) {
      assert.deepEqual(tokens(await runsOf(store, query)), [run.token])
    }
    assert.deepEqual(await runsOf(store, { schedule: 's', token: newer }), [])
  })

  test('a namespace that is kept in another way is not opened', async (context) => {
    const { namespace, key } = await openAt(context, server.url)
    await redisCommand(server, 'HSET', key, 'format', '2')
    const opening = redis(server.url).open({ namespace, adopt: false, production: false, warn: () => {} })
    await assert.rejects(opening, { code: 'STORE_SCHEMA_NEWER', hint: /newer version/ })
  })
})
