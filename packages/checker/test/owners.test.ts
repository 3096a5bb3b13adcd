import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ownersOf } from '../src/owners.ts'

const owners = ownersOf([
  { at: 10, schedule: 'bill', app: 'shop' },
  { at: 20, schedule: 'for Ada', app: null },
  { at: 100, schedule: 'bill', app: 'crm' },
])

test('a schedule is run by the app that owned it all the time', () => {
  assert.ok(owners.mayRun('shop', 'bill', 'bill', { from: 10, to: 99 }))
  assert.ok(owners.mayRun('crm', 'bill', 'bill', { from: 100, to: 200 }))
  assert.ok(!owners.mayRun('crm', 'bill', 'bill', { from: 50, to: 60 }))
})

test('while a schedule changes its owner, or has none, no app is held to it', () => {
  for (const app of ['shop', 'crm']) {
    assert.ok(!owners.mayRun(app, 'bill', 'bill', { from: 90, to: 110 }))
    assert.ok(!owners.mayRun(app, 'bill', 'bill', { from: 0, to: 50 }))
    assert.ok(!owners.mayRun(app, 'mail', 'mail', { from: 0, to: 50 }))
  }
})

test('a schedule that a client made is run by the app that owns the schedule of its job', () => {
  assert.ok(owners.mayRun('shop', 'for Ada', 'bill', { from: 20, to: 50 }))
  assert.ok(!owners.mayRun('crm', 'for Ada', 'bill', { from: 20, to: 50 }))
  assert.ok(owners.mayRun('crm', 'for Ada', 'bill', { from: 100, to: 150 }))
})

test('without owners every node is entitled to everything', () => {
  assert.ok(ownersOf(undefined).mayRun(null, 'bill', 'bill', { from: 0, to: 1 }))
})
