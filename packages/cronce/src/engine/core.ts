import type { CronceEvent } from '../model/event.ts'
import type { ErrorRecord, HistoryRecord } from '../model/record.ts'
import type { Context, Decision } from '../policy/decision.ts'
import type { Loaded } from '../store/store.ts'
import { type Alarm, alarm } from './alarm.ts'
import { type Admission, admission } from './claim/admission.ts'
import { type FailingSchedules, failingSchedules } from './claim/failing-schedules.ts'
import { FullLimits } from './claim/full-limits.ts'
import { BATCH } from './claim/look.ts'
import { type NextLook, nextLook } from './claim/next-look.ts'
import { PlannedStarts } from './claim/planned-starts.ts'
import type { DeployState } from './deploy/deploy-state.ts'
import type { FleetState } from './fleet/fleet-state.ts'
import { type Lease, lease } from './fleet/lease.ts'
import { type StoreTime, storeTime } from './fleet/store-time.ts'
import type { EngineParts, EngineSettings } from './parts.ts'
import { type Epochs, epochs } from './restore/epochs.ts'
import { NOTHING_RECENT, type Recent, recentChanges } from './restore/recent-changes.ts'
import { type KnownStates, knownStates } from './run/known-states.ts'
import { type RunTable, runTable } from './run/run-table.ts'

/** State that one part of the engine writes and the others read. */
export interface OwnedState {
  readonly fleet: FleetState
  readonly deploys: DeployState
}

/** The longest part of the lease that schedules may be claimed ahead. */
const AHEAD_LONGEST = 1 / 4

/** What the loops of one engine share. */
export class Core<Tx = unknown> {
  readonly parts: EngineParts<Tx>
  readonly settings: EngineSettings
  /** Aborted when the loops must end. */
  readonly stopped: AbortSignal
  readonly time: StoreTime
  readonly lease: Lease
  readonly admission: Admission
  readonly runs: RunTable
  readonly known: KnownStates
  readonly recent: Recent
  readonly epochs: Epochs
  readonly nextLook: NextLook
  /** Wakes the loop that claims. */
  readonly claimAlarm: Alarm
  /** Wakes the loop that renews. */
  readonly beatAlarm: Alarm
  /** Wakes the loop that does slow duties. */
  readonly keepAlarm: Alarm
  /** Wakes the loop that watches the trust in the lease. */
  readonly trustAlarm: Alarm
  readonly fleet: Readonly<FleetState>
  readonly deploys: Readonly<DeployState>
  /** How many claims were sent so far: each has a number. */
  claims = 0
  /** Numbers of the claims that were sent and not answered yet. */
  readonly claiming = new Set<number>()
  /** Exactly-once jobs that a run of this instance ended without a transaction. */
  readonly untransacted = new Set<string>()
  readonly failing: FailingSchedules
  readonly fullLimits: FullLimits
  readonly plannedStarts: PlannedStarts
  /** Most claims or settlements in one write: enough to share a commit, few enough to keep the event loop free. */
  readonly batch: number
  /** The last look left something due: the end of a run may change that. */
  leftSome = false
  /** The wall clock has jumped: renew, and resolve when the store has answered or the lease can no longer be trusted. */
  confirm: () => Promise<void> = async () => {}
  /** Send one heartbeat now. False: the store did not answer. */
  renew: () => Promise<boolean> = async () => false
  /** The epoch has moved: write again what the store may have lost. */
  restore: () => void = () => {}
  /** Claims nothing new: it is about to stop. */
  stopping = false
  /** How many transactions have left fires for peers. The next heartbeat wakes the peers. */
  leftForPeers = 0
  /** It looks for what is due once, and leaves the fleet. */
  transient = false
  readonly #stopper = new AbortController()
  /** The last call to the store failed. */
  #isFailing = false
  #failedAt = Number.NEGATIVE_INFINITY

