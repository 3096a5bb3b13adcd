import assert from 'node:assert/strict'
import type { Json } from '../../model/json.ts'
import { ending } from '../../model/outcome.ts'
import type { RunRecord } from '../../model/record.ts'
import type { StepAnswer, Store } from '../../store/store.ts'
import { applyAll, bury, create, join, type Rule, running } from './bench.ts'
import { after, claim, claimAgain, keyOf, NOON, removal, runOf, schedule, settlement } from './samples.ts'

interface Choice {
  readonly step?: string
  readonly rerun?: boolean
}

function begin(store: Store, run: RunRecord, { step = 'charge', rerun = false }: Choice = {}): Promise<StepAnswer> {
  return store.step({ kind: 'begin', fire: keyOf(run), step, token: run.token, rerun })
}

function end(store: Store, run: RunRecord, result: Json, failed = false): Promise<StepAnswer> {
  return store.step({ kind: 'end', fire: keyOf(run), step: 'charge', token: run.token, failed, result })
}

function resolve(store: Store, run: RunRecord, result: Json, failed = false): Promise<StepAnswer> {
  return store.step({ kind: 'resolve', fire: keyOf(run), step: 'charge', failed, result })
}

/** Two runs of one fire, the second after the first one's instance died. */
async function twoRuns(store: Store, between: (first: RunRecord) => Promise<unknown>): Promise<[RunRecord, RunRecord]> {
  await join(store, 'i', 'j')
  const { state, run: first } = await running(store, 's', { instance: 'i' })
  await between(first)
  await bury(store, 'i')
  const lost = settlement(state, first, { how: ending('crashed'), fireEnds: null })
  const again = claimAgain(after(lost), { instance: 'j' })
  await applyAll(store, [lost, again])
  return [first, runOf(again)]
}

