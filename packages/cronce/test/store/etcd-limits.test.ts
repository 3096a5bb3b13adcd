import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startEtcd } from '../../../../scripts/servers/index.ts'
import { ClockKeeper } from '../../src/store/etcd/clock-keeper.ts'
import { EtcdDriver } from '../../src/store/etcd/driver.ts'
import { etcd } from '../../src/store/etcd/etcd.ts'
import { Link } from '../../src/store/etcd/link.ts'
import { READ } from '../../src/store/etcd/messages.ts'
import { Keys } from '../../src/store/kv/keys.ts'
import { ServerClock } from '../../src/store/kv/server-clock.ts'
import type { Store } from '../../src/store/store.ts'
import { StoreError } from '../../src/store/store-error.ts'
import { applyAll, applyOne, create, firesOf, join, loadOne, runsOf } from '../../src/testing/conformance/bench.ts'
import {
  after,
  beat,
  change,
  claim,
  creation,
  decideIn,
  definition,
  endedLine,
  HOUR_MS,
  NOON,
  runOf,
  schedule,
  settlement,
  waiting,
  withFires,
} from '../../src/testing/conformance/samples.ts'
import { askGateway, driverAt } from './etcd-kit.ts'
import { OPENING } from './kv-kit.ts'

test('a full database refuses every write, and the error has a hint', async () => {
  await using server = await startEtcd({ flags: ['--quota-backend-bytes=4194304'] })
  const store = await etcd({ endpoints: [server.url] }).open(OPENING)
  decideIn(1)
  await join(store, 'i')
  const input = 'x'.repeat(60_000)
  const write = async (number: number) =>
    applyOne(store, creation(schedule(`s${number}`, { definition: definition({ input: `${number}${input}` }) })))
  let error: unknown
  // Ten times what it may hold.
  for (let number = 0; number < 700 && error === undefined; number++) {
    error = await write(number).then(
      () => undefined,
      (thrown) => thrown,
    )
  }
  assert.ok(error instanceof StoreError, 'it was never refused')
  assert.deepEqual([error.code, error.notApplied], ['STORE_FULL', true])
  assert.match(error.hint ?? '', /compact[\s\S]*defrag[\s\S]*alarm disarm/)
  await assert.rejects(store.beat(beat('i')), { code: 'STORE_FULL' })
  assert.notEqual(await loadOne(store, 's0'), null, 'it can be read')
  // As the hint suggests.
  const { schedules } = await store.load(['s0'])
  await askGateway(server.url, '/v3/kv/deleterange', {
    key: btoa('cronce\0test\0d'),
    range_end: btoa('cronce\0test\0e'),
  })
  const { header } = await askGateway(server.url, '/v3/kv/range', { key: btoa('cronce') })
  await askGateway(server.url, '/v3/kv/compaction', { revision: header.revision, physical: true })
  await askGateway(server.url, '/v3/maintenance/defragment', {})
  await askGateway(server.url, '/v3/maintenance/alarm', {
    action: 'DEACTIVATE',
    memberID: header.member_id,
    alarm: 'NOSPACE',
  })
  assert.equal((await store.beat(beat('i'))).alive, true)
  assert.deepEqual(await applyOne(store, change(schedules[0]!, { fired: 1 })), { kind: 'applied' })
  await store.close()
})

test('changes of any size are all or nothing: thousands of keys, and more than one request holds', async () => {
  await using server = await startEtcd()
  const store = await etcd({ endpoints: [server.url] }).open(OPENING)
  decideIn(1)
  const lines = Array.from({ length: 900 }, (_, index) =>
    endedLine('s', NOON + index * HOUR_MS, { number: index + 1, expiresAt: NOON, tenant: 'acme', job: 'other' }),
  )
  const open = Array.from({ length: 400 }, (_, index) => waiting(NOON - (index + 1) * HOUR_MS, { nonce: `n${index}` }))
  const large = withFires(change(await create(store, schedule('s'))), [...lines, ...open])
  assert.deepEqual(await applyOne(store, large), { kind: 'applied' })
  assert.equal((await firesOf(store)).length, 1_300)
  const twice = withFires(change(after(large)), [waiting(NOON + 9_999 * HOUR_MS), waiting(NOON + 5 * HOUR_MS)])
  assert.equal((await applyOne(store, twice)).kind, 'exists')
  const input = 'x'.repeat(60_000)
  const many = Array.from({ length: 60 }, (_, index) =>
    schedule(`many-${index}`, { definition: definition({ input }) }),
  )
  await applyAll(
    store,
    many.map((state) => creation(state)),
  )
  assert.equal((await store.load(many.map(({ id }) => id))).schedules.length, 60)
  await store.close()
})

test('lists and feeds go on while the history of the server is compacted', async () => {
  await using server = await startEtcd()
  const store = await etcd({ endpoints: [server.url] }).open(OPENING)
  decideIn(1)
  await join(store, 'i')
  const { next } = await store.listEnds({ after: null, limit: 10 })
  let state = await create(store, schedule('s'))
  const compact = async (): Promise<void> => {
    const { header } = await askGateway(server.url, '/v3/kv/range', { key: btoa('cronce') })
    await askGateway(server.url, '/v3/kv/compaction', { revision: header.revision }).catch(() => {})
  }
  for (let round = 0; round < 20; round++) {
    const claimed = claim(state, { instance: 'i', dueAt: NOON + round * HOUR_MS })
    const settled = settlement(after(claimed), runOf(claimed))
    await Promise.all([
      applyAll(store, [claimed, settled]),
      compact(),
      runsOf(store),
      firesOf(store, { schedule: 's' }),
    ])
    state = after(settled)
  }
  await compact()
  assert.equal((await runsOf(store)).length, 20)
  const page = await store.listEnds({ after: next, limit: 100 })
  assert.deepEqual([page.items, page.complete], [[], false], 'the server keeps it no longer, and the page says so')
  assert.equal((await store.listEnds({ after: page.next, limit: 100 })).complete, true)
  await store.close()
})