  constructor(parts: EngineParts<Tx>, settings: EngineSettings, { fleet, deploys }: OwnedState) {
    const { clock, store } = parts
    this.parts = parts
    this.settings = settings
    this.stopped = this.#stopper.signal
    this.batch = store.info.batch ?? BATCH
    this.time = storeTime(clock)
    this.claimAlarm = alarm(clock)
    this.known = knownStates()
    this.nextLook = nextLook(this.time, this.claimAlarm, settings.patienceMs)
    this.recent = store.info.losesWrites ? recentChanges(clock) : NOTHING_RECENT
    this.lease = lease(clock, store.info.leaseClock)
    this.admission = admission(settings.concurrency)
    this.runs = runTable()
    this.epochs = epochs(clock, this.stopped, () => {
      this.time.forget()
      this.plannedStarts.release()
      this.restore()
    })
    this.beatAlarm = alarm(clock)
    this.keepAlarm = alarm(clock)
    this.trustAlarm = alarm(clock)
    this.fleet = fleet
    this.deploys = deploys
    this.failing = failingSchedules(parts)
    this.fullLimits = new FullLimits(clock)
    this.plannedStarts = new PlannedStarts({
      ...{ clock, time: this.time, lease: this.lease, leaseMs: settings.leaseMs, stopped: this.stopped },
      isStopping: () => this.stopping,
      renew: () => this.renew(),
    })
  }

  /**
   * How long before their due time schedules are claimed. 0 where the store does not notice a dead process before its lease has expired: a
   * crash would delay what was claimed by a lease. Also 0 while this instance may be taken for dead.
   */
  aheadMs(): number {
    const { claimAheadMs, leaseMs } = this.settings
    if (this.transient || !this.parts.store.info.probes || this.lease.doubted() || this.lease.jumped()) return 0
    const { trustMs } = this.lease.left()
    return Math.min(claimAheadMs, leaseMs * AHEAD_LONGEST, trustMs)
  }

  /** Ends the loops. */
  stop(): void {
    this.#stopper.abort()
  }

  /** What policies need to decide on what was read from the store. */
  context({ now, epoch }: Pick<Loaded, 'now' | 'epoch'>): Context {
    return { now, epoch, zoneData: this.settings.zoneData, random: this.parts.random }
  }

  /** A decision of this instance was written: remembers it, and emits its events. */
  applied(decision: Decision): void {
    this.known.applied(decision)
    this.recent.applied(decision)
    const { state } = decision.change
    if (state !== null) this.nextLook.written(state)
    const { emit, hears } = this.parts
    const events = decision.heard?.(hears) ?? decision.events
    for (const event of events) emit(event)
    if (decision.success !== undefined) this.#measureSuccess(decision.success, events)
  }

  /** Updates counters for which no event is emitted, because nothing listens. */
  #measureSuccess({ job, endedAt, run }: HistoryRecord, events: readonly CronceEvent[]): void {
    const { meters } = this.parts
    if (meters.length === 0) return
    const isRunTold = events.length > 0 && events.some(({ type }) => type === 'run.ended')
    const isFire = events.length === 0 || !events.some(({ type }) => type === 'fire.ended')
    const durationMs = isRunTold ? null : Math.max(0, endedAt - run!.startedAt)
    for (const meter of meters) meter.succeeded(job, durationMs, isFire)
  }

  /** When the store last failed, by the monotonic clock. */
  failedAt(): number {
    return this.#failedAt
  }

  storeFailed(operation: string, error: ErrorRecord, retryInMs: number): void {
    this.#isFailing = true
    this.#failedAt = this.parts.clock.mono()
    // The next answer may come from another server.
    this.time.forget()
    this.parts.emit({ type: 'store.failed', operation, error, retryInMs })
  }

  storeAnswered(): void {
    if (!this.#isFailing) return
    this.#isFailing = false
    this.parts.emit({ type: 'store.recovered' })
  }
}
