import assert from 'node:assert/strict'
import test from 'node:test'
import { copyData, hashData, type MemorySource, memory } from '../../src/memory.ts'
import type { Change } from '../../src/model/change.ts'
import { ending } from '../../src/model/outcome.ts'
import type { ScheduleState } from '../../src/model/schedule.ts'
import type { OpenOptions, Store } from '../../src/store/store.ts'
import {
  after,
  beat,
  change,
  claim,
  creation,
  DAY_MS,
  endedLine,
  HOUR_MS,
  JOB,
  keyOf,
  NOON,
  removal,
  runOf,
  schedule,
  settlement,
  waiting,
  withFires,
} from '../../src/testing/conformance/samples.ts'

const OPTIONS: OpenOptions = { namespace: 'default', adopt: false, production: false, warn: () => {} }
const ALL = '1'.repeat(256)

function makeClock(at = NOON) {
  let now = at
  return { wall: () => now, set: (instant: number) => (now = instant), advance: (ms: number) => (now += ms) }
}

async function openAt(at = NOON) {
  const clock = makeClock(at)
  const source = memory({ clock })
  return { clock, source, store: await source.open(OPTIONS) }
}

async function kindOf(store: Store, given: Change, instance?: string): Promise<string> {
  const claimant = instance === undefined ? undefined : { instance, leaseMs: 1_000 }
  return (await store.apply([given], { claimant })).results[0]!.kind
}

/** A schedule of which a live instance holds a run. */
async function openRun(store: Store, id = 's', instance = 'i') {
  await store.beat(beat(instance, { join: true }))
  const begun = claim(schedule(id), { instance, slots: ['job:report'] })
  await store.apply([creation(schedule(id)), begun])
  return { state: after(begun), run: runOf(begun) }
}

function settling(state: ScheduleState, run: ReturnType<typeof runOf>) {
  return { schedule: run.schedule, token: run.token, settle: () => settlement(state, run) }
}

async function countInTransaction(source: MemorySource, gate: Promise<void>): Promise<void> {
  await source.transaction(async (tx) => {
    const count = tx.get('count') ?? 0
    await gate
    tx.set('count', Number(count) + 1)
  })
}

test('a copy goes its own way, and a restore returns to its moment with all that is derived', async () => {
  const { source, store } = await openAt()
  const { state, run } = await openRun(store)
  await store.apply([creation(schedule('waiting', { wakeAt: NOON - 1 }))])
  await store.step({ kind: 'begin', fire: keyOf(run), step: 'charge', token: run.token, rerun: false })
  const kept = copyData(source.data)
  const hash = hashData(kept)
  assert.equal(hashData(source.data), hash)
  await store.apply([settlement(state, run), removal(schedule('waiting'))])
  await store.mark({ kind: 'dead', instance: 'i', renewals: 0, hint: true })
  assert.equal(hashData(kept), hash)
  assert.notEqual(hashData(source.data), hash)

  source.restore(kept)
  assert.equal(source.data, kept)
  const { held } = await store.beat(beat('i'))
  assert.deepEqual(
    held.map(({ token }) => token),
    [run.token],
  )
  const query = { jobs: [{ job: JOB, buckets: ALL }], patienceMs: 0, limit: 10 }
  assert.deepEqual(
    (await store.due(query)).schedules.map(({ id }) => id),
    ['waiting'],
  )
  const other = await store.load(['waiting'])
  const second = claim(other.schedules[0]!, { instance: 'i', slots: ['job:report'] })
  assert.equal(await kindOf(store, second), 'full')
  assert.equal((await store.listSteps(keyOf(run))).length, 1)
  assert.equal(await kindOf(store, settlement(state, run)), 'applied')
})

test('a copy shares nothing with the original, for all keys', async () => {
  const { source } = await openAt()
  const value = JSON.parse('{"__proto__": {"deep": [1]}, "list": [{"a": 1}]}')
  await source.transaction((tx) => tx.set('__proto__', value))
  const copied = copyData(source.data)
  assert.deepEqual(copied, source.data)
  const found = copied.effects.get('__proto__') as typeof value
  assert.deepEqual(Object.keys(found), ['__proto__', 'list'])
  found.list[0].a = 2
  assert.equal(value.list[0].a, 1)
})

