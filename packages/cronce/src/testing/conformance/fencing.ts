import assert from 'node:assert/strict'
import type { RunRecord } from '../../model/record.ts'
import type { ScheduleState } from '../../model/schedule.ts'
import type { Annotation, StepAnswer, Store } from '../../store/store.ts'
import { applyAll, type Bench, bury, join, loadOne, type Rule, running, runsOf } from './bench.ts'
import { beat, cancellation, keyOf, parking, settlement } from './samples.ts'

function begin(store: Store, run: RunRecord, step = 'charge', rerun = false): Promise<StepAnswer> {
  return store.step({ kind: 'begin', fire: keyOf(run), step, token: run.token, rerun })
}

function end(store: Store, run: RunRecord, result: string, step = 'charge'): Promise<StepAnswer> {
  return store.step({ kind: 'end', fire: keyOf(run), step, token: run.token, failed: false, result })
}

function note({ schedule, token }: RunRecord, message: string): Annotation {
  const log = [{ at: 1, level: 'info', message }] as const
  return { schedule, token, progress: { fraction: 0.5, message, at: 1 }, log, logCut: false }
}

/** The ways in which a run stops being live. */
const ENDS: readonly (readonly [
  how: string,
  end: (bench: Bench, run: RunRecord, state: ScheduleState) => Promise<void>,
])[] = [
  ['its run has ended', ({ store }, run, state) => applyAll(store, [settlement(state, run)])],
  ['its instance was declared dead', ({ store }, run) => bury(store, run.instance)],
  [
    'its instance has left',
    async ({ store }, run) => {
      await store.beat(beat(run.instance, { state: 'left' }))
    },
  ],
  ['it was parked', ({ store }, run, state) => applyAll(store, [parking(state, run)])],
]

