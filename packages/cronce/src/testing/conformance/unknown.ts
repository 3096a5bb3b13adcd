import assert from 'node:assert/strict'
import { applyAll, applyOne, create, firesOf, join, loadOne, type Rule, running, runsOf } from './bench.ts'
import {
  after,
  change,
  claim,
  creation,
  endedLine,
  fire,
  firesOfEnds,
  HOUR_MS,
  NOON,
  removal,
  schedule,
  settlement,
  waiting,
  withFires,
} from './samples.ts'

/** After an unknown answer a change is looked for, sent again, or comes late: it must never count twice. */
export function unknownRules(rule: Rule): void {
  rule('a creation that is sent twice is a conflict the second time, and changes nothing', async ({ store }) => {
    const sent = withFires(creation(schedule('s')), [waiting(NOON)])
    await applyAll(store, [sent])
    const before = await loadOne(store, 's')
    assert.deepEqual(await applyOne(store, sent), { kind: 'conflict' })
    assert.deepEqual([await loadOne(store, 's'), await firesOf(store)], [before, [fire('s', NOON)]])
  })

  rule(
    'a claim that is sent twice is a conflict the second time, and its number identifies its sender',
    async (bench) => {
      const { store } = bench
      await join(store, 'i')
      const claimant = { instance: 'i', leaseMs: HOUR_MS }
      const slots = ['job:report']
      const sent = claim(await create(store, schedule('s')), { instance: 'i', claim: 7, slots })
      await applyAll(store, [sent], { claimant })
      assert.deepEqual(await applyOne(store, sent, { claimant }), { kind: 'conflict' })
      const loaded = await loadOne(store, 's')
      assert.deepEqual(loaded, after(sent))
      assert.equal(loaded?.open[0]?.run?.claim, 7)
      assert.equal((await runsOf(store)).length, 1)
      assert.equal((await firesOf(store)).length, 1)
    },
  )

  rule('a settlement that is sent twice is a conflict the second time, and changes nothing', async ({ store }) => {
    await join(store, 'i')
    const { state, run } = await running(store, 's', { instance: 'i' })
    const sent = settlement(state, run)
    await applyAll(store, [sent])
    assert.deepEqual(await applyOne(store, sent), { kind: 'conflict' })
    assert.deepEqual(await loadOne(store, 's'), after(sent))
    assert.deepEqual(await firesOf(store), firesOfEnds(sent))
    assert.equal((await runsOf(store)).length, 1)
  })

  rule('a removal that is sent twice is a conflict the second time', async ({ store }) => {
    const sent = removal(await create(store, schedule('s')))
    await applyAll(store, [sent])
    assert.deepEqual(await applyOne(store, sent), { kind: 'conflict' })
    assert.equal(await loadOne(store, 's'), null)
  })

  rule('the same change twice in one batch counts once', async ({ store }) => {
    const fires = [waiting(NOON), endedLine('s', NOON + 1, { number: 1, expiresAt: NOON + HOUR_MS })]
    const sent = withFires(change(await create(store, schedule('s')), { fired: 1 }), fires)
    const { results } = await store.apply([sent, sent])
    assert.deepEqual(results, [{ kind: 'applied' }, { kind: 'conflict' }])
    assert.deepEqual([(await loadOne(store, 's'))?.version, (await firesOf(store)).length], [2, 2])
  })

  rule('a change that comes after another one is refused, with all its records', async ({ store }) => {
    await join(store, 'i', 'j')
    const state = await create(store, schedule('s'))
    const [late, fast] = [claim(state, { instance: 'i' }), claim(state, { instance: 'j', dueAt: NOON + HOUR_MS })]
    await applyAll(store, [fast])
    assert.deepEqual(await applyOne(store, late), { kind: 'conflict' })
    assert.deepEqual(await loadOne(store, 's'), after(fast))
    const expected = [fire('s', NOON + HOUR_MS, { attempt: 1 })]
    assert.deepEqual([await firesOf(store), (await runsOf(store)).length], [expected, 1])
  })

  rule('a change that comes after the removal of its schedule does not bring it back', async ({ store }) => {
    const state = await create(store, schedule('s'))
    const fires = [waiting(NOON), endedLine('s', NOON + 1, { number: 1, expiresAt: NOON + HOUR_MS })]
    const late = withFires(change(state, { fired: 9 }), fires)
    await applyAll(store, [removal(state)])
    assert.deepEqual(await applyOne(store, late), { kind: 'conflict' })
    assert.deepEqual([await loadOne(store, 's'), await firesOf(store)], [null, []])
  })

  rule('a claim that comes after the settlement of its own fire by another run is refused', async ({ store }) => {
    await join(store, 'i', 'j')
    const state = await create(store, schedule('s'))
    const late = claim(state, { instance: 'i' })
    const { state: claimed, run } = await running(store, 's', { instance: 'j' })
    await applyAll(store, [settlement(claimed, run)])
    assert.deepEqual(await applyOne(store, late), { kind: 'conflict' })
    assert.deepEqual(
      (await runsOf(store)).map(({ instance }) => instance),
      ['j'],
    )
  })
}