test('equal data has an equal hash, independent of the order of its changes', async () => {
  const forwards = await openAt()
  const backwards = await openAt()
  const names = ['a', 'b', 'c', '10', '9']
  await forwards.store.apply(names.map((name) => creation(schedule(name))))
  await backwards.store.apply(names.toReversed().map((name) => creation(schedule(name))))
  assert.equal(hashData(forwards.source.data), hashData(backwards.source.data))
  const turned = new Map([...forwards.source.data.namespaces].map(([name, data]) => [name, reverseKeys(data)]))
  assert.equal(hashData({ ...forwards.source.data, namespaces: turned }), hashData(forwards.source.data))
  assert.match(hashData(forwards.source.data), /^[0-9a-f]{32}$/)
})

function reverseKeys<Value extends object>(value: Value): Value {
  return Object.fromEntries(Object.entries(value).toReversed()) as Value
}

test('data that differs anywhere has another hash', async () => {
  const { source } = await openAt()
  const seen = new Set([hashData(source.data)])
  for (const value of [
    0,
    1,
    '1',
    '',
    null,
    false,
    [],
    {},
    [[]],
    [1, 2],
    [12],
    ['1,2'],
    { a: 1 },
    { a: '1' },
    { b: 1 },
  ]) {
    for (const key of ['key', 'key2']) {
      seen.add(hashData({ ...source.data, effects: new Map([[key, value]]) }))
    }
  }
  seen.add(hashData({ ...source.data, epoch: 2 }))
  assert.equal(seen.size, 32)
})

test('a change that is refused leaves no trace', async () => {
  const { source, store } = await openAt()
  const { state } = await openRun(store)
  await store.beat(beat('dead', { join: true }))
  await store.mark({ kind: 'dead', instance: 'dead', renewals: 0, hint: true })
  const fresh = schedule('fresh')
  await store.apply([creation(fresh)])
  const hash = hashData(source.data)
  const line = endedLine('fresh', NOON + 2, { number: 1, expiresAt: NOON + DAY_MS })
  const trim = { belowNumber: 9, endedBefore: NOON }
  const more = withFires(change(fresh, {}, { trim, rewrites: [line], reopens: [keyOf(line)] }), [waiting(NOON), line])
  const full = claim(fresh, { instance: 'i', slots: ['job:report'] })
  const refused: [string, Change, string?][] = [
    ['not-live', more, 'dead'],
    ['conflict', { ...more, version: 7 }],
    ['conflict', { ...more, epoch: 7 }],
    ['early', { ...more, notBefore: NOON + 1 }],
    ['exists', withFires(change({ ...state, open: [] }, {}, { trim }), [waiting(NOON + 1), waiting(NOON)])],
    ['exists', withFires(more, [waiting(NOON)])],
    ['full', withFires(full, [line])],
  ]
  for (const [kind, given, instance] of refused) {
    assert.equal(await kindOf(store, given, instance), kind)
    assert.equal(hashData(source.data), hash, kind)
  }
})

test('of several reasons to refuse, the first in the order of the contract is reported', async () => {
  const { store } = await openAt()
  const { state } = await openRun(store)
  const again = claim(state, { instance: 'i', slots: ['job:report'] })
  const all = { ...again, version: 7, notBefore: NOON + 1 }
  assert.equal(await kindOf(store, all, 'stranger'), 'not-live')
  assert.equal(await kindOf(store, all, 'i'), 'conflict')
  assert.equal(await kindOf(store, { ...all, version: again.version }, 'i'), 'early')
  assert.equal(await kindOf(store, again, 'i'), 'exists')
  const other = claim(state, { instance: 'i', slots: ['job:report'], dueAt: NOON + 1 })
  assert.equal(await kindOf(store, other, 'i'), 'full')
})

