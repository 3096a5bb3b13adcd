import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Lease, lease } from '../../src/engine/lease.ts'
import type { RunLease } from '../../src/engine/parts.ts'
import { type LeaseDeadline, msLeft, tellDeadlines } from '../../src/target/lease-deadline.ts'

/** A lease of 15 s, renewed by this clock. */
function leaseAt(): { readonly own: Lease; readonly time: { mono: number; wall: number }; renew(): void } {
  const time = { mono: 1_000, wall: 5_000_000 }
  const own = lease({ mono: () => time.mono, wall: () => time.wall, sleep: async () => {}, pause: async () => {} })
  const renew = (): void => own.renewed(own.times(), 15_000)
  renew()
  return { own, time, renew }
}

describe('what is left of a lease', () => {
  test('is its trust, and half of the time until others may take over, by whichever clock is ahead', () => {
    const { own, time } = leaseAt()
    assert.deepEqual(own.left(), { trustMs: 14_000, spareMs: 500 })
    time.mono += 4_000
    assert.deepEqual(own.left(), { trustMs: 10_000, spareMs: 500 })
    time.wall += 14_200
    assert.deepEqual(own.left(), { trustMs: 0, spareMs: 300 })
    own.end()
    assert.deepEqual(own.left(), { trustMs: 0, spareMs: 0 })
  })

  test('is next to nothing when others may take the process for gone, until a beat is answered', () => {
    const { own, time } = leaseAt()
    let changes = 0
    const unlisten = own.onChange(() => changes++)
    own.doubt()
    assert.deepEqual(own.left(), { trustMs: 300, spareMs: 50 })
    time.mono += 100
    own.believed(own.times())
    assert.deepEqual(own.left(), { trustMs: 13_900, spareMs: 500 })
    assert.equal(changes, 2)
    unlisten()
    own.doubt()
    assert.equal(changes, 2)
  })
})

describe('the deadline of what runs outside', () => {
  const runLease = (own: Lease): RunLease => ({
    left: () => own.left(),
    onChange: (tell) => own.onChange(tell),
    lost() {},
  })

  test('is told when it comes sooner, or later by a tenth: not with every claim', () => {
    const { own, time, renew } = leaseAt()
    const told: LeaseDeadline[] = []
    const unwatch = tellDeadlines(runLease(own), (deadline) => told.push(deadline))
    for (let claim = 0; claim < 100; claim++) {
      time.mono += 10
      time.wall += 10
      renew()
    }
    assert.equal(told.length, 1)
    const [first] = told
    assert.ok(first !== undefined && msLeft(first) <= 14_000 && msLeft(first) > 4_000)
    own.doubt()
    assert.equal(told.length, 2)
    assert.ok(msLeft(told[1] as LeaseDeadline) <= 300)
    own.believed(own.times())
    assert.equal(told.length, 3)
    unwatch()
    own.doubt()
    assert.equal(told.length, 3)
  })
})
