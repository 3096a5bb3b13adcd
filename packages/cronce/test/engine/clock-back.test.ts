import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SyncPoint } from '../../src/engine/parts.ts'
import { seededRandom } from '../virtual/world.ts'
import { createFleet, type Declare, type Fleet, type Member, NEW_YEAR } from './fleet.ts'

// P4 while the clock of the store is set back: docs/guarantees.md, "P4 in detail".

const MINUTELY: Declare = (app) => app.job('bill', '* * * * *', () => {})

test("a run that was claimed when it was due starts at its due time once more, if the store's clock was set back since", async () => {
  for (const point of ['claim:answered', 'run:starting'] as const) {
    for (const [stallMs, backMs] of [
      [400, 3_000],
      [2_000, 20_000],
      [9_000, 20_000],
    ] as const) {
      const fleet = await createFleet({ probes: true, latency: () => ({ requestMs: 5, answerMs: 5 }) })
      const member = await fleet.add(MINUTELY, { claimAhead: 0 })
      await fleet.advance('30s')
      member.at(point, async () => {
        member.pause()
        await fleet.world.after(50)
        fleet.stepStore(-backMs)
        await fleet.world.after(stallMs)
        member.resume()
      })
      await fleet.advance('70s')
      const [start] = fleet.handled
      const early = `${point}, ${stallMs} ms, ${backMs} ms`
      assert.ok(start !== undefined && start.startedAt >= start.dueAt, early)
      assert.equal(start.how, 'returned', early)
      assert.equal(fleet.handled.length, 1, early)
      fleet.end()
    }
  }
})

test("a run whose claim was found by reading starts at its due time once more, if the store's clock was set back during the claim", async () => {
  const fleet = await createFleet({ probes: true })
  const member = await fleet.add(MINUTELY, { claimAhead: 0 })
  await fleet.advance('30s')
  member.at('claim:sent', () => {
    member.link.fail('claim', { kind: 'applied-then-throws', requestMs: 5, answerMs: 150 })
    fleet.world.at(fleet.world.now() + 20, () => {
      fleet.stepStore(-3_000)
      // A heartbeat shows the step, and keeps the lease fresh, before the connection of the claim breaks.
      member.link.doubt()
    })
  })
  await fleet.advance('70s')
  assert.equal(fleet.events('store.failed').length, 1)
  const starts = fleet.handled.map(({ startedAt, dueAt }) => [dueAt, startedAt >= dueAt])
  assert.deepEqual(starts, [
    [NEW_YEAR, true],
    [NEW_YEAR + 60_000, true],
  ])
  fleet.end()
})

test("a lock does not wait for the store's clock to come back to where it was", async () => {
  const fleet = await createFleet({ probes: true })
  const member = await fleet.add(MINUTELY)
  await fleet.advance('5s')
  member.at('run:starting', async () => {
    fleet.stepStore(-3_600_000)
    await fleet.world.after(1_000)
  })
  let isHeld = false
  void member.app.lock('ledger', async () => {
    isHeld = true
  })
  await fleet.advance('3s')
  assert.ok(isHeld)
  for (const one of fleet.members) one.crash()
})

interface Start {
  /** By no clock in particular. */
  readonly at: number
  readonly earlyMs: number
}

interface Step {
  readonly at: number
  readonly byMs: number
}

/** The longest request, with its answer, of these fleets. */
const ROUND_TRIP_MS = 40
/** How old an answer may be that a start rests on: the freshness of the claim, and what a heartbeat or claim takes. */
const UNNOTICED_MS = 270 + ROUND_TRIP_MS
const POINTS: readonly SyncPoint[] = ['claim:sent', 'claim:answered', 'run:starting', 'run:due', 'beat:sent']

/** Sets the store's clock back at random moments: around due times, and while processes stand still at a point between claim and start. */
class RandomFleet {
  readonly steps: Step[] = []
  readonly starts: Start[] = []
  readonly #fleet: Fleet
  readonly #random: () => number

  constructor(fleet: Fleet, random: () => number) {
    this.#fleet = fleet
    this.#random = random
  }

