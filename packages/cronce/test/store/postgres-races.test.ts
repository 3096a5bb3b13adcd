import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ending } from '../../src/model/outcome.ts'
import type { ScheduleState } from '../../src/model/schedule.ts'
import { makeToken } from '../../src/model/token.ts'
import type { PostgresTransaction } from '../../src/store/postgres/library.ts'
import { applyAll, applyOne, create, join, loadOne, running, runsOf } from '../../src/testing/conformance/bench.ts'
import {
  change,
  claim,
  creation,
  DAY_MS,
  definition,
  fire,
  HOUR_MS,
  keyOf,
  NOON,
  after as outcome,
  removal,
  schedule,
  settlement,
} from '../../src/testing/conformance/samples.ts'
import { asking, eventually, failure, openFor } from './postgres-connection-kit.ts'
import { barrier, begun, kinds, openIn, pool, poolFor, server, usedSlots, waiting } from './postgres-races-kit.ts'

/** What only comes out between two who meet at the worst moment, or in a transaction that somebody else holds open. */

for (const [state, forgotten] of [
  ['open', 'select 1'],
  ['failed', 'select 1 / 0'],
] as const) {
  test(`a client that was put back into its pool in a transaction that is ${state} is not written with`, async (context) => {
    const own = poolFor(context, { max: 1 })
    const store = await openIn(context, { on: own })
    const neighbour = await openIn(context)
    const client = await own.connect()
    await client.query('begin')
    await client.query(forgotten).catch(() => {})
    client.release()

    await applyAll(store, [creation(schedule('a'))])

    assert.ok((await loadOne(neighbour, 'a')) !== null, 'it is committed')
  })
}

test('a schedule made in an old snapshot has no version and no token of one that was removed since', async (context) => {
  const store = await openIn(context)
  await join(store, 'i', 'k')
  const user = await begun(context, 'begin isolation level repeatable read')
  await user.query('select from cronce._meta')
  const old = await running(store, 'a', { instance: 'i' })
  const { updates, runs } = settlement(old.state, old.run)
  await applyAll(store, [removal(old.state, { updates, runs })])
  await applyAll(store, [creation(schedule('a'))], { tx: user })
  await user.query('commit')

  const fresh = await running(store, 'a', { instance: 'k', dueAt: NOON + HOUR_MS })

  assert.ok(fresh.state.version > old.state.version)
  assert.notEqual(fresh.run.token, old.run.token)
  assert.deepEqual(await applyOne(store, settlement(old.state, old.run)), { kind: 'conflict' })
  assert.equal((await loadOne(store, 'a'))!.open.length, 1)
})

test('what is written in a transaction of the user wakes its own process when that commits', async (context) => {
  const store = await openIn(context, { on: server.url, session: true })
  const neighbour = await openIn(context)
  let wakes = 0
  store.watch((hint) => {
    if (hint === 'wake') wakes++
  })
  const listening = "select from pg_stat_activity where query like 'listen %' and state = 'idle'"
  await eventually('it listens', async () => (await pool.query(listening)).rows.length > 0)
  const heard = wakes
  await applyAll(neighbour, [creation(schedule('a'))], { wake: true })
  await eventually('it hears a neighbour', () => wakes > heard)
  const user = await begun(context)
  await applyAll(store, [creation(schedule('b'))], { wake: true, tx: user })
  await eventually('it was told by itself, too early', () => wakes === heard + 2)

  await user.query('commit')

  await eventually('it hears of the commit', () => wakes > heard + 2)
})

test('a settlement is decided on the whole state as it was when the lock was got', async (context) => {
  const store = await openIn(context)
  await join(store, 'i')
  const { state, run } = await running(store, 'a', { instance: 'i' })
  const user = await begun(context)
  const redefinition = change(state, { revision: 2, definition: definition({ input: 'new' }) })
  await applyAll(store, [redefinition], { tx: user })
  const seen: ScheduleState[] = []
  const settle = (now: ScheduleState) => {
    seen.push(now)
    return settlement(now, run)
  }

  const transacting = store.transact({ schedule: 'a', token: run.token, work: () => {}, settle })
  await waiting()
  await user.query('commit')

  assert.equal((await transacting).kind, 'committed')
  assert.deepEqual(seen, [outcome(redefinition)])
})

