import assert from 'node:assert/strict'
import { test } from 'node:test'
import { retire } from '../../packages/cronce/src/policy/deploy/retire.ts'
import { DAY, DROPPED, given, type Keeper, MINUTE, NOON } from '../../packages/cronce/test/policy/keeper.ts'
import { createWorld } from '../../packages/cronce/test/virtual/world.ts'
import { createRecorder } from './recorder.ts'
import type { Plan } from './scenario.ts'
import { witness } from './witness.ts'

const PLAN: Plan = {
  spec: {
    ...{ job: 'report', trigger: { kind: 'every', everyMs: MINUTE, anchor: 0 }, start: null, end: null, limit: null },
    ...{ guarantee: 'at-least-once', overlap: { kind: 'skip', limit: 1 }, jitterMs: 0 },
    misfire: { graceMs: MINUTE, late: 'latest', limit: 3, windowMs: DAY },
    retry: { attempts: 0, crashes: 3, deadlineMs: null },
    timeout: { runMs: null, graceMs: MINUTE },
    ...{ keepMs: DAY, keepCount: 0, jobLimit: null, group: null, pauseAfter: null },
  },
  ...{ jitterKind: 'fixed', backoffMs: MINUTE, unknownStep: 'fail', count: 1_000 },
}

/** What the witness records of changes that an instance whose release declares the schedule makes. */
function observe(keeper: Keeper) {
  const recorder = createRecorder(createWorld())
  const watcher = witness({ recorder, count: () => {} }, () => ({ id: 'v1', jobs: { [keeper.id]: PLAN } }))
  return {
    change(make: () => unknown): void {
      const before = keeper.it
      make()
      const { change } = keeper.decisions.at(-1)!
      const none = { fires: [], runs: [], claimant: null }
      watcher.changed({ who: 'n1.1', now: keeper.now, change, before, after: keeper.it, ...none })
    },
    verbs: () => recorder.entries().flatMap((entry) => (entry.kind === 'operation' ? [entry.verb] : [])),
  }
}

const CODE = { kind: 'code', app: 'shop', number: 2 } as const

test('a retired schedule whose frozen fires end has not returned, even if an instance that declares it ends them', () => {
  const keeper = given({}, CODE)
  const { change, verbs } = observe(keeper)
  keeper.now = NOON + MINUTE
  change(() => keeper.take(retire(keeper.it, { app: 'shop', ...DROPPED, number: 3 }, keeper.context)))
  assert.equal(keeper.it.open.length, 1)
  keeper.now += DAY
  change(() => keeper.advance())
  assert.equal(keeper.it.open.length, 0)
  assert.deepEqual(verbs(), ['retire'])
  change(() => keeper.define({}, { ...CODE, number: 4 }))
  assert.deepEqual(verbs(), ['retire', 'define'])
})