test('a claim renews the lease also when all of it is refused', async () => {
  const { clock, store } = await openAt()
  const { state } = await openRun(store)
  clock.advance(5)
  assert.equal(await kindOf(store, { ...change(state), version: 7 }, 'i'), 'conflict')
  const [instance] = (await store.listInstances()).instances
  assert.deepEqual([instance?.renewals, instance?.renewedAt], [1, NOON + 5])
})

test('the version is one higher, even if the caller wrote another one into the state', async () => {
  const { store } = await openAt()
  await store.apply([creation(schedule('s', { version: 99 }))])
  assert.equal((await store.load(['s'])).schedules[0]?.version, 1)
})

test('new schedules count from the highest counter of any that was removed, of their namespace', async () => {
  const { source, store } = await openAt()
  const other = await source.open({ ...OPTIONS, namespace: 'other' })
  for (const [name, over] of [
    ['a', { tokens: 7 }],
    ['b', { tokens: 5 }],
  ] as const) {
    await store.apply([creation(schedule(name, over))])
  }
  await store.apply([removal(schedule('a')), removal(schedule('b'))])
  const made = async (at: Store, count: number) => {
    await at.apply([creation(schedule(`with ${count}`, { tokens: count, ended: count }))])
    const [state] = (await at.load([`with ${count}`])).schedules
    return [state?.tokens, state?.ended, state?.version]
  }
  const counted = [await made(store, 0), await made(store, 9), await made(other, 1)]
  assert.deepEqual(counted, [
    [7, 0, 8],
    [9, 9, 8],
    [1, 1, 1],
  ])
})

test('the last lines of a schedule, written with its removal, count for the numbers of its successor', async () => {
  const { store } = await openAt()
  await store.apply([creation(schedule('s'))])
  const lines = [3, 9, 6].map((number) => endedLine('s', NOON + number, { number, expiresAt: NOON + DAY_MS }))
  assert.equal(await kindOf(store, withFires(removal(schedule('s')), lines)), 'applied')
  await store.apply([creation(schedule('s'))])
  assert.equal((await store.load(['s'])).schedules[0]?.ended, 9)
})

test('the clock that is handed in is the clock of the store, cut to whole milliseconds', async () => {
  const { clock, store } = await openAt(NOON + 0.75)
  await store.apply([creation(schedule('s', { wakeAt: NOON + 10 }))])
  const query = { jobs: [{ job: JOB, buckets: ALL }], patienceMs: 0, limit: 10 }
  assert.deepEqual(await store.due(query), { now: NOON, epoch: 1, schedules: [], mineAt: NOON + 10, othersAt: null })
  clock.set(NOON + 10)
  assert.equal((await store.due(query)).schedules.length, 1)
})

test('a clock that is set back does not stretch a lease beyond its length', async () => {
  const { clock, store } = await openAt()
  await store.beat(beat('silent', { join: true, leaseMs: 1_000 }))
  clock.set(NOON - HOUR_MS)
  await store.beat(beat('watching', { join: true, leaseMs: 1_000 }))
  const burial = { instance: 'silent', renewals: 0, hint: false }
  clock.advance(999)
  assert.equal(await store.mark({ kind: 'dead', ...burial }), false)
  clock.advance(1)
  assert.equal(await store.mark({ kind: 'dead', ...burial }), true)
})

test('the epoch is that of the data, also after a restore', async () => {
  const { source, store } = await openAt()
  const flags = { transactions: true, probes: false, losesWrites: false, freeWakes: true }
  assert.deepEqual(store.info, { name: 'memory', epoch: 1, ...flags, leaseClock: 'boot' })
  const state = schedule('s')
  await store.apply([creation(state)])
  const earlier = copyData(source.data)
  const lost = change(state)
  await store.apply([lost])
  source.restore({ ...earlier, epoch: 2 })
  assert.equal(store.info.epoch, 2)
  assert.equal((await store.load(['s'])).epoch, 2)
  assert.deepEqual((await store.apply([lost])).results, [{ kind: 'conflict' }], 'its version is there again')
})

test('instances are listed in the order of their ids', async () => {
  const { store } = await openAt()
  for (const id of ['b', 'c', 'a', 'gone']) await store.beat(beat(id, { join: true }))
  const { instances } = await store.beat(beat('gone', { state: 'left' }))
  assert.deepEqual(
    instances.map(({ id }) => id),
    ['a', 'b', 'c'],
  )
})

