import assert from 'node:assert/strict'
import { ending } from '../../model/outcome.ts'
import type { Instant } from '../../model/schedule.ts'
import type { Store } from '../../store/store.ts'
import { applyAll, bury, create, firesOf, join, loadOne, type Rule, running, runsOf } from './bench.ts'
import {
  after,
  beat,
  change,
  creation,
  DAY_MS,
  endedFire,
  fire,
  HOUR_MS,
  keyOf,
  missedRange,
  NOON,
  removal,
  schedule,
  settlement,
} from './samples.ts'

const MANY = 1_000

/** A fire that ran, with a run and a step, and whose record may go at `expiresAt`. */
async function ranFire(store: Store, id: string, expiresAt: Instant): Promise<void> {
  const { state, run } = await running(store, id, { instance: 'i' })
  await store.step({ kind: 'begin', fire: keyOf(run), step: 'charge', token: run.token, rerun: false })
  const progress = { fraction: 0.5, message: 'secret', at: NOON }
  await store.annotate([{ schedule: id, token: run.token, progress, log: [], logCut: false }])
  const settled = settlement(state, run)
  await applyAll(store, [{ ...settled, updates: settled.updates.map((record) => ({ ...record, expiresAt })) }])
}

async function dueOf(store: Store): Promise<number[]> {
  return (await firesOf(store, { order: 'earliest' })).map(({ dueAt }) => (dueAt - NOON) / HOUR_MS)
}