export function stepRules(rule: Rule): void {
  rule('a step is started, ended and found', async ({ store, now }) => {
    await join(store, 'i')
    const { run } = await running(store, 's', { instance: 'i' })
    const at = await now()
    assert.deepEqual(await begin(store, run), { kind: 'applied' })
    const [begun] = await store.listSteps(keyOf(run))
    assert.ok(begun !== undefined && begun.begunAt >= at)
    const { begunAt } = begun
    const record = { ...keyOf(run), step: 'charge', token: run.token, begunAt }
    assert.deepEqual(begun, { ...record, state: 'begun', result: null, endedAt: null })
    assert.deepEqual(await end(store, run, { id: 'ch_1' }), { kind: 'applied' })
    const [ended, ...others] = await store.listSteps(keyOf(run))
    assert.ok(ended !== undefined && ended.endedAt !== null && ended.endedAt >= begunAt)
    assert.deepEqual(ended, { ...record, state: 'done', result: { id: 'ch_1' }, endedAt: ended.endedAt })
    assert.deepEqual(others, [])
  })

  rule('a step that is done does not start again: its result is returned', async ({ store }) => {
    const [, second] = await twoRuns(store, async (first) => {
      await begin(store, first)
      await end(store, first, ['paid', null])
    })
    assert.deepEqual(await begin(store, second), { kind: 'done', result: ['paid', null] })
    assert.deepEqual(await begin(store, second, { rerun: true }), { kind: 'done', result: ['paid', null] })
  })

  rule('beginning or ending twice changes nothing the second time', async ({ store }) => {
    await join(store, 'i')
    const { run } = await running(store, 's', { instance: 'i' })
    await begin(store, run)
    assert.deepEqual(await begin(store, run), { kind: 'duplicate' })
    await end(store, run, 'first')
    assert.deepEqual(await end(store, run, 'second'), { kind: 'duplicate' })
    assert.equal((await store.listSteps(keyOf(run)))[0]?.result, 'first')
  })

  rule('a step that its own run starts again is a duplicate, also with rerun', async ({ store }) => {
    await join(store, 'i')
    const { run } = await running(store, 's', { instance: 'i' })
    await begin(store, run)
    for (const rerun of [false, true]) assert.deepEqual(await begin(store, run, { rerun }), { kind: 'duplicate' })
  })

  rule('a step that another run began is unknown, unless it is to be run again', async ({ store }) => {
    const [first, second] = await twoRuns(store, (run) => begin(store, run))
    assert.deepEqual(await begin(store, second), { kind: 'unknown', token: first.token })
    assert.equal((await store.listSteps(keyOf(first)))[0]?.token, first.token)
    assert.deepEqual(await begin(store, second, { rerun: true }), { kind: 'applied' })
    assert.equal((await store.listSteps(keyOf(first)))[0]?.token, second.token)
  })

  rule('a step is ended only by the run that began it last', async ({ store }) => {
    const [first, second] = await twoRuns(store, (run) => begin(store, run))
    assert.deepEqual(await end(store, second, 'not mine'), { kind: 'stale' })
    await begin(store, second, { rerun: true })
    assert.deepEqual(await end(store, first, 'late'), { kind: 'stale' })
    assert.equal((await store.listSteps(keyOf(first)))[0]?.state, 'begun')
    assert.deepEqual(await end(store, second, 'mine'), { kind: 'applied' })
    assert.deepEqual(await end(store, first, 'later still'), { kind: 'stale' })
    assert.equal((await store.listSteps(keyOf(first)))[0]?.result, 'mine')
  })

  rule('a late end is accepted while no other run has started the step', async ({ store }) => {
    const [first, second] = await twoRuns(store, (run) => begin(store, run))
    assert.deepEqual(await end(store, first, 'late but sound'), { kind: 'applied' })
    assert.deepEqual(await begin(store, second, { rerun: true }), { kind: 'done', result: 'late but sound' })
  })

  rule('a failed step may start again, by the same run and by a later one', async ({ store }) => {
    const [first, second] = await twoRuns(store, async (run) => {
      await begin(store, run)
      assert.deepEqual(await end(store, run, 'declined', true), { kind: 'applied' })
      assert.equal((await store.listSteps(keyOf(run)))[0]?.state, 'failed')
      assert.deepEqual(await begin(store, run), { kind: 'applied' })
      assert.equal((await store.listSteps(keyOf(run)))[0]?.state, 'begun')
      assert.deepEqual(await end(store, run, 'declined again', true), { kind: 'applied' })
    })
    assert.deepEqual(await begin(store, second), { kind: 'applied' })
    const [step] = await store.listSteps(keyOf(first))
    assert.deepEqual([step?.state, step?.token, step?.endedAt], ['begun', second.token, null])
  })

  rule('a step that was never started is not ended, and not resolved', async ({ store }) => {
    await join(store, 'i')
    const { run } = await running(store, 's', { instance: 'i' })
    assert.deepEqual(await end(store, run, null), { kind: 'not-found' })
    assert.deepEqual(await resolve(store, run, null), { kind: 'not-found' })
    assert.deepEqual(await store.listSteps(keyOf(run)), [])
  })

  rule('an operator says how a step ended, and the run that began it has no more say', async ({ store }) => {
    const [first, second] = await twoRuns(store, (run) => begin(store, run))
    assert.deepEqual(await resolve(store, first, 'as the bank says'), { kind: 'applied' })
    assert.notEqual((await end(store, first, 'as I say')).kind, 'applied')
    assert.deepEqual(await begin(store, second), { kind: 'done', result: 'as the bank says' })
  })

  rule('after an operator records a failure, the step can be started again', async ({ store }) => {
    const [first, second] = await twoRuns(store, (run) => begin(store, run))
    assert.deepEqual(await resolve(store, first, 'never arrived', true), { kind: 'applied' })
    assert.equal((await store.listSteps(keyOf(first)))[0]?.state, 'failed')
    assert.deepEqual(await begin(store, second), { kind: 'applied' })
  })

  rule('a step that is done stays as it is, whatever an operator says', async ({ store }) => {
    await join(store, 'i')
    const { run } = await running(store, 's', { instance: 'i' })
    await begin(store, run)
    await end(store, run, 'paid')
    assert.deepEqual(await resolve(store, run, 'not paid', true), { kind: 'done', result: 'paid' })
    assert.deepEqual(await begin(store, run), { kind: 'done', result: 'paid' })
  })

  rule('a failed step stays failed, whatever an operator says, and may start again', async ({ store }) => {
    await join(store, 'i')
    const { run } = await running(store, 's', { instance: 'i' })
    await begin(store, run)
    await end(store, run, 'refused', true)
    assert.deepEqual(await resolve(store, run, 'paid'), { kind: 'duplicate' })
    assert.deepEqual(await resolve(store, run, 'never arrived', true), { kind: 'duplicate' })
    const [step] = await store.listSteps(keyOf(run))
    assert.deepEqual([step?.state, step?.result], ['failed', 'refused'])
    assert.deepEqual(await begin(store, run), { kind: 'applied' })
  })

  rule('steps are identified by their name and their fire', async ({ store }) => {
    await join(store, 'i')
    const { state, run } = await running(store, 's', { instance: 'i' })
    const manual = claim(state, { instance: 'i', nonce: 'n' })
    const later = claim(after(manual), { instance: 'i', dueAt: NOON + 1 })
    await applyAll(store, [manual, later])
    await running(store, 'other', { instance: 'i' })
    for (const step of ['a', 'b']) assert.deepEqual(await begin(store, run, { step }), { kind: 'applied' })
    assert.deepEqual(await begin(store, runOf(manual), { step: 'a' }), { kind: 'applied' })
    assert.deepEqual((await store.listSteps(keyOf(run))).map(({ step }) => step).sort(), ['a', 'b'])
    assert.deepEqual(
      (await store.listSteps(keyOf(runOf(manual)))).map(({ step }) => step),
      ['a'],
    )
    assert.deepEqual(await store.listSteps(keyOf(runOf(later))), [])
    assert.deepEqual(await store.listSteps({ ...keyOf(run), schedule: 'other' }), [])
  })

  rule('a run starts steps of its own fire only', async ({ store }) => {
    await join(store, 'i')
    const { state, run } = await running(store, 's', { instance: 'i' })
    const other = claim(state, { instance: 'i', dueAt: NOON + 1 })
    const manual = claim(after(other), { instance: 'i', nonce: 'n' })
    await applyAll(store, [other, manual])
    for (const stranger of [runOf(other), runOf(manual)]) {
      assert.deepEqual(await begin(store, { ...stranger, token: run.token }), { kind: 'stale' })
      assert.deepEqual(await store.listSteps(keyOf(stranger)), [])
    }
  })

  rule('of a run and its successor, only the successor starts a step', async ({ store, open }) => {
    await join(store, 'i', 'j')
    const { state, run } = await running(store, 's', { instance: 'i' })
    const ended = settlement(state, run, { how: ending('crashed'), fireEnds: null })
    const again = claimAgain(after(ended), { instance: 'j' })
    await applyAll(store, [ended, again])
    const next = runOf(again)
    const other = await open()
    for (let round = 0; round < 20; round++) {
      const step = `step ${round}`
      const answers = await Promise.all([begin(store, run, { step }), begin(other, next, { step })])
      assert.deepEqual(
        answers.map(({ kind }) => kind),
        ['stale', 'applied'],
      )
    }
  })

  rule('of two concurrent starts of a step by one run, one succeeds', async ({ store, open }) => {
    await join(store, 'i')
    const { run } = await running(store, 's', { instance: 'i' })
    const other = await open()
    for (let round = 0; round < 20; round++) {
      const step = `step ${round}`
      const answers = await Promise.all([begin(store, run, { step }), begin(other, run, { step })])
      assert.deepEqual(answers.map(({ kind }) => kind).sort(), ['applied', 'duplicate'])
    }
  })

  rule('a run of a removed schedule starts no step', async ({ store }) => {
    await join(store, 'i')
    const { state, run } = await running(store, 's', { instance: 'i' })
    await begin(store, run, { step: 'in time' })
    await applyAll(store, [removal(state)])
    assert.deepEqual(await begin(store, run), { kind: 'stale' })
    await create(store, schedule('s'))
    assert.deepEqual(await begin(store, run), { kind: 'stale' }, 'nor for its successor')
  })

  rule('steps of an unknown fire are refused', async ({ store }) => {
    await create(store, schedule('s'))
    const ghost = { schedule: 's', dueAt: NOON, nonce: '' }
    const answer = await store.step({ kind: 'begin', fire: ghost, step: 'a', token: '5', rerun: false })
    assert.deepEqual(answer, { kind: 'stale' })
    assert.deepEqual(await store.listSteps(ghost), [])
  })
}