test('a read that is larger than one request is made again if the server compacts what it has begun', async () => {
  await using server = await startEtcd()
  const link = new Link({ name: 'etcd', endpoints: [server.url], tls: {}, user: null, timeoutMs: 5_000 })
  const clock = new ServerClock(() => performance.now())
  const driver = new EtcdDriver(link, new ClockKeeper('etcd', clock, () => server.url, {}), 'kit\0')
  const put = (value: string) => driver.commit({ guards: [], puts: [{ key: 'kit\0last', value }], groups: [] })
  await put('before')
  const call = link.call.bind(link)
  let requests = 0
  link.call = async (method, message) => {
    const answer = await call(method, message)
    if (method === READ && ++requests === 1) {
      const { revision } = await put('after')
      await askGateway(server.url, '/v3/kv/compaction', { revision: String(revision) })
    }
    return answer as never
  }
  const reads = Array.from({ length: 200 }, (_, index) => ({ get: index === 199 ? 'kit\0last' : `kit\0${index}` }))
  const { found } = await driver.read(reads)
  assert.deepEqual([found.length, found[199]?.entries[0]?.value], [200, 'after'])
  await driver.close()
})

test('a change that is larger than a request is refused, with a hint and without an effect on others', async () => {
  await using server = await startEtcd()
  const store = await etcd({ endpoints: [server.url] }).open(OPENING)
  decideIn(1)
  const [small, large] = [await create(store, schedule('small')), await create(store, schedule('large'))]
  const fires = (length: number) =>
    Array.from({ length }, (_, index) =>
      waiting(NOON, { nonce: `n${index}`, own: { input: 'x'.repeat(60_000), policy: {} } }),
    )
  const isExplained = ({ code, hint, notApplied }: StoreError): boolean =>
    code === 'STORE_REFUSED' && /max-request-bytes/.test(hint ?? '') && !notApplied
  await assert.rejects(store.apply([change(small, { fired: 1 }), withFires(change(large), fires(30))]), isExplained)
  // Half a megabyte above etcd's limit is that of its gRPC server, which says it in other words.
  const larger = applyOne(store, withFires(change(large), fires(60)))
  await assert.rejects(larger, { code: 'STORE_REFUSED', notApplied: true })
  assert.deepEqual(
    (await store.load(['small', 'large'])).schedules.map(({ fired, open }) => [fired, open.length]),
    [
      [1, 0],
      [0, 0],
    ],
  )
  await store.close()
})

test('the counts of every hour are folded, however many hours are kept', async () => {
  await using server = await startEtcd()
  const store = await etcd({ endpoints: [server.url] }).open(OPENING)
  decideIn(1)
  const hours = Array.from({ length: 1_050 }, (_, index) => hourAgo(1_060 - index))
  const dueTimes = hours.flatMap((hour) => [hour, hour + 1])
  for (let start = 0; start < dueTimes.length; start += 700) {
    await endAt(store, `s${start}`, dueTimes.slice(start, start + 700))
  }
  const driver = driverAt(server.url)
  const countKeys = async (): Promise<number> => {
    const keys = new Keys('cronce', OPENING.namespace)
    const { found } = await driver.read([{ from: keys.key('u'), to: keys.key('v'), countOnly: true }])
    return found[0]!.count
  }
  assert.equal(await countKeys(), 2_100)
  for (let before = Number.POSITIVE_INFINITY, left = 2_100; left < before; ) {
    await store.prune(10)
    before = left
    left = await countKeys()
  }
  assert.equal(await countKeys(), 1_050, 'one for each hour')
  assert.deepEqual(
    await countsOf(store),
    hours.map((hour) => [hour, 2]),
  )
  await Promise.all([store.close(), driver.close()])
})

test('a late end is added to the sum of its hour, however many keys come before it', async () => {
  await using server = await startEtcd()
  const store = await etcd({ endpoints: [server.url] }).open(OPENING)
  decideIn(1)
  const [early, late] = [hourAgo(11), hourAgo(10)]
  const times = (hour: number, count: number): number[] => Array.from({ length: count }, (_, index) => hour + index)
  await endAt(store, 'first', times(late, 501))
  await store.prune(10)
  await endAt(store, 'second', [...times(early, 999), late])
  await store.prune(10)
  assert.deepEqual(await countsOf(store), [
    [early, 999],
    [late, 502],
  ])
  await store.close()
})

function hourAgo(hours: number): number {
  return (Math.floor(Date.now() / HOUR_MS) - hours) * HOUR_MS
}

async function endAt(store: Store<never>, id: string, dueTimes: readonly number[]): Promise<void> {
  const expiresAt = Date.now() + 1_000 * HOUR_MS
  const lines = dueTimes.map((dueAt, index) => endedLine(id, dueAt, { number: index + 1, expiresAt }))
  await applyAll(store, [withFires(change(await create(store, schedule(id))), lines)])
}

async function countsOf(store: Store<never>): Promise<[hour: number, count: number][]> {
  const { hours } = await store.countFires({ from: hourAgo(2_000), to: hourAgo(0) })
  return hours.map(({ hour, count }) => [hour, count])
}
