import assert from 'node:assert/strict'
import { after as afterAll, before, test } from 'node:test'
import { type Server, startEtcd } from '../../../../scripts/servers/index.ts'
import { etcd } from '../../src/store/etcd/etcd.ts'
import type { Store } from '../../src/store/store.ts'
import {
  applyAll,
  applyOne,
  bury,
  create,
  firesOf,
  join,
  renewalsOf,
  running,
  runsOf,
} from '../../src/testing/conformance/bench.ts'
import {
  after,
  beat,
  change,
  claim,
  creation,
  DAY_MS,
  decideIn,
  endedLine,
  HOUR_MS,
  keyOf,
  NOON,
  removal,
  reopening,
  schedule,
  settlement,
  withFires,
} from '../../src/testing/conformance/samples.ts'
import { openRacing, type RacingStore } from './etcd-kit.ts'
import { OPENING } from './kv-kit.ts'

// A call reads, decides and writes. Here a rival writes in between, each time: what the server compares in the write must notice.

let server: Server
let namespaces = 0

before(async () => {
  server = await startEtcd()
  decideIn(1)
})

afterAll(() => server.stop())

function race(title: string, body: (racing: RacingStore, rival: Store) => Promise<void>): void {
  test(title, async () => {
    const namespace = `race-${++namespaces}`
    const racing = await openRacing(server.url, namespace)
    const rival = await etcd({ endpoints: [server.url] }).open({ ...OPENING, namespace })
    try {
      await body(racing, rival)
    } finally {
      await Promise.all([racing.store.close(), rival.close()])
    }
  })
}

race('an instance that renews is not declared dead over an older look', async ({ store, beforeCommit }, rival) => {
  await join(store, 'i')
  const renewals = await renewalsOf(store, 'i')
  beforeCommit(() => rival.beat(beat('i')))
  assert.equal(await store.mark({ kind: 'dead', instance: 'i', renewals, hint: true }), false)
  assert.equal((await rival.beat(beat('i'))).alive, true)
})

race('an instance that is declared dead does not renew', async ({ store, beforeCommit }, rival) => {
  await join(store, 'i', 'j')
  await store.beat(beat('i'))
  beforeCommit(() => bury(rival, 'i'))
  assert.equal((await store.beat(beat('i'))).alive, false)
  beforeCommit(() => rival.beat(beat('j', { state: 'left' })))
  assert.equal(await store.mark({ kind: 'drain', instance: 'j', drain: true }), false)
})

race('an instance that is declared dead does not claim', async ({ store, beforeCommit }, rival) => {
  await join(store, 'i')
  const wanted = claim(await create(store, schedule('s')), { instance: 'i' })
  beforeCommit(() => bury(rival, 'i'))
  const claimed = await store.apply([wanted], { claimant: { instance: 'i', leaseMs: 10_000 } })
  assert.deepEqual([claimed.results, claimed.renewed], [[{ kind: 'not-live' }], false])
  assert.deepEqual(await runsOf(rival), [])
})

race('a run that ends, or whose instance dies, begins no step', async ({ store, beforeCommit }, rival) => {
  await join(store, 'i')
  for (const [id, end] of [
    ['settled', ({ state, run }) => applyAll(rival, [settlement(state, run)])],
    ['dead', () => bury(rival, 'i')],
  ] as readonly (readonly [string, (open: Awaited<ReturnType<typeof running>>) => Promise<void>])[]) {
    const open = await running(store, id, { instance: 'i' })
    beforeCommit(() => end(open))
    const begin = { kind: 'begin', fire: keyOf(open.run), step: 'charge', token: open.run.token, rerun: false } as const
    assert.deepEqual(await store.step(begin), { kind: 'stale' }, id)
    assert.deepEqual(await rival.listSteps(keyOf(open.run)), [])
  }
})

race('a step is begun once', async ({ store, beforeCommit }, rival) => {
  await join(store, 'i')
  const { run } = await running(store, 's', { instance: 'i' })
  const begin = { kind: 'begin', fire: keyOf(run), step: 'charge', token: run.token, rerun: false } as const
  beforeCommit(() => rival.step(begin))
  assert.deepEqual(await store.step(begin), { kind: 'duplicate' })
})

race('a run that ends tells nothing', async ({ store, beforeCommit }, rival) => {
  await join(store, 'i')
  const { state, run } = await running(store, 's', { instance: 'i' })
  beforeCommit(() => applyAll(rival, [settlement(state, run)]))
  const note = { schedule: 's', token: run.token, progress: null, log: [], logCut: true }
  assert.deepEqual(await store.annotate([note]), { stale: [{ schedule: 's', token: run.token }] })
  assert.equal((await runsOf(rival))[0]?.logCut, false)
})

race('a fire that is opened again is neither pruned nor trimmed', async ({ store, beforeCommit }, rival) => {
  const { now } = await store.load([])
  const line = endedLine('s', NOON, { number: 1, expiresAt: now - DAY_MS })
  const ended = withFires(change(await create(store, schedule('s'))), [line])
  await applyAll(store, [ended])
  beforeCommit(() => applyAll(rival, [reopening(after(ended), line)]))
  assert.deepEqual(await store.prune(100), { deleted: 0 })
  const again = { ...line, number: 2, round: 2 }
  const reopened = after(reopening(after(ended), line))
  await applyAll(rival, [change(reopened, { ended: 2, open: [] }, { history: [again] })])
  assert.equal((await firesOf(rival)).length, 1)
  const numbers = async () => (await rival.listLatest({ schedules: ['s'], limit: 10 })).fires.length
  assert.equal(await numbers(), 1)
})

race(
  'a schedule that is made again while its records are erased keeps them',
  async ({ store, beforeCommit }, rival) => {
    const ended = withFires(change(await create(store, schedule('s'))), [
      endedLine('s', NOON, { number: 1, expiresAt: NOON }),
    ])
    await applyAll(store, [ended])
    await applyAll(store, [removal(after(ended))])
    beforeCommit(() => create(rival, schedule('s')))
    assert.deepEqual(await store.prune(100, 's'), { deleted: 0 })
    const [fire] = await firesOf(rival)
    assert.equal(fire?.dueAt, NOON, 'it is on record, and does not run again')
  },
)

race(
  'a schedule that is created counts from above every one that was removed',
  async ({ store, beforeCommit }, rival) => {
    const old = change(await create(rival, schedule('old')), { tokens: 500 })
    await applyAll(rival, [old])
    beforeCommit(() => applyAll(rival, [removal(after(old))]))
    assert.deepEqual(await applyOne(store, creation(schedule('new'))), { kind: 'applied' })
    const { schedules } = await rival.load(['new'])
    assert.ok(schedules[0]!.tokens >= 500, `${schedules[0]!.tokens}`)
  },
)

race(
  'counts that another process has folded meanwhile are not folded again',
  async ({ store, beforeCommit }, rival) => {
    const hour = Math.floor(Date.now() / HOUR_MS - 10) * HOUR_MS
    let state = await create(store, schedule('s'))
    const end = async (): Promise<void> => {
      const number = state.ended + 1
      const ended = withFires(change(state), [endedLine('s', hour + number, { number, expiresAt: hour + DAY_MS })])
      await applyAll(rival, [ended])
      state = after(ended)
    }
    await end()
    await store.prune(10)
    await end()
    beforeCommit(async () => {
      await rival.prune(10)
      await end()
      await rival.prune(10)
    })
    await store.prune(10)
    const { hours } = await store.countFires({ from: hour, to: hour + HOUR_MS })
    assert.deepEqual(
      hours.map(({ count }) => count),
      [3],
    )
  },
)
