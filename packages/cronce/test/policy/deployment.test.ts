import assert from 'node:assert/strict'
import test from 'node:test'
import type { AppRecord } from '../../src/model/app.ts'
import { decideDeployment, forceDeployment } from '../../src/policy/deployment.ts'
import { MINUTE, NOON } from './keeper.ts'

/** A fleet that beats: who is ready, and what the app's record came to. */
class Fleet {
  now = NOON
  app: AppRecord | null = null
  writes = 0

  /** One beat of an instance of each deployment that is ready. */
  beat(...ready: string[]): string | null {
    for (const me of ready) {
      const next = decideDeployment(this.app, 'shop', { now: this.now, me, liveIds: ready, holdDownMs: MINUTE })
      if (next === null) continue
      assert.equal(next.version, (this.app?.version ?? 0) + 1)
      assert.equal(next.term, (this.app?.term ?? 0) + (next.active === (this.app?.active ?? null) ? 0 : 1))
      this.app = next
      this.writes++
    }
    return this.app?.active ?? null
  }

  beatFor(ms: number, ...ready: string[]): string | null {
    for (const end = this.now + ms; this.now < end; ) {
      this.now += 5_000
      this.beat(...ready)
    }
    return this.app?.active ?? null
  }
}

test('the first deployment is active at once, and a newer one takes over at once', () => {
  const fleet = new Fleet()
  assert.equal(fleet.beat('a'), 'a')
  assert.equal(fleet.beat('a', 'b'), 'b')
  assert.equal(fleet.app?.term, 2)
})

test('an old process that is still there, or restarts, does not flip it back', () => {
  const fleet = new Fleet()
  fleet.beat('a')
  fleet.beatFor(5 * MINUTE, 'a', 'b')
  fleet.beatFor(30_000, 'b')
  assert.equal(fleet.beatFor(5 * MINUTE, 'a', 'b'), 'b')
  assert.equal(fleet.app?.term, 2)
})

test('a release that crashes and comes back within the hold-down changes nothing', () => {
  const fleet = new Fleet()
  fleet.beat('a')
  fleet.beat('a', 'b')
  assert.equal(fleet.beatFor(50_000, 'a'), 'b')
  assert.equal(fleet.beat('a', 'b'), 'b')
  assert.equal(fleet.app?.activeGoneAt, null)
  assert.equal(fleet.app?.term, 2)
})

test('a release that stays away is given up after the hold-down', () => {
  const fleet = new Fleet()
  fleet.beat('a')
  fleet.beat('a', 'b')
  assert.equal(fleet.beatFor(70_000, 'a'), 'a')
  assert.equal(fleet.app?.term, 3)
})

test('a rollback counts as the newest: what was away for a while comes back with a higher number', () => {
  const fleet = new Fleet()
  fleet.beat('a')
  fleet.beat('a', 'b')
  fleet.beatFor(5 * MINUTE, 'b')
  assert.equal(fleet.beat('a', 'b'), 'a')
  assert.equal(fleet.beatFor(5 * MINUTE, 'a', 'b'), 'a')
})

test('beats without news are not written', () => {
  const fleet = new Fleet()
  fleet.beat('a', 'b')
  fleet.writes = 0
  fleet.beatFor(10 * MINUTE, 'a', 'b')
  assert.ok(fleet.writes <= 10 * 4, `${fleet.writes} writes`)
})

test('an operator’s word counts until a newer deployment comes', () => {
  const fleet = new Fleet()
  fleet.beat('a')
  fleet.beat('a', 'b')
  fleet.app = forceDeployment(fleet.app!, 'a', fleet.now)
  assert.equal(fleet.beatFor(5 * MINUTE, 'a', 'b'), 'a')
  assert.equal(fleet.app?.term, 3)
  assert.equal(fleet.beat('a', 'b', 'c'), 'c')
  assert.equal(forceDeployment(fleet.app!, 'unknown', fleet.now), null)
})

test('at most twenty deployments are remembered, the active and the ready ones among them', () => {
  const fleet = new Fleet()
  fleet.beat('old')
  for (let n = 0; n < 40; n++) {
    fleet.now += 1_000
    fleet.beat('old', `d${n}`)
  }
  assert.equal(fleet.app?.deployments.length, 20)
  assert.ok(fleet.app?.deployments.some(({ id }) => id === 'old'))
  assert.equal(fleet.app?.active, 'd39')
})
