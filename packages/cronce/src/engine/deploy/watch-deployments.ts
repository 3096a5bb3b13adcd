import type { AppRecord, DeploymentRecord } from '../../model/app.ts'
import type { AboutProcess } from '../../model/event.ts'
import type { InstanceRecord } from '../../model/instance.ts'
import { contestedSchedules, disjointProcesses } from '../../policy/deploy/contested.ts'
import { counts, hostSchedules, isLongSilent, newestExplicit } from '../../policy/deploy/deployment.ts'
import type { Core } from '../core.ts'
import { StateClock } from './state-clock.ts'

const NO_SCHEDULES: ReadonlySet<string> = new Set()

/** Live or draining, and with something to declare. */
export function ofApp(peer: InstanceRecord, app: string): boolean {
  return peer.app === app && peer.jobs.length > 0 && (peer.state === 'live' || peer.state === 'draining')
}

/**
 * Whether a process that only calls `runDue` counts a silent peer as gone. Other processes watch a silent peer for a whole lease and
 * declare it dead: after an outage, or when the store's clock was set, every peer seems silent for a moment.
 */
export function hasVanished({ transient }: Core, peer: InstanceRecord, now: number): boolean {
  return transient && isLongSilent(peer, now)
}

/** What this process has seen of its app's deployments, timed by its own monotonic clock. */
export class DeploymentWatch {
  readonly #core: Core
  /** By deployment, whether it does not count. */
  readonly #outs: StateClock
  /** By deployment, whether it has no live instance. */
  readonly #gone: StateClock
  /** By deployment, when this process found it in the record: peers that were listed before say nothing about it. */
  readonly #foundAt = new Map<string, number>()
  readonly #contests: StateClock
  /** By schedule of a host, whether no live instance has it. */
  readonly #hosts: StateClock
  /** By app of which this process wants a name, whether it has no live instance. */
  readonly #absences: StateClock
  readonly #wanted = new Set<string>()
  readonly #reported = new Set<string>()
  #record: AppRecord | null = null
  #livesSince: number
  #lookedAt: number
  #instance: string
  #epoch: number | null = null
  #actedOn = ''

  constructor(core: Core) {
    const mono = (): number => core.parts.clock.mono()
    this.#core = core
    this.#outs = new StateClock(mono)
    this.#gone = new StateClock(mono)
    this.#contests = new StateClock(mono)
    this.#absences = new StateClock(mono)
    this.#hosts = new StateClock(mono)
    this.#livesSince = mono()
    this.#lookedAt = mono()
    this.#instance = core.fleet.instance
  }