test('of two transactions that read what the other writes, the second is refused and writes nothing', async () => {
  const { source } = await openAt()
  const first = Promise.withResolvers<void>()
  const second = Promise.withResolvers<void>()
  const slow = countInTransaction(source, second.promise)
  const fast = countInTransaction(source, first.promise)
  first.resolve()
  await fast
  second.resolve()
  await assert.rejects(slow, { code: 'TRANSACTION_CONFLICT', notApplied: true })
  assert.deepEqual([...source.data.effects], [['count', 1]])
})

test('a transaction reads what was committed and what it wrote, and always the same', async () => {
  const { source } = await openAt()
  await source.transaction((tx) => tx.set('a', 1))
  const read = source.transaction(async (tx) => {
    assert.deepEqual([tx.get('a'), tx.get('b')], [1, undefined])
    tx.set('b', 2)
    assert.equal(tx.get('b'), 2)
    await source.transaction((other) => other.set('a', 3))
    assert.equal(tx.get('a'), 1)
  })
  await assert.rejects(read, { code: 'TRANSACTION_CONFLICT' })
  assert.deepEqual([...source.data.effects], [['a', 3]])
})

test('a transaction that throws, or is used when it is over, writes nothing', async () => {
  const { source, store } = await openAt()
  const hash = hashData(source.data)
  const kept: Parameters<Parameters<MemorySource['transaction']>[0]>[0][] = []
  const failing = source.transaction(async (tx) => {
    kept.push(tx)
    tx.set('a', 1)
    await store.apply([creation(schedule('s'))], { tx })
    throw new RangeError('no')
  })
  await assert.rejects(failing, RangeError)
  assert.throws(() => kept[0]!.set('a', 1), { code: 'TRANSACTION_OVER' })
  assert.throws(() => kept[0]!.get('a'), { code: 'TRANSACTION_OVER' })
  const over = store.apply([creation(schedule('s'))], { tx: kept[0] })
  await assert.rejects(over, { code: 'TRANSACTION_OVER' })
  const stranger = memory().transaction((tx) => store.load(['s'], { tx }))
  await assert.rejects(stranger, { code: 'TRANSACTION_UNKNOWN' })
  const copied = copyData(source.data)
  assert.equal(hashData(copied), hash)
})

test('while a transaction is open its changes are invisible to others, and a faster one ends it without a trace', async () => {
  const { source, store } = await openAt()
  const other = await source.open({ ...OPTIONS, namespace: 'other' })
  await store.apply([creation(schedule('s'))])
  const slow = source.transaction(async (tx) => {
    tx.set('a', 1)
    await other.apply([creation(schedule('elsewhere'))], { tx })
    const { results } = await store.apply([change(schedule('s'), { fired: 1 })], { tx })
    assert.deepEqual(results, [{ kind: 'applied' }])
    assert.equal((await store.load(['s'], { tx })).schedules[0]?.fired, 1)
    assert.equal((await store.load(['s'])).schedules[0]?.fired, 0)
    await store.apply([change(schedule('s'), { fired: 2 })])
  })
  await assert.rejects(slow, { code: 'TRANSACTION_CONFLICT' })
  assert.equal((await store.load(['s'])).schedules[0]?.fired, 2)
  assert.deepEqual([...source.data.effects], [])
  assert.deepEqual((await other.load(['elsewhere'])).schedules, [])
})

test('a transaction that was open during a restore is lost', async () => {
  const { source } = await openAt()
  const open = source.transaction((tx) => {
    tx.set('a', 1)
    source.restore(copyData(source.data))
  })
  await assert.rejects(open, { code: 'TRANSACTION_CONFLICT' })
  assert.deepEqual([...source.data.effects], [])
})

