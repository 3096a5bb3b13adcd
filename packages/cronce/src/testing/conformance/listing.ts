import assert from 'node:assert/strict'
import { ending } from '../../model/outcome.ts'
import type { FireRecord, HistoryRecord, RunRecord } from '../../model/record.ts'
import type { OpenFire, ScheduleState } from '../../model/schedule.ts'
import { SCHEDULE_STATES, stateOf } from '../../model/state-of.ts'
import { viewEndedFire } from '../../model/views.ts'
import { listFires, listRuns, ofFire } from '../../store/list-views.ts'
import type { ScheduleQuery, Store } from '../../store/store.ts'
import { applyAll, collect, create, type Filter, firesOf, join, type Rule, running, runsOf } from './bench.ts'
import {
  after,
  change,
  claim,
  claimAgain,
  creation,
  definition,
  endedLine,
  fire,
  firesOfEnds,
  HOUR_MS,
  JOB,
  missedRange,
  NOON,
  reopening,
  runOf,
  schedule,
  settlement,
  waiting,
  withFires,
} from './samples.ts'

const PAGE_SIZES = [1, 2, 3, 7, 100]

type Unpaged<Query> = Omit<Query, 'after' | 'limit'>

async function names(store: Store, query: Unpaged<ScheduleQuery> = {}, limit = 100): Promise<string[]> {
  const states = await collect((page) => store.listSchedules({ ...query, ...page }), limit)
  return states.map(({ id }) => id)
}

/** Creates the schedule with these fires, and answers them as they are listed. */
async function writeFires(
  store: Store,
  id: string,
  fires: readonly (OpenFire | HistoryRecord)[],
  job = JOB,
): Promise<FireRecord[]> {
  const state = await create(store, schedule(id, { definition: definition({ job }) }))
  const written = withFires(change(state), fires)
  await applyAll(store, [written])
  const open = after(written).open.map(({ dueAt, nonce, kind }) => fire(id, dueAt, { job, nonce, kind }))
  return [...open, ...firesOfEnds(written)]
}

/** Fires of two schedules and two jobs, of every outcome, due at the same instants, with ranges among them. */
async function manyFires(store: Store): Promise<readonly FireRecord[]> {
  const reasons = ['completed', 'error', 'overlap', 'late', 'crashed', 'replaced'] as const
  const of = (id: string, job: string): (OpenFire | HistoryRecord)[] => [
    ...reasons.map((reason, index) => {
      const tenant = index % 2 === 0 ? 'acme' : null
      const over = { job, tenant, number: index + 1, expiresAt: NOON, ending: ending(reason) }
      return endedLine(id, NOON + index * HOUR_MS, over)
    }),
    ...[0, 1, 2].map((index) => waiting(NOON + index * HOUR_MS, { nonce: `n${index}`, kind: 'manual' })),
    { ...missedRange(id, NOON + 10 * HOUR_MS, 10, 7), job },
    waiting(NOON + 30 * HOUR_MS),
  ]
  const first = await writeFires(store, 'first', of('first', JOB))
  const second = await writeFires(store, 'second', of('second', 'other'), 'other')
  return [...first, ...second]
}

function inRange({ dueAt, range }: FireRecord, from: number, to: number): boolean {
  return dueAt < to && (range?.untilAt ?? dueAt) >= from
}

