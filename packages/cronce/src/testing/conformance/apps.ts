import assert from 'node:assert/strict'
import type { Rule } from './bench.ts'
import { app, NOON } from './samples.ts'

export function appRules(rule: Rule): void {
  rule('an app that nobody saved is null', async ({ store, now }) => {
    const at = await now()
    const loaded = await store.loadApp('shop')
    assert.equal(loaded.app, null)
    assert.ok(loaded.now >= at)
  })

  rule('an app is loaded as it was saved', async ({ store }) => {
    const deployments = [
      { id: 'blue', number: 1, firstReadyAt: NOON, lastReadyAt: NOON + 1 },
      { id: 'green', number: 2, firstReadyAt: NOON + 2, lastReadyAt: NOON + 3 },
    ]
    const first = app('shop', { deployments, active: 'green', activeGoneAt: NOON, term: 7 })
    assert.equal(await store.saveApp(first), true)
    assert.deepEqual((await store.loadApp('shop')).app, first)
    const second = app('shop', { version: 2, term: 8 })
    assert.equal(await store.saveApp(second), true)
    assert.deepEqual((await store.loadApp('shop')).app, second)
    assert.equal((await store.loadApp('other')).app, null)
  })

  rule('an app is saved only by whoever saw its latest version', async ({ store }) => {
    assert.equal(await store.saveApp(app('shop', { version: 2 })), false, 'there is none yet')
    assert.equal((await store.loadApp('shop')).app, null)
    assert.equal(await store.saveApp(app('shop')), true)
    assert.equal(await store.saveApp(app('shop', { term: 9 })), false, 'there is one')
    assert.equal(await store.saveApp(app('shop', { version: 3, term: 9 })), false, 'not the next version')
    assert.equal(await store.saveApp(app('shop', { version: 2, term: 2 })), true)
    assert.equal(await store.saveApp(app('shop', { version: 2, term: 9 })), false, 'sent again')
    assert.equal((await store.loadApp('shop')).app?.term, 2)
  })

  rule('of many who save at once, exactly one does', async ({ store, open }) => {
    const stores = [store, await open(), await open(), await open()]
    for (let version = 1; version <= 10; version++) {
      const saved = await Promise.all(stores.map((opened, term) => opened.saveApp(app('shop', { version, term }))))
      assert.equal(saved.filter(Boolean).length, 1)
      assert.equal((await store.loadApp('shop')).app?.term, saved.indexOf(true))
    }
  })
}