  /** Call this after every heartbeat. */
  observe(): void {
    const core = this.#core
    const now = core.parts.clock.mono()
    const isRolledBack = this.#epoch !== null && this.#epoch !== core.epochs.latest
    const isNewInstance = this.#instance !== core.fleet.instance
    // After a gap, a death, or a store that went back in time, nothing is known about the time in between.
    if (this.#isBlind() || isNewInstance || isRolledBack) this.restart()
    this.#instance = core.fleet.instance
    this.#lookedAt = now
    this.#epoch = core.epochs.latest
    this.#note()
    if (this.#record !== null) this.#report(this.#record)
  }

  /** The record as it is now. */
  adopt(record: AppRecord): void {
    this.#record = record
    const now = this.#core.parts.clock.mono()
    const known = new Set(record.deployments.map(stretchOf))
    for (const key of this.#foundAt.keys()) if (!known.has(key)) this.#foundAt.delete(key)
    for (const key of known) this.#foundAt.set(key, this.#foundAt.get(key) ?? now)
    this.#note()
    this.#report(record)
  }

  /** Deployments with a live or draining instance that declares something, this one included; sorted. */
  liveIds(): readonly string[] {
    return [...new Set([this.#core.settings.deployment, ...this.#own().map((peer) => peer.deployment)])].sort()
  }

  /** Deployments of the record that have not counted for the whole hold-down. */
  lostIds(record: AppRecord): ReadonlySet<string> {
    return idsOf(record, presenceOf, this.#heldFor(this.#outs, this.#core.settings.holdDownMs, true))
  }

  /** Deployments that have counted for the whole hold-down. */
  steadyIds(): ReadonlySet<string> {
    if (this.#record === null) return new Set()
    return idsOf(this.#record, presenceOf, this.#heldFor(this.#outs, this.#core.settings.holdDownMs, false))
  }

  /** Deployments of the record without a live instance for the whole hold-down. Unlike lost ones, none of them is on probation and live. */
  absentIds(record: AppRecord): ReadonlySet<string> {
    return idsOf(record, stretchOf, this.#heldFor(this.#gone, this.#core.settings.holdDownMs, true))
  }

  /** Schedules that the newest deployment has contested for all of `retireAfter`. */
  outwaited(): ReadonlySet<string> {
    return new Set([...this.#heldFor(this.#contests, this.#core.settings.retireAfterMs, true)].map(contestedIn))
  }

  /** Schedules of hosts without a live instance for the whole hold-down. */
  hostless(): ReadonlySet<string> {
    return this.#heldFor(this.#hosts, this.#core.settings.holdDownMs, true)
  }

  /** The app `other` has a name that this process declares. */
  want(other: string): void {
    this.#wanted.add(other)
  }

  /** Of the apps that `want` was called with, those without a live instance for the whole hold-down. */
  absentApps(): ReadonlySet<string> {
    return this.#heldFor(this.#absences, this.#core.settings.holdDownMs, true)
  }

  /** How long this process has been observing without a gap. */
  livedMs(): number {
    return this.#isBlind() ? 0 : this.#core.parts.clock.mono() - this.#livesSince
  }

  /** How many instances of the app are older than this one: they do the work of the app first. */
  rank(): number {
    const { instance } = this.#core.fleet
    const startedAt = this.#own().find(({ id }) => id === instance)?.startedAt ?? Number.POSITIVE_INFINITY
    return this.#own().filter((peer) => isBefore(peer, instance, startedAt)).length
  }

  /** The caller is about to act on what is seen now. */
  act(): void {
    this.#actedOn = this.#sums()
  }

  /** A wait is over that was not over at the last `act`. */
  hasChanged(): boolean {
    return this.#sums() !== this.#actedOn
  }

  untilNextMs(): number {
    const { holdDownMs, retireAfterMs } = this.#core.settings
    const leftMs = holdDownMs - this.livedMs()
    const waits = [
      this.#outs.untilNextMs(holdDownMs),
      this.#gone.untilNextMs(holdDownMs),
      this.#contests.untilNextMs(retireAfterMs),
      this.#absences.untilNextMs(holdDownMs),
      this.#hosts.untilNextMs(holdDownMs),
    ]
    return Math.min(...waits, leftMs > 0 ? leftMs : Number.POSITIVE_INFINITY)
  }

  /** Nothing is known about the time until now. */
  restart(): void {
    this.#livesSince = this.#core.parts.clock.mono()
    for (const each of [this.#outs, this.#gone, this.#contests, this.#absences, this.#hosts]) each.restart()
  }

  /** No heartbeat was answered for a lease: what this process saw last may have changed since. */
  #isBlind(): boolean {
    return this.#core.parts.clock.mono() - this.#lookedAt >= this.#core.settings.leaseMs
  }

  #heldFor(clock: StateClock, ms: number, isSo: boolean): ReadonlySet<string> {
    return this.#isBlind() ? new Set() : clock.heldFor(ms, isSo)
  }

  #own(): readonly InstanceRecord[] {
    const core = this.#core
    return core.fleet.peers.filter(
      (peer) => ofApp(peer, core.settings.app) && !hasVanished(core, peer, core.time.estimate()),
    )
  }

  #note(): void {
    const core = this.#core
    const live = new Set(this.liveIds())
    const known = this.#record?.deployments ?? []
    for (const each of known) {
      const isGone = !live.has(each.id) && this.#isJudged(each)
      this.#outs.note(presenceOf(each), !counts(each) || isGone)
      this.#gone.note(stretchOf(each), isGone)
    }
    this.#outs.keepOnly(new Set(known.map(presenceOf)))
    this.#gone.keepOnly(new Set(known.map(stretchOf)))
    const contested = new Set(this.#contestedKeys())
    for (const key of contested) this.#contests.note(key, true)
    this.#contests.keepOnly(contested)
    this.#noteHosts()
    const apps = new Set(core.fleet.peers.filter(({ jobs }) => jobs.length > 0).map((peer) => peer.app))
    for (const each of this.#wanted) this.#absences.note(each, !apps.has(each))
  }

  #noteHosts(): void {
    const schedules = this.#record === null ? NO_SCHEDULES : hostSchedules(this.#record)
    const live = new Set(schedules.size === 0 ? [] : this.#own().flatMap(({ jobs }) => jobs))
    for (const schedule of schedules) this.#hosts.note(schedule, !live.has(schedule))
    this.#hosts.keepOnly(schedules)
  }

  /** Whether the list of peers tells if the deployment is live. The record is newer where a process registered since the last heartbeat. */
  #isJudged(deployment: DeploymentRecord): boolean {
    const foundAt = this.#foundAt.get(stretchOf(deployment)) ?? Number.POSITIVE_INFINITY
    return deployment.goneAt !== null || this.#core.fleet.listedAt >= foundAt
  }

  /** Each release waits anew: the processes that declare the schedule are warned about each. */
  #contestedKeys(): readonly string[] {
    const record = this.#record
    const newest = record === null ? null : newestExplicit(record)
    if (record === null || newest === null) return []
    return [...contestedSchedules(record, this.#own()).keys()].map((schedule) => contestKey(newest.id, schedule))
  }

  #report(record: AppRecord): void {
    this.#reportContested(record)
    this.#reportDisjoint()
  }

  #reportContested(record: AppRecord): void {
    const { fleet, parts, settings } = this.#core
    const { app, deployment, retireAfterMs } = settings
    const newest = newestExplicit(record)
    for (const [schedule, by] of contestedSchedules(record, this.#own())) {
      const isMine = by.some(({ id }) => id === fleet.instance)
      if (newest === null || !(isMine || (newest.id === deployment && this.#isEldestOf(deployment)))) continue
      this.#reportOnce(`contested ${contestKey(newest.id, schedule)}`, () =>
        parts.emit({
          ...{ type: 'schedule.contested', schedule, job: schedule, app, newest: newest.id },
          ...{ retireInMs: retireAfterMs, declaredBy: by.map(aboutProcess) },
        }),
      )
    }
  }

  #reportDisjoint(): void {
    const { fleet, parts, settings } = this.#core
    const { app, deployment, declared, host, pid } = settings
    const me = { id: fleet.instance, deployment, jobs: declared.map(({ id }) => id), host, pid }
    for (const other of disjointProcesses(me, this.#own())) {
      this.#reportOnce(`disjoint ${other.deployment}`, () =>
        parts.emit({ type: 'deployment.disjoint', app, deployment, other: aboutProcess(other), jobs: other.jobs }),
      )
    }
  }

  #reportOnce(key: string, emit: () => void): void {
    if (this.#reported.has(key)) return
    this.#reported.add(key)
    emit()
  }

  #isEldestOf(id: string): boolean {
    return firstOf(this.#own().filter((peer) => peer.deployment === id)) === this.#core.fleet.instance
  }

  #sums(): string {
    const { holdDownMs, retireAfterMs } = this.#core.settings
    return JSON.stringify([
      [...this.#outs.heldFor(holdDownMs, true)],
      [...this.#outs.heldFor(holdDownMs, false)],
      [...this.#gone.heldFor(holdDownMs, true)],
      [...this.#contests.heldFor(0, true)],
      [...this.#contests.heldFor(retireAfterMs, true)],
      [...this.#absences.heldFor(holdDownMs, true)],
      [...this.#hosts.heldFor(holdDownMs, true)],
      this.livedMs() >= holdDownMs,
    ])
  }
}

/** Changes when a deployment comes back, unless it is on probation: then it did not count in between either. */
function presenceOf({ id, readyAt, onProbation }: DeploymentRecord): string {
  return JSON.stringify([id, onProbation ? null : readyAt])
}

/** Changes whenever a deployment comes back, so that its absence between two looks counts anew. */
function stretchOf({ id, readyAt }: DeploymentRecord): string {
  return JSON.stringify([id, readyAt])
}

function contestKey(newest: string, schedule: string): string {
  return JSON.stringify([newest, schedule])
}

function contestedIn(key: string): string {
  const [, schedule] = JSON.parse(key) as [newest: string, schedule: string]
  return schedule
}

function idsOf(
  record: AppRecord,
  keyOf: (deployment: DeploymentRecord) => string,
  keys: ReadonlySet<string>,
): ReadonlySet<string> {
  return new Set(record.deployments.filter((each) => keys.has(keyOf(each))).map(({ id }) => id))
}

function aboutProcess({
  id,
  deployment,
  host,
  pid,
}: Pick<InstanceRecord, 'id' | 'deployment' | 'host' | 'pid'>): AboutProcess {
  return { instance: id, deployment, host, pid }
}

function firstOf(instances: readonly InstanceRecord[]): string | null {
  const [first] = instances.toSorted((a, b) => a.startedAt - b.startedAt || (a.id < b.id ? -1 : 1))
  return first?.id ?? null
}

function isBefore(peer: InstanceRecord, instance: string, startedAt: number): boolean {
  return peer.startedAt < startedAt || (peer.startedAt === startedAt && peer.id < instance)
}