test('a run that ended while its transaction waited for the lock is stale', async (context) => {
  const store = await openIn(context)
  await join(store, 'i')
  const { state, run } = await running(store, 'a', { instance: 'i' })
  const user = await begun(context)
  await applyAll(store, [settlement(state, run, { how: ending('cancelled-by-operator') })], { tx: user })

  // One that takes the store's word for it.
  const settle = (now: ScheduleState) => change(now)
  const transacting = store.transact({ schedule: 'a', token: run.token, work: () => {}, settle })
  await waiting()
  await user.query('commit')

  assert.deepEqual(await transacting, { kind: 'stale' })
})

test('what waits for somebody in vain keeps nothing else from being written', async (context) => {
  const store = await openIn(context)
  await join(store, 'i')
  const slots = { instance: 'i', slots: ['held'], limit: 5 }
  const held = await running(store, 'held', slots)
  const free = await create(store, schedule('free'))
  const doomed = [await create(store, schedule('doomed 1')), await create(store, schedule('doomed 2'))] as const
  const calm: ScheduleState[] = []
  for (const id of ['calm 1', 'calm 2', 'calm 3']) calm.push(await create(store, schedule(id)))
  const user = await begun(context)
  const unfinished = [settlement(held.state, held.run), removal(doomed[0]), creation(schedule('new'))]
  await applyAll(store, unfinished, { tx: user })

  const waiters = [claim(free, slots), removal(doomed[1]), creation(schedule('new'))]
  const answers = await Promise.all(waiters.map((waiter, index) => store.apply([waiter, change(calm[index]!)])))

  for (const answer of answers) assert.deepEqual(kinds(answer), ['conflict', 'applied'])
})

test('prune passes over what a trim is about to delete', async (context) => {
  const store = await openIn(context)
  await join(store, 'i')
  const { state, run } = await running(store, 'a', { instance: 'i' })
  await store.step({ kind: 'begin', fire: keyOf(run), step: 'charge', token: run.token, rerun: false })
  const ended = settlement(state, run)
  const updates = ended.updates.map((record) => ({ ...record, expiresAt: 1 }))
  await applyAll(store, [{ ...ended, updates }])
  const letGo = await barrier(context, 'delete on cronce._steps')

  const trim = { belowNumber: 50, endedBefore: NOON + DAY_MS }
  const trimming = applyOne(store, change(outcome(ended), {}, { trim }))
  await waiting()
  const { deleted } = await store.prune(10)
  await letGo()

  assert.equal(deleted, 0)
  assert.deepEqual(await trimming, { kind: 'applied' })
  assert.deepEqual(await runsOf(store, { schedule: 'a' }), [])
})

test('two who create the same schedules in different order do not wait in a circle', async (context) => {
  const store = await openIn(context, { on: poolFor(context, { application_name: 'first' }) })
  const neighbour = await openIn(context)
  const both = [creation(schedule('a')), creation(schedule('z'))]
  const isFirst = "new.id = 'z' and current_setting('application_name') = 'first'"
  const letGo = await barrier(context, 'insert on cronce._clocks', isFirst)

  const first = store.apply(both.toReversed())
  await waiting()
  const second = neighbour.apply(both)
  await waiting(2)
  await letGo()

  assert.deepEqual(kinds(await first), ['applied', 'applied'])
  assert.deepEqual(kinds(await second), ['conflict', 'conflict'])
})

test('a fire that the trimming change opens again keeps its steps and runs', async (context) => {
  const store = await openIn(context)
  await join(store, 'i')
  const { state, run } = await running(store, 'a', { instance: 'i' })
  const step = { fire: keyOf(run), step: 'charge', token: run.token }
  await store.step({ kind: 'begin', ...step, rerun: false })
  await store.step({ kind: 'end', ...step, failed: false, result: 'charged' })
  const ended = settlement(state, run, { how: ending('error') })
  await applyAll(store, [ended])

  const trim = { belowNumber: 50, endedBefore: NOON + DAY_MS }
  await applyAll(store, [change(outcome(ended), {}, { updates: [fire('a', NOON, { round: 2 })], trim })])

  assert.equal((await store.listSteps(keyOf(run))).length, 1)
  assert.equal((await runsOf(store, { schedule: 'a' })).length, 1)
})