export function fencingRules(rule: Rule): void {
  for (const [how, stop] of ENDS) {
    rule(`a step does not start once ${how}`, async (bench) => {
      const { store } = bench
      await join(store, 'i')
      const { state, run } = await running(store, 's', { instance: 'i' })
      await stop(bench, run, state)
      assert.deepEqual(await begin(store, run), { kind: 'stale' })
      assert.deepEqual(await begin(store, run, 'charge', true), { kind: 'stale' })
      assert.deepEqual(await store.listSteps(keyOf(run)), [])
    })

    rule(`a run reports nothing once ${how}`, async (bench) => {
      const { store } = bench
      await join(store, 'i')
      const { state, run } = await running(store, 's', { instance: 'i' })
      assert.deepEqual(await store.annotate([note(run, 'in time')]), { stale: [] })
      await stop(bench, run, state)
      assert.deepEqual(await store.annotate([note(run, 'too late')]), { stale: [{ schedule: 's', token: run.token }] })
      assert.equal((await runsOf(store))[0]?.progress?.message, 'in time')
    })

    rule(
      `nothing is committed once ${how}`,
      async (bench) => {
        const { store } = bench
        await join(store, 'i')
        const { state, run } = await running(store, 's', { instance: 'i' })
        await stop(bench, run, state)
        const before = await loadOne(store, 's')
        const { schedule, token } = run
        const answer = await store.transact({
          schedule,
          token,
          work: () => 'done',
          settle: (seen) => settlement(seen, run),
        })
        assert.deepEqual(answer, { kind: 'stale' })
        assert.deepEqual(await loadOne(store, 's'), before)
      },
      'transactions',
    )

    rule(`a step that started in time is ended although ${how}`, async (bench) => {
      const { store } = bench
      await join(store, 'i')
      const { state, run } = await running(store, 's', { instance: 'i' })
      assert.deepEqual(await begin(store, run), { kind: 'applied' })
      await stop(bench, run, state)
      assert.deepEqual(await end(store, run, 'paid'), { kind: 'applied' })
      const [step] = await store.listSteps(keyOf(run))
      assert.deepEqual([step?.state, step?.result], ['done', 'paid'])
    })
  }

  rule('a run whose instance was not declared dead is live, although its lease has run out', async (bench) => {
    const { store, pass, eventually } = bench
    await store.beat(beat('i', { join: true, leaseMs: 20 }))
    const { run } = await running(store, 's', { instance: 'i' })
    await pass(21)
    await eventually('the lease has run out', async () => (await store.listInstances()).instances[0]?.expired === true)
    assert.deepEqual(await begin(store, run), { kind: 'applied' })
    assert.deepEqual(await store.annotate([note(run, 'still here')]), { stale: [] })
  })

  rule('a run of an instance that the store does not know is not live', async ({ store }) => {
    const { run } = await running(store, 's', { instance: 'stranger' })
    assert.deepEqual(await begin(store, run), { kind: 'stale' })
    assert.deepEqual(await store.annotate([note(run, 'hello')]), { stale: [{ schedule: 's', token: run.token }] })
    assert.deepEqual([await store.listSteps(keyOf(run)), (await runsOf(store))[0]?.progress], [[], null])
    if (!store.info.transactions) return
    const { schedule, token } = run
    const settle = (seen: ScheduleState) => settlement(seen, run)
    assert.deepEqual(await store.transact({ schedule, token, work: () => 'done', settle }), { kind: 'stale' })
  })

  rule('a run that is asked to end is live until it is ended', async ({ store }) => {
    await join(store, 'i')
    const { state, run } = await running(store, 's', { instance: 'i' })
    await applyAll(store, [cancellation(state, run)])
    assert.deepEqual(await begin(store, run), { kind: 'applied' })
  })

  rule('a token that was never given, or belongs to another schedule, is stale', async ({ store }) => {
    await join(store, 'i')
    const { run } = await running(store, 's', { instance: 'i' })
    const { run: other } = await running(store, 'other', { instance: 'i', epoch: 2 })
    for (const token of ['1', other.token]) {
      const stranger = { ...run, token }
      assert.deepEqual(await begin(store, stranger), { kind: 'stale' })
      assert.deepEqual(await store.annotate([note(stranger, 'hello')]), { stale: [{ schedule: 's', token }] })
    }
    assert.deepEqual(
      (await runsOf(store)).map(({ progress }) => progress),
      [null, null],
    )
  })

  rule('of several notes with one token, only those of stale runs are refused', async ({ store }) => {
    await join(store, 'i', 'gone')
    const { run: live } = await running(store, 'a', { instance: 'i' })
    const { run: stale } = await running(store, 'b', { instance: 'gone' })
    assert.equal(live.token, stale.token)
    await bury(store, 'gone')
    const answer = await store.annotate([note(live, 'yes'), note(stale, 'no')])
    assert.deepEqual(answer, { stale: [{ schedule: 'b', token: stale.token }] })
    const runs = await runsOf(store)
    assert.deepEqual(Object.fromEntries(runs.map((run) => [run.schedule, run.progress?.message])), {
      a: 'yes',
      b: undefined,
    })
  })

  rule('a report of a run replaces the one before, and outlives the run', async ({ store }) => {
    await join(store, 'i')
    const { state, run } = await running(store, 's', { instance: 'i' })
    await store.annotate([note(run, 'first')])
    const second = { ...note(run, 'second'), logCut: true }
    await store.annotate([second])
    await applyAll(store, [settlement(state, run)])
    const [told] = await runsOf(store)
    assert.deepEqual([told?.progress, told?.log, told?.logCut], [second.progress, second.log, true])
    assert.equal(told?.ending?.outcome, 'succeeded')
  })

  rule('an empty note takes everything back', async ({ store }) => {
    await join(store, 'i')
    const { run } = await running(store, 's', { instance: 'i' })
    await store.annotate([note(run, 'first')])
    await store.annotate([{ schedule: 's', token: run.token, progress: null, log: [], logCut: false }])
    const [told] = await runsOf(store)
    assert.deepEqual([told?.progress, told?.log, told?.logCut], [null, [], false])
  })
}
