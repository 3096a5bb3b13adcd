import assert from 'node:assert/strict'
import { ending } from '../../model/outcome.ts'
import { viewEnd } from '../../model/views.ts'
import type { Store } from '../../store/store.ts'
import { applyAll, applyOne, create, firesOf, join, type Rule, running } from './bench.ts'
import {
  after,
  change,
  claimAgain,
  DAY_MS,
  endedLine,
  HOUR_MS,
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

const MANY = 1_000
const LATER = NOON + 365 * DAY_MS

/** As `hours after noon, outcome, count`. */
async function countsOf(store: Store, from = NOON - DAY_MS, to = LATER): Promise<string[]> {
  const { hours } = await store.countFires({ from, to })
  return hours.map(({ hour, outcome, count }) => `${(hour - NOON) / HOUR_MS} ${outcome} ${count}`)
}

/** What a screen shows of many fires at once. */
export function overviewRules(rule: Rule): void {
  rule('the latest ends of several schedules are listed in one answer, up to a limit for each', async ({ store }) => {
    await join(store, 'i')
    const lines = [1, 2, 3].map((number) => endedLine('a', NOON + number * HOUR_MS, { number, expiresAt: LATER }))
    const range = missedRange('b', NOON, 10)
    await applyAll(store, [
      withFires(change(await create(store, schedule('a'))), [...lines, waiting(NOON + DAY_MS)]),
      withFires(change(await create(store, schedule('b'))), [range]),
    ])
    const { state, run } = await running(store, 'c', { instance: 'i' })
    const failed = settlement(state, run, { how: ending('error', 'no'), fireEnds: null })
    const again = claimAgain(after(failed), { instance: 'i' })
    const settled = settlement(after(again), runOf(again))
    await applyAll(store, [failed, again, settled])
    const { fires } = await store.listLatest({ schedules: ['b', 'a', 'nobody', 'c', 'a'], limit: 2 })
    const of = (id: string) => fires.filter((fire) => fire.schedule === id)
    assert.deepEqual(of('a'), [lines[2]!, lines[1]!].map(viewEnd))
    assert.deepEqual(of('b'), [viewEnd(range)])
    assert.deepEqual(of('c'), settled.history.map(viewEnd), 'a fire that was run twice is one')
    assert.equal(fires.length, 4)
  })

  rule('the latest ends are those of fires that are not open again', async ({ store }) => {
    const line = endedLine('s', NOON, { number: 1, expiresAt: LATER })
    const ended = withFires(change(await create(store, schedule('s'))), [line])
    await applyAll(store, [ended, reopening(after(ended), line)])
    assert.deepEqual((await store.listLatest({ schedules: ['s'], limit: 10 })).fires, [])
  })

  rule('fires count by the hour they were due in and by outcome, however often they ran', async ({ store }) => {
    await join(store, 'i')
    const { state, run } = await running(store, 's', { instance: 'i', dueAt: NOON + HOUR_MS - 1 })
    const failed = settlement(state, run, { how: ending('error'), fireEnds: null })
    const again = claimAgain(after(failed), { instance: 'i', dueAt: NOON + HOUR_MS - 1 })
    await applyAll(store, [failed, again, settlement(after(again), runOf(again))])
    const lines = [
      endedLine('t', NOON, { number: 1, expiresAt: LATER }),
      endedLine('t', NOON + 1, { number: 2, expiresAt: LATER, ending: ending('overlap') }),
      endedLine('t', NOON + HOUR_MS, { number: 3, expiresAt: LATER }),
    ]
    const open = waiting(NOON + 2)
    await applyAll(store, [withFires(change(await create(store, schedule('t'))), [...lines, open])])
    const [range] = [missedRange('u', NOON + HOUR_MS, 10)]
    await applyAll(store, [withFires(change(await create(store, schedule('u'))), [range])])
    assert.deepEqual(await countsOf(store), ['0 skipped 1', '0 succeeded 2', '1 missed 10', '1 succeeded 1'])
    assert.deepEqual(await countsOf(store, NOON, NOON + 1), ['0 skipped 1', '0 succeeded 2'])
    assert.deepEqual(await countsOf(store, NOON + 1, NOON + HOUR_MS), [])
  })

  rule('a fire that is open again does not count until it ends again', async ({ store }) => {
    await join(store, 'i')
    const { state, run } = await running(store, 's', { instance: 'i' })
    const failed = settlement(state, run, { how: ending('error') })
    const reopened = reopening(after(failed), failed.history[0]!)
    await applyAll(store, [failed])
    assert.deepEqual(await countsOf(store), ['0 failed 1'])
    await applyAll(store, [reopened])
    assert.deepEqual(await countsOf(store), [])
    const again = claimAgain(after(reopened), { instance: 'i' })
    await applyAll(store, [again, settlement(after(again), runOf(again))])
    assert.deepEqual(await countsOf(store), ['0 succeeded 1'])
  })

  rule('a line that is rewritten counts as it reads now', async ({ store }) => {
    const range = missedRange('s', NOON, 10)
    const first = withFires(change(await create(store, schedule('s'))), [range])
    const shorter = missedRange('s', NOON, 4)
    const rest = missedRange('s', NOON + 5 * HOUR_MS, 5, 2)
    const opened = waiting(NOON + 4 * HOUR_MS, { kind: 'backfill', round: 2 })
    const split = withFires(change(after(first), {}, { rewrites: [shorter] }), [rest, opened])
    await applyAll(store, [first, split])
    assert.deepEqual(await countsOf(store), ['0 missed 4', '5 missed 5'])
  })

  rule('a refused change is not counted', async ({ store }) => {
    const before = await create(store, schedule('s'))
    const ended = withFires(change(before), [endedLine('s', NOON, { number: 1, expiresAt: LATER })])
    await applyAll(store, [ended])
    assert.deepEqual(await applyOne(store, ended), { kind: 'conflict' })
    assert.deepEqual(await countsOf(store), ['0 succeeded 1'])
  })

  rule(
    'a rolled back change is not counted',
    async ({ store, under }) => {
      const ended = withFires(change(await create(store, schedule('s'))), [
        endedLine('s', NOON, { number: 1, expiresAt: LATER }),
      ])
      const work = under.database!.transaction(async (tx) => {
        await store.apply([ended], { tx })
        throw new Error('not today')
      })
      await assert.rejects(work, /not today/)
      assert.deepEqual(await countsOf(store), [])
    },
    'database',
  )

  rule('counts outlive the records, for a hundred days', async ({ store, now }) => {
    const at = await now()
    const [old, young] = [at - 101 * DAY_MS, at - 99 * DAY_MS]
    const lines = [old, young].map((dueAt, index) => endedLine('s', dueAt, { number: index + 1, expiresAt: at - 1 }))
    const ended = withFires(change(await create(store, schedule('s'))), lines)
    await applyAll(store, [ended])
    assert.equal((await store.countFires({ from: old - HOUR_MS, to: at })).hours.length, 2)
    await store.prune(MANY)
    assert.deepEqual(await firesOf(store), [])
    const { hours } = await store.countFires({ from: old - HOUR_MS, to: at })
    assert.deepEqual(
      hours.map(({ outcome, count }) => [outcome, count]),
      [['succeeded', 1]],
    )
    assert.ok(hours[0]!.hour <= young && hours[0]!.hour > young - HOUR_MS)
    await applyAll(store, [removal(after(ended))])
    while ((await store.prune(MANY, 's')).deleted > 0);
    assert.equal((await store.countFires({ from: old, to: at })).hours.length, 1)
  })

  rule('counts and ends of another namespace are its own', async ({ store, open, namespace }) => {
    const other = await open(`${namespace}-other`)
    await applyAll(other, [
      withFires(change(await create(other, schedule('s'))), [endedLine('s', NOON, { number: 1, expiresAt: LATER })]),
    ])
    assert.deepEqual(await countsOf(store), [])
    assert.deepEqual((await store.listLatest({ schedules: ['s'], limit: 10 })).fires, [])
    assert.deepEqual(await countsOf(other), ['0 succeeded 1'])
  })
}
