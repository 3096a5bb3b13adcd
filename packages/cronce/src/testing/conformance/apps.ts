import assert from 'node:assert/strict'
import { applyOne, create, loadOne, type Rule } from './bench.ts'
import { app, change, creation, NOON, schedule } from './samples.ts'

export function appRules(rule: Rule): void {
  rule('an app that was not saved is null', async ({ store, now }) => {
    const at = await now()
    const loaded = await store.loadApp('shop')
    assert.equal(loaded.app, null)
    assert.ok(loaded.now >= at)
  })

  rule('an app is loaded as it was saved', async ({ store }) => {
    const flags = { onProbation: true, lost: false, cleared: false }
    const deployments = [
      {
        id: 'blue',
        explicit: true,
        number: 1,
        declares: ['bill'],
        firstReadyAt: NOON,
        readyAt: NOON,
        goneAt: 3,
        ...flags,
      },
      { id: 'green', explicit: false, number: 2, declares: [], firstReadyAt: 1, readyAt: 2, goneAt: null, ...flags },
    ]
    const about = { schedule: 'mail', deployment: 'blue', instance: 'i', host: 'h', pid: 1 }
    const refused = [{ ...about, code: 'SCHEDULE_NAME_TAKEN', message: 'taken', at: NOON }]
    const first = app('shop', {
      deployments,
      active: 'green',
      activated: 'blue',
      tidiedFor: 7,
      retired: ['old'],
      refused,
    })
    assert.equal(await store.saveApp(first), true)
    assert.deepEqual((await store.loadApp('shop')).app, first)
    const second = app('shop', { version: 2, tidiedFor: 8 })
    assert.equal(await store.saveApp(second), true)
    assert.deepEqual((await store.loadApp('shop')).app, second)
    assert.equal((await store.loadApp('other')).app, null)
  })

  rule('an app is saved only by a caller that saw its latest version', async ({ store }) => {
    assert.equal(await store.saveApp(app('shop', { version: 2 })), false, 'there is none yet')
    assert.equal((await store.loadApp('shop')).app, null)
    assert.equal(await store.saveApp(app('shop')), true)
    assert.equal(await store.saveApp(app('shop', { tidiedFor: 9 })), false, 'there is one')
    assert.equal(await store.saveApp(app('shop', { version: 3, tidiedFor: 9 })), false, 'not the next version')
    assert.equal(await store.saveApp(app('shop', { version: 2, tidiedFor: 2 })), true)
    assert.equal(await store.saveApp(app('shop', { version: 2, tidiedFor: 9 })), false, 'sent again')
    assert.equal((await store.loadApp('shop')).app?.tidiedFor, 2)
  })

  rule('a change that depends on an app is written only while its record has that version', async ({ store }) => {
    const state = await create(store, schedule('bill'))
    const changed = change(state, { updatedAt: NOON + 7 })
    assert.deepEqual(
      await applyOne(store, changed, { app: { name: 'shop', version: 1 } }),
      { kind: 'conflict' },
      'none',
    )
    assert.equal(await store.saveApp(app('shop')), true)
    assert.equal(await store.saveApp(app('shop', { version: 2 })), true)
    for (const version of [0, 1, 3]) {
      const answer = await applyOne(store, changed, { app: { name: 'shop', version } })
      assert.deepEqual(answer, { kind: 'conflict' }, `version ${version}`)
    }
    const made = creation(schedule('mail'))
    assert.deepEqual(await applyOne(store, made, { app: { name: 'shop', version: 1 } }), { kind: 'conflict' })
    assert.deepEqual([await loadOne(store, 'bill'), await loadOne(store, 'mail')], [state, null])
    assert.deepEqual(await applyOne(store, changed, { app: { name: 'shop', version: 2 } }), { kind: 'applied' })
    assert.deepEqual(await applyOne(store, made, { app: { name: 'shop', version: 2 } }), { kind: 'applied' })
  })

  rule(
    'of a save of an app and a change that depends on it, the change sees the save or comes first',
    async (bench) => {
      const { store, open } = bench
      const other = await open()
      await store.saveApp(app('shop'))
      await create(store, schedule('bill'))
      for (let version = 1; version <= 10; version++) {
        const changed = change((await loadOne(store, 'bill'))!, { updatedAt: NOON + version })
        const guard = { app: { name: 'shop', version } }
        const save = async (): Promise<number> => {
          assert.equal(await other.saveApp(app('shop', { version: version + 1 })), true)
          return (await loadOne(other, 'bill'))!.updatedAt
        }
        const [answer, seen] = await Promise.all([applyOne(store, changed, guard), save()])
        // What was written before the save is seen by a read after it; what was not can no longer be written.
        assert.equal(seen === NOON + version, answer.kind === 'applied', `version ${version}: ${answer.kind}`)
      }
    },
  )

  rule('of many concurrent saves, exactly one succeeds', async ({ store, open }) => {
    const stores = [store, await open(), await open(), await open()]
    for (let version = 1; version <= 10; version++) {
      const saved = await Promise.all(
        stores.map((opened, term) => opened.saveApp(app('shop', { version, tidiedFor: term }))),
      )
      assert.equal(saved.filter(Boolean).length, 1)
      assert.equal((await store.loadApp('shop')).app?.tidiedFor, saved.indexOf(true))
    }
  })
}