test('a change that is refused for one slot takes no room in another', async (context) => {
  const store = await openIn(context)
  await join(store, 'i')
  await running(store, 'a', { instance: 'i', slots: ['full'] })
  const refused = claim(await create(store, schedule('b')), { instance: 'i', slots: ['full', 'free'] })
  const behind = claim(await create(store, schedule('c')), { instance: 'i', slots: ['free'] })

  const { results } = await store.apply([refused, behind])

  assert.deepEqual(results, [{ kind: 'full', slot: 'full' }, { kind: 'applied' }])
})

test('a call of which a part was written does not say that nothing was', async (context) => {
  const store = await openIn(context)
  // Stands for whatever may go wrong between the two.
  await pool.query("alter table cronce._slots add check (slot <> 'broken' or used = 0)")
  const first = change(await create(store, schedule('a')), { failedInRow: 7 })
  const second = claim(outcome(first), { instance: 'i', slots: ['broken'] })

  const error = await failure(store.apply([first, second]))

  assert.equal((await loadOne(store, 'a'))!.failedInRow, 7)
  assert.equal(error.notApplied, false)
})

test('slots that went with a promotion are counted again', async (context) => {
  const store = await openIn(context, { schema: 'promoted' })
  const [a, b, c] = [
    await create(store, schedule('a')),
    await create(store, schedule('b')),
    await create(store, schedule('c')),
  ]
  const claimed = { instance: 'i', slots: ['lost'] }
  await applyAll(store, [claim(a, claimed)])
  await pool.query('delete from promoted._slots')
  await pool.query('update promoted._meta set timeline = timeline + 1')
  await store.load([])

  const { epoch } = store.info
  const claims = [b, c].map((state) => ({ ...claim(state, { ...claimed, epoch }), epoch }))

  assert.equal(epoch, 2)
  assert.deepEqual(kinds(await store.apply(claims)), ['applied', 'full'])
})

test('a connection on which the server says that it is in the wrong state for this is not used again', async (context) => {
  const database = openFor(context, server.url, { connections: 1, session: false })
  const pid = asking('select pg_backend_pid()::text as answer')
  const first = await database.ask(pid, [])

  // 55000, as a standby says to what asks for the timeline.
  const error = await failure(database.ask(asking('select pg_wal_replay_pause()::text as answer'), []))

  assert.equal(error.code, 'STORE_READONLY')
  assert.notEqual(await database.ask(pid, []), first)
})

test('a run that ends frees the slots that it was counted in, whatever the change says', async (context) => {
  const store = await openIn(context)
  await join(store, 'i')
  const { state, run } = await running(store, 'a', { instance: 'i', slots: ['counted'] })

  await applyAll(store, [settlement(state, { ...run, slots: ['other'] })])

  assert.deepEqual(await usedSlots(context), { counted: 0 })
})

test('a run that has ended, written again, does not end the one that followed', async (context) => {
  const store = await openIn(context)
  await join(store, 'i')
  const { state, run } = await running(store, 'a', { instance: 'i', slots: ['counted'] })
  const ended = { ...run, ending: ending('error'), endedAt: NOON + 9 }
  const next = { ...run, token: makeToken(1, 2), attempt: 2 }
  const followed = change(state, { tokens: 2 }, { runs: [ended, next] })
  await applyAll(store, [followed])

  await applyAll(store, [change(outcome(followed), {}, { runs: [{ ...ended, result: 'late' }] })])

  const open = await runsOf(store, { schedule: 'a', outcome: 'open' })
  assert.deepEqual(
    open.map(({ token }) => token),
    [next.token],
  )
  assert.deepEqual(await usedSlots(context), { counted: 1 })
})

test('work that goes on after a failed statement is told what became of its transaction', async (context) => {
  const store = await openIn(context)
  await join(store, 'i')
  const { run } = await running(store, 'a', { instance: 'i' })

  const work = async (tx: unknown) => {
    await (tx as PostgresTransaction).query('select 1 / 0').catch(() => {})
  }
  const settle = (state: ScheduleState) => settlement(state, run)
  const error = await failure(store.transact({ schedule: 'a', token: run.token, work, settle }))

  assert.equal(error.code, 'TRANSACTION_ABORTED')
})
