import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Lease, lease } from '../../src/engine/fleet/lease.ts'
import type { RunLease } from '../../src/engine/parts.ts'
import { type LeaseDeadline, msLeft, tellDeadlines } from '../../src/target/lease-deadline.ts'

/** A lease of 15 s, renewed by this clock. */
function leaseAt(by: 'boot' | 'mono' = 'boot') {
  const time = { mono: 1_000, boot: 2_000, wall: 5_000_000 }
  const clock = {
    mono: () => time.mono,
    boot: () => time.boot,
    wall: () => time.wall,
    sleep: async () => {},
    pause: async () => {},
  }
  const own = lease(clock, by)
  const renew = (): void => own.renewed(own.times(), 15_000)
  renew()
  return { own, time, renew }
}

describe('what is left of a lease', () => {
  for (const [by, other] of [
    ['boot', 'mono'],
    ['mono', 'boot'],
  ] as const) {
    test(`is its trust, and half of the time until others may take over, by the ${by} clock that the store expires by`, () => {
      const { own, time } = leaseAt(by)
      assert.deepEqual(own.left(), { trustMs: 14_000, spareMs: 500, clock: by })
      time[by] += 4_000
      assert.deepEqual(own.left(), { trustMs: 10_000, spareMs: 500, clock: by })
      time.wall += 20_000
      time[other] += 20_000
      assert.equal(own.trusted(), true)
      assert.deepEqual(own.left(), { trustMs: 10_000, spareMs: 500, clock: by })
      time[by] += 10_200
      assert.equal(own.trusted(), false)
      assert.deepEqual(own.left(), { trustMs: 0, spareMs: 300, clock: by })
      own.end()
      assert.deepEqual(own.left(), { trustMs: 0, spareMs: 0, clock: by })
    })
  }

  test('is next to nothing when peers may take the process for dead, until a heartbeat is answered', () => {
    const { own, time } = leaseAt()
    let changes = 0
    const unlisten = own.onChange(() => changes++)
    own.doubt()
    assert.deepEqual(own.left(), { trustMs: 300, spareMs: 50, clock: 'boot' })
    time.mono += 100
    time.boot += 100
    own.confirmed(own.times())
    assert.deepEqual(own.left(), { trustMs: 13_900, spareMs: 500, clock: 'boot' })
    assert.equal(changes, 2)
    unlisten()
    own.doubt()
    assert.equal(changes, 2)
  })
})

describe('a jump of the wall clock', () => {
  const passed = ({ mono, boot, wall }: { mono: number; boot: number; wall: number }, ms: number) => ({
    mono: mono + ms,
    boot: boot + ms,
    wall: wall + ms,
  })

  test('is a doubt until a heartbeat that was sent since is answered, in both directions', () => {
    for (const ms of [20_000, -20_000, 501, -501]) {
      const { own, time } = leaseAt()
      own.confirmed(own.times())
      const before = own.times()
      time.wall += ms
      assert.deepEqual([own.jumped(), own.trusted()], [true, true])
      Object.assign(time, passed(time, 10))
      own.confirmed(before)
      assert.equal(own.jumped(), true)
      own.confirmed(own.times())
      assert.equal(own.jumped(), false)
    }
  })

  test('does not fire as long as both clocks go on, or the wall clock is slewed by less than the margin covers', () => {
    const { own, time } = leaseAt()
    own.confirmed(own.times())
    Object.assign(time, passed(time, 13_000))
    time.wall += 499
    assert.equal(own.jumped(), false)
  })

  test('is noticed also if the clock is set back before anyone looks at the answer', () => {
    const { own, time } = leaseAt()
    own.confirmed(own.times())
    time.wall += 20_000
    assert.equal(own.jumped(), true)
    time.wall -= 20_000
    assert.equal(own.jumped(), true)
  })
})

describe('the deadline of what runs outside', () => {
  const runLease = (own: Lease): RunLease => ({
    left: () => own.left(),
    onChange: (tell) => own.onChange(tell),
    lost() {},
  })

  test('is sent when it comes sooner, or later by a tenth: not with every claim', () => {
    const { own, time, renew } = leaseAt()
    const told: LeaseDeadline[] = []
    const unwatch = tellDeadlines(runLease(own), (deadline) => told.push(deadline))
    for (let claim = 0; claim < 100; claim++) {
      time.mono += 10
      time.boot += 10
      renew()
    }
    assert.equal(told.length, 1)
    const [first] = told
    assert.ok(first !== undefined && msLeft(first) <= 14_000 && msLeft(first) > 4_000)
    own.doubt()
    assert.equal(told.length, 2)
    assert.ok(msLeft(told[1] as LeaseDeadline) <= 300)
    own.confirmed(own.times())
    assert.equal(told.length, 3)
    unwatch()
    own.doubt()
    assert.equal(told.length, 3)
  })
})
