import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Change } from '../../src/model/change.ts'
import { ending } from '../../src/model/outcome.ts'
import type { ScheduleState } from '../../src/model/schedule.ts'
import type { PostgresTransaction } from '../../src/store/postgres/library.ts'
import { applyAll, applyOne, create, join, loadOne, running, runsOf } from '../../src/testing/conformance/bench.ts'
import {
  beat,
  change,
  claim,
  claimAgain,
  creation,
  DAY_MS,
  definition,
  keyOf,
  NOON,
  after as outcome,
  removal,
  reopening,
  runOf,
  schedule,
  settlement,
} from '../../src/testing/conformance/samples.ts'
import { asking, eventually, failure, openFor } from './postgres-connection-kit.ts'
import {
  barrier,
  begun,
  holdClock,
  kinds,
  openIn,
  pool,
  poolFor,
  server,
  usedSlots,
  waiting,
} from './postgres-races-kit.ts'

/** Races between two transactions that meet at the worst moment, or in a transaction that another client holds open. */

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

test('a schedule that was made and removed since is not made again in an old snapshot', async (context) => {
  const store = await openIn(context)
  await join(store, 'i')
  const user = await begun(context, 'begin isolation level repeatable read')
  await user.query('select from cronce._meta')
  const { state, run } = await running(store, 'a', { instance: 'i' })
  const { history } = settlement(state, run)
  await applyAll(store, [removal(state, { history })])

  const error = await failure(store.apply([creation(schedule('a'))], { tx: user }))

  assert.deepEqual([error.code, error.notApplied], ['STORE_CONFLICT', true])
  const again = await create(store, schedule('a'))
  assert.ok(again.version > state.version && again.tokens >= state.tokens)
})

test('a schedule that is made again while it is removed goes on from its predecessor', async (context) => {
  const [remover, ...makers] = await Promise.all([openIn(context), openIn(context), openIn(context)])
  await join(remover!, 'i')
  for (let race = 0; race < 400; race++) {
    const id = `s${race % 20}`
    const found = (await loadOne(remover!, id)) ?? (await create(remover!, schedule(id)))
    const claimed = claim(found, { instance: 'i', dueAt: NOON + race * DAY_MS })
    await applyAll(remover!, [claimed])
    const state = claimed.state!
    let isMade = false
    const making = makers.map(async (maker) => {
      while (!isMade) if ((await applyOne(maker, creation(schedule(id)))).kind === 'applied') isMade = true
    })
    await applyAll(remover!, [removal(state)])
    await Promise.all(making)
    const again = (await loadOne(remover!, id))!
    assert.ok(again.version > state.version && again.tokens >= state.tokens, `race ${race}`)
  }
})

test('a schedule that is made again while its name is pruned has a name', async (context) => {
  const store = await openIn(context)
  await applyAll(store, [removal(await create(store, schedule('s')))])
  await pool.query('update cronce._names set gone_at = gone_at - $2 where namespace = $1', [context.name, 2 * DAY_MS])
  const pruning = await begun(context)
  await pruning.query(`select cronce._prune_1($1, '100')`, [context.name])

  const making = applyOne(store, creation(schedule('s')))
  await Promise.race([making, waiting()])
  await pruning.query('commit')

  assert.equal((await making).kind, 'conflict')
  await create(store, schedule('s'))
  assert.ok((await loadOne(store, 's')) !== null)
})

test('a run that is overtaken while it begins a step does not take the step from its successor', async (context) => {
  const store = await openIn(context)
  await join(store, 'old', 'new')
  const first = claim(await create(store, schedule('s')), { instance: 'old' })
  await applyAll(store, [first])
  const fire = { schedule: 's', dueAt: NOON, nonce: '' }
  const begin = (token: string) => store.step({ kind: 'begin', fire, step: 'charge', token, rerun: true })
  const release = await barrier(context, 'insert on cronce._steps', `new.token = ${runOf(first).token}`)

  const late = begin(runOf(first).token)
  await waiting()
  await applyAll(store, [settlement(first.state!, runOf(first), { fireEnds: null })])
  const second = claimAgain((await loadOne(store, 's'))!, { instance: 'new' })
  await applyAll(store, [second])
  assert.equal((await begin(runOf(second).token)).kind, 'applied')
  await release()

  assert.notEqual((await late).kind, 'applied')
  const end = { kind: 'end', fire, step: 'charge', token: runOf(second).token, failed: false, result: 1 } as const
  assert.equal((await store.step(end)).kind, 'applied')
})

