import type { InstanceState } from '../../model/instance.ts'
import type { BeatAnswer, HeldRun } from '../../store/store.ts'
import type { Core } from '../core.ts'
import { describeError } from '../describe-error.ts'
import { loop } from '../loop.ts'
import { callStore, persist } from '../store-calls.ts'
import type { FleetState } from './fleet-state.ts'
import type { LeaseTimes } from './lease.ts'

type SentState = Exclude<InstanceState, 'dead'>

/** Clocks that are further apart are reported, at most once a minute. */
const SKEW_MS = 100
const SKEW_PAUSE_MS = 60_000
/** Longest pause before a failed heartbeat is sent again. It is short, because the lease goes on expiring. */
const RETRY_LONGEST_MS = 1_000
const SHORTEST_MS = 200

/** Membership in the fleet: joining, renewing the one lease of all runs, noticing that it is lost, leaving. */
export class Heartbeat {
  readonly #core: Core
  readonly #fleet: FleetState
  readonly #onHeld: (held: readonly HeldRun[], sentAt: number) => void
  readonly #onPeers: () => void
  #renewedAt: number
  #skewReportedAt = Number.NEGATIVE_INFINITY
  /** How far the estimate of the store's clock has moved since the claim loop was last woken for it. */
  #strayedMs = 0
  #isLost = false
  /** The epoch in which the store last knew this instance. */
  #aliveIn: number | null = null
  /** Number of the last heartbeat that was sent. */
  #sentNumber = 0
  /** Number of the last heartbeat that was acknowledged. */
  #ackedNumber = 0
  /** The peers were woken because this instance claims nothing new. */
  #isDrainTold = false
  /** How much of `Core.leftForPeers` the peers were woken for. */
  #toldLeft = 0
  #confirming: Promise<void> | null = null

  /** `onHeld` is called with the runs that the store says this instance holds, `onPeers` when the fleet's state is new. */
  constructor(
    core: Core,
    fleet: FleetState,
    onHeld: (held: readonly HeldRun[], sentAt: number) => void,
    onPeers: () => void,
  ) {
    this.#core = core
    this.#fleet = fleet
    this.#onHeld = onHeld
    this.#onPeers = onPeers
    this.#renewedAt = core.parts.clock.mono()
  }

  /** Sends until the store has accepted this instance, or the engine is stopped. */
  async join(): Promise<void> {
    const core = this.#core
    await persist(
      core,
      'join',
      () => this.#send('live', true).then(() => null),
      () => core.stopped.aborted,
    )
    const { app, deployment } = core.settings
    core.parts.emit({ type: 'instance.joined', instance: core.fleet.instance, app, deployment })
  }

