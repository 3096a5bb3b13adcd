import type { InstanceState } from '../../model/instance.ts'
import type { BeatAnswer, HeldRun } from '../../store/store.ts'
import type { Core } from '../core.ts'
import { describeError } from '../describe-error.ts'
import { loop } from '../loop.ts'
import { callStore, persist } from '../store-calls.ts'
import type { FleetState } from './fleet-state.ts'
import type { LeaseTimes } from './lease.ts'

/** Membership in the fleet: joining, renewing the one lease of all runs, noticing that it is lost, leaving. */
export interface Heartbeat {
  /** Until the store has said yes, or the engine is stopped. */
  join(): Promise<void>
  /** Until the engine stops. Never rejects. */
  loop(): Promise<void>
  /** Aborts all signals when the lease can no longer be trusted, and renews when the wall clock has jumped. Until the engine stops. */
  watchTrust(): Promise<void>
  /** Renew until the store has answered, the lease can no longer be trusted, or the engine stops. Never rejects. */
  confirm(): Promise<void>
  /** One beat, now. Throws when the store does. */
  renew(): Promise<void>
  /** The same for a store that may have forgotten this instance: joins once more, which also wakes the others. */
  announce(): Promise<void>
  /** One beat in this state. Throws when the store does. */
  beat(state: Exclude<InstanceState, 'dead'>): Promise<void>
  /** The others may take this process for gone: renew at once, and trust the lease for the grace only until that is answered. */
  doubt(): void
}

/** Clocks further apart are told about, at most once a minute. */
const SKEW_MS = 100
const SKEW_PAUSE_MS = 60_000
/** A store that does not answer is asked again soon: what counts is the end of the lease. */
const RETRY_LONGEST_MS = 1_000
const SHORTEST_MS = 200

