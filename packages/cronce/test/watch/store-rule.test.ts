import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { FleetFacts } from '../../src/watch/rules/facts.ts'
import { store } from '../../src/watch/rules/store.ts'
import { THRESHOLDS } from '../../src/watch/rules/thresholds.ts'
import { StoreWatch } from '../../src/watch/store-watch.ts'

const HOUR_MS = 3_600_000

describe('what the watching process notices about the store', () => {
  const watched = () => {
    let now = HOUR_MS
    const warnings = new Map<string, string>()
    const watch = new StoreWatch(() => now, warnings)
    const subjects = (isPrunable = false): string[] => {
      const facts: FleetFacts = { now, app: 'shop', instances: [], dead: [], store: watch.facts(isPrunable) }
      return store(facts, THRESHOLDS.store).map(({ subject }) => subject)
    }
    const pass = (ms: number): void => {
      now += ms
    }
    return { watch, warnings, subjects, pass }
  }

  test('slow calls, but not one slow call', () => {
    const { watch, subjects } = watched()
    for (let call = 0; call < 20; call++) watch.called('beat', call === 7 ? 60_000 : 5)
    assert.deepEqual(subjects(), [])
    for (let call = 0; call < 30; call++) watch.called('beat', 2_000)
    assert.deepEqual(subjects(), ['latency'])
    for (let call = 0; call < 50; call++) watch.called('beat', 5)
    assert.deepEqual(subjects(), [])
  })

  test('a store that went back in time, for a while', () => {
    const { watch, subjects, pass } = watched()
    const rest = { epoch: 2, lost: true, restored: [], doubtful: [], incomplete: false } as const
    watch.observe({ type: 'store.rolledBack', ...rest })
    assert.deepEqual(subjects(), ['rollback'])
    pass(HOUR_MS)
    assert.deepEqual(subjects(), [])
  })

  test('pruning that does not catch up, but not a backlog of minutes', () => {
    const { subjects, pass } = watched()
    assert.deepEqual(subjects(true), [])
    pass(30 * 60_000)
    assert.deepEqual(subjects(true), [])
    pass(31 * 60_000)
    assert.deepEqual(subjects(true), ['retention'])
    assert.deepEqual(subjects(false), [])
  })

  test('unsafe settings, but no other warning', () => {
    const { warnings, subjects } = watched()
    warnings.set('STORE_POOLED', 'a pooler')
    assert.deepEqual(subjects(), [])
    warnings.set('STORE_SETTING_UNSAFE', 'fsync is off')
    assert.deepEqual(subjects(), ['STORE_SETTING_UNSAFE'])
  })
})