const FIRE_FILTERS: readonly (readonly [query: Filter, fits: (fire: FireRecord) => boolean])[] = [
  [{}, () => true],
  [{ schedule: 'first' }, (fire) => fire.schedule === 'first'],
  [{ schedule: 'nobody' }, () => false],
  [{ job: 'other' }, (fire) => fire.job === 'other'],
  [{ tenant: 'acme' }, (fire) => fire.tenant === 'acme'],
  [{ tenant: 'acme', outcome: 'failed' }, () => false],
  [{ tenant: 'acme', from: NOON + HOUR_MS }, (f) => f.tenant === 'acme' && f.dueAt >= NOON + HOUR_MS],
  [{ outcome: 'open' }, (fire) => fire.ending === null],
  [{ schedule: 'first', outcome: 'open' }, (fire) => fire.schedule === 'first' && fire.ending === null],
  [{ job: JOB, outcome: 'open' }, (fire) => fire.job === JOB && fire.ending === null],
  [{ outcome: 'missed' }, (fire) => fire.ending?.outcome === 'missed'],
  [{ outcome: 'succeeded', schedule: 'second' }, (f) => f.ending?.outcome === 'succeeded' && f.schedule === 'second'],
  [{ nonce: 'n1' }, (fire) => fire.nonce === 'n1'],
  [{ nonce: '' }, (fire) => fire.nonce === ''],
  [{ nonce: 'n2', schedule: 'first', outcome: 'open' }, (fire) => fire.nonce === 'n2' && fire.schedule === 'first'],
  [{ from: NOON + HOUR_MS }, (fire) => inRange(fire, NOON + HOUR_MS, Number.POSITIVE_INFINITY)],
  [{ to: NOON + HOUR_MS }, (fire) => inRange(fire, Number.NEGATIVE_INFINITY, NOON + HOUR_MS)],
  [{ from: NOON + HOUR_MS, to: NOON + 3 * HOUR_MS }, (fire) => inRange(fire, NOON + HOUR_MS, NOON + 3 * HOUR_MS)],
  // The range reaches from hour 10 to hour 19, both included.
  [{ from: NOON + 15 * HOUR_MS, to: NOON + 16 * HOUR_MS }, (fire) => fire.range !== null],
  [{ from: NOON + 19 * HOUR_MS, to: NOON + 20 * HOUR_MS }, (fire) => fire.range !== null],
  [{ from: NOON + 19 * HOUR_MS + 1, to: NOON + 20 * HOUR_MS }, () => false],
  [{ from: NOON + 9 * HOUR_MS, to: NOON + 10 * HOUR_MS }, () => false],
  [{ job: JOB, outcome: 'missed', from: NOON + 12 * HOUR_MS }, (fire) => fire.job === JOB && fire.range !== null],
]

