import assert from 'node:assert/strict'
import { BUCKET_COUNT } from '../../model/bucket.ts'
import { applyAll, applyOne, firesOf, join, loadOne, type Rule, running, runsOf } from './bench.ts'
import {
  after,
  app,
  beat,
  change,
  claim,
  creation,
  endedLine,
  JOB,
  keyOf,
  NOON,
  removal,
  schedule,
  withFires,
} from './samples.ts'

export function namespaceRules(rule: Rule): void {
  rule('nothing that is written in a namespace is seen in another', async ({ store, namespace, open }) => {
    const other = await open(`${namespace}-other`)
    await join(store, 'i')
    const { run } = await running(store, 's', { instance: 'i' })
    await store.step({ kind: 'begin', fire: keyOf(run), step: 'a', token: run.token, rerun: false })
    await store.saveApp(app('shop'))
    assert.equal(await loadOne(other, 's'), null)
    assert.deepEqual([await firesOf(other), await runsOf(other), await other.listSteps(keyOf(run))], [[], [], []])
    assert.deepEqual((await other.listSchedules({ after: null, limit: 9 })).items, [])
    assert.deepEqual((await other.listInstances()).instances, [])
    assert.equal((await other.loadApp('shop')).app, null)
  })

  rule('a schedule is due in its own namespace only', async ({ store, namespace, open, now }) => {
    const other = await open(`${namespace}-other`)
    const at = await now()
    await applyAll(store, [
      creation(schedule('due', { wakeAt: at - 1 })),
      creation(schedule('soon', { wakeAt: at + 9_999 })),
    ])
    const jobs = [{ job: JOB, buckets: '1'.repeat(BUCKET_COUNT) }]
    const due = await other.due({ jobs, patienceMs: 0, limit: 9 })
    assert.deepEqual([due.schedules, due.mineAt, due.othersAt], [[], null, null])
  })

  rule('the same names are used in two namespaces', async ({ store, namespace, open }) => {
    const other = await open(`${namespace}-other`)
    for (const [opened, fired] of [
      [store, 1],
      [other, 2],
    ] as const) {
      await join(opened, 'i')
      const created = creation(schedule('s', { fired }))
      await applyAll(opened, [created])
      await applyAll(opened, [claim((await loadOne(opened, 's'))!, { instance: 'i', nonce: 'n' })])
      assert.equal(await opened.saveApp(app('shop', { tidiedFor: fired })), true)
    }
    assert.deepEqual([(await loadOne(store, 's'))?.fired, (await loadOne(other, 's'))?.fired], [1, 2])
    assert.deepEqual([(await firesOf(store)).length, (await runsOf(other)).length], [1, 1])
    assert.equal((await store.loadApp('shop')).app?.tidiedFor, 1)
  })

  rule('an instance lives in one namespace: there it claims, is drained and is declared dead', async (bench) => {
    const { store, namespace, open } = bench
    const other = await open(`${namespace}-other`)
    await join(store, 'i')
    await applyAll(other, [creation(schedule('s'))])
    const wanted = claim((await loadOne(other, 's'))!, { instance: 'i' })
    const claimant = { instance: 'i', leaseMs: 1_000 }
    assert.deepEqual(await applyOne(other, wanted, { claimant }), { kind: 'not-live' })
    assert.equal(await other.mark({ kind: 'drain', instance: 'i', drain: true }), false)
    const { instances } = await store.listInstances()
    await other.mark({ kind: 'dead', instance: 'i', renewals: instances[0]!.renewals, hint: true })
    assert.equal((await store.beat(beat('i'))).alive, true)
    assert.equal((await other.beat(beat('i'))).alive, false)
  })

  rule('a run is held, fenced and counted in its namespace', async ({ store, namespace, open }) => {
    const other = await open(`${namespace}-other`)
    await join(store, 'i')
    await join(other, 'i')
    const slots = ['job:report']
    const { run } = await running(store, 's', { instance: 'i', slots })
    assert.deepEqual((await other.beat(beat('i'))).held, [])
    const begin = { kind: 'begin', fire: keyOf(run), step: 'a', token: run.token, rerun: false } as const
    assert.deepEqual(await other.step(begin), { kind: 'stale' })
    const note = { schedule: 's', token: run.token, progress: null, log: [], logCut: false }
    assert.deepEqual(await other.annotate([note]), { stale: [{ schedule: 's', token: run.token }] })
    await running(other, 's', { instance: 'i', slots })
  })

  rule('prune keeps to its namespace', async ({ store, namespace, open, now }) => {
    const other = await open(`${namespace}-other`)
    const expired = endedLine('s', NOON, { number: 1, expiresAt: (await now()) - 1 })
    const made = creation(schedule('s'))
    await applyAll(store, [made, withFires(change(after(made)), [expired])])
    await applyAll(store, [removal((await loadOne(store, 's'))!)])
    assert.deepEqual(await other.prune(100), { deleted: 0 })
    assert.deepEqual(await other.prune(100, 's'), { deleted: 0 })
    assert.equal((await firesOf(store)).length, 1)
  })
}
