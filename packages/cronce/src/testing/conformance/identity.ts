import assert from 'node:assert/strict'
import { ending } from '../../model/outcome.ts'
import { viewEndedFire } from '../../model/views.ts'
import { applyAll, applyOne, create, firesOf, join, loadOne, type Rule, running, runsOf } from './bench.ts'
import {
  after,
  change,
  claim,
  creation,
  DAY_MS,
  endedLine,
  fire,
  firesOfEnds,
  HOUR_MS,
  keyOf,
  NOON,
  removal,
  reopening,
  schedule,
  settlement,
  waiting,
  withFires,
} from './samples.ts'

const FIRST = { number: 1, expiresAt: NOON + DAY_MS }
const SECOND = { number: 2, expiresAt: NOON + DAY_MS }

/** A fire is created once: see `Change.creates`. */
export function identityRules(rule: Rule): void {
  rule('a fire that has ended is refused with its record, and nothing of the change is written', async (bench) => {
    const { store } = bench
    await join(store, 'i')
    const { state, run } = await running(store, 's', { instance: 'i' })
    const settled = settlement(state, run)
    await applyAll(store, [settled])
    const again = claim(after(settled), { instance: 'i' })
    const both = withFires(again, [waiting(NOON + HOUR_MS), endedLine('s', NOON + 2 * HOUR_MS, SECOND)])
    const [ended] = firesOfEnds(settled)
    assert.deepEqual(await applyOne(store, both), { kind: 'exists', fire: ended })
    assert.deepEqual(await loadOne(store, 's'), after(settled))
    assert.deepEqual(await firesOf(store), [ended])
    assert.deepEqual(
      (await runsOf(store)).map(({ token }) => token),
      [run.token],
    )
  })

  rule('a fire that is open is refused with its record, and nothing of the change is written', async ({ store }) => {
    const first = withFires(change(await create(store, schedule('s'))), [waiting(NOON)])
    await applyAll(store, [first])
    const more = [waiting(NOON + HOUR_MS), waiting(NOON), endedLine('s', NOON + 2 * HOUR_MS, FIRST)]
    const again = withFires(change({ ...after(first), open: [] }, { fired: 9 }), more)
    assert.deepEqual(await applyOne(store, again), { kind: 'exists', fire: fire('s', NOON) })
    assert.deepEqual([await loadOne(store, 's'), await firesOf(store)], [after(first), [fire('s', NOON)]])
  })

  rule('a fire that runs is refused with its record', async ({ store }) => {
    await join(store, 'i')
    const { state } = await running(store, 's', { instance: 'i' })
    const again = claim({ ...state, open: [] }, { instance: 'i' })
    assert.deepEqual(await applyOne(store, again), { kind: 'exists', fire: fire('s', NOON, { attempt: 1 }) })
    assert.deepEqual([await loadOne(store, 's'), (await runsOf(store)).length], [state, 1])
  })

  rule('a fire is on record as long as it has any line, final or not, open or not', async ({ store }) => {
    await join(store, 'i')
    const { state, run } = await running(store, 's', { instance: 'i' })
    const failed = settlement(state, run, { how: ending('error'), fireEnds: null })
    const dropped = change(after(failed), { open: [] })
    await applyAll(store, [failed, dropped])
    const again = await applyOne(store, claim(after(dropped), { instance: 'i' }))
    assert.deepEqual(again.kind === 'exists' && keyOf(again.fire), keyOf(run))
    assert.deepEqual([await loadOne(store, 's'), (await runsOf(store)).length], [after(dropped), 1])
  })

  rule('a fire that was opened again is on record', async ({ store }) => {
    const line = endedLine('s', NOON, FIRST)
    const first = withFires(change(await create(store, schedule('s'))), [line])
    const reopened = reopening(after(first), line)
    await applyAll(store, [first, reopened])
    const again = withFires(change({ ...after(reopened), open: [] }), [waiting(NOON)])
    assert.deepEqual(await applyOne(store, again), { kind: 'exists', fire: fire('s', NOON, { round: 2 }) })
  })

  rule('a fire of a schedule that was removed is on record for its successor', async ({ store }) => {
    const line = endedLine('s', NOON, FIRST)
    const first = withFires(change(await create(store, schedule('s'))), [line])
    await applyAll(store, [first])
    await applyAll(store, [removal(after(first))])
    const again = withFires(creation(schedule('s')), [waiting(NOON)])
    assert.deepEqual(await applyOne(store, again), { kind: 'exists', fire: viewEndedFire(line) })
    assert.equal(await loadOne(store, 's'), null)
  })

  rule('a nonce is used once in a schedule, also when its fire has ended', async ({ store }) => {
    const manual = { nonce: 'order-7', kind: 'manual' } as const
    const ended = endedLine('s', NOON, { ...manual, ...FIRST })
    const first = withFires(change(await create(store, schedule('s'))), [ended])
    await applyAll(store, [first])
    for (const dueAt of [NOON, NOON + 1]) {
      const again = withFires(change(after(first)), [waiting(dueAt, manual)])
      assert.deepEqual(await applyOne(store, again), { kind: 'exists', fire: viewEndedFire(ended) })
    }
    assert.deepEqual(await firesOf(store), [viewEndedFire(ended)])
  })

  rule('a nonce is used once in a schedule, whenever its fire was due', async ({ store }) => {
    const manual = { nonce: 'order-7', kind: 'manual' } as const
    const first = withFires(change(await create(store, schedule('s'))), [waiting(NOON, manual)])
    await applyAll(store, [first])
    const later = withFires(change(after(first)), [waiting(NOON + 1, manual)])
    assert.deepEqual(await applyOne(store, later), { kind: 'exists', fire: fire('s', NOON, manual) })
    assert.equal((await firesOf(store)).length, 1)
    const other = await create(store, schedule('other'))
    await applyAll(store, [withFires(change(other), [waiting(NOON, manual)])])
  })

  rule('a nonce is used once in a schedule, also by a fire that waits for its next run', async ({ store }) => {
    await join(store, 'i')
    const { state, run } = await running(store, 's', { instance: 'i', nonce: 'order-7' })
    const failed = settlement(state, run, { how: ending('error'), fireEnds: null })
    await applyAll(store, [failed])
    const manual = { nonce: 'order-7', kind: 'manual' } as const
    const open = fire('s', NOON, { ...manual, attempt: 1 })
    const again = withFires(change(after(failed)), [waiting(NOON + 1, manual)])
    assert.deepEqual(await applyOne(store, again), { kind: 'exists', fire: open })
    const dropped = change(after(failed), { open: [] })
    await applyAll(store, [dropped])
    const { kind } = await applyOne(store, withFires(change(after(dropped)), [waiting(NOON + 1, manual)]))
    assert.equal(kind, 'exists', 'also when only the line of its run is left')
  })

  rule('the empty nonce is not a nonce: many scheduled fires have it', async ({ store }) => {
    const before = await create(store, schedule('s'))
    const first = withFires(change(before), [waiting(NOON)])
    await applyAll(store, [first])
    await applyAll(store, [withFires(change(after(first)), [waiting(NOON + HOUR_MS), endedLine('s', NOON + 1, FIRST)])])
    assert.equal((await firesOf(store)).length, 3)
  })

  rule('two fires of one change are held to the same: one key, one fire', async ({ store }) => {
    const before = await create(store, schedule('s'))
    const twice = [waiting(NOON, { nonce: 'n' }), waiting(NOON + 1, { nonce: 'n' })]
    const answer = await applyOne(store, withFires(change(before), twice))
    assert.deepEqual(answer, { kind: 'exists', fire: fire('s', NOON, { nonce: 'n' }) })
    assert.deepEqual(await firesOf(store), [])
    assert.equal((await loadOne(store, 's'))?.version, 1)
  })

  rule('two fires of one change that are due at one time are refused', async ({ store }) => {
    const before = await create(store, schedule('s'))
    const twins = [
      [waiting(NOON), waiting(NOON)],
      [endedLine('s', NOON, FIRST), endedLine('s', NOON, SECOND)],
    ]
    for (const both of twins) {
      const { kind } = await applyOne(store, withFires(change(before), both))
      assert.equal(kind, 'exists')
      assert.deepEqual([await firesOf(store), await loadOne(store, 's')], [[], before])
    }
  })
}
