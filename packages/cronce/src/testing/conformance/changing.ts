import assert from 'node:assert/strict'
import { ending } from '../../model/outcome.ts'
import { applyAll, applyOne, create, firesOf, join, loadOne, type Rule, running, runsOf } from './bench.ts'
import {
  after,
  change,
  claim,
  creation,
  DAY_MS,
  definition,
  endedFire,
  fire,
  HOUR_MS,
  missedRange,
  NOON,
  removal,
  runOf,
  schedule,
  settlement,
} from './samples.ts'

export function changingRules(rule: Rule): void {
  rule('a change is applied on the version it was decided on, and on no other', async ({ store }) => {
    const first = await create(store, schedule('s'))
    await applyAll(store, [change(first, { fired: 1 })])
    const stale = { ...change(first, { fired: 99 }), creates: [fire('s', NOON)] }
    assert.deepEqual(await applyOne(store, stale), { kind: 'conflict' })
    const early = { ...change(first, { fired: 99, version: 9 }), version: 7 }
    assert.deepEqual(await applyOne(store, early), { kind: 'conflict' })
    const loaded = await loadOne(store, 's')
    assert.deepEqual([loaded?.version, loaded?.fired], [2, 1])
    assert.deepEqual(await firesOf(store), [])
  })

  rule('a change is applied in the epoch it was decided in, which comes with what was read', async ({ store }) => {
    const state = await create(store, schedule('s'))
    const { epoch } = await store.load(['s'])
    const query = { jobs: [{ job: state.definition.job, buckets: '1'.repeat(256) }], patienceMs: 0, limit: 1 }
    assert.deepEqual([epoch, (await store.due(query)).epoch], [store.info.epoch, store.info.epoch])
    for (const other of [epoch - 1, epoch + 1]) {
      assert.deepEqual(await applyOne(store, change(state, { fired: 1 }, { epoch: other })), { kind: 'conflict' })
    }
    assert.equal((await loadOne(store, 's'))?.version, 1)
    assert.deepEqual(await applyOne(store, change(state, { fired: 1 }, { epoch })), { kind: 'applied' })
  })

  rule('a schedule is created in the epoch it was decided in', async ({ store }) => {
    const { epoch } = store.info
    for (const other of [epoch - 1, epoch + 1]) {
      assert.deepEqual(await applyOne(store, creation(schedule('s'), { epoch: other })), { kind: 'conflict' })
    }
    assert.equal(await loadOne(store, 's'), null)
    assert.deepEqual(await applyOne(store, creation(schedule('s'), { epoch })), { kind: 'applied' })
  })

  rule('a schedule is created once', async ({ store }) => {
    await create(store, schedule('s', { fired: 1 }))
    assert.deepEqual(await applyOne(store, creation(schedule('s', { fired: 2 }))), { kind: 'conflict' })
    assert.equal((await loadOne(store, 's'))?.fired, 1)
  })

  rule('what does not exist is neither changed nor removed', async ({ store }) => {
    const ghost = schedule('ghost')
    assert.deepEqual(await applyOne(store, change(ghost)), { kind: 'conflict' })
    assert.deepEqual(await applyOne(store, removal(ghost)), { kind: 'conflict' })
    assert.equal(await loadOne(store, 'ghost'), null)
  })

  rule('everything in the state is replaced by the change', async ({ store }) => {
    const before = await create(store, schedule('s'))
    const over = {
      pause: { at: NOON, until: NOON + 1, note: 'tea', author: 'ann', missed: 'latest' },
      retiredAt: NOON + 2,
      retirements: [{ from: NOON + 2, to: null, cause: 'dropped', deployment: 'green', number: 3 }],
      updatedAt: NOON + 3,
      nextAt: null,
      plannedTo: NOON + 4,
      zoneData: '2025b',
      wakeAt: null,
      tokens: before.tokens + 5,
      fired: 6,
      ended: 7,
      trimmedBefore: NOON - 1,
      failedInRow: 3,
      source: { kind: 'code', app: 'shop', number: 4 },
      last: { dueAt: 1, succeededDueAt: 2, succeededAt: 3 },
      backfills: [{ id: 'b', from: 1, to: 2, askedAt: 3, author: null }],
    } as const
    await applyAll(store, [change(before, over)])
    assert.deepEqual(await loadOne(store, 's'), { ...before, ...over, version: 2 })
  })

  rule('a definition is kept while its revision is unchanged, and replaced with a new one', async ({ store }) => {
    const before = await create(store, schedule('s'))
    const other = definition({ input: 'other', limit: 3, tenant: 'acme' })
    const same = change(before, { definition: other, fired: 1 })
    await applyAll(store, [same])
    const kept = await loadOne(store, 's')
    assert.deepEqual([kept?.definition, kept?.fired], [before.definition, 1])
    await applyAll(store, [change(after(same), { definition: other, revision: 2 })])
    const replaced = await loadOne(store, 's')
    assert.deepEqual([replaced?.definition, replaced?.revision], [other, 2])
  })

  rule('records are written with the state they belong to', async ({ store }) => {
    const before = await create(store, schedule('s'))
    const creates = [fire('s', NOON), fire('s', NOON + HOUR_MS), fire('s', NOON, { nonce: 'n', kind: 'manual' })]
    const first = change(before, { fired: 2 }, { creates })
    await applyAll(store, [first])
    assert.deepEqual(new Set(await firesOf(store)), new Set(creates))
    const updated = {
      ...creates[1]!,
      attempt: 3,
      round: 2,
      ending: ending('error', 'no'),
      endedAt: 1,
      number: 1,
      expiresAt: 2,
    }
    await applyAll(store, [change(after(first), {}, { updates: [updated] })])
    assert.deepEqual(new Set(await firesOf(store)), new Set([creates[0], updated, creates[2]]))
  })

  rule('a run is one record, however often it is written', async ({ store }) => {
    await join(store, 'i')
    const { state, run } = await running(store, 's', { instance: 'i' })
    const settled = settlement(state, run)
    await applyAll(store, [settled])
    const untold = { progress: null, log: [], logCut: false }
    assert.deepEqual(await runsOf(store), [{ ...settled.runs[0], ...untold }])
  })

  rule('runs that end in one change are all over, in whatever order they are told', async ({ store }) => {
    await join(store, 'i')
    const { state, run } = await running(store, 's', { instance: 'i' })
    const settled = settlement(state, run)
    const earlier = { ...settled.runs[0]!, token: '7', attempt: 0 }
    await applyAll(store, [{ ...settled, runs: [earlier, ...settled.runs] }])
    assert.deepEqual(await runsOf(store, { outcome: 'open' }), [])
    assert.equal((await runsOf(store)).length, 2)
  })

  rule(
    'a fire whose key is on record is refused with that record, and nothing of the change is written',
    async (bench) => {
      const { store } = bench
      await join(store, 'i')
      const { state, run } = await running(store, 's', { instance: 'i' })
      const settled = settlement(state, run)
      await applyAll(store, [settled])
      const again = claim(after(settled), { instance: 'i' })
      const both = { ...again, creates: [fire('s', NOON + HOUR_MS), ...again.creates] }
      assert.deepEqual(await applyOne(store, both), { kind: 'exists', fire: settled.updates[0] })
      assert.deepEqual(await loadOne(store, 's'), after(settled))
      assert.deepEqual(await firesOf(store), settled.updates)
      assert.deepEqual(
        (await runsOf(store)).map(({ token }) => token),
        [run.token],
      )
    },
  )

  rule('a fire that is open is refused with its record, and nothing of the change is written', async ({ store }) => {
    const open = fire('s', NOON)
    const first = change(await create(store, schedule('s')), {}, { creates: [open] })
    await applyAll(store, [first])
    const again = change(after(first), { fired: 9 }, { creates: [fire('s', NOON + HOUR_MS), fire('s', NOON)] })
    assert.deepEqual(await applyOne(store, again), { kind: 'exists', fire: open })
    assert.deepEqual([await loadOne(store, 's'), await firesOf(store)], [after(first), [open]])
  })

  rule('a nonce is used once in a schedule, also when its fire has ended', async ({ store }) => {
    const manual = { nonce: 'order-7', kind: 'manual' } as const
    const ended = endedFire('s', NOON, { ...manual, number: 1, expiresAt: NOON + DAY_MS })
    const first = change(await create(store, schedule('s')), {}, { creates: [ended] })
    await applyAll(store, [first])
    for (const dueAt of [NOON, NOON + 1]) {
      const again = change(after(first), {}, { creates: [fire('s', dueAt, manual)] })
      assert.deepEqual(await applyOne(store, again), { kind: 'exists', fire: ended })
    }
    assert.deepEqual(await firesOf(store), [ended])
  })

  rule('a nonce is used once in a schedule, whenever its fire was due', async ({ store }) => {
    const manual = fire('s', NOON, { nonce: 'order-7', kind: 'manual' })
    const before = await create(store, schedule('s'))
    const first = change(before, {}, { creates: [manual] })
    await applyAll(store, [first])
    const later = { creates: [fire('s', NOON + 1, { nonce: 'order-7', kind: 'manual' })] }
    assert.deepEqual(await applyOne(store, change(after(first), {}, later)), { kind: 'exists', fire: manual })
    assert.equal((await firesOf(store)).length, 1)
    const other = await create(store, schedule('other'))
    await applyAll(store, [change(other, {}, { creates: [{ ...manual, schedule: 'other' }] })])
  })

  rule('the empty nonce is no nonce: many scheduled fires have it', async ({ store }) => {
    const before = await create(store, schedule('s'))
    const first = change(before, {}, { creates: [fire('s', NOON)] })
    await applyAll(store, [first])
    await applyAll(store, [change(after(first), {}, { creates: [fire('s', NOON + HOUR_MS)] })])
    assert.equal((await firesOf(store)).length, 2)
  })

  rule('two fires of one change are held to the same: one key, one fire', async ({ store }) => {
    const before = await create(store, schedule('s'))
    const twice = [fire('s', NOON, { nonce: 'n' }), fire('s', NOON + 1, { nonce: 'n' })]
    const { kind } = await applyOne(store, change(before, {}, { creates: twice }))
    assert.equal(kind, 'exists')
    assert.deepEqual(await firesOf(store), [])
    assert.equal((await loadOne(store, 's'))?.version, 1)
  })

  rule('two fires of one change that are due at one time are refused', async ({ store }) => {
    const before = await create(store, schedule('s'))
    const { kind } = await applyOne(store, change(before, {}, { creates: [fire('s', NOON), fire('s', NOON)] }))
    assert.equal(kind, 'exists')
    assert.deepEqual([await firesOf(store), await loadOne(store, 's')], [[], before])
  })

  rule(
    'a range is split in one change: what it was becomes one of its parts, the others are new',
    async ({ store }) => {
      const range = missedRange('s', NOON, 10)
      const before = await create(store, schedule('s'))
      const other = missedRange('s', NOON - 20 * HOUR_MS, 10, 2)
      const first = change(before, {}, { creates: [range, other] })
      await applyAll(store, [first])
      const shorter = missedRange('s', NOON - 20 * HOUR_MS, 9, 2)
      const opened = fire('s', NOON, { kind: 'backfill', round: 2 })
      const rest = missedRange('s', NOON + HOUR_MS, 9)
      const split = change(after(first), {}, { creates: [rest], updates: [opened, shorter] })
      await applyAll(store, [split])
      assert.deepEqual(await firesOf(store, { order: 'earliest' }), [shorter, opened, rest])
    },
  )

  rule("nothing is written before the store's clock has reached notBefore", async ({ store, now }) => {
    const before = await create(store, schedule('s'))
    const at = await now()
    const more = { creates: [fire('s', NOON)] }
    const early = change(before, { fired: 1 }, { ...more, notBefore: at + HOUR_MS })
    assert.deepEqual(await applyOne(store, early), { kind: 'early' })
    assert.deepEqual([await loadOne(store, 's'), await firesOf(store)], [before, []])
    await applyAll(store, [{ ...early, notBefore: at }])
  })

  rule(
    'notBefore is judged to the millisecond',
    async ({ store, now, pass }) => {
      const before = await create(store, schedule('s'))
      const change1 = change(before, {}, { notBefore: (await now()) + 10 })
      await pass(9)
      assert.deepEqual(await applyOne(store, change1), { kind: 'early' })
      await pass(1)
      assert.deepEqual(await applyOne(store, change1), { kind: 'applied' })
    },
    'clock',
  )

  rule('the changes of a batch are independent: one refused, the others written', async ({ store, now }) => {
    const [a, b, c, d] = await Promise.all(['a', 'b', 'c', 'd'].map((id) => create(store, schedule(id))))
    const at = await now()
    const taken = fire('d', NOON)
    const held = change(d!, {}, { creates: [taken] })
    await applyAll(store, [held])
    const { results } = await store.apply([
      change(a!, { fired: 1 }),
      { ...change(b!, { fired: 1 }), version: 5 },
      change(c!, { fired: 1 }, { notBefore: at + HOUR_MS }),
      change(after(held), { fired: 1 }, { creates: [taken] }),
      creation(schedule('e', { fired: 1 })),
    ])
    assert.deepEqual(results, [
      { kind: 'applied' },
      { kind: 'conflict' },
      { kind: 'early' },
      { kind: 'exists', fire: taken },
      { kind: 'applied' },
    ])
    const { schedules } = await store.load(['a', 'b', 'c', 'd', 'e'])
    const fired = Object.fromEntries(schedules.map((state) => [state.id, state.fired]))
    assert.deepEqual(fired, { a: 1, b: 0, c: 0, d: 0, e: 1 })
  })

  rule('the changes of a batch are made in order: one may build on the one before', async ({ store }) => {
    const first = creation(schedule('s'))
    const second = change(after(first), { fired: 1 }, { creates: [fire('s', NOON)] })
    const third = change(after(second), { fired: 2 }, { updates: [fire('s', NOON, { attempt: 1 })] })
    await applyAll(store, [first, second, third])
    const loaded = await loadOne(store, 's')
    assert.deepEqual([loaded?.version, loaded?.fired], [3, 2])
    assert.deepEqual(await firesOf(store), third.updates)
  })

  rule('no changes, no results', async ({ store }) => {
    assert.deepEqual((await store.apply([])).results, [])
  })

  rule('a removed schedule is gone, and its records stay', async ({ store }) => {
    await join(store, 'i')
    const { state, run } = await running(store, 's', { instance: 'i' })
    const removed = removal(state, settlement(state, run, { how: ending('removed') }))
    await applyAll(store, [{ ...removed, state: null }])
    assert.equal(await loadOne(store, 's'), null)
    assert.deepEqual(
      (await firesOf(store)).map((record) => record.ending),
      [ending('removed')],
    )
    assert.deepEqual(
      (await runsOf(store)).map((record) => record.ending),
      [ending('removed')],
    )
  })

  rule('a schedule that is made again goes on counting tokens where it was', async ({ store }) => {
    const before = await create(store, schedule('s'))
    const counted = change(before, { tokens: before.tokens + 1_000 })
    await applyAll(store, [counted])
    const other = await create(store, schedule('other'))
    await applyAll(store, [removal(after(counted)), removal(other)])
    const again = await create(store, schedule('s'))
    assert.ok(again.tokens >= after(counted).tokens, `${again.tokens} is below ${after(counted).tokens}`)
    assert.equal(again.fired, 0)
    await applyAll(store, [removal(again)])
    const third = await create(store, schedule('s', { tokens: 5 }))
    assert.ok(third.tokens >= again.tokens, 'also when nothing was claimed in between')
  })

  rule('the token of a run that a removed schedule had is never given again', async ({ store }) => {
    await join(store, 'i')
    const { state, run } = await running(store, 's', { instance: 'i' })
    const settled = settlement(state, run)
    await applyAll(store, [settled])
    await applyAll(store, [removal(after(settled))])
    const again = claim(await create(store, schedule('s')), { instance: 'i', dueAt: NOON + HOUR_MS })
    await applyAll(store, [again])
    assert.ok(BigInt(runOf(again).token) > BigInt(run.token))
    assert.equal((await runsOf(store)).length, 2)
  })

  rule('what was decided on a schedule that was removed does not fit the one that took its name', async ({ store }) => {
    await join(store, 'i')
    const old = await create(store, schedule('s'))
    const late = claim(old, { instance: 'i' })
    await applyAll(store, [removal(old)])
    const again = await create(store, schedule('s'))
    assert.ok(again.version > old.version)
    assert.deepEqual(await applyOne(store, late), { kind: 'conflict' })
    assert.deepEqual(await loadOne(store, 's'), again)
  })
}
