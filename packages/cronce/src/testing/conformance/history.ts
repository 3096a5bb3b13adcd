import assert from 'node:assert/strict'
import { ending } from '../../model/outcome.ts'
import { viewEndedFire } from '../../model/views.ts'
import { applyAll, create, firesOf, join, loadOne, type Rule, running, runsOf } from './bench.ts'
import {
  after,
  change,
  claim,
  claimAgain,
  DAY_MS,
  definition,
  endedLine,
  fire,
  firesOfEnds,
  HOUR_MS,
  keyOf,
  missedRange,
  NOON,
  removal,
  reopening,
  runOf,
  runsOfEnds,
  schedule,
  settlement,
  waiting,
  withFires,
} from './samples.ts'

const UNTOLD = { progress: null, log: [], logCut: false }
const FIRST = { number: 1, expiresAt: NOON + DAY_MS }
const SECOND = { number: 2, expiresAt: NOON + DAY_MS }
const THIRD = { number: 3, expiresAt: NOON + DAY_MS }

/** Fires and runs are views: of what is open in the state, and of the lines in the history. */
export function historyRules(rule: Rule): void {
  rule(
    'fires and runs are listed from the state they are open in, and from the lines they ended with',
    async (bench) => {
      const { store } = bench
      const before = await create(store, schedule('s'))
      const manual = { nonce: 'n', kind: 'manual' } as const
      const first = withFires(change(before, { fired: 2 }), [
        waiting(NOON),
        waiting(NOON + HOUR_MS),
        waiting(NOON, manual),
        endedLine('s', NOON + 2 * HOUR_MS, FIRST),
      ])
      await applyAll(store, [first])
      const listed = [fire('s', NOON), fire('s', NOON + HOUR_MS), fire('s', NOON, manual), ...firesOfEnds(first)]
      assert.deepEqual(new Set(await firesOf(store)), new Set(listed))
      const [one, two, three] = after(first).open
      const changed = { ...one!, attempt: 3, round: 2, readyAt: NOON + 7, asked: { author: 'ann', note: null } }
      const line = endedLine('s', NOON + HOUR_MS, { ...SECOND, attempt: 3, round: 2, ending: ending('error', 'no') })
      const second = change(after(first), { ended: 2, open: [changed, three!] }, { history: [line] })
      await applyAll(store, [second])
      const { asked } = changed
      const expected = [
        fire('s', NOON, { attempt: 3, round: 2, readyAt: NOON + 7, asked }),
        fire('s', NOON, manual),
        ...firesOfEnds(first),
        ...firesOfEnds(second),
      ]
      assert.deepEqual([two?.dueAt, new Set(await firesOf(store))], [NOON + HOUR_MS, new Set(expected)])
    },
  )

  rule('a run that ended is listed with the start in its line, whatever the claim expected', async ({ store, now }) => {
    await join(store, 'i')
    const recent = (await now()) - 1_000
    const claims = await Promise.all(
      [
        { dueAt: recent, plannedAt: recent + 5 },
        { dueAt: recent, plannedAt: recent + 5 },
        { dueAt: recent, plannedAt: recent },
        { dueAt: NOON, plannedAt: NOON + 5 },
      ].map(async (fire, index) => claim(await create(store, schedule(`s${index}`)), { instance: 'i', ...fire })),
    )
    await applyAll(store, claims, { claimant: { instance: 'i', leaseMs: HOUR_MS } })
    const settled = claims.map((claimed, index) => {
      const run = runOf(claimed)
      // The last one started as expected.
      return settlement(after(claimed), { ...run, startedAt: run.startedAt + 3 - index })
    })
    // Apart from each other: a store may have a shorter way for what is recent.
    await applyAll(store, settled.slice(0, -1))
    await applyAll(store, settled.slice(-1))
    for (const ended of settled) {
      const runs = runsOfEnds(ended).map((run) => ({ ...run, ...UNTOLD }))
      assert.deepEqual(await runsOf(store, { schedule: ended.id }), runs)
      assert.deepEqual(await firesOf(store, { schedule: ended.id }), firesOfEnds(ended))
      assert.deepEqual(await loadOne(store, ended.id), after(ended))
    }
  })

  rule('a fire is listed with the job that its schedule has now, until it ends', async ({ store }) => {
    await join(store, 'i')
    const { state, run } = await running(store, 's', { instance: 'i' })
    const moved = change(state, { revision: 2, definition: definition({ job: 'other' }) })
    await applyAll(store, [moved])
    assert.deepEqual(await firesOf(store), [fire('s', NOON, { job: 'other', attempt: 1 })])
    assert.deepEqual(
      (await runsOf(store)).map(({ job }) => job),
      ['other'],
    )
    const settled = settlement(after(moved), { ...run, job: 'other' })
    const back = change(after(settled), { revision: 3, definition: definition() })
    await applyAll(store, [settled, back])
    assert.deepEqual(await firesOf(store), firesOfEnds(settled))
  })

  rule('a run is listed once: while it is open from the state, then from its line', async ({ store }) => {
    await join(store, 'i')
    const { state, run } = await running(store, 's', { instance: 'i' })
    assert.deepEqual(await runsOf(store), [{ ...run, ...UNTOLD }])
    const settled = settlement(state, run)
    await applyAll(store, [settled])
    assert.deepEqual(await runsOf(store), [
      { ...run, number: 1, ending: ending('completed'), endedAt: NOON + 10, ...UNTOLD },
    ])
    assert.deepEqual(await firesOf(store), [
      fire('s', NOON, {
        ...{ attempt: 1, number: 1, ending: ending('completed'), endedAt: NOON + 10 },
        expiresAt: NOON + 10 + 30 * DAY_MS,
      }),
    ])
  })

  rule('runs that end in one change are all over, whatever the order of their lines', async ({ store }) => {
    await join(store, 'i')
    const first = await running(store, 's', { instance: 'i' })
    const second = claim(first.state, { instance: 'i', dueAt: NOON + HOUR_MS })
    await applyAll(store, [second])
    const one = settlement(after(second), runOf(second))
    const two = settlement(after(one), first.run)
    const both = { ...two, version: one.version, state: { ...after(two), version: after(one).version } }
    await applyAll(store, [{ ...both, history: [...one.history, ...two.history] }])
    assert.deepEqual(await runsOf(store, { outcome: 'open' }), [])
    assert.equal((await runsOf(store)).length, 2)
    assert.equal((await firesOf(store)).length, 2)
  })

  rule('a fire that is tried twice has a line for each run, and is listed once, as it ended', async ({ store }) => {
    await join(store, 'i')
    const { state, run } = await running(store, 's', { instance: 'i' })
    const failed = settlement(state, run, { how: ending('error', 'first'), fireEnds: null })
    await applyAll(store, [failed])
    assert.deepEqual(await firesOf(store), [fire('s', NOON, { attempt: 1 })], 'it waits for its next run')
    assert.deepEqual(await runsOf(store), [{ ...runsOfEnds(failed)[0], ...UNTOLD }])
    const again = claimAgain(after(failed), { instance: 'i' })
    await applyAll(store, [again])
    assert.deepEqual(await firesOf(store), [fire('s', NOON, { attempt: 2 })])
    const settled = settlement(after(again), runOf(again))
    await applyAll(store, [settled])
    assert.deepEqual(await firesOf(store), firesOfEnds(settled))
    assert.deepEqual(
      await firesOf(store, { outcome: 'failed' }),
      [],
      'an attempt that failed is not a fire that failed',
    )
    const runs = [...runsOfEnds(settled), ...runsOfEnds(failed)].map((ended) => ({ ...ended, ...UNTOLD }))
    assert.deepEqual(await runsOf(store), runs)
  })

  rule(
    'a run whose fire ends for another reason has a line of its own; one fire and one run are listed',
    async (bench) => {
      const { store } = bench
      await join(store, 'i')
      const { state, run } = await running(store, 's', { instance: 'i' })
      const settled = settlement(state, run, { how: ending('crashed'), fireEnds: ending('crash-budget') })
      await applyAll(store, [settled])
      assert.equal(settled.history.length, 2)
      assert.deepEqual(
        (await firesOf(store)).map((record) => [record.number, record.ending]),
        [[2, ending('crash-budget')]],
      )
      assert.deepEqual(
        (await runsOf(store)).map((record) => [record.number, record.ending]),
        [[1, ending('crashed')]],
      )
    },
  )

  rule('a fire that is opened again is listed as open, and its runs and its lines stay', async ({ store }) => {
    await join(store, 'i')
    const { state, run } = await running(store, 's', { instance: 'i' })
    const settled = settlement(state, run, { how: ending('error') })
    const reopened = reopening(after(settled), settled.history[0]!)
    await applyAll(store, [settled, reopened])
    assert.deepEqual(await firesOf(store), [fire('s', NOON, { attempt: 1, round: 2 })])
    assert.deepEqual([await firesOf(store, { outcome: 'failed' }), (await runsOf(store)).length], [[], 1])
    const again = claimAgain(after(reopened), { instance: 'i' })
    const done = settlement(after(again), runOf(again))
    await applyAll(store, [again, done])
    assert.deepEqual(await firesOf(store), firesOfEnds(done), 'only the line that is final now counts')
    assert.deepEqual(
      (await runsOf(store)).map((record) => [record.number, record.round, record.ending?.outcome]),
      [
        [2, 2, 'succeeded'],
        [1, 1, 'failed'],
      ],
    )
  })

  rule('a fire that ended apart from its run is opened again whole', async ({ store }) => {
    await join(store, 'i')
    const { state, run } = await running(store, 's', { instance: 'i' })
    const settled = settlement(state, run, { how: ending('crashed'), fireEnds: ending('crash-budget') })
    const reopened = reopening(after(settled), settled.history[1]!)
    await applyAll(store, [settled, reopened])
    assert.deepEqual(await firesOf(store), [fire('s', NOON, { attempt: 1, round: 2 })])
    const cancelled = endedLine('s', NOON, { ...THIRD, round: 2, attempt: 1, ending: ending('cancelled-by-operator') })
    await applyAll(store, [change(after(reopened), { ended: 3, open: [] }, { history: [cancelled] })])
    assert.deepEqual(await firesOf(store), [viewEndedFire(cancelled)])
    assert.equal((await runsOf(store)).length, 1)
  })

  rule(
    'a fire that is opened again and ends in one change has the new line, and not the old one',
    async ({ store }) => {
      const line = endedLine('s', NOON, FIRST)
      const first = withFires(change(await create(store, schedule('s'))), [line])
      const again = endedLine('s', NOON, { ...SECOND, round: 2, ending: ending('cancelled-by-operator') })
      const both = change(after(first), { ended: 2 }, { reopens: [keyOf(line)], history: [again] })
      await applyAll(store, [first, both])
      assert.deepEqual(await firesOf(store), [viewEndedFire(again)])
    },
  )

  rule('a line is rewritten by its number, and no other', async ({ store }) => {
    await join(store, 'i')
    const first = await running(store, 's', { instance: 'i' })
    const other = claim(first.state, { instance: 'i', dueAt: NOON + HOUR_MS })
    await applyAll(store, [other])
    const lost = settlement(after(other), first.run, { how: ending('crashed'), endedAt: NOON + 100 })
    const settled = settlement(after(lost), runOf(other))
    await applyAll(store, [lost, settled])
    const known = settlement(after(other), first.run, { result: 'known again', endedAt: NOON + 50 })
    const rewritten = change(after(settled), {}, { rewrites: known.history })
    await applyAll(store, [rewritten])
    assert.deepEqual(
      await runsOf(store, { schedule: 's' }),
      [...runsOfEnds(settled), ...runsOfEnds(known)].map((run) => ({ ...run, ...UNTOLD })),
    )
    assert.deepEqual(await firesOf(store, { order: 'earliest' }), [...firesOfEnds(known), ...firesOfEnds(settled)])
    assert.deepEqual(await firesOf(store, { outcome: 'abandoned' }), [])
    assert.deepEqual(await loadOne(store, 's'), after(rewritten))
  })

  rule('a range is split in one change: its line becomes one of its parts, the others are new', async ({ store }) => {
    const range = missedRange('s', NOON, 10)
    const other = missedRange('s', NOON - 20 * HOUR_MS, 10, 2)
    const first = withFires(change(await create(store, schedule('s'))), [range, other])
    await applyAll(store, [first])
    const shorter = missedRange('s', NOON - 20 * HOUR_MS, 9, 2)
    const single = { ...range, range: null, isFinal: false }
    const opened = waiting(NOON, { kind: 'backfill', round: 2 })
    const rest = missedRange('s', NOON + HOUR_MS, 9, 3)
    const open = { open: [opened] }
    const split = withFires(change(after(first), open, { rewrites: [shorter, single] }), [rest])
    await applyAll(store, [split])
    const listed = [viewEndedFire(shorter), fire('s', NOON, { kind: 'backfill', round: 2 }), viewEndedFire(rest)]
    assert.deepEqual(await firesOf(store, { order: 'earliest' }), listed)
    assert.deepEqual(await firesOf(store, { from: NOON - 11 * HOUR_MS, to: NOON }), [], 'it no longer reaches there')
  })

  rule('a schedule that is made again goes on numbering its lines where it was', async ({ store }) => {
    const [one, two] = [endedLine('s', NOON, FIRST), endedLine('s', NOON + HOUR_MS, SECOND)]
    const first = withFires(change(await create(store, schedule('s'))), [one, two])
    await applyAll(store, [first])
    // The last line is written with the removal itself: the state that is gone does not count it.
    const three = endedLine('s', NOON + 2 * HOUR_MS, { ...THIRD, ending: ending('removed') })
    await applyAll(store, [withFires(removal(after(first)), [three])])
    const again = await create(store, schedule('s'))
    assert.ok(again.ended >= 3, `${again.ended} lines are fewer than 3`)
    const four = endedLine('s', NOON + 3 * HOUR_MS, { ...FIRST, number: again.ended + 1 })
    await applyAll(store, [withFires(change(again), [four])])
    const all = [one, two, three, four].map(viewEndedFire)
    assert.deepEqual(await firesOf(store, { schedule: 's', order: 'earliest' }), all)
  })
}