export function retentionRules(rule: Rule): void {
  rule('prune deletes ended fires whose time is up, with their runs and steps, and nothing else', async (bench) => {
    const { store, now } = bench
    const at = await now()
    await join(store, 'i')
    await ranFire(store, 'old', at - 1)
    await ranFire(store, 'young', at + DAY_MS)
    const { run: open } = await running(store, 'open', { instance: 'i' })
    await store.step({ kind: 'begin', fire: keyOf(open), step: 'charge', token: open.token, rerun: false })
    assert.deepEqual(await store.prune(MANY), { deleted: 1 })
    assert.deepEqual((await firesOf(store)).map((record) => record.schedule).sort(), ['open', 'young'])
    assert.deepEqual((await runsOf(store)).map((record) => record.schedule).sort(), ['open', 'young'])
    const steps = async (id: string) => (await store.listSteps({ ...keyOf(open), schedule: id })).length
    assert.deepEqual([await steps('old'), await steps('young'), await steps('open')], [0, 1, 1])
    assert.equal((await store.load(['old', 'young', 'open'])).schedules.length, 3)
    assert.deepEqual(await store.prune(MANY), { deleted: 0 })
  })

  rule('prune deletes no more than it is allowed to', async ({ store, now }) => {
    const at = await now()
    const expired = Array.from({ length: 7 }, (_, index) =>
      endedFire('s', NOON + index * HOUR_MS, { number: index + 1, expiresAt: at - HOUR_MS }),
    )
    await applyAll(store, [change(await create(store, schedule('s')), {}, { creates: expired })])
    const left: number[] = []
    for (let round = 0; round < 4; round++) {
      await store.prune(3)
      left.push((await firesOf(store)).length)
    }
    assert.deepEqual(left, [4, 1, 0, 0])
  })

  rule('an open fire is not pruned, whatever its record says about when it may go', async ({ store, now }) => {
    const state = await create(store, schedule('s'))
    await applyAll(store, [change(state, {}, { creates: [fire('s', NOON, { expiresAt: (await now()) - HOUR_MS })] })])
    const { chores } = await store.beat(beat('i', { join: true }))
    assert.equal(chores.prunable, false)
    assert.deepEqual(await store.prune(MANY), { deleted: 0 })
    assert.equal((await firesOf(store)).length, 1)
  })

  rule('a fire that was opened again is not pruned', async ({ store, now }) => {
    const at = await now()
    const ended = endedFire('s', NOON, { number: 1, expiresAt: at - HOUR_MS })
    const first = change(await create(store, schedule('s')), {}, { creates: [ended] })
    await applyAll(store, [first])
    const reopened = { ...fire('s', NOON), round: 2 }
    await applyAll(store, [change(after(first), {}, { updates: [reopened] })])
    assert.deepEqual(await store.prune(MANY), { deleted: 0 })
    assert.deepEqual(await firesOf(store), [reopened])
  })

  rule(
    "a fire's time is up by the store's clock",
    async ({ store, now, pass }) => {
      const at = await now()
      const ended = endedFire('s', NOON, { number: 1, expiresAt: at + HOUR_MS })
      await applyAll(store, [change(await create(store, schedule('s')), {}, { creates: [ended] })])
      await pass(HOUR_MS - 1)
      assert.deepEqual(await store.prune(MANY), { deleted: 0 })
      await pass(2)
      assert.deepEqual(await store.prune(MANY), { deleted: 1 })
    },
    'clock',
  )

  rule('a beat tells whether prune would delete something', async ({ store, now }) => {
    const prunable = async () => (await store.beat(beat('i'))).chores.prunable
    const at = await now()
    await join(store, 'i', 'gone')
    await bury(store, 'gone')
    await ranFire(store, 'young', at + DAY_MS)
    await running(store, 'open', { instance: 'i' })
    assert.equal(await prunable(), false)
    await ranFire(store, 'old', at - 1)
    assert.equal(await prunable(), true)
    await store.prune(MANY)
    assert.equal(await prunable(), false)
  })

  rule(
    'an instance that prune would forget makes a beat tell so, and one with open runs does not',
    async ({ store, age }) => {
      const prunable = async () => (await store.beat(beat('i'))).chores.prunable
      await join(store, 'i', 'dead')
      const { state, run } = await running(store, 's', { instance: 'dead' })
      await bury(store, 'dead')
      await age(DAY_MS - HOUR_MS)
      assert.equal(await prunable(), false)
      await age(2 * HOUR_MS)
      assert.equal(await prunable(), false)
      await applyAll(store, [settlement(state, run, { how: ending('crashed') })])
      assert.equal(await prunable(), true)
      await store.prune(MANY)
      assert.equal(await prunable(), false)
    },
    'age',
  )

  rule('a nonce is free again once its record is gone', async ({ store, now }) => {
    const over = { number: 1, expiresAt: (await now()) - 1, nonce: 'n', kind: 'manual' } as const
    const written = creation(schedule('s'), { creates: [endedFire('s', NOON, over)] })
    await applyAll(store, [written])
    await store.prune(MANY)
    assert.deepEqual(await firesOf(store, { schedule: 's', nonce: 'n' }), [])
    const again = fire('s', NOON + 1, { nonce: 'n', kind: 'manual' })
    await applyAll(store, [change(after(written), {}, { creates: [again] })])
    assert.deepEqual(await firesOf(store, { schedule: 's', nonce: 'n' }), [again])
  })

  rule('a range is pruned like any other record', async ({ store, now }) => {
    const at = await now()
    const range = { ...missedRange('s', NOON, 10), expiresAt: at - 1 }
    await applyAll(store, [change(await create(store, schedule('s')), {}, { creates: [range] })])
    await store.prune(MANY)
    assert.deepEqual(await firesOf(store), [])
  })

  rule('an instance that has just ended is kept', async ({ store }) => {
    await join(store, 'dead', 'left')
    await bury(store, 'dead')
    await store.beat(beat('left', { state: 'left' }))
    await store.prune(MANY)
    assert.deepEqual(
      (await store.listInstances()).instances.map(({ id }) => id),
      ['dead', 'left'],
    )
  })

  rule(
    'instances gone for a day are forgotten, and others are not',
    async ({ store, age }) => {
      await join(store, 'dead', 'left', 'silent')
      await bury(store, 'dead')
      await store.beat(beat('left', { state: 'left' }))
      const ids = async () => (await store.listInstances()).instances.map(({ id }) => id).sort()
      await age(23 * HOUR_MS)
      await store.prune(MANY)
      assert.deepEqual(await ids(), ['dead', 'left', 'silent'])
      await age(2 * HOUR_MS)
      await store.prune(MANY)
      assert.deepEqual(await ids(), ['silent'], 'nobody declared that one dead')
      assert.equal((await store.beat(beat('dead'))).alive, false)
    },
    'age',
  )

  rule(
    'an instance is not forgotten while it has runs that nobody has ended: they are found by it',
    async ({ store, age }) => {
      await join(store, 'dead')
      const { state, run } = await running(store, 's', { instance: 'dead' })
      await bury(store, 'dead')
      await age(2 * DAY_MS)
      await store.prune(MANY)
      const begin = { kind: 'begin', fire: keyOf(run), step: 'charge', token: run.token, rerun: false } as const
      assert.deepEqual(await store.step(begin), { kind: 'stale' })
      assert.deepEqual(
        (await store.listInstances()).instances.map(({ id }) => id),
        ['dead'],
      )
      await applyAll(store, [settlement(state, run, { how: ending('crashed') })])
      await store.prune(MANY)
      assert.deepEqual((await store.listInstances()).instances, [])
    },
    'age',
  )

  rule('a trim deletes what is numbered below and ended before, and nothing else', async ({ store }) => {
    const numbered = Array.from({ length: 10 }, (_, index) =>
      endedFire('s', NOON + index * HOUR_MS, { number: index + 1, expiresAt: NOON + 30 * DAY_MS }),
    )
    const open = fire('s', NOON - 10 * HOUR_MS)
    const first = change(await create(store, schedule('s')), {}, { creates: [...numbered, open] })
    const other = endedFire('other', NOON, { number: 1, expiresAt: NOON + 30 * DAY_MS })
    await applyAll(store, [first, change(await create(store, schedule('other')), {}, { creates: [other] })])
    const byNumber = change(after(first), {}, { trim: { belowNumber: 4, endedBefore: NOON + DAY_MS } })
    await applyAll(store, [byNumber])
    assert.deepEqual(
      (await dueOf(store)).sort((a, b) => a - b),
      [-10, 0, 3, 4, 5, 6, 7, 8, 9],
    )
    assert.deepEqual(await firesOf(store, { schedule: 'other' }), [other])
    // The records end a millisecond after they were due.
    const byTime = { belowNumber: 100, endedBefore: NOON + 6 * HOUR_MS + 1 }
    await applyAll(store, [change(after(byNumber), {}, { trim: byTime })])
    assert.deepEqual(await dueOf(store), [-10, 0, 6, 7, 8, 9])
  })

  rule('a trim leaves what ended long before it is due', async ({ store }) => {
    const ended = { endedAt: NOON, expiresAt: NOON + 30 * DAY_MS }
    const ahead = [2, 4, 6].map((hours, index) =>
      endedFire('s', NOON + hours * HOUR_MS, { ...ended, number: index + 1, ending: ending('skipped-by-operator') }),
    )
    const first = change(await create(store, schedule('s')), {}, { creates: ahead })
    const trim = { belowNumber: 100, endedBefore: NOON + 4 * HOUR_MS }
    await applyAll(store, [first])
    await applyAll(store, [change(after(first), {}, { trim })])
    assert.deepEqual(await dueOf(store), [4, 6])
  })

  rule('a trim takes runs and steps along', async ({ store }) => {
    await join(store, 'i')
    await ranFire(store, 's', NOON + 30 * DAY_MS)
    const state = (await loadOne(store, 's'))!
    await applyAll(store, [change(state, {}, { trim: { belowNumber: 2, endedBefore: NOON + DAY_MS } })])
    assert.deepEqual([await firesOf(store), await runsOf(store)], [[], []])
    assert.deepEqual(await store.listSteps({ schedule: 's', dueAt: NOON, nonce: '' }), [])
  })

  rule('a trim is bounded: at most 200 records go', async ({ store }) => {
    const ended = Array.from({ length: 450 }, (_, index) =>
      endedFire('s', NOON + index * HOUR_MS, { number: index + 1, expiresAt: NOON + 30 * DAY_MS }),
    )
    let next = change(await create(store, schedule('s')), {}, { creates: ended })
    await applyAll(store, [next])
    const left: number[] = []
    for (let round = 0; round < 3; round++) {
      next = change(after(next), {}, { trim: { belowNumber: 1_000, endedBefore: NOON + 1_000 * HOUR_MS } })
      await applyAll(store, [next])
      left.push((await firesOf(store)).length)
    }
    assert.deepEqual(left, [250, 50, 0])
  })

  rule('the trim of a refused change deletes nothing', async ({ store }) => {
    const ended = endedFire('s', NOON, { number: 1, expiresAt: NOON + 30 * DAY_MS })
    const state = await create(store, schedule('s'))
    await applyAll(store, [change(state, {}, { creates: [ended] })])
    await store.apply([change(state, {}, { trim: { belowNumber: 5, endedBefore: NOON + DAY_MS } })])
    assert.deepEqual(await firesOf(store), [ended])
  })

  rule(
    'erase deletes all records of a removed schedule, in bounded bites, and says when nothing is left',
    async (bench) => {
      const { store } = bench
      await join(store, 'i')
      await ranFire(store, 's', NOON)
      await ranFire(store, 'other', NOON)
      const [run] = await runsOf(store, { schedule: 's' })
      assert.ok(run !== undefined)
      const more = Array.from({ length: 6 }, (_, index) =>
        endedFire('s', NOON + (index + 1) * HOUR_MS, { number: index + 2, expiresAt: NOON + DAY_MS }),
      )
      const before = change((await loadOne(store, 's'))!, {}, { creates: more })
      await applyAll(store, [before])
      await applyAll(store, [removal(after(before))])
      assert.equal(await store.erase('s', 3), false)
      assert.ok((await firesOf(store, { schedule: 's' })).length >= 4, 'no more than three at a time')
      let bites = 1
      while (!(await store.erase('s', 3))) assert.ok(++bites < 20, 'it comes to an end')
      assert.deepEqual([await firesOf(store, { schedule: 's' }), await runsOf(store, { schedule: 's' })], [[], []])
      assert.deepEqual(await store.listSteps({ schedule: 's', dueAt: NOON, nonce: '' }), [])
      assert.equal((await firesOf(store)).length, 1)
      assert.equal((await runsOf(store)).length, 1)
      assert.equal((await store.listSteps({ schedule: 'other', dueAt: NOON, nonce: '' })).length, 1)
      assert.equal(await store.erase('s', 3), true, 'again')
      // Under the same token, which nobody gives again: what the old one told is gone with it.
      await applyAll(store, [creation(schedule('s'), { runs: [run] })])
      assert.deepEqual(
        (await runsOf(store, { schedule: 's' })).map(({ progress }) => progress),
        [null],
      )
    },
  )

  rule('erase leaves a schedule that exists alone', async ({ store }) => {
    await join(store, 'i')
    await ranFire(store, 's', NOON)
    // Refused with an error or with an answer: only what it does counts.
    await store.erase('s', MANY).catch(() => false)
    assert.equal((await firesOf(store)).length, 1)
    assert.equal((await runsOf(store)).length, 1)
    assert.notEqual(await loadOne(store, 's'), null)
  })

  rule('tokens go on counting also after everything was erased', async ({ store }) => {
    const before = await create(store, schedule('s'))
    const counted = change(before, { tokens: before.tokens + 1_000 })
    await applyAll(store, [counted])
    await applyAll(store, [removal(after(counted))])
    while (!(await store.erase('s', MANY))) {}
    const again = await create(store, schedule('s'))
    assert.ok(again.tokens >= after(counted).tokens)
  })
}