test('a run that is overtaken while its work goes on commits nothing', async () => {
  for (const overtake of ['settled', 'dead', 'removed'] as const) {
    const { source, store } = await openAt()
    const { state, run } = await openRun(store)
    let hash = ''
    const answer = await store.transact({
      ...settling(state, run),
      work: async (tx) => {
        tx.set('paid', true)
        await store.apply([creation(schedule('next'))], { tx })
        if (overtake === 'settled') await store.apply([settlement(state, run)])
        else if (overtake === 'dead') await store.mark({ kind: 'dead', instance: 'i', renewals: 0, hint: true })
        else await store.apply([removal(state)])
        hash = hashData(source.data)
      },
    })
    assert.deepEqual(answer, { kind: 'stale' }, overtake)
    assert.equal(hashData(source.data), hash, overtake)
  }
})

test('the settlement sees what the work did to its own schedule', async () => {
  const { source, store } = await openAt()
  const { state, run } = await openRun(store)
  const answer = await store.transact({
    schedule: run.schedule,
    token: run.token,
    work: async (tx) => {
      tx.set('paid', true)
      await store.apply([change(state, { fired: 5 })], { tx })
      return 'value'
    },
    settle: (seen) => settlement(seen, run),
  })
  assert.deepEqual(answer, { kind: 'committed', value: 'value', now: NOON })
  const [settled] = (await store.load(['s'])).schedules
  assert.deepEqual([settled?.fired, settled?.open, settled?.version], [5, [], state.version + 2])
  assert.deepEqual([...source.data.effects], [['paid', true]])
})

test('a settlement that does not fit is refused with all the rest', async () => {
  const { source, store } = await openAt()
  const { state, run } = await openRun(store)
  const hash = hashData(source.data)
  const wrong = { ...settling(state, run), settle: () => ({ ...settlement(state, run), version: 7 }) }
  const work = (tx: { set(key: string, value: null): void }) => tx.set('a', null)
  await assert.rejects(store.transact({ ...wrong, work }), { code: 'TRANSACTION_CONFLICT' })
  assert.equal(hashData(source.data), hash)
})

test('watchers are notified after the write, also when it comes with a transaction, and not when it is refused', async () => {
  const { source, store } = await openAt()
  const other = await source.open(OPTIONS)
  let told = 0
  const stop = other.watch(() => told++)
  const wake = { wake: true }
  await store.apply([creation(schedule('a'))], wake)
  await store.apply([creation(schedule('a'))], wake)
  await store.apply([creation(schedule('b'))])
  await Promise.resolve()
  assert.equal(told, 1)
  await source.transaction(async (tx) => {
    await store.apply([creation(schedule('c'))], { tx, ...wake })
    await Promise.resolve()
    assert.equal(told, 1)
  })
  await Promise.resolve()
  assert.equal(told, 2)
  stop()
  await store.apply([creation(schedule('d'))], wake)
  await Promise.resolve()
  assert.equal(told, 2)
})

test('a store that was closed refuses everything, and the others go on', async () => {
  const { source, store } = await openAt()
  const other = await source.open(OPTIONS)
  await store.close()
  await assert.rejects(store.load(['s']), { code: 'STORE_CLOSED', notApplied: true })
  await assert.rejects(store.apply([creation(schedule('s'))]), { code: 'STORE_CLOSED' })
  await assert.rejects(store.transact({ schedule: 's', token: '1', work: () => 1, settle: () => null }), {
    code: 'STORE_CLOSED',
  })
  assert.equal(await kindOf(other, creation(schedule('s'))), 'applied')
})

test('a malformed cursor is refused', async () => {
  const { store } = await openAt()
  for (const after of ['', 'x', '{}', '[]', '[1]', '["a",1,""]']) {
    await assert.rejects(store.listRecords({ view: 'fires', after, limit: 1 }), { code: 'CURSOR_INVALID' }, after)
    await assert.rejects(store.listSchedules({ after, limit: 1 }), { code: 'CURSOR_INVALID' }, after)
  }
})

test('records of a schedule that exists are not erased', async () => {
  const { source, store } = await openAt()
  await openRun(store)
  const hash = hashData(source.data)
  await assert.rejects(store.prune(10, 's'), { code: 'SCHEDULE_EXISTS', notApplied: true })
  assert.equal(hashData(source.data), hash)
})

