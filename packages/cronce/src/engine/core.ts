import type { ErrorRecord } from '../model/record.ts'
import type { Context, Decision } from '../policy/decision.ts'
import type { Loaded } from '../store/store.ts'
import { type Alarm, alarm } from './alarm.ts'
import { type Admission, admission } from './claim/admission.ts'
import { type FailingSchedules, failingSchedules } from './claim/failing-schedules.ts'
import { FullLimits } from './claim/full-limits.ts'
import { type NextLook, nextLook } from './claim/next-look.ts'
import type { DeployState } from './deploy/deploy-state.ts'
import type { FleetState } from './fleet/fleet-state.ts'
import { type Lease, lease } from './fleet/lease.ts'
import { type StoreTime, storeTime } from './fleet/store-time.ts'
import type { EngineParts, EngineSettings } from './parts.ts'
import { type Epochs, epochs } from './restore/epochs.ts'
import { type Recent, recent } from './restore/recent-changes.ts'
import { type KnownStates, knownStates } from './run/known-states.ts'
import { type RunTable, runTable } from './run/run-table.ts'

/** What the loops of one engine share. */
export interface Core<Tx = unknown> {
  readonly parts: EngineParts<Tx>
  readonly settings: EngineSettings
  /** Aborted when the loops must end. */
  readonly stopped: AbortSignal
  readonly stop: () => void
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
  claims: number
  /** Numbers of the claims that were sent and not answered yet. */
  readonly claiming: Set<number>
  readonly failing: FailingSchedules
  readonly fullLimits: FullLimits
  /** The last look for what is due left something: the end of a run may change that. */
  leftSome: boolean
  /** The wall clock has jumped: renew, and resolve when the store has answered or the lease can no longer be trusted. */
  confirm: () => Promise<void>
  /** The epoch has moved: write again what the store may have lost. */
  restore: () => void
  /** Takes nothing new: it is about to stop. */
  stopping: boolean
  /** How many transactions have left fires for peers. The next heartbeat wakes the peers. */
  leftForPeers: number
  /** It looks for what is due once, and leaves. */
  transient: boolean
  /** When the store last failed, by the monotonic clock. */
  readonly failedAt: () => number
  readonly context: (read: Pick<Loaded, 'now' | 'epoch'>) => Context
  /** A decision of this instance was written: remember it, and tell. */
  readonly applied: (decision: Decision) => void
  readonly storeFailed: (operation: string, error: ErrorRecord, retryInMs: number) => void
  readonly storeAnswered: () => void
}

/** What one part of the engine writes and the others read. */
export interface OwnedState {
  readonly fleet: FleetState
  readonly deploys: DeployState
}

export function createCore<Tx>(parts: EngineParts<Tx>, settings: EngineSettings, state: OwnedState): Core<Tx> {
  const stopping = new AbortController()
  let failing = false
  let failedAt = Number.NEGATIVE_INFINITY
  const time = storeTime(parts.clock)
  const claimAlarm = alarm(parts.clock)
  const known = knownStates()
  const upcoming = nextLook(time, claimAlarm, settings.patienceMs)
  const recents = recent(parts.clock, parts.store.info.losesWrites)
  const core: Core<Tx> = {
    parts,
    settings,
    stopped: stopping.signal,
    stop: () => stopping.abort(),
    time,
    lease: lease(parts.clock, parts.store.info.leaseClock),
    admission: admission(settings.concurrency),
    runs: runTable(),
    known,
    recent: recents,
    epochs: epochs(parts.clock, stopping.signal, () => core.restore()),
    nextLook: upcoming,
    claimAlarm,
    beatAlarm: alarm(parts.clock),
    keepAlarm: alarm(parts.clock),
    trustAlarm: alarm(parts.clock),
    fleet: state.fleet,
    deploys: state.deploys,
    claims: 0,
    claiming: new Set(),
    failing: failingSchedules(parts),
    fullLimits: new FullLimits(parts.clock),
    leftSome: false,
    confirm: async () => {},
    restore: () => {},
    stopping: false,
    leftForPeers: 0,
    transient: false,
    failedAt: () => failedAt,
    context: ({ now, epoch }) => ({
      now,
      epoch,
      zoneData: settings.zoneData,
      random: parts.random,
    }),
    applied(decision) {
      known.applied(decision)
      recents.applied(decision)
      const { state } = decision.change
      if (state !== null) upcoming.written(state)
      const { routine } = decision
      if (routine === undefined || routine.some(parts.hears)) for (const event of decision.events) parts.emit(event)
    },
    storeFailed(operation, error, retryInMs) {
      failing = true
      failedAt = parts.clock.mono()
      parts.emit({ type: 'store.failed', operation, error, retryInMs })
    },
    storeAnswered() {
      if (!failing) return
      failing = false
      parts.emit({ type: 'store.recovered' })
    },
  }
  return core
}
