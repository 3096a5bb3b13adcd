import assert from 'node:assert/strict'
import { BUCKET_COUNT, bucketOf } from '../../model/bucket.ts'
import type { Change } from '../../model/change.ts'
import type { Instant, ScheduleState } from '../../model/schedule.ts'
import type { Due, DueQuery, Store } from '../../store/store.ts'
import { applyAll, create, loadOne, type Rule } from './bench.ts'
import { change, creation, definition, HOUR_MS, JOB, removal, schedule } from './samples.ts'

const ALL = '1'.repeat(BUCKET_COUNT)
const NONE = '0'.repeat(BUCKET_COUNT)
const MINUTE_MS = 60_000

/** Own buckets: those of these schedules. */
function bucketsOf(...ids: readonly string[]): string {
  const own = new Set(ids.map(bucketOf))
  return Array.from({ length: BUCKET_COUNT }, (_, bucket) => (own.has(bucket) ? '1' : '0')).join('')
}

function ask(store: Store, query: Partial<DueQuery> = {}): Promise<Due> {
  return store.due({ jobs: [{ job: JOB, buckets: ALL }], patienceMs: MINUTE_MS, limit: 100, ...query })
}

function ids({ schedules }: Due): string[] {
  return schedules.map(({ id }) => id)
}

function waking(id: string, wakeAt: Instant | null, over: Partial<ScheduleState> = {}): ScheduleState {
  return schedule(id, { wakeAt, nextAt: wakeAt, ...over })
}

/** Names that fall into as many different buckets. */
function apart(count: number): string[] {
  const found = new Map<number, string>()
  for (let number = 0; found.size < count; number++) found.set(bucketOf(`apart-${number}`), `apart-${number}`)
  return [...found.values()]
}