export function listingRules(rule: Rule): void {
  rule('a cursor that no page answered is refused, and said to have changed nothing', async ({ store }) => {
    for (const after of ['nonsense', '[]', '{"a":1}']) {
      const refused = { code: 'CURSOR_INVALID', notApplied: true }
      await assert.rejects(store.listSchedules({ after, limit: 1 }), refused, after)
      for (const view of ['fires', 'runs'] as const) {
        await assert.rejects(store.listRecords({ view, after, limit: 1 }), refused, after)
      }
    }
  })

  rule(
    'schedules are listed by name, complete and without repetition, whatever the size of a page',
    async ({ store }) => {
      const ids = ['a', 'B', 'b-1', 'b_1', 'b1', 'ba', 'Z', 'zz', '0', 'é', 'a b', "a'b", 'a%b', 'ab', 'A']
      await applyAll(
        store,
        ids.map((id) => creation(schedule(id))),
      )
      const sorted = [...ids].sort()
      for (const limit of PAGE_SIZES) assert.deepEqual(await names(store, {}, limit), sorted, `pages of ${limit}`)
      const page = await store.listSchedules({ after: null, limit: 3 })
      assert.deepEqual(
        page.items,
        (await Promise.all(sorted.slice(0, 3).map((id) => store.load([id])))).flatMap(({ schedules }) => schedules),
      )
    },
  )

  rule('schedules are found by job, tenant, app and prefix, and by all of them together', async ({ store }) => {
    const code = { kind: 'code', app: 'shop', number: 1 } as const
    const of = (id: string, over: Partial<ScheduleState>): ScheduleState => schedule(id, over)
    await applyAll(
      store,
      [
        of('a/1', { definition: definition({ tenant: 'acme' }) }),
        of('a/2', { definition: definition({ job: 'other', tenant: 'acme' }), source: code }),
        of('b/1', { definition: definition({ job: 'other' }), source: code }),
        of('b/2', { source: { ...code, app: 'other shop' } }),
      ].map((state) => creation(state)),
    )
    assert.deepEqual(await names(store, { job: 'other' }), ['a/2', 'b/1'])
    assert.deepEqual(await names(store, { tenant: 'acme' }), ['a/1', 'a/2'])
    assert.deepEqual(await names(store, { app: 'shop' }, 1), ['a/2', 'b/1'])
    assert.deepEqual(await names(store, { prefix: 'b/' }), ['b/1', 'b/2'])
    assert.deepEqual(await names(store, { prefix: 'a/', job: 'other', tenant: 'acme', app: 'shop' }), ['a/2'])
    assert.deepEqual(await names(store, { prefix: 'a/', job: JOB, app: 'shop' }), [])
  })

  rule('a prefix is taken literally', async ({ store }) => {
    await applyAll(
      store,
      ['a%b', 'a_b', 'axb', 'A%b', 'a\\b', 'a%'].map((id) => creation(schedule(id))),
    )
    assert.deepEqual(await names(store, { prefix: 'a%' }), ['a%', 'a%b'])
    assert.deepEqual(await names(store, { prefix: 'a_' }), ['a_b'])
    assert.deepEqual(await names(store, { prefix: 'a\\' }), ['a\\b'])
    assert.equal((await names(store, { prefix: '' })).length, 6)
    assert.deepEqual(await names(store, { prefix: 'a%' }, 1), ['a%', 'a%b'])
  })

  rule('schedules are found by their state', async ({ store }) => {
    const pause = { at: NOON, until: null, note: null, author: null, missed: 'skip' } as const
    const over = { nextAt: null, wakeAt: null } as const
    const open = after(claim(schedule('x'), { instance: 'i' })).open
    const states = [
      schedule('active'),
      schedule('active, by hand', { ...over, definition: definition({ trigger: null }) }),
      schedule('active, at its last', { ...over, open }),
      schedule('active, filling in', { ...over, backfills: [{ id: 'b', from: 1, to: 2, askedAt: 3, author: null }] }),
      schedule('paused', { pause }),
      schedule('paused at its end', { ...over, pause }),
      schedule('retired', { retiredAt: NOON, wakeAt: null }),
      schedule('retired in a pause', { ...over, pause, retiredAt: NOON }),
      schedule('finished', over),
    ]
    await applyAll(
      store,
      states.map((state) => creation(state)),
    )
    for (const state of SCHEDULE_STATES) {
      const expected = states.filter((one) => stateOf(one) === state).map(({ id }) => id)
      assert.ok(expected.length > 0)
      assert.deepEqual(await names(store, { state }), expected.sort())
    }
  })

  rule('a change of what a schedule is found by counts at once', async ({ store }) => {
    const before = await create(store, schedule('s'))
    const pause = { at: NOON, until: null, note: null, author: null, missed: 'skip' } as const
    const first = change(before, { pause })
    await applyAll(store, [first])
    assert.deepEqual([await names(store, { state: 'active' }), await names(store, { state: 'paused' })], [[], ['s']])
    const moved = definition({ job: 'other', tenant: 'acme' })
    await applyAll(store, [change(after(first), { pause: null, revision: 2, definition: moved })])
    assert.deepEqual(await names(store, { state: 'active', job: 'other', tenant: 'acme' }), ['s'])
    assert.deepEqual(await names(store, { job: JOB }), [])
  })

  rule(
    'fires are found by every filter, complete, without repetition and in order, in pages of any size',
    async (bench) => {
      const { store } = bench
      const all = await manyFires(store)
      for (const [query, fits] of FIRE_FILTERS) {
        const expected = all.filter(fits)
        for (const order of ['latest', 'earliest'] as const) {
          for (const limit of PAGE_SIZES) {
            const found = await firesOf(store, { ...query, order }, limit)
            const what = `${JSON.stringify({ ...query, order })} in pages of ${limit}`
            assert.equal(found.length, expected.length, what)
            assert.deepEqual(new Set(found), new Set(expected), what)
            const due = found.map(({ dueAt }) => dueAt)
            const sorted = [...due].sort((one, two) => (order === 'latest' ? two - one : one - two))
            assert.deepEqual(due, sorted, what)
          }
        }
      }
    },
  )

  rule('a fire is found by the job and the tenant that it has now, open or ended', async ({ store }) => {
    await join(store, 'i')
    const { state, run } = await running(store, 's', { instance: 'i' })
    const tenants = async (query: Filter): Promise<(string | null)[]> =>
      (await firesOf(store, query)).map(({ tenant }) => tenant)
    const moved = { revision: 2, definition: definition({ job: 'other', tenant: 'one' }) }
    const open = change(state, moved)
    await applyAll(store, [open])
    assert.deepEqual([await tenants({ tenant: 'one' }), await tenants({ job: 'other' })], [['one'], ['one']])
    const kept = state.open.map((fire) => ({ ...fire, tenant: 'zero' }))
    const still = change(after(open), { open: kept })
    await applyAll(store, [still])
    assert.deepEqual([await tenants({ tenant: 'zero' }), await tenants({ job: 'other' })], [['zero'], ['zero']])
    assert.deepEqual(await tenants({ tenant: 'one' }), [])
    const end = settlement(after(still), run)
    const lineOf = (job: string, tenant: string) => end.history.map((line) => ({ ...line, job, tenant }))
    const ended = { ...end, history: lineOf('third', 'two') }
    await applyAll(store, [ended])
    assert.deepEqual([await tenants({ tenant: 'two' }), await tenants({ job: 'third' })], [['two'], ['two']])
    await applyAll(store, [change(after(ended), {}, { rewrites: lineOf('fourth', 'three') })])
    assert.deepEqual([await tenants({ tenant: 'three' }), await tenants({ job: 'fourth' })], [['three'], ['three']])
    for (const tenant of ['zero', 'one', 'two']) assert.deepEqual(await tenants({ tenant }), [])
    for (const job of [JOB, 'other', 'third']) assert.deepEqual(await tenants({ job }), [])
  })

  rule(
    'fires that were opened again or tried again are listed once, in every list that they belong to',
    async (bench) => {
      const { store } = bench
      await join(store, 'i')
      const found = async (query: Filter): Promise<unknown[]> =>
        (await firesOf(store, query, 1)).map(({ dueAt, ending, number }) => [dueAt - NOON, ending?.reason, number])
      // One that failed twice and then succeeded, one that was skipped and is open again, one that ended apart from its run.
      let last = (await running(store, 's', { instance: 'i' })) as { state: ScheduleState; run: RunRecord }
      for (let attempt = 1; attempt <= 2; attempt++) {
        const failed = settlement(last.state, last.run, { how: ending('error'), fireEnds: null })
        const again = claimAgain(after(failed), { instance: 'i', startedAt: NOON + attempt * 100 })
        await applyAll(store, [failed, again])
        last = { state: after(again), run: runOf(again) }
      }
      const settled = settlement(last.state, last.run)
      const skip = endedLine('s', NOON + 1, { number: 4, expiresAt: NOON + HOUR_MS, ending: ending('overlap') })
      const skipped = withFires(change(after(settled)), [skip])
      const reopened = reopening(after(skipped), skip)
      const third = claim(after(reopened), { instance: 'i', dueAt: NOON + 2 })
      const how = { how: ending('crashed'), fireEnds: ending('crash-budget') }
      await applyAll(store, [settled, skipped, reopened, third, settlement(after(third), runOf(third), how)])
      const [one, two, three] = [
        [0, 'completed', 3],
        [1, undefined, null],
        [2, 'crash-budget', 6],
      ]
      for (const about of [{}, { schedule: 's' }, { job: JOB }, { from: NOON }]) {
        assert.deepEqual(await found({ ...about, order: 'earliest' }), [one, two, three])
        assert.deepEqual(await found(about), [three, two, one])
        assert.deepEqual(await found({ ...about, outcome: 'open' }), [two])
        assert.deepEqual(await found({ ...about, outcome: 'failed' }), [])
        assert.deepEqual(await found({ ...about, outcome: 'skipped' }), [])
        assert.deepEqual(await found({ ...about, outcome: 'abandoned' }), [three])
      }
      const runs = await runsOf(store, ofFire({ schedule: 's', dueAt: NOON, nonce: '' }), 1)
      assert.deepEqual(
        runs.map((run) => [run.attempt, run.ending?.reason, run.number]),
        [
          [3, 'completed', 3],
          [2, 'error', 2],
          [1, 'error', 1],
        ],
      )
      assert.equal((await runsOf(store)).length, 4)
    },
  )

  rule('the latest fires come first unless asked otherwise', async ({ store }) => {
    await writeFires(
      store,
      's',
      [0, 2, 1].map((hour) => waiting(NOON + hour * HOUR_MS)),
    )
    assert.deepEqual(
      (await firesOf(store)).map(({ dueAt }) => dueAt),
      [2, 1, 0].map((hour) => NOON + hour * HOUR_MS),
    )
  })

  rule('writes and deletions between pages neither repeat nor omit a record', async ({ store }) => {
    const numbers = [2, 3, 4, 1, 5]
    const lines = numbers.map((number, index) => missedRange('s', NOON + index * 10 * HOUR_MS, 2, number))
    const old = lines.map(viewEndedFire)
    const state = await create(store, schedule('s'))
    const first = withFires(change(state), lines)
    await applyAll(store, [first])
    const { items, next } = await listFires(store, { after: null, limit: 2 })
    assert.deepEqual(items, [old[4], old[3]])
    // The last one on the page is gone when the next page is asked for.
    const trim = { belowNumber: 2, endedBefore: Number.MAX_SAFE_INTEGER }
    await applyAll(store, [withFires(change(after(first), {}, { trim }), [waiting(NOON + 100 * HOUR_MS)])])
    const rest = await listFires(store, { after: next, limit: 10 })
    assert.deepEqual([rest.items, rest.next], [[old[2], old[1], old[0]], null])
  })

  rule('runs are found by every filter, ordered by the due time of their fire, in pages of any size', async (bench) => {
    const { store } = bench
    await join(store, 'i', 'j')
    for (let index = 0; index < 6; index++) {
      // What is due later started earlier.
      const dueAt = NOON + (index % 3) * HOUR_MS
      const chosen = { dueAt, instance: index % 2 === 0 ? 'i' : 'j', startedAt: NOON - index, epoch: index + 1 }
      const { state, run } = await running(store, `s${index}`, chosen)
      const tenant = index < 3 ? null : 'acme'
      const open = claim(state, { instance: 'j', dueAt: NOON + 9, startedAt: NOON + index, epoch: index + 1 })
      const end = settlement(after(open), run, { how: ending(index < 3 ? 'completed' : 'error') })
      await applyAll(store, [open, { ...end, history: end.history.map((line) => ({ ...line, tenant })) }])
    }
    const all = await runsOf(store)
    assert.equal(all.length, 12)
    const sample = all.find((run) => run.schedule === 's4' && run.ending !== null)!
    const failed = (run: RunRecord): boolean => run.ending?.outcome === 'failed'
    const filters: readonly (readonly [query: Filter, fits: (run: RunRecord) => boolean])[] = [
      [{}, () => true],
      [{ schedule: 's1' }, (run) => run.schedule === 's1'],
      [{ job: JOB }, () => true],
      [{ job: 'other' }, () => false],
      [{ tenant: 'acme' }, failed],
      [{ instance: 'i' }, (run) => run.instance === 'i'],
      [{ outcome: 'open' }, (run) => run.ending === null],
      [{ outcome: 'failed' }, failed],
      [{ outcome: 'failed', instance: 'j' }, (run) => failed(run) && run.instance === 'j'],
      [ofFire(sample), (run) => run.token === sample.token],
      [{ ...ofFire(sample), token: sample.token }, (run) => run.token === sample.token],
      [{ token: sample.token }, (run) => run.token === sample.token],
      [{ schedule: 's4', token: sample.token }, (run) => run.token === sample.token],
      [{ schedule: 's3', token: sample.token }, () => false],
      [{ ...ofFire({ ...sample, dueAt: NOON + 9 }), token: sample.token }, () => false],
      [{ ...ofFire({ ...sample, schedule: 's3' }), token: sample.token }, () => false],
      [{ instance: 'j', outcome: 'open' }, (run) => run.instance === 'j' && run.ending === null],
      [{ schedule: 's4', outcome: 'open' }, (run) => run.schedule === 's4' && run.ending === null],
      [{ from: NOON + HOUR_MS }, (run) => run.dueAt >= NOON + HOUR_MS],
      [{ from: NOON, to: NOON + HOUR_MS }, (run) => run.dueAt >= NOON && run.dueAt < NOON + HOUR_MS],
      [{ schedule: 's2', to: NOON + HOUR_MS }, (run) => run.schedule === 's2' && run.dueAt < NOON + HOUR_MS],
    ]
    for (const [query, fits] of filters) {
      const expected = all.filter(fits)
      for (const order of ['latest', 'earliest'] as const) {
        for (const limit of PAGE_SIZES) {
          const found = await runsOf(store, { ...query, order }, limit)
          const what = `${JSON.stringify({ ...query, order })} in pages of ${limit}`
          assert.equal(found.length, expected.length, what)
          assert.deepEqual(new Set(found), new Set(expected), what)
          const due = found.map(({ dueAt }) => dueAt)
          const sorted = [...due].sort((one, two) => (order === 'latest' ? two - one : one - two))
          assert.deepEqual(due, sorted, what)
        }
      }
    }
  })

  rule('runs of one fire are ordered by token, and keep their place when they end', async ({ store }) => {
    await join(store, 'i')
    let { state, run } = await running(store, 's', { instance: 'i', epoch: 55 })
    const tokens = [run.token]
    // From the third on, tokens have one more digit.
    for (const epoch of [56, 57, 58, 59]) {
      const failed = settlement(state, run, { how: ending('error'), fireEnds: null })
      const again = claimAgain(after(failed), { instance: 'i', startedAt: NOON - epoch, epoch })
      await applyAll(store, [failed, again])
      state = after(again)
      run = runOf(again)
      tokens.push(run.token)
    }
    for (const about of [{}, { schedule: 's' }, ofFire(run)]) {
      for (const limit of PAGE_SIZES) {
        const earliest = await runsOf(store, { ...about, order: 'earliest' }, limit)
        assert.deepEqual(
          earliest.map(({ token }) => token),
          tokens,
        )
        assert.deepEqual(await runsOf(store, about, limit), earliest.toReversed())
      }
    }
    const { items, next } = await listRuns(store, { after: null, limit: 1 })
    assert.deepEqual([items[0]?.token, items[0]?.ending], [tokens.at(-1), null])
    await applyAll(store, [settlement(state, run)])
    const rest = await listRuns(store, { after: next, limit: 10 })
    assert.deepEqual(
      rest.items.map(({ token }) => token),
      tokens.slice(0, -1).reverse(),
    )
  })

  rule('runs of different fires are distinguished by nonce and by due time', async ({ store }) => {
    await join(store, 'i')
    const first = await running(store, 's', { instance: 'i' })
    const manual = claim(first.state, { instance: 'i', nonce: 'n' })
    const later = claim(after(manual), { instance: 'i', dueAt: NOON + 1 })
    await applyAll(store, [manual, later])
    for (const run of [first.run, runOf(manual), runOf(later)]) {
      assert.deepEqual(
        (await runsOf(store, ofFire(run))).map(({ token }) => token),
        [run.token],
      )
    }
  })

  rule('lines of fires that neither ended nor are open keep no list from ending', async ({ store }) => {
    await join(store, 'i')
    let state = await create(store, schedule('s'))
    for (let number = 1; number <= 5; number++) {
      const claimed = claim(state, { instance: 'i', dueAt: NOON + number * HOUR_MS })
      const failed = settlement(after(claimed), runOf(claimed), { how: ending('error'), fireEnds: null })
      const dropped = change(after(failed), { open: [] })
      await applyAll(store, [claimed, failed, dropped])
      state = after(dropped)
    }
    for (const limit of [1, 2, 100]) {
      assert.deepEqual(await firesOf(store, { schedule: 's' }, limit), [])
      assert.deepEqual(await firesOf(store, {}, limit), [])
      assert.equal((await runsOf(store, { schedule: 's' }, limit)).length, 5)
      assert.equal((await runsOf(store, {}, limit)).length, 5)
    }
  })

  rule('an empty store lists nothing, and says that this was all', async ({ store }) => {
    const page = { after: null, limit: 10 }
    for (const listed of [
      await store.listSchedules(page),
      await store.listRecords({ ...page, view: 'fires' }),
      await store.listRecords({ ...page, view: 'runs' }),
    ]) {
      assert.deepEqual([listed.items, listed.next], [[], null])
    }
  })
}