  /** Renews until the engine stops. Never rejects. */
  loop(): Promise<void> {
    const onFailure = (failures: number): void => {
      if (failures === 1) this.#emitDoubt()
    }
    const options = { longestPauseMs: RETRY_LONGEST_MS, onFailure }
    return loop(this.#core, 'beat', (failures) => this.#round(failures), options)
  }

  /** Aborts all signals when the lease can no longer be trusted, and renews when the wall clock has jumped. Until the engine stops. */
  async watchTrust(): Promise<void> {
    const core = this.#core
    const { leaseMs } = core.settings
    while (!core.stopped.aborted) {
      const { trustMs } = core.lease.left()
      if (core.lease.trusted() || this.#isLost) {
        // Not awaited: the trust may end before the store answers.
        if (!this.#isLost && core.lease.jumped()) void this.confirm()
        await core.trustAlarm.wait(this.#isLost ? leaseMs / 3 : Math.min(trustMs, leaseMs / 3))
        continue
      }
      this.#isLost = true
      core.admission.lostLease()
      core.parts.emit({ type: 'lease.lost', instance: core.fleet.instance, runs: core.runs.size })
      for (const run of core.runs.all()) run.abort('lease-lost', null)
    }
  }

  /** Renews until the store has answered, the lease can no longer be trusted, or the engine stops. Never rejects. */
  confirm(): Promise<void> {
    this.#confirming ??= this.#renewUntilConfirmed().finally(() => {
      this.#confirming = null
      this.#core.claimAlarm.ring()
    })
    return this.#confirming
  }

  /** Sends one heartbeat now. Throws when the store does. */
  renew(): Promise<void> {
    return this.#send(stateOf(this.#core), false)
  }

  /** Sends one heartbeat now. False: the store did not answer. Never rejects. */
  async tryRenew(): Promise<boolean> {
    try {
      await this.renew()
      return true
    } catch (error) {
      this.#core.storeFailed('beat', describeError(error), SHORTEST_MS)
      return false
    }
  }

  /** As `renew`, for a store that may have forgotten this instance: joins once more, which also wakes the peers. */
  announce(): Promise<void> {
    return this.#send(stateOf(this.#core), true)
  }

  /** Sends one heartbeat with this state. Throws when the store does. */
  beat(state: SentState): Promise<void> {
    return this.#send(state, false)
  }

  /** Peers may take this process for dead: renews at once, and trusts the lease for the grace only until the store has answered. */
  doubt(): void {
    const core = this.#core
    core.lease.doubt()
    core.time.forget()
    core.trustAlarm.ring()
    // Not left to the loop: it may be waiting for the answer to an earlier heartbeat, which proves nothing any more.
    void this.#send(stateOf(core), false).catch((error) => {
      core.storeFailed('beat', describeError(error), SHORTEST_MS)
      core.beatAlarm.ring()
    })
  }

  async #round(failures: number): Promise<void> {
    const core = this.#core
    const { leaseMs } = core.settings
    // An idle instance renews half as often: its peers have nothing to recover.
    const waitMs = this.#renewedAt + (core.runs.size > 0 ? leaseMs / 3 : (leaseMs * 2) / 3) - core.parts.clock.mono()
    const dueAt = core.parts.clock.mono() + Math.max(0, waitMs)
    if (failures === 0) await core.beatAlarm.wait(waitMs)
    // Bounds the rate of heartbeats that wake-ups can cause.
    await core.parts.clock.sleep(this.#renewedAt + SHORTEST_MS - core.parts.clock.mono(), core.stopped)
    if (core.stopped.aborted) return
    core.admission.lagged(core.parts.clock.mono() - dueAt)
    await this.#send(stateOf(core), false)
  }

  async #renewUntilConfirmed(): Promise<void> {
    const core = this.#core
    this.#emitDoubt()
    const isInDoubt = (): boolean => core.lease.jumped() && core.lease.trusted()
    const options = { while: isInDoubt, longestPauseMs: RETRY_LONGEST_MS }
    await loop(core, 'beat', () => this.#send(stateOf(core), false), options)
  }

  async #send(state: SentState, join: boolean): Promise<void> {
    const core = this.#core
    const { leaseMs } = core.settings
    const { instance } = core.fleet
    const sent = core.lease.times()
    const number = ++this.#sentNumber
    const sequence = { number, after: this.#ackedNumber }
    const isDraining = state === 'draining' && !this.#isDrainTold
    const { leftForPeers } = core
    const wake = isDraining || leftForPeers > this.#toldLeft
    await core.parts.sync('beat:sent')
    // The answer is about an incarnation that has ended.
    const isPast = (): boolean => instance !== core.fleet.instance || core.stopped.aborted
    const ask = async (): Promise<BeatAnswer> => {
      // An instance without any answer yet has nothing that the store could have lost.
      const settled = core.epochs.settled ?? core.parts.store.info.epoch
      const question = { instance: describe(core, state), join, wake, leaseMs, settled, sequence }
      const answer = await core.parts.store.beat(question)
      // A late answer counts, unless a later heartbeat was answered before: a lease runs from when it was asked for.
      if (!isPast() && number > this.#ackedNumber) this.#take(answer, sent)
      if (answer.alive) this.#acknowledged(number, isDraining, leftForPeers)
      return answer
    }
    const { storeDeadlineMs } = core.settings
    // If one answer never comes, there must be time for another heartbeat before the lease ends. To join may take longer.
    const answer = await callStore(core, 'beat', ask, join ? storeDeadlineMs : Math.min(storeDeadlineMs, leaseMs / 5))
    if (answer.alive || isPast()) return
    // Another heartbeat of this instance has overtaken this one: its own answer counts.
    if (answer.number !== null && (number < this.#sentNumber || sequence.after < this.#ackedNumber)) return
    // This instance may not have been declared dead: a store that went back in time may have forgotten that it joined.
    if (!join && answer.epoch !== this.#aliveIn) await this.#send(state, true)
    else await this.#rejoin()
  }

  #acknowledged(number: number, isDraining: boolean, leftForPeers: number): void {
    this.#ackedNumber = Math.max(this.#ackedNumber, number)
    if (isDraining) this.#isDrainTold = true
    this.#toldLeft = Math.max(this.#toldLeft, leftForPeers)
  }

  #take(answer: BeatAnswer, sent: LeaseTimes): void {
    const core = this.#core
    core.storeAnswered()
    if (answer.lost) this.#fleet.lostIn = answer.epoch
    core.epochs.observe(answer.epoch)
    const expected = core.time.estimate()
    core.time.observe(answer.now, sent.mono)
    // The claim loop sleeps by what the store's clock showed before; the clock was set since, or has drifted.
    this.#strayedMs += core.time.estimate() - expected
    if (Math.abs(this.#strayedMs) > SKEW_MS) {
      this.#strayedMs = 0
      core.claimAlarm.ring()
    }
    if (answer.alive) this.#renewed(answer, sent)
  }

  #renewed(answer: BeatAnswer, sent: LeaseTimes): void {
    const core = this.#core
    const { leaseMs } = core.settings
    const wasInTime = core.lease.trusted() && sent.mono - this.#renewedAt < leaseMs
    this.#renewedAt = sent.mono
    this.#aliveIn = answer.epoch
    core.lease.renewed(sent, leaseMs)
    core.lease.answered(sent)
    core.lease.confirmed(sent)
    const hadCapacity = core.admission.capacity()
    if (wasInTime) core.admission.renewedInTime()
    if (this.#isLost) {
      this.#isLost = false
      core.parts.emit({ type: 'lease.regained', instance: core.fleet.instance })
    }
    const own = answer.instances.find(({ id }) => id === core.fleet.instance)
    this.#fleet.drained = own?.drain === true
    if (core.fleet.drained) this.#stepDown()
    const changed = peersKey(core.fleet.peers) !== peersKey(answer.instances)
    this.#fleet.peers = answer.instances
    this.#fleet.listedAt = sent.mono
    this.#fleet.chores = answer.chores
    this.#onPeers()
    // An answer from before the restore lists runs as the store had them then.
    if (core.epochs.isSettled() && sent.mono >= core.epochs.settledAt) this.#onHeld(answer.held, sent.mono)
    this.#reportSkew()
    // A claim loop that found no room sleeps until something changes.
    if (changed || !wasInTime || core.admission.capacity() > hadCapacity) core.claimAlarm.ring()
  }

  /**
   * An operator who drains an instance is about to stop it. Checked at each heartbeat, since a term may have begun after the
   * first one.
   */
  #stepDown(): void {
    for (const run of this.#core.runs.all()) if (run.exclusive === 'term') run.abort('stopping', 'It is being drained.')
  }

  /** Declared dead, or a clone of this machine renews under the same id: its runs are no longer ours. Go on under a new id. */
  async #rejoin(): Promise<void> {
    const core = this.#core
    const old = core.fleet.instance
    core.lease.end()
    core.admission.lostLease()
    this.#fleet.instance = core.parts.newId()
    for (const run of core.runs.all()) run.abort('fenced', null)
    core.parts.emit({ type: 'instance.fenced', instance: old, successor: core.fleet.instance })
    await this.join()
  }

  #emitDoubt(): void {
    this.#core.parts.emit({ type: 'lease.doubted', instance: this.#core.fleet.instance })
  }

  #reportSkew(): void {
    const core = this.#core
    const offsetMs = core.time.wallOffsetMs()
    const now = core.parts.clock.mono()
    if (Math.abs(offsetMs) <= SKEW_MS || now - this.#skewReportedAt < SKEW_PAUSE_MS) return
    this.#skewReportedAt = now
    core.parts.emit({ type: 'clock.skewed', instance: core.fleet.instance, offsetMs })
  }
}

function stateOf(core: Core): 'live' | 'draining' {
  return core.stopping ? 'draining' : 'live'
}

function describe(core: Core, state: SentState) {
  const { app, deployment, host, pid, version, zoneData, concurrency, duties } = core.settings
  const { host: _, ...labels } = core.settings.labels
  const jobs = [...core.parts.jobs.keys()]
  return {
    id: core.fleet.instance,
    app,
    deployment,
    host,
    pid,
    version,
    zoneData,
    concurrency,
    // A process without jobs is not part of a deployment. One of `runDue` is gone before it could do a duty.
    jobs: jobs.length === 0 || core.transient ? jobs : [...jobs, ...duties],
    state,
    clockOffsetMs: core.time.wallOffsetMs(),
    running: core.runs.size,
    ...(Object.keys(labels).length > 0 ? { labels } : {}),
    ...(core.transient ? ({ transient: true } as const) : {}),
  }
}

function peersKey(peers: FleetState['peers']): string {
  return peers.map(({ id, state, drain }) => `${id} ${state} ${drain}`).join()
}
