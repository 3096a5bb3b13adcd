import type { InstanceRecord } from '../model/instance.ts'
import type { ErrorRecord } from '../model/record.ts'
import type { Context, Decision } from '../policy/decision.ts'
import type { Chores, Loaded } from '../store/store.ts'
import { type Admission, admission } from './admission.ts'
import { type Agenda, agenda } from './agenda.ts'
import { type Alarm, alarm } from './alarm.ts'
import { type Epochs, epochs } from './epochs.ts'
import { type KnownStates, knownStates } from './known-states.ts'
import { type Lease, lease } from './lease.ts'
import type { EngineParts, EngineSettings } from './parts.ts'
import { type Recent, recent } from './recent.ts'
import { type RunTable, runTable } from './run-table.ts'
import { type StoreTime, storeTime } from './store-time.ts'
import { type Undecided, undecided } from './undecided.ts'

/** What a job of this process still has to do under an old name. */
export interface RenamedJob {
  readonly job: string
  /**
   * The new name is taken, so the old one still has the job: up to the deployment of this number, no newer release that counts has
   * defined another job there. `null`: the job was renamed, and only what waits under the old name is left.
   */
  readonly upTo: number | null
  /** No schedule has the old name: another app may declare it. */
  readonly isFree: boolean
}

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
  readonly agenda: Agenda
  /** Wakes the loop that claims. */
  readonly claimAlarm: Alarm
  /** Wakes the loop that renews. */
  readonly beatAlarm: Alarm
  /** Wakes the loop that does slow duties. */
  readonly keepAlarm: Alarm
  /** Wakes the loop that watches the trust in the lease. */
  readonly trustAlarm: Alarm
  /** Of this incarnation. */
  instance: string
  /** As of the last beat: live or draining, this one included. */
  peers: readonly InstanceRecord[]
  /** As of the last beat. */
  chores: Chores
  /** Numbers of the deployments of this app that count, by id: the highest one that has a job claims its fires first. */
  deploymentNumbers: ReadonlyMap<string, number>
  /** Old names of jobs that this process has under another one: it runs what still waits under the old name. */
  renamedJobs: ReadonlyMap<string, RenamedJob>
  /** Jobs of this process whose name belongs to a live app of another name: it runs none of their fires. */
  foreignJobs: ReadonlySet<string>
  /** How many claims were sent so far: each has a number. */
  claims: number
  /** Numbers of the claims that were sent and not answered yet. */
  readonly claiming: Set<number>
  readonly undecided: Undecided
  /** Jobs whose fleet-wide limit was found used up, and until when (monotonic) that is believed. */
  readonly fullUntil: Map<string, number>
  /** The last look for what is due left something: the end of a run may change that. */
  leftSome: boolean
  /** The epoch at whose beginning the store had lost what it had acknowledged here; 0: none yet. */
  lostIn: number
  /** The wall clock has jumped: renew, and resolve when the store has answered or the lease can no longer be trusted. */
  confirm: () => Promise<void>
  /** The epoch has moved: write again what the store may have lost. */
  restore: () => void
  /** Takes nothing new: it is about to stop. */
  stopping: boolean
  /** Takes nothing new: an operator said so. */
  drained: boolean
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

export function createCore<Tx>(parts: EngineParts<Tx>, settings: EngineSettings): Core<Tx> {
  const stopping = new AbortController()
  let failing = false
  let failedAt = Number.NEGATIVE_INFINITY
  const time = storeTime(parts.clock)
  const claimAlarm = alarm(parts.clock)
  const known = knownStates()
  const plans = agenda(time, claimAlarm, settings.patienceMs)
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
    agenda: plans,
    claimAlarm,
    beatAlarm: alarm(parts.clock),
    keepAlarm: alarm(parts.clock),
    trustAlarm: alarm(parts.clock),
    instance: parts.newId(),
    peers: [],
    chores: { appVersion: 0, orphans: [], prunable: false },
    deploymentNumbers: new Map(),
    renamedJobs: new Map(),
    foreignJobs: new Set(),
    claims: 0,
    claiming: new Set(),
    undecided: undecided(parts),
    fullUntil: new Map(),
    leftSome: false,
    lostIn: 0,
    confirm: async () => {},
    restore: () => {},
    stopping: false,
    drained: false,
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
      if (state !== null) plans.heed(state)
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