test('no claim stays on record whose runs are over, in whichever order they end', async (context) => {
  const store = await openIn(context)
  await join(store, 'i')
  const claimant = { instance: 'i', leaseMs: DAY_MS }
  let number = 0
  const claimed = async (...ids: string[]) => {
    number++
    const states = await Promise.all(ids.map(async (id) => (await loadOne(store, id)) ?? create(store, schedule(id))))
    const changes = states.map((state) => claim(state, { instance: 'i', claim: number, dueAt: NOON + number * DAY_MS }))
    await applyAll(store, changes, { claimant })
    return changes
  }
  const end = (one: ReturnType<typeof claim>) => applyAll(store, [settlement(one.state!, runOf(one))])
  for (let round = 0; round < 5; round++) {
    const [fast, slow] = await claimed('fast', 'slow')
    await end(fast!)
    const [again] = await claimed('fast')
    await end(slow!)
    await end(again!)
    const [once] = await claimed('once')
    const settle = (state: ScheduleState) => settlement(state, runOf(once!))
    await store.transact({ schedule: 'once', token: runOf(once!).token, work: async () => null, settle })
  }
  const [last] = await claimed('fast')
  await end(last!)
  const sql = 'select from cronce._claims c join cronce._runners r on r.number = c.runner where r.namespace = $1'
  const rows = async (): Promise<number> => (await pool.query(sql, [context.name])).rows.length
  assert.equal(await rows(), 1, 'the latest claim is a sign of life')
  await store.beat(beat('i', { state: 'left' }))
  assert.equal(await rows(), 0)
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

test('a settlement is decided on the whole state at the time the lock was acquired', async (context) => {
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

for (const read of ['load', 'due'] as const) {
  test(`an answer of ${read} contains nothing that was written after its time`, async (context) => {
    const reader = await openIn(context, { on: poolFor(context, { application_name: 'reader' }) })
    const writer = await openIn(context)
    await join(writer, 'i')
    const { state: claimed, run } = await running(writer, 'a', { instance: 'i' })
    const waking = change(claimed, { wakeAt: NOON })
    await applyAll(writer, [waking])
    const state = outcome(waking)
    const release = await holdClock(context, 'reader')

    const query = { jobs: [{ job: 'report', buckets: '1'.repeat(256) }], patienceMs: 0, limit: 10 }
    const reading = read === 'load' ? reader.load(['a']) : reader.due(query)
    await waiting()
    const { rows } = await pool.query<{ now: string }>('select m.now from pg_sleep(0.01), cronce._moment() m')
    const endedAt = Number(rows[0]!.now)
    await applyAll(writer, [settlement(state, run, { endedAt })])
    await release()

    const { now, schedules } = await reading
    const shown = schedules.map(({ open }) => (open.length > 0 || now >= endedAt ? 'in order' : 'ended after now'))
    assert.deepEqual(shown, ['in order'])
  })
}

test('a write that times out on a lock delays no other', async (context) => {
  const store = await openIn(context)
  await join(store, 'i')
  const slots = { instance: 'i', slots: ['held'], limit: 5 }
  const held = await running(store, 'held', slots)
  const free = await create(store, schedule('free'))
  const calm: ScheduleState[] = []
  for (const id of ['calm 1', 'calm 2']) calm.push(await create(store, schedule(id)))
  const user = await begun(context)
  const taken = claim(await create(store, schedule('taken')), slots)
  const unfinished = [settlement(held.state, held.run), taken, creation(schedule('new'))]
  await applyAll(store, unfinished, { tx: user })

  const waiters = [claim(free, slots), creation(schedule('new'))]
  const answers = await Promise.all(waiters.map((waiter, index) => store.apply([waiter, change(calm[index]!)])))

  for (const answer of answers) assert.deepEqual(kinds(answer), ['conflict', 'applied'])
})

test('prune passes over what a trim is about to delete', async (context) => {
  const store = await openIn(context)
  await join(store, 'i')
  const { state, run } = await running(store, 'a', { instance: 'i' })
  await store.step({ kind: 'begin', fire: keyOf(run), step: 'charge', token: run.token, rerun: false })
  const ended = settlement(state, run)
  const history = ended.history.map((line) => ({ ...line, expiresAt: 1 }))
  await applyAll(store, [{ ...ended, history }])
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

test('two transactions that create the same schedules in different order do not deadlock', async (context) => {
  const store = await openIn(context, { on: poolFor(context, { application_name: 'first' }) })
  const neighbour = await openIn(context)
  const both = [creation(schedule('a')), creation(schedule('z'))]
  const isFirst = "new.name = 'z' and current_setting('application_name') = 'first'"
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
  await applyAll(store, [{ ...reopening(outcome(ended), ended.history[0]!), trim }])

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

test('a call of which a part was written does not report that nothing was', async (context) => {
  const store = await openIn(context)
  // Represents any failure of the part that has to wait for a slot.
  await pool.query("alter table cronce._holds add check (slot <> 'broken')")
  const first = change(await create(store, schedule('a')), { failedInRow: 7 })
  const second = claim(await create(store, schedule('b')), { instance: 'i', slots: ['broken'] })
  const user = await begun(context)
  await user.query(
    `select pg_advisory_xact_lock(hashtextextended(concat_ws(E'\\x1f', '"cronce" slot', $1::text, 'broken'), 0))`,
    [context.name],
  )

  const writing = failure(store.apply([first, second]))
  await eventually('a part is written', async () => (await loadOne(store, 'a'))!.failedInRow === 7)
  await user.query('rollback')

  assert.equal((await writing).notApplied, false)
})

test('a connection that the server reports to be in the wrong state is not used again', async (context) => {
  const database = openFor(context, server.url, { connections: 1, session: false })
  const pid = asking('select pg_backend_pid()::text as answer')
  const first = await database.ask(pid, [])

  // 55000, the answer of a standby to a query for the timeline.
  const error = await failure(database.ask(asking('select pg_wal_replay_pause()::text as answer'), []))

  assert.equal(error.code, 'STORE_READONLY')
  assert.notEqual(await database.ask(pid, []), first)
})

test('a batch is written in order, also where two schedules want one slot', async (context) => {
  const store = await openIn(context)
  await join(store, 'i')
  const slots = { instance: 'i', slots: ['one'], limit: 1 }
  const states = [await create(store, schedule('z')), await create(store, schedule('a'))]
  const held = await running(store, 'm', slots)
  const [first, second] = states.map((state) => claim(state, slots))

  const { results } = await store.apply([first!, settlement(held.state, held.run), second!])

  assert.deepEqual(results, [{ kind: 'full', slot: 'one' }, { kind: 'applied' }, { kind: 'applied' }])
  assert.deepEqual(await usedSlots(context), { one: 1 })
})

test('a claim that shared the row of its instance prevents an earlier decision to declare it dead', async (context) => {
  const store = await openIn(context)
  await join(store, 'i')
  const claimant = { instance: 'i', leaseMs: 60_000 }
  await applyAll(store, [claim(await create(store, schedule('a')), { instance: 'i' })], { claimant })
  const { instances } = await store.listInstances()
  const wanted = claim(await create(store, schedule('b')), { instance: 'i' })
  const letGo = await barrier(context, 'update on cronce._clocks', "new.name = 'b'")

  const claiming = store.apply([wanted], { claimant })
  await waiting()
  const burying = store.mark({ kind: 'dead', instance: 'i', renewals: instances[0]!.renewals, hint: true })
  await waiting(2)
  await letGo()

  const { renewed, results } = await claiming
  assert.deepEqual([renewed, results], [false, [{ kind: 'applied' }]])
  assert.equal(await burying, false)
})

test('an instance that leaves while another transaction has its record ends after the claims of that time', async (context) => {
  const store = await openIn(context)
  await join(store, 'i')
  const wanted = claim(await create(store, schedule('a')), { instance: 'i' })
  const user = await begun(context)
  await user.query('select from cronce._instances where namespace = $1 for share', [context.name])

  const leaving = store.beat(beat('i', { state: 'left' }))
  await waiting()
  const claimed = await store.apply([wanted], { claimant: { instance: 'i', leaseMs: 60_000 } })
  await user.query('commit')

  assert.deepEqual([(await leaving).alive, kinds(claimed)], [true, ['applied']])
  const { instances } = await store.listInstances()
  assert.ok(instances[0]!.endedAt! >= claimed.now, `${instances[0]!.endedAt} is not before ${claimed.now}`)
})

test('an instance is declared dead at a time when no other transaction had its record', async (context) => {
  const store = await openIn(context)
  await join(store, 'i')
  const { instances } = await store.listInstances()
  const user = await begun(context)
  await user.query('select from cronce._instances where namespace = $1 for share', [context.name])

  const burying = store.mark({ kind: 'dead', instance: 'i', renewals: instances[0]!.renewals, hint: true })
  await waiting()
  const { now } = await store.load([])
  await user.query('commit')

  assert.equal(await burying, true)
  const [dead] = (await store.listInstances()).instances
  assert.ok(dead!.endedAt! >= now, `${dead!.endedAt} is not before ${now}`)
})

test('claims are deleted after the settlement that ends their last run, with a later claim or a heartbeat', async (context) => {
  const store = await openIn(context)
  const peer = await openIn(context)
  await join(store, 'i')
  const claimant = { instance: 'i', leaseMs: 60_000 }
  const claims = ['a', 'b'].map(async (id) => claim(await create(store, schedule(id)), { instance: 'i' }))
  const [a, b] = await Promise.all(claims)
  await applyAll(store, [a!, b!], { claimant })
  const rows = async (): Promise<number> => {
    const held = 'select from cronce._claims c join cronce._runners r on r.number = c.runner where r.namespace = $1'
    return (await pool.query(held, [context.name])).rows.length
  }
  assert.equal(await rows(), 1)
  await applyAll(store, [settlement(outcome(a!), runOf(a!))])
  assert.equal(await rows(), 1)
  // A peer changes the schedule first: the settlement is refused, and the claim must stay.
  const renamed = change(outcome(b!), { failedInRow: 1 })
  await applyAll(peer, [renamed])
  assert.deepEqual(await applyOne(store, settlement(outcome(b!), runOf(b!))), { kind: 'conflict' })
  assert.equal(await rows(), 1)
  assert.deepEqual((await store.beat(beat('i'))).held.length, 1)
  await applyAll(store, [settlement(outcome(renamed), runOf(b!))])
  assert.equal(await rows(), 1)
  const c = claim(await create(store, schedule('c')), { instance: 'i' })
  await applyAll(store, [c], { claimant })
  assert.equal(await rows(), 1, 'the later one')
  await applyAll(store, [settlement(outcome(c), runOf(c))])
  assert.equal(await rows(), 1)
  await store.beat(beat('i'))
  assert.equal(await rows(), 0)
})

test('a large claim keeps its keys while one of its runs is open, and its row until a later claim or a heartbeat', async (context) => {
  const store = await openIn(context)
  const peer = await openIn(context)
  await join(store, 'i')
  const claimant = { instance: 'i', leaseMs: 60_000 }
  const ids = (prefix: string): readonly string[] => Array.from({ length: 10 }, (_, index) => `${prefix}${index}`)
  const claimed = async (names: readonly string[], number: number) => {
    const created = names.map(async (id) => claim(await create(store, schedule(id)), { instance: 'i', claim: number }))
    const changes = await Promise.all(created)
    await applyAll(store, changes, { claimant })
    return changes
  }
  const keysOfRows = async (): Promise<readonly number[]> => {
    const held =
      'select cardinality(c.keys) as keys from cronce._claims c join cronce._runners r on r.number = c.runner where r.namespace = $1 order by c.id'
    return (await pool.query(held, [context.name])).rows.map(({ keys }) => Number(keys))
  }
  const heldNow = async (): Promise<readonly string[]> =>
    (await store.beat(beat('i'))).held.map(({ schedule }) => schedule)
  /** Settles all of them, but a peer has changed the first one before: its settlement is refused. Returns that of the changed one. */
  const settleButOne = async (changes: readonly Change[]): Promise<Change> => {
    const [first] = changes
    const renamed = change(outcome(first!), { failedInRow: 1 })
    await applyAll(peer, [renamed])
    const { results } = await store.apply(changes.map((one) => settlement(outcome(one), runOf(one))))
    assert.deepEqual(new Set(results.slice(1).map(({ kind }) => kind)), new Set(['applied']))
    assert.deepEqual(results[0], { kind: 'conflict' })
    return settlement(outcome(renamed), runOf(first!))
  }
  const latest = await claimed(ids('a'), 1)
  const endOfLatest = await settleButOne(latest)
  assert.deepEqual(await keysOfRows(), [10], 'the latest claim')
  assert.deepEqual(await heldNow(), ['a0'])
  await applyAll(store, [endOfLatest])
  assert.deepEqual(await keysOfRows(), [0])
  const earlier = await claimed(ids('b'), 2)
  assert.deepEqual(await keysOfRows(), [10], 'the row of the claim before is gone')
  await claimed(['c'], 3)
  const endOfEarlier = await settleButOne(earlier)
  assert.deepEqual(await keysOfRows(), [10, 1], 'a claim with a later one')
  assert.deepEqual(new Set(await heldNow()), new Set(['b0', 'c']))
  await applyAll(store, [endOfEarlier])
  assert.deepEqual(await keysOfRows(), [1])
})

test('the name of an instance is kept until no fire on record is older than its end, and then deleted', async (context) => {
  const store = await openIn(context)
  await join(store, 'i')
  // A fire that ran ten days after it was due.
  const { state, run } = await running(store, 'a', { instance: 'i', startedAt: NOON + 10 * DAY_MS })
  const settled = settlement(state, run)
  const history = settled.history.map((line) => ({ ...line, expiresAt: Date.now() + DAY_MS }))
  await applyAll(store, [{ ...settled, history }])
  await store.beat(beat('i', { state: 'left' }))
  const namespace = [context.name]
  await pool.query('update cronce._instances set ended_at = 0 where namespace = $1', namespace)
  const named = async (goneAt: number): Promise<readonly string[]> => {
    await pool.query('update cronce._runners set gone_at = $2 where namespace = $1', [...namespace, goneAt])
    await store.prune(100)
    return (await runsOf(store)).map(({ instance }) => instance)
  }
  await store.prune(100)
  assert.deepEqual(await store.listInstances({ ids: ['i'] }).then(({ instances }) => instances), [])
  assert.deepEqual(await named(NOON + 11 * DAY_MS), ['i'])
  assert.deepEqual(await named(NOON + 1), ['i'])
  await pool.query(
    'update cronce._history set due_at = due_at + $2 where space = (select number from cronce._namespaces where namespace = $1)',
    [...namespace, 20 * DAY_MS],
  )
  await named(NOON + 11 * DAY_MS)
  const { rows } = await pool.query('select from cronce._runners where namespace = $1', namespace)
  assert.equal(rows.length, 0, 'every fire on record was due more than a day after the end of the instance')
})

test('work that goes on after a failed statement gets the outcome of its transaction', async (context) => {
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
