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
  endedLine,
  fire,
  HOUR_MS,
  keyOf,
  missedRange,
  NOON,
  removal,
  reopening,
  runOf,
  schedule,
  settlement,
  waiting,
  withFires,
} from './samples.ts'

const FIRST = { number: 1, expiresAt: NOON + DAY_MS }
const SECOND = { number: 2, expiresAt: NOON + DAY_MS }
const THIRD = { number: 3, expiresAt: NOON + DAY_MS }

export function changingRules(rule: Rule): void {
  rule('a change is applied on the version it was decided on, and on no other', async ({ store }) => {
    const first = await create(store, schedule('s'))
    await applyAll(store, [change(first, { fired: 1 })])
    const stale = withFires(change(first, { fired: 99 }), [waiting(NOON), endedLine('s', NOON + 1, FIRST)])
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

  rule('a schedule that does not exist is neither changed nor removed', async ({ store }) => {
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

  rule('a change writes its state, its lines and its corrections, or nothing of them', async ({ store, now }) => {
    await join(store, 'i')
    const range = missedRange('s', NOON - 20 * HOUR_MS, 10)
    const ended = endedLine('s', NOON - HOUR_MS, SECOND)
    const first = withFires(change(await create(store, schedule('s'))), [range, ended])
    await applyAll(store, [first])
    const { state } = await running(store, 's', { instance: 'i', slots: ['job:report'] })
    const wanted = claim(reopening(state, ended).state!, {
      ...{ instance: 'i', dueAt: NOON + HOUR_MS, slots: ['job:report'], limit: 1 },
    })
    const whole = withFires(
      {
        ...change(state, { ...wanted.state!, fired: 9 }),
        ...{ creates: wanted.creates, reopens: [keyOf(ended)], rewrites: [missedRange('s', NOON - 20 * HOUR_MS, 9)] },
        trim: { belowNumber: 2, endedBefore: NOON + DAY_MS },
      },
      [endedLine('s', NOON + 2 * HOUR_MS, THIRD)],
    )
    const records = async () => [await loadOne(store, 's'), await firesOf(store), await runsOf(store)]
    const before = await records()
    const refused = [
      { ...whole, version: 7 },
      { ...whole, epoch: store.info.epoch + 1 },
      { ...whole, notBefore: (await now()) + HOUR_MS },
      withFires(whole, [waiting(NOON)]),
      { ...whole, limits: [{ slot: 'job:report', limit: 1 }] },
    ]
    const kinds: string[] = []
    for (const one of refused) {
      kinds.push((await applyOne(store, one)).kind)
      assert.deepEqual(await records(), before)
    }
    assert.deepEqual(kinds, ['conflict', 'conflict', 'early', 'exists', 'full'])
    await applyAll(store, [{ ...whole, limits: [{ slot: 'job:report', limit: 2 }] }])
  })

  rule("nothing is written before the store's clock has reached notBefore", async ({ store, now }) => {
    const before = await create(store, schedule('s'))
    const at = await now()
    const fires = [waiting(NOON), endedLine('s', NOON + 1, FIRST)]
    const early = withFires(change(before, { fired: 1 }, { notBefore: at + HOUR_MS }), fires)
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
    const held = withFires(change(d!), [waiting(NOON)])
    await applyAll(store, [held])
    const { results } = await store.apply([
      change(a!, { fired: 1 }),
      { ...change(b!, { fired: 1 }), version: 5 },
      change(c!, { fired: 1 }, { notBefore: at + HOUR_MS }),
      withFires(change(d!, { fired: 1, version: 2 }, { version: 2 }), [waiting(NOON)]),
      creation(schedule('e', { fired: 1 })),
    ])
    assert.deepEqual(results, [
      { kind: 'applied' },
      { kind: 'conflict' },
      { kind: 'early' },
      { kind: 'exists', fire: fire('d', NOON) },
      { kind: 'applied' },
    ])
    const { schedules } = await store.load(['a', 'b', 'c', 'd', 'e'])
    const fired = Object.fromEntries(schedules.map((state) => [state.id, state.fired]))
    assert.deepEqual(fired, { a: 1, b: 0, c: 0, d: 0, e: 1 })
  })

  rule('the changes of a batch are made in order: one may build on the one before', async ({ store }) => {
    const first = creation(schedule('s'))
    const second = withFires(change(after(first), { fired: 1 }), [waiting(NOON), endedLine('s', NOON + 1, FIRST)])
    const third = change(after(second), { fired: 2, open: [waiting(NOON, { attempt: 1 })] })
    const reopened = reopening(after(third), second.history[0]!)
    await applyAll(store, [first, second, third, reopened])
    const loaded = await loadOne(store, 's')
    assert.deepEqual([loaded?.version, loaded?.fired], [4, 2])
    assert.deepEqual(await firesOf(store), [fire('s', NOON + 1, { round: 2 }), fire('s', NOON, { attempt: 1 })])
  })

  rule('no changes, no results', async ({ store }) => {
    assert.deepEqual((await store.apply([])).results, [])
  })

  rule('a removed schedule is gone, and its records stay', async ({ store }) => {
    await join(store, 'i')
    const { state, run } = await running(store, 's', { instance: 'i' })
    const { history } = settlement(state, run, { how: ending('removed') })
    await applyAll(store, [removal(state, { history })])
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

  rule('a decision on a removed schedule does not apply to its successor of the same name', async ({ store }) => {
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
