import assert from 'node:assert/strict'
import { ending } from '../../model/outcome.ts'
import type { Instant } from '../../model/schedule.ts'
import { viewEndedFire } from '../../model/views.ts'
import type { Store } from '../../store/store.ts'
import { applyAll, bury, create, firesOf, join, loadOne, type Rule, running, runsOf } from './bench.ts'
import {
  after,
  beat,
  change,
  claimAgain,
  creation,
  DAY_MS,
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

const MANY = 1_000

/** A fire that ran, with a run and a step, and whose record may go at `expiresAt`. */
async function ranFire(store: Store, id: string, expiresAt: Instant): Promise<void> {
  const { state, run } = await running(store, id, { instance: 'i' })
  await store.step({ kind: 'begin', fire: keyOf(run), step: 'charge', token: run.token, rerun: false })
  const progress = { fraction: 0.5, message: 'secret', at: NOON }
  await store.annotate([{ schedule: id, token: run.token, progress, log: [], logCut: false }])
  await applyAll(store, [settlement(state, run, { expiresAt })])
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
      endedLine('s', NOON + index * HOUR_MS, { number: index + 1, expiresAt: at - HOUR_MS }),
    )
    await applyAll(store, [withFires(change(await create(store, schedule('s'))), expired)])
    const left: number[] = []
    for (let round = 0; round < 4; round++) {
      await store.prune(3)
      left.push((await firesOf(store)).length)
    }
    assert.deepEqual(left, [4, 1, 0, 0])
  })

  rule('an open fire is not pruned, whatever the lines of its runs say about their expiry', async (bench) => {
    const { store, now } = bench
    await join(store, 'i')
    const expiresAt = (await now()) - HOUR_MS
    const { state, run } = await running(store, 's', { instance: 'i' })
    await store.step({ kind: 'begin', fire: keyOf(run), step: 'charge', token: run.token, rerun: false })
    const failed = settlement(state, run, { how: ending('error'), fireEnds: null, expiresAt })
    await applyAll(store, [failed])
    const { chores } = await store.beat(beat('i'))
    assert.equal(chores.prunable, false)
    const trim = { belowNumber: 100, endedBefore: NOON + DAY_MS }
    await applyAll(store, [change(after(failed), {}, { trim })])
    assert.deepEqual(await store.prune(MANY), { deleted: 0 })
    assert.deepEqual([(await firesOf(store)).length, (await runsOf(store)).length], [1, 1])
    assert.equal((await store.listSteps(keyOf(run))).length, 1)
  })

  rule('a fire that was opened again is not pruned', async ({ store, now }) => {
    const at = await now()
    const ended = endedLine('s', NOON, { number: 1, expiresAt: at - HOUR_MS })
    const first = withFires(change(await create(store, schedule('s'))), [ended])
    const reopened = reopening(after(first), ended)
    await applyAll(store, [first, reopened])
    const trim = { belowNumber: 100, endedBefore: NOON + DAY_MS }
    const trimmed = change(after(reopened), {}, { trim })
    await applyAll(store, [trimmed])
    const open = [fire('s', NOON, { round: 2 })]
    assert.deepEqual([await store.prune(MANY), await firesOf(store)], [{ deleted: 0 }, open])
    const again = endedLine('s', NOON, { number: 2, expiresAt: at + HOUR_MS, round: 2 })
    const kept = change(after(trimmed), { ended: 2, open: [] }, { history: [again] })
    await applyAll(store, [kept])
    assert.deepEqual(await store.prune(MANY), { deleted: 0 }, 'the time of its last line counts')
    assert.deepEqual(await firesOf(store), [viewEndedFire(again)])
    const sooner = { ...again, expiresAt: at - HOUR_MS }
    await applyAll(store, [change(after(kept), {}, { rewrites: [sooner] })])
    assert.deepEqual([await store.prune(MANY), await firesOf(store)], [{ deleted: 1 }, []])
    const anew = withFires(change({ ...after(kept), version: after(kept).version + 1 }), [waiting(NOON)])
    await applyAll(store, [anew])
  })

  rule('prune and trim delete a fire whole: all its lines, runs, notes and steps', async ({ store, now }) => {
    await join(store, 'i')
    const at = await now()
    for (const [id, way] of [
      ['pruned', 'prune'],
      ['trimmed', 'trim'],
    ] as const) {
      const { state, run } = await running(store, id, { instance: 'i' })
      await store.step({ kind: 'begin', fire: keyOf(run), step: 'charge', token: run.token, rerun: false })
      const progress = { fraction: 0.5, message: 'secret', at: NOON }
      await store.annotate([{ schedule: id, token: run.token, progress, log: [], logCut: false }])
      // The lines of its runs may go later than its last one, or never: only the last one counts.
      const failed = settlement(state, run, { how: ending('error'), fireEnds: null, expiresAt: at + DAY_MS })
      const again = claimAgain(after(failed), { instance: 'i' })
      const how = { how: ending('crashed'), fireEnds: ending('crash-budget') }
      const expiresAt = way === 'prune' ? at - 1 : at + DAY_MS
      const settled = settlement(after(again), runOf(again), { ...how, expiresAt })
      await applyAll(store, [failed, again, settled])
      assert.deepEqual([settled.state?.ended, (await runsOf(store, { schedule: id })).length], [3, 2])
      const low = { trim: { belowNumber: 3, endedBefore: NOON + DAY_MS } }
      const spared = change(after(settled), {}, low)
      await applyAll(store, [spared])
      assert.equal((await runsOf(store, { schedule: id })).length, 2, 'its last line is not below')
      if (way === 'prune') assert.deepEqual(await store.prune(MANY), { deleted: 1 })
      else await applyAll(store, [change(after(spared), {}, { trim: { ...low.trim, belowNumber: 4 } })])
      assert.deepEqual([await firesOf(store, { schedule: id }), await runsOf(store, { schedule: id })], [[], []])
      assert.deepEqual(await store.listSteps(keyOf(run)), [])
      const left = (await loadOne(store, id))!
      await applyAll(store, [withFires(change(left), [waiting(NOON)])])
    }
  })

  rule(
    "a fire's time is up by the store's clock",
    async ({ store, now, pass }) => {
      const at = await now()
      const ended = endedLine('s', NOON, { number: 1, expiresAt: at + HOUR_MS })
      await applyAll(store, [withFires(change(await create(store, schedule('s'))), [ended])])
      await pass(HOUR_MS - 1)
      assert.deepEqual(await store.prune(MANY), { deleted: 0 })
      await pass(2)
      assert.deepEqual(await store.prune(MANY), { deleted: 1 })
    },
    'clock',
  )

  rule('a heartbeat tells whether prune would delete something', async ({ store, now }) => {
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
    'an instance that prune would delete is announced by a heartbeat, and one with open runs is not',
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

  rule('a nonce is free again once its record is deleted', async ({ store, now }) => {
    const manual = { nonce: 'n', kind: 'manual' } as const
    const ended = endedLine('s', NOON, { ...manual, number: 1, expiresAt: (await now()) - 1 })
    const written = withFires(change(await create(store, schedule('s'))), [ended])
    await applyAll(store, [written])
    await store.prune(MANY)
    assert.deepEqual(await firesOf(store, { schedule: 's', nonce: 'n' }), [])
    await applyAll(store, [withFires(change(after(written)), [waiting(NOON + 1, manual)])])
    assert.deepEqual(await firesOf(store, { schedule: 's', nonce: 'n' }), [fire('s', NOON + 1, manual)])
  })

  rule('a range is pruned like any other record', async ({ store, now }) => {
    const at = await now()
    const range = { ...missedRange('s', NOON, 10), expiresAt: at - 1 }
    await applyAll(store, [withFires(change(await create(store, schedule('s'))), [range])])
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
    'instances that ended a day ago are deleted, and others are not',
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
      assert.deepEqual(await ids(), ['silent'], 'that one was not declared dead')
      assert.equal((await store.beat(beat('dead'))).alive, false)
    },
    'age',
  )

  rule(
    'an instance is not deleted while it has open runs: recovery finds them by it',
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
      endedLine('s', NOON + index * HOUR_MS, { number: index + 1, expiresAt: NOON + 30 * DAY_MS }),
    )
    const open = waiting(NOON - 10 * HOUR_MS)
    const first = withFires(change(await create(store, schedule('s'))), [...numbered, open])
    const other = endedLine('other', NOON, { number: 1, expiresAt: NOON + 30 * DAY_MS })
    await applyAll(store, [first, withFires(change(await create(store, schedule('other'))), [other])])
    const byNumber = change(after(first), {}, { trim: { belowNumber: 4, endedBefore: NOON + DAY_MS } })
    await applyAll(store, [byNumber])
    assert.deepEqual(
      (await dueOf(store)).sort((a, b) => a - b),
      [-10, 0, 3, 4, 5, 6, 7, 8, 9],
    )
    assert.deepEqual(await firesOf(store, { schedule: 'other' }), [viewEndedFire(other)])
    // The records end a millisecond after they were due.
    const byTime = { belowNumber: 100, endedBefore: NOON + 6 * HOUR_MS + 1 }
    await applyAll(store, [change(after(byNumber), {}, { trim: byTime })])
    assert.deepEqual(await dueOf(store), [-10, 0, 6, 7, 8, 9])
  })

  rule('a trim leaves what ended long before it is due', async ({ store }) => {
    const ended = { endedAt: NOON, expiresAt: NOON + 30 * DAY_MS }
    const ahead = [2, 4, 6].map((hours, index) =>
      endedLine('s', NOON + hours * HOUR_MS, { ...ended, number: index + 1, ending: ending('skipped-by-operator') }),
    )
    const first = withFires(change(await create(store, schedule('s'))), ahead)
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
      endedLine('s', NOON + index * HOUR_MS, { number: index + 1, expiresAt: NOON + 30 * DAY_MS }),
    )
    let next = withFires(change(await create(store, schedule('s'))), ended)
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
    const ended = endedLine('s', NOON, { number: 1, expiresAt: NOON + 30 * DAY_MS })
    const state = await create(store, schedule('s'))
    await applyAll(store, [withFires(change(state), [ended])])
    await store.apply([change(state, {}, { trim: { belowNumber: 5, endedBefore: NOON + DAY_MS } })])
    assert.deepEqual(await firesOf(store), [viewEndedFire(ended)])
  })

  rule(
    'prune deletes all records of a removed schedule, in bounded bites, and says when nothing is left',
    async (bench) => {
      const { store } = bench
      await join(store, 'i')
      await ranFire(store, 's', NOON)
      await ranFire(store, 'other', NOON)
      const [run] = await runsOf(store, { schedule: 's' })
      assert.ok(run !== undefined)
      const more = Array.from({ length: 6 }, (_, index) =>
        endedLine('s', NOON + (index + 1) * HOUR_MS, { number: index + 2, expiresAt: NOON + DAY_MS }),
      )
      const before = withFires(change((await loadOne(store, 's'))!), more)
      await applyAll(store, [before])
      await applyAll(store, [removal(after(before))])
      assert.ok((await store.prune(3, 's')).deleted > 0)
      assert.ok((await firesOf(store, { schedule: 's' })).length >= 4, 'no more than three at a time')
      let bites = 1
      while ((await store.prune(3, 's')).deleted > 0) assert.ok(++bites < 20, 'it comes to an end')
      assert.deepEqual([await firesOf(store, { schedule: 's' }), await runsOf(store, { schedule: 's' })], [[], []])
      assert.deepEqual(await store.listSteps({ schedule: 's', dueAt: NOON, nonce: '' }), [])
      assert.equal((await firesOf(store)).length, 1)
      assert.equal((await runsOf(store)).length, 1)
      assert.equal((await store.listSteps({ schedule: 'other', dueAt: NOON, nonce: '' })).length, 1)
      assert.deepEqual(await store.prune(3, 's'), { deleted: 0 }, 'again')
      // Under the same token, which no claim gets again: what the old run told is gone with it.
      const { token, instance, startedAt } = run
      const again = { token, instance, startedAt, claim: 2, cancel: null }
      await applyAll(store, [withFires(creation(schedule('s')), [waiting(NOON, { attempt: 1, run: again })])])
      assert.deepEqual(
        (await runsOf(store, { schedule: 's' })).map(({ progress }) => progress),
        [null],
      )
    },
  )

  rule('prune refuses to delete the records of a schedule that exists', async ({ store }) => {
    await join(store, 'i')
    await ranFire(store, 's', NOON)
    // Refused with an error or with an answer: only what it does counts.
    await store.prune(MANY, 's').catch(() => false)
    assert.equal((await firesOf(store)).length, 1)
    assert.equal((await runsOf(store)).length, 1)
    assert.notEqual(await loadOne(store, 's'), null)
  })

  rule('tokens go on counting also after everything was erased', async ({ store }) => {
    const before = await create(store, schedule('s'))
    const counted = change(before, { tokens: before.tokens + 1_000 })
    await applyAll(store, [counted])
    await applyAll(store, [removal(after(counted))])
    while ((await store.prune(MANY, 's')).deleted > 0) {}
    const again = await create(store, schedule('s'))
    assert.ok(again.tokens >= after(counted).tokens)
  })
}