export function heartbeat(
  core: Core,
  fleet: FleetState,
  onHeld: (held: readonly HeldRun[], sentAt: number) => void,
  onPeers: () => void,
): Heartbeat {
  const { leaseMs } = core.settings
  let renewedAt = core.parts.clock.mono()
  let skewToldAt = Number.NEGATIVE_INFINITY
  let strayedMs = 0
  let isLost = false
  /** The epoch in which the store last knew this instance. */
  let aliveIn: number | null = null
  /** Of the last heartbeat that was sent, and of the last one that was acknowledged. */
  let sentNumber = 0
  let ackedNumber = 0
  /** The others were told that this instance takes nothing new. */
  let isDrainTold = false
  /** How much of `Core.leftForPeers` the peers were woken for. */
  let toldLeft = 0

  const send = async (state: Exclude<InstanceState, 'dead'>, join: boolean): Promise<void> => {
    const { instance } = core.fleet
    const sent = core.lease.times()
    const number = ++sentNumber
    const sequence = { number, after: ackedNumber }
    const isDraining = state === 'draining' && !isDrainTold
    const { leftForPeers } = core
    const wake = isDraining || leftForPeers > toldLeft
    await core.parts.sync('beat:sent')
    // Another incarnation by now: the answer is about the past.
    const isPast = (): boolean => instance !== core.fleet.instance || core.stopped.aborted
    const ask = async (): Promise<BeatAnswer> => {
      // Whoever has not heard of the store yet knows nothing that it could have forgotten.
      const settled = core.epochs.settled ?? core.parts.store.info.epoch
      const answer = await core.parts.store.beat({
        instance: describe(core, state),
        join,
        wake,
        leaseMs,
        settled,
        sequence,
      })
      // A late answer counts as well, but for what a later one has told: a lease runs from when it was asked for.
      if (!isPast() && number > ackedNumber) take(answer, sent)
      if (answer.alive) ackedNumber = Math.max(ackedNumber, number)
      if (answer.alive && isDraining) isDrainTold = true
      if (answer.alive) toldLeft = Math.max(toldLeft, leftForPeers)
      return answer
    }
    // One answer that never comes must leave time for another question before the lease ends.
    const answer = await callStore(core, 'beat', ask, Math.min(core.settings.storeDeadlineMs, leaseMs / 5))
    if (answer.alive || isPast()) return
    // Another heartbeat of this instance has overtaken this one: its own answer counts.
    if (answer.number !== null && (number < sentNumber || sequence.after < ackedNumber)) return
    // Not declared dead, perhaps: a store that went back in time may have forgotten that it joined.
    if (!join && answer.epoch !== aliveIn) await send(state, true)
    else await rejoin()
  }

  const take = (answer: BeatAnswer, sent: LeaseTimes): void => {
    core.storeAnswered()
    if (answer.lost) fleet.lostIn = answer.epoch
    core.epochs.observe(answer.epoch)
    const expected = core.time.estimate()
    core.time.observe(answer.now, sent.mono)
    // Whoever sleeps until something is due sleeps by what the store's clock showed before it was set, or strayed bit by bit.
    strayedMs += core.time.estimate() - expected
    if (Math.abs(strayedMs) > SKEW_MS) {
      strayedMs = 0
      core.claimAlarm.ring()
    }
    if (answer.alive) renewed(answer, sent)
  }

  const renewed = (answer: BeatAnswer, sent: LeaseTimes): void => {
    const wasInTime = core.lease.trusted() && sent.mono - renewedAt < leaseMs
    renewedAt = sent.mono
    aliveIn = answer.epoch
    core.lease.renewed(sent, leaseMs)
    core.lease.confirmed(sent)
    const hadCapacity = core.admission.capacity()
    if (wasInTime) core.admission.renewedInTime()
    if (isLost) {
      isLost = false
      core.parts.emit({ type: 'lease.regained', instance: core.fleet.instance })
    }
    const own = answer.instances.find(({ id }) => id === core.fleet.instance)
    fleet.drained = own?.drain === true
    if (core.fleet.drained) stepDown()
    const changed = peersKey(core.fleet.peers) !== peersKey(answer.instances)
    fleet.peers = answer.instances
    fleet.chores = answer.chores
    onPeers()
    // What it said before all was written again is not what is.
    if (core.epochs.isSettled() && sent.mono >= core.epochs.settledAt) onHeld(answer.held, sent.mono)
    tellSkew()
    // Whoever found no room sleeps until something changes: this is something.
    if (changed || !wasInTime || core.admission.capacity() > hadCapacity) core.claimAlarm.ring()
  }

  /** Whoever drains an instance takes it away soon. At each beat, since a term may have been on its way when the first one told. */
  const stepDown = (): void => {
    for (const run of core.runs.all()) if (run.exclusive === 'term') run.abort('stopping', 'It is being drained.')
  }

  /** Declared dead, or a clone of this machine renews under the same id: its runs are no longer ours. Go on under a new id. */
  const rejoin = async (): Promise<void> => {
    const old = core.fleet.instance
    core.lease.end()
    core.admission.lostLease()
    fleet.instance = core.parts.newId()
    for (const run of core.runs.all()) run.abort('fenced', null)
    core.parts.emit({ type: 'instance.fenced', instance: old, successor: core.fleet.instance })
    await join()
  }

  const join = async (): Promise<void> => {
    await persist(
      core,
      'join',
      () => send('live', true).then(() => null),
      () => core.stopped.aborted,
    )
    const { app, deployment } = core.settings
    core.parts.emit({ type: 'instance.joined', instance: core.fleet.instance, app, deployment })
  }

  const tellSkew = (): void => {
    const offsetMs = core.time.wallOffsetMs()
    const now = core.parts.clock.mono()
    if (Math.abs(offsetMs) <= SKEW_MS || now - skewToldAt < SKEW_PAUSE_MS) return
    skewToldAt = now
    core.parts.emit({ type: 'clock.skewed', instance: core.fleet.instance, offsetMs })
  }

  const round = async (failures: number): Promise<void> => {
    // An idle instance renews half as often: its peers have nothing to recover.
    const waitMs = renewedAt + (core.runs.size > 0 ? leaseMs / 3 : (leaseMs * 2) / 3) - core.parts.clock.mono()
    const dueAt = core.parts.clock.mono() + Math.max(0, waitMs)
    if (failures === 0) await core.beatAlarm.wait(waitMs)
    // Bounds the rate of heartbeats that wake-ups can cause.
    await core.parts.clock.sleep(renewedAt + SHORTEST_MS - core.parts.clock.mono(), core.stopped)
    if (core.stopped.aborted) return
    core.admission.lagged(core.parts.clock.mono() - dueAt)
    await send(stateOf(core), false)
  }

  const emitDoubt = (): void => core.parts.emit({ type: 'lease.doubted', instance: core.fleet.instance })

  const noteFailure = (failures: number): void => {
    if (failures === 1) emitDoubt()
  }

  const watchTrust = async (): Promise<void> => {
    while (!core.stopped.aborted) {
      const { trustMs } = core.lease.left()
      if (core.lease.trusted() || isLost) {
        // Not awaited: the trust may end before the store answers.
        if (!isLost && core.lease.jumped()) void confirm()
        await core.trustAlarm.wait(isLost ? leaseMs / 3 : Math.min(trustMs, leaseMs / 3))
        continue
      }
      isLost = true
      core.admission.lostLease()
      core.parts.emit({ type: 'lease.lost', instance: core.fleet.instance, runs: core.runs.size })
      for (const run of core.runs.all()) run.abort('lease-lost', null)
    }
  }

  let confirming: Promise<void> | null = null
  const confirm = (): Promise<void> => {
    confirming ??= renewUntilConfirmed().finally(() => {
      confirming = null
      core.claimAlarm.ring()
    })
    return confirming
  }

  const renewUntilConfirmed = async (): Promise<void> => {
    emitDoubt()
    const isInDoubt = (): boolean => core.lease.jumped() && core.lease.trusted()
    const options = { while: isInDoubt, longestPauseMs: RETRY_LONGEST_MS }
    await loop(core, 'beat', () => send(stateOf(core), false), options)
  }

  const doubt = (): void => {
    core.lease.doubt()
    core.trustAlarm.ring()
    // Not by the loop: that may be waiting for an answer to what it asked before, which proves nothing any more.
    void send(stateOf(core), false).catch((error) => {
      core.storeFailed('beat', describeError(error), SHORTEST_MS)
      core.beatAlarm.ring()
    })
  }

  return {
    join,
    loop: () => loop(core, 'beat', round, { longestPauseMs: RETRY_LONGEST_MS, onFailure: noteFailure }),
    watchTrust,
    confirm,
    renew: () => send(stateOf(core), false),
    announce: () => send(stateOf(core), true),
    beat: (state) => send(state, false),
    doubt,
  }
}

function stateOf(core: Core): 'live' | 'draining' {
  return core.stopping ? 'draining' : 'live'
}

function describe(core: Core, state: Exclude<InstanceState, 'dead'>) {
  const { app, deployment, host, pid, version, zoneData, concurrency } = core.settings
  return {
    id: core.fleet.instance,
    app,
    deployment,
    host,
    pid,
    version,
    zoneData,
    concurrency,
    jobs: [...core.parts.jobs.keys()],
    state,
    clockOffsetMs: core.time.wallOffsetMs(),
    running: core.runs.size,
    ...(core.transient ? ({ transient: true } as const) : {}),
  }
}

function peersKey(peers: FleetState['peers']): string {
  return peers.map(({ id, state, drain }) => `${id} ${state} ${drain}`).join()
}