export function planningRules(rule: Rule): void {
  rule('a created schedule is loaded as it was written', async ({ store }) => {
    const state = schedule('daily')
    await create(store, state)
    const loaded = await loadOne(store, 'daily')
    assert.ok(loaded !== null)
    assert.ok(loaded.tokens >= state.tokens, 'a new schedule may start its tokens higher, never lower')
    assert.ok(loaded.ended >= state.ended, 'and the numbers of its lines')
    assert.deepEqual({ ...loaded, tokens: 0, ended: 0 }, { ...state, tokens: 0, ended: 0 })
  })

  rule('load leaves out what does not exist, and answers each schedule once', async ({ store }) => {
    await applyAll(
      store,
      ['a', 'b', 'c'].map((id) => creation(schedule(id))),
    )
    const { schedules } = await store.load(['c', 'nobody', 'a', 'c'])
    assert.deepEqual(schedules.map(({ id }) => id).sort(), ['a', 'c'])
    assert.deepEqual((await store.load([])).schedules, [])
  })

  rule('hundreds of schedules are loaded at once', async ({ store }) => {
    const names = Array.from({ length: 600 }, (_, number) => `s${number}`)
    await applyAll(
      store,
      names.map((id) => creation(schedule(id))),
    )
    const { schedules } = await store.load(names)
    assert.deepEqual(new Set(schedules.map(({ id }) => id)), new Set(names))
    assert.equal(schedules.length, names.length)
  })

  rule('due answers whole schedules whose wakeAt the clock has reached, and no others', async ({ store, now }) => {
    const at = await now()
    const past = waking('past', at - 1_000, { fired: 7 })
    await applyAll(
      store,
      [past, waking('future', at + HOUR_MS), waking('never', null)].map((state) => creation(state)),
    )
    const due = await ask(store)
    assert.deepEqual(due.schedules, (await store.load(['past'])).schedules)
    assert.equal(due.schedules[0]?.fired, 7)
    assert.ok(due.now >= at)
  })

  rule(
    "a schedule becomes due when the store's clock reaches its wakeAt, to the millisecond",
    async (bench) => {
      const { store, now, pass } = bench
      const at = await now()
      await create(store, waking('soon', at + 1_000))
      await pass(999)
      assert.deepEqual(ids(await ask(store)), [])
      await pass(1)
      const due = await ask(store)
      assert.deepEqual(ids(due), ['soon'])
      assert.equal(due.now, at + 1_000)
    },
    'clock',
  )

  rule('the longest waiting come first, also when the limit cuts the rest', async ({ store, now }) => {
    const at = await now()
    const late = [5, 3, 9, 1, 7]
    await applyAll(
      store,
      late.map((minutes) => creation(waking(`late-${minutes}`, at - minutes * MINUTE_MS))),
    )
    assert.deepEqual(ids(await ask(store)), ['late-9', 'late-7', 'late-5', 'late-3', 'late-1'])
    const cut = await ask(store, { limit: 2 })
    assert.deepEqual(ids(cut), ['late-9', 'late-7'])
    assert.equal(cut.mineAt, at - 5 * MINUTE_MS, 'the earliest of those that were cut off')
  })

  rule('the longest waiting come first, whatever their jobs, and none of many jobs is left out', async (bench) => {
    const { store, now, open } = bench
    const at = await now()
    const jobs = Array.from({ length: 40 }, (_, number) => `job-${number}`)
    // All have something ahead. Those of the second half also have two that are late, one by more than 20 minutes, one by less, so
    // that neither job after job nor the first of each is the right order.
    const states = jobs.flatMap((job, index) => {
      const of = { definition: definition({ job }) }
      const ahead = waking(`ahead-${index}`, at + ((index + 30) % 40) * HOUR_MS + HOUR_MS, of)
      const late =
        index < 20 ? [] : [index + 1, 40 - index].map((count) => waking(`late-${count}`, at - count * MINUTE_MS, of))
      return [ahead, ...late]
    })
    await applyAll(
      store,
      states.map((state) => creation(state)),
    )
    const asked = jobs.map((job) => ({ job, buckets: ALL }))
    const late = Array.from({ length: 40 }, (_, index) => `late-${40 - index}`)
    const all = await ask(store, { jobs: asked })
    assert.deepEqual([ids(all), all.mineAt], [late, at + HOUR_MS])
    for (const limit of [1, 7]) {
      const cut = await ask(store, { jobs: asked, limit })
      const next = at - (40 - limit) * MINUTE_MS
      assert.deepEqual([ids(cut), cut.mineAt], [late.slice(0, limit), next], 'what was cut off comes next')
    }
    const soon = [10, 11, 12, 13, 14].map((index) => `ahead-${index}`)
    const ahead = await ask(await open(), { jobs: asked, aheadMs: 5 * HOUR_MS + MINUTE_MS })
    assert.deepEqual([ids(ahead), ahead.mineAt], [[...late, ...soon], at + 6 * HOUR_MS])
  })

  rule('only schedules of the jobs asked for are due or waited for', async ({ store, now }) => {
    const at = await now()
    const other = { definition: definition({ job: 'other' }) }
    await applyAll(store, [
      creation(waking('due of another', at - 1_000, other)),
      creation(waking('soon of another', at + 1_000, other)),
      creation(waking('mine', at + HOUR_MS)),
    ])
    const due = await ask(store)
    assert.deepEqual([ids(due), due.mineAt, due.othersAt], [[], at + HOUR_MS, null])
    const both = await ask(store, { jobs: [JOB, 'other'].map((job) => ({ job, buckets: ALL })) })
    assert.deepEqual([ids(both), both.mineAt], [['due of another'], at + 1_000])
    const none = await ask(store, { jobs: [] })
    assert.deepEqual([ids(none), none.mineAt, none.othersAt], [[], null, null])
  })

  rule("others' buckets are left to them until patience has run out", async ({ store, now }) => {
    const at = await now()
    const [mine, fresh, stale] = apart(3) as [string, string, string]
    await applyAll(store, [
      creation(waking(mine, at - 1_000)),
      creation(waking(fresh, at - 2_000)),
      creation(waking(stale, at - HOUR_MS)),
    ])
    const jobs = [{ job: JOB, buckets: bucketsOf(mine) }]
    const due = await ask(store, { jobs })
    assert.deepEqual(ids(due), [stale, mine])
    assert.deepEqual([due.mineAt, due.othersAt], [null, at - 2_000])
    assert.deepEqual(ids(await ask(store, { jobs, patienceMs: 0 })), [stale, fresh, mine])
    const patient = await ask(store, { jobs, patienceMs: 2 * HOUR_MS })
    assert.deepEqual([ids(patient), patient.othersAt], [[mine], at - HOUR_MS])
  })

  rule(
    'an instance without patience gets nothing of its peers, however long it waits',
    async ({ store, open, now }) => {
      const at = await now()
      const names = apart(12)
      await applyAll(
        store,
        names.map((id, index) => creation(waking(id, at - HOUR_MS - index))),
      )
      const halves = [names.slice(0, 6), names.slice(6)]
      const found = await Promise.all(
        [store, await open()].map((opening, index) => {
          const jobs = [{ job: JOB, buckets: bucketsOf(...halves[index]!) }]
          return ask(opening, { jobs, patienceMs: 9e15, limit: 4 })
        }),
      )
      for (const [index, due] of found.entries()) {
        const last = halves[index]!.toReversed()
        assert.deepEqual(ids(due), last.slice(0, 4), 'the longest waiting of its own')
        assert.equal(due.mineAt, at - HOUR_MS - names.indexOf(last[4]!))
        assert.equal(due.othersAt, at - HOUR_MS - names.indexOf(halves[1 - index]!.at(-1)!))
      }
    },
  )

  rule('schedules that become due soon are returned ahead of time, in own buckets only', async (bench) => {
    const { store, open, now } = bench
    const at = await now()
    const [late, soon, far, stale, other] = apart(5) as [string, string, string, string, string]
    await applyAll(store, [
      creation(waking(soon, at + 5 * MINUTE_MS)),
      creation(waking(late, at - 1_000)),
      creation(waking(far, at + HOUR_MS)),
      creation(waking(other, at + 3 * MINUTE_MS)),
      creation(waking(stale, at - HOUR_MS)),
    ])
    const jobs = [{ job: JOB, buckets: bucketsOf(late, soon, far) }]
    const aheadMs = 10 * MINUTE_MS
    const answer = async (query: Partial<DueQuery>): Promise<unknown[]> => {
      // Only the first look of an opening must know when to look next.
      const due = await ask(await open(), { jobs, ...query })
      return [ids(due), due.mineAt, due.othersAt]
    }
    assert.deepEqual(await answer({}), [[stale, late], at + 5 * MINUTE_MS, at + 3 * MINUTE_MS])
    assert.deepEqual(await answer({ aheadMs }), [[stale, late, soon], at + HOUR_MS, at + 3 * MINUTE_MS])
    assert.deepEqual(await answer({ aheadMs, patienceMs: 9e15 }), [[late, soon], at + HOUR_MS, at - HOUR_MS])
    assert.deepEqual(await answer({ aheadMs, limit: 2 }), [[stale, late], at + 5 * MINUTE_MS, at + 3 * MINUTE_MS])
    assert.deepEqual(await answer({ aheadMs, limit: 1 }), [[stale], at - 1_000, at + 3 * MINUTE_MS])
    assert.deepEqual(await answer({ aheadMs: 2 * HOUR_MS }), [[stale, late, soon, far], null, at + 3 * MINUTE_MS])
  })

  rule('look after look answers what is ahead until it is changed, and mineAt lies beyond it', async (bench) => {
    const { store, now } = bench
    const at = await now()
    const soon = await create(store, waking('soon', at + 5 * MINUTE_MS))
    await create(store, waking('next', at + 6 * MINUTE_MS))
    await create(store, waking('far', at + HOUR_MS))
    const aheadMs = 10 * MINUTE_MS
    const look = async (): Promise<string[]> => {
      const due = await ask(store, { aheadMs })
      assert.ok(due.mineAt !== null && due.mineAt > due.now + aheadMs && due.mineAt <= at + HOUR_MS, `${due.mineAt}`)
      return ids(due)
    }
    for (let count = 0; count < 3; count++) assert.deepEqual(await look(), ['soon', 'next'])
    await applyAll(store, [change(soon, { wakeAt: at + 7 * MINUTE_MS })])
    assert.deepEqual(await look(), ['next', 'soon'])
    await create(store, waking('first', at + 4 * MINUTE_MS))
    assert.deepEqual(await look(), ['first', 'next', 'soon'])
  })

  rule(
    'a look reaches ahead to the millisecond',
    async ({ store, now }) => {
      await create(store, waking('soon', (await now()) + 1_000))
      assert.deepEqual(ids(await ask(store, { aheadMs: 999 })), [])
      assert.deepEqual(ids(await ask(store, { aheadMs: 1_000 })), ['soon'])
    },
    'clock',
  )

  rule('each job has its own buckets', async ({ store, now }) => {
    const at = await now()
    const states = [JOB, 'other'].map((job) => waking(`of ${job}`, at - 1_000, { definition: definition({ job }) }))
    await applyAll(
      store,
      states.map((state) => creation(state)),
    )
    const jobs = [
      { job: JOB, buckets: NONE },
      { job: 'other', buckets: ALL },
    ]
    const due = await ask(store, { jobs })
    assert.deepEqual([ids(due), due.mineAt, due.othersAt], [['of other'], null, at - 1_000])
  })

  rule('mineAt and othersAt are the earliest wakeAt of what is not yet due', async ({ store, now }) => {
    const at = await now()
    const [mine, mineLater, other, otherLater] = apart(4) as [string, string, string, string]
    await applyAll(store, [
      creation(waking(mineLater, at + 3 * HOUR_MS)),
      creation(waking(mine, at + 2 * HOUR_MS)),
      creation(waking(otherLater, at + 4 * HOUR_MS)),
      creation(waking(other, at + HOUR_MS)),
    ])
    const due = await ask(store, { jobs: [{ job: JOB, buckets: bucketsOf(mine, mineLater) }] })
    assert.deepEqual([ids(due), due.mineAt, due.othersAt], [[], at + 2 * HOUR_MS, at + HOUR_MS])
  })

  rule(
    "schedules cut off by the limit count as the next ones, own and others', whichever filled it",
    async ({ store, now }) => {
      const at = await now()
      const names = apart(9)
      const [mine, others, fresh] = [names.slice(0, 4), names.slice(4, 8), names[8]!]
      const late = (id: string, minutes: number): Change => creation(waking(id, at - minutes * MINUTE_MS))
      await applyAll(store, [
        ...mine.slice(0, 3).map((id, index) => late(id, 10 + index)),
        creation(waking(mine[3]!, at + HOUR_MS)),
        ...others.map((id, index) => late(id, 50 + index)),
        creation(waking(fresh, at - 1_000)),
      ])
      const answer = async (jobs: DueQuery['jobs'], limit: number): Promise<unknown[]> => {
        const due = await ask(store, { jobs, limit })
        return [due.schedules.length, due.mineAt, due.othersAt]
      }
      const their = [{ job: JOB, buckets: bucketsOf(...mine) }]
      assert.deepEqual(await answer(their, 7), [7, at + HOUR_MS, at - 1_000], 'nothing is cut off')
      assert.deepEqual(await answer(their, 2), [2, at - 12 * MINUTE_MS, at - 51 * MINUTE_MS], "others' fill the limit")
      assert.deepEqual(await answer(their, 4), [4, at - 12 * MINUTE_MS, at - 1_000], "all of others' are answered")
      assert.deepEqual(await answer(their, 6), [6, at - 10 * MINUTE_MS, at - 1_000])
      const our = [{ job: JOB, buckets: bucketsOf(...others, fresh) }]
      assert.deepEqual(
        await answer(our, 2),
        [2, at - 51 * MINUTE_MS, at - 12 * MINUTE_MS],
        'own schedules fill the limit',
      )
      assert.deepEqual(await answer(our, 5), [5, at - 1_000, at - 11 * MINUTE_MS])
      assert.deepEqual(await answer(our, 7), [7, at - 1_000, at + HOUR_MS])
    },
  )

  rule('a schedule that was returned as due does not count as the next one', async ({ store, now }) => {
    const at = await now()
    await create(store, waking('due', at - 1_000))
    const due = await ask(store)
    assert.deepEqual([ids(due), due.mineAt, due.othersAt], [['due'], null, null])
  })

  rule('a change of wakeAt counts at once, and a removed schedule is never due', async ({ store, now }) => {
    const at = await now()
    const moved = await create(store, waking('moved', at - 1_000))
    const gone = await create(store, waking('gone', at - 1_000))
    await applyAll(store, [change(moved, { wakeAt: at + HOUR_MS }), removal(gone)])
    const due = await ask(store)
    assert.deepEqual([ids(due), due.mineAt], [[], at + HOUR_MS])
  })

  rule('a schedule that moves to another job is due for that one', async ({ store, now }) => {
    const at = await now()
    const before = await create(store, waking('moving', at - 1_000))
    await applyAll(store, [change(before, { revision: 2, definition: definition({ job: 'other' }) })])
    assert.deepEqual(ids(await ask(store)), [])
    assert.deepEqual(ids(await ask(store, { jobs: [{ job: 'other', buckets: ALL }] })), ['moving'])
  })
}