  async play(ms: number): Promise<void> {
    const { world } = this.#fleet
    const claimAhead = this.#pick([300, 300, 100, 0])
    const members = await this.#fleet.addMany(this.#whole(1, 3), this.#declare, { claimAhead })
    while (world.now() < ms) {
      await this.#fleet.advance(this.#whole(200, 6_000))
      const index = this.#whole(0, members.length - 1)
      const member = members[index]!
      const what = this.#whole(1, 5)
      if (what === 1) await this.#stepAroundDueTime()
      else if (what === 2) void this.#stall(member)
      else if (what > 3) member.at(this.#pick(POINTS), () => this.#stall(member))
      else if (member.state === 'runs') {
        void member.app.stop()
        members[index] = await this.#fleet.add(this.#declare, { claimAhead })
      }
    }
  }

  /** Starts for which no step back of the last moment, and no step that is shorter than a request, is an excuse. */
  early(): readonly Start[] {
    return this.starts.filter(({ at, earlyMs }) => {
      const recent = this.steps.filter((step) => step.at <= at && step.at >= at - UNNOTICED_MS)
      const excusedMs = recent.reduce((sum, { byMs }) => sum - byMs, ROUND_TRIP_MS)
      return earlyMs > excusedMs
    })
  }

  readonly #declare: Declare = (app, member) => {
    const handler = ({ fire }: { readonly fire: { readonly dueAt: number } }): Promise<void> => {
      this.starts.push({ at: this.#fleet.world.now(), earlyMs: fire.dueAt - this.#fleet.now() })
      return member.clock.sleep(this.#whole(0, 300))
    }
    app.job('often', { every: '1s' }, handler)
    app.job('queued', { every: '2s', misfire: 'all', overlap: 'queue' }, handler)
    app.job('once', { every: '3s', guarantee: 'at-most-once' }, handler)
    app.job('spread', { every: '5s', jitter: 200 }, handler)
  }

  async #stepAroundDueTime(): Promise<void> {
    const now = this.#fleet.now()
    await this.#fleet.advance(Math.max(1, Math.ceil(now / 1_000) * 1_000 + this.#whole(-400, 300) - now))
    this.#step()
  }

  #step(): void {
    const byMs = -this.#pick([100, 500, this.#whole(1_000, 20_000)])
    this.steps.push({ at: this.#fleet.world.now(), byMs })
    this.#fleet.stepStore(byMs)
  }

  async #stall(member: Member): Promise<void> {
    const { world } = this.#fleet
    const ms = this.#pick([50, 150, 300, 500, 1_000, 2_500, 6_000])
    const isLost = this.#random() < 0.4
    member.isSessionLost = isLost
    member.link.deaf = isLost && this.#random() < 0.6
    member.pause(this.#pick(['stopped', 'stopped', 'suspended']))
    if (this.#random() < 0.6) world.at(world.now() + this.#whole(0, ms), () => this.#step())
    await world.after(ms)
    member.isSessionLost = false
    member.link.deaf = false
    member.resume()
  }

  #pick<Value>(values: readonly Value[]): Value {
    return values[this.#whole(0, values.length - 1)]!
  }

  #whole(low: number, high: number): number {
    return low + Math.floor(this.#random() * (high - low + 1))
  }
}

test("in random fleets no run starts before its due time, except within a moment after the store's clock was set back", async () => {
  let starts = 0
  let steps = 0
  for (let seed = 1; seed <= 40; seed++) {
    const random = seededRandom(seed * 7_919)
    const latencyMs = (): number => Math.floor((random() * ROUND_TRIP_MS) / 2)
    const latency = () => ({ requestMs: latencyMs(), answerMs: latencyMs() })
    const fleet = await createFleet({ seed, probes: random() < 0.85, latency, isQuiet: true })
    const played = new RandomFleet(fleet, random)
    await played.play(90_000)
    assert.deepEqual(played.early(), [], `seed ${seed}`)
    starts += played.starts.length
    steps += played.steps.length
    for (const member of fleet.members) member.crash()
  }
  assert.ok(starts > 3_000 && steps > 300, `${starts} starts, ${steps} steps`)
})