test('a trim takes the lowest numbers first and 200 at most, even if the clock was once set back', async () => {
  const { store } = await openAt()
  const lines = Array.from({ length: 300 }, (_, index) => {
    // Number 1 ended, as it seemed then, a day later than all the others.
    const endedAt = index === 0 ? NOON + DAY_MS : NOON + index
    return endedLine('s', NOON - index, { number: index + 1, expiresAt: NOON + 9 * DAY_MS, endedAt })
  })
  const made = withFires(change(schedule('s')), lines)
  await store.apply([creation(schedule('s')), made])
  await store.apply([change(after(made), {}, { trim: { belowNumber: 290, endedBefore: NOON + HOUR_MS } })])
  const { items } = await store.listRecords({ view: 'fires', after: null, limit: 500, order: 'latest' })
  assert.deepEqual(
    items.map(({ number }) => number),
    [1, ...Array.from({ length: 99 }, (_, index) => index + 202)],
  )
  const [state] = (await store.load(['s'])).schedules
  await store.apply([change(state!, {}, { trim: { belowNumber: 203, endedBefore: NOON + HOUR_MS } })])
  const { items: left } = await store.listRecords({ view: 'fires', after: null, limit: 3 })
  assert.deepEqual(
    left.map(({ number }) => number),
    [1, 203, 204],
  )
})

test('a trim that is rolled back brings back the fire with its runs, notes and steps', async () => {
  const { source, store } = await openAt()
  const { state, run } = await openRun(store)
  await store.step({ kind: 'begin', fire: keyOf(run), step: 'charge', token: run.token, rerun: false })
  await store.annotate([{ schedule: 's', token: run.token, progress: null, log: [], logCut: true }])
  const settled = settlement(state, run)
  await store.apply([settled])
  const hash = hashData(source.data)
  const trim = { belowNumber: 9, endedBefore: NOON + DAY_MS }
  const failing = source.transaction(async (tx) => {
    assert.deepEqual((await store.apply([change(after(settled), {}, { trim })], { tx })).results, [{ kind: 'applied' }])
    throw new RangeError('rolled back')
  })
  await assert.rejects(failing, RangeError)
  assert.equal(hashData(source.data), hash)
  assert.equal((await store.listSteps(keyOf(run))).length, 1)
  await store.apply([change(after(settled), {}, { trim })])
  const { history, notes, steps } = source.data.namespaces.get('default')!
  assert.deepEqual([history.size, notes.size, steps.size], [0, 0, 0])
})

test('lines of a fire that never ended are erased like the others', async () => {
  const { source, store } = await openAt()
  const { state, run } = await openRun(store)
  await store.annotate([{ schedule: 's', token: run.token, progress: null, log: [], logCut: true }])
  const failed = settlement(state, run, { how: ending('error'), fireEnds: null })
  await store.apply([failed, removal(after(failed))])
  assert.deepEqual((await store.listRecords({ view: 'fires', after: null, limit: 9 })).items, [])
  assert.deepEqual(await store.prune(1, 's'), { deleted: 1 })
  const { history, notes } = source.data.namespaces.get('default')!
  assert.deepEqual([history.size, notes.size], [0, 0])
})

test('the transaction of a run is over when it is committed', async () => {
  const { store } = await openAt()
  const { state, run } = await openRun(store)
  const answer = await store.transact({ ...settling(state, run), work: (tx) => tx })
  assert.ok(answer.kind === 'committed')
  assert.throws(() => answer.value.set('late', 1), { code: 'TRANSACTION_OVER' })
})

test('a dead instance is remembered as long as it has runs, since they are recovered by it', async () => {
  const { clock, store } = await openAt()
  const { state, run } = await openRun(store)
  await store.mark({ kind: 'dead', instance: 'i', renewals: 0, hint: true })
  const ids = async () => (await store.listInstances()).instances.map(({ id }) => id)
  clock.advance(2 * DAY_MS)
  await store.prune(10)
  assert.deepEqual(await ids(), ['i'])
  await store.apply([settlement(state, run)])
  await store.prune(10)
  assert.deepEqual(await ids(), [])
})
