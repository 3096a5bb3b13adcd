import type { AppRecord, DeploymentRecord } from '../../model/app.ts'
import type { AboutProcess } from '../../model/event.ts'
import type { InstanceRecord } from '../../model/instance.ts'
import { contestedSchedules, disjointProcesses } from '../../policy/deploy/contested.ts'
import { counts, isLongSilent, newestExplicit } from '../../policy/deploy/deployment.ts'
import type { Core } from '../core.ts'
import { stateClock } from './state-clock.ts'

/** What this process has seen of its app's deployments, timed by its own monotonic clock. */
export interface FleetWatch {
  /** After every beat. */
  observe(): void
  /** The record as it is now. */
  adopt(record: AppRecord): void
  /** Deployments with a live or draining instance that declares something, this one included; sorted. */
  liveIds(): readonly string[]
  /** Deployments of the record that have not counted for the whole hold-down. */
  lostIds(record: AppRecord): ReadonlySet<string>
  /** Deployments that have counted for the whole hold-down. */
  steadyIds(): ReadonlySet<string>
  /** Deployments of the record without a live instance for the whole hold-down. Unlike lost ones, none of them is on probation and live. */
  absentIds(record: AppRecord): ReadonlySet<string>
  /** Schedules that the newest deployment has contested for all of `retireAfter`. */
  outwaited(): ReadonlySet<string>
  /** This other app has a name that this process declares. */
  want(app: string): void
  /** Of those, the apps without a live instance for the whole hold-down. */
  absentApps(): ReadonlySet<string>
  /** How long this process has been observing without a gap. */
  livedMs(): number
  /** How many instances of the app look after it before this one. */
  rank(): number
  /** What is seen now is about to be acted on. */
  act(): void
  /** A wait is over that was not over at the last `act`. */
  hasChanged(): boolean
  untilNextMs(): number
  restart(): void
}

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

export function fleetWatch(core: Core): FleetWatch {
  const { app, deployment, holdDownMs, retireAfterMs, leaseMs, host, pid } = core.settings
  const { clock, emit } = core.parts
  const mono = (): number => clock.mono()
  const outs = stateClock(mono)
  const gone = stateClock(mono)
  const contests = stateClock(mono)
  const absences = stateClock(mono)
  const wanted = new Set<string>()
  const told = new Set<string>()
  let record: AppRecord | null = null
  let livesSince = mono()
  let lookedAt = mono()
  let epoch: number | null = null
  let actedOn = ''

  const own = (): readonly InstanceRecord[] =>
    core.fleet.peers.filter((peer) => ofApp(peer, app) && !hasVanished(core, peer, core.time.estimate()))

  const liveIds = (): readonly string[] => [...new Set([deployment, ...own().map((peer) => peer.deployment)])].sort()

  const restart = (): void => {
    livesSince = mono()
    for (const each of [outs, gone, contests, absences]) each.restart()
  }

  const observe = (): void => {
    const now = mono()
    // After a gap, or a store that went back in time, nothing is known about the time in between.
    if (now - lookedAt >= leaseMs || (epoch !== null && epoch !== core.epochs.latest)) restart()
    lookedAt = now
    epoch = core.epochs.latest
    note()
    if (record !== null) tell(record)
  }

  const note = (): void => {
    const live = new Set(liveIds())
    const known = record?.deployments ?? []
    for (const each of known) outs.note(presenceOf(each), !counts(each) || !live.has(each.id))
    outs.keepOnly(new Set(known.map(presenceOf)))
    for (const each of known) gone.note(stretchOf(each), !live.has(each.id))
    gone.keepOnly(new Set(known.map(stretchOf)))
    const contested = new Set(contestedKeys())
    for (const key of contested) contests.note(key, true)
    contests.keepOnly(contested)
    const apps = new Set(core.fleet.peers.filter(({ jobs }) => jobs.length > 0).map((peer) => peer.app))
    for (const each of wanted) absences.note(each, !apps.has(each))
  }

  /** Every release waits for itself: the processes that declare the schedule are warned about each. */
  const contestedKeys = (): readonly string[] => {
    const newest = record === null ? null : newestExplicit(record)
    if (record === null || newest === null) return []
    return [...contestedSchedules(record, own()).keys()].map((schedule) => contestKey(newest.id, schedule))
  }

  const tell = (known: AppRecord): void => {
    const newest = newestExplicit(known)
    for (const [schedule, by] of contestedSchedules(known, own())) {
      const isMine = by.some(({ id }) => id === core.fleet.instance)
      if (newest === null || !(isMine || (newest.id === deployment && isEldestOf(deployment)))) continue
      tellOnce(`contested ${contestKey(newest.id, schedule)}`, () =>
        emit({
          ...{ type: 'schedule.contested', schedule, job: schedule, app, newest: newest.id },
          ...{ retireInMs: retireAfterMs, declaredBy: by.map(aboutProcess) },
        }),
      )
    }
    const me = { id: core.fleet.instance, deployment, jobs: core.settings.declared.map(({ id }) => id), host, pid }
    for (const other of disjointProcesses(me, own())) {
      tellOnce(`disjoint ${other.deployment}`, () =>
        emit({ type: 'deployment.disjoint', app, deployment, other: aboutProcess(other), jobs: other.jobs }),
      )
    }
  }

  const tellOnce = (key: string, emitIt: () => void): void => {
    if (told.has(key)) return
    told.add(key)
    emitIt()
  }

  const isEldestOf = (id: string): boolean =>
    firstOf(own().filter((peer) => peer.deployment === id)) === core.fleet.instance

  const rank = (): number => own().filter((peer) => isBefore(peer, core.fleet.instance, startedAt())).length
  const startedAt = (): number =>
    own().find(({ id }) => id === core.fleet.instance)?.startedAt ?? Number.POSITIVE_INFINITY

  const sums = (): string =>
    JSON.stringify([
      [...outs.heldFor(holdDownMs, true)],
      [...outs.heldFor(holdDownMs, false)],
      [...gone.heldFor(holdDownMs, true)],
      [...contests.heldFor(0, true)],
      [...contests.heldFor(retireAfterMs, true)],
      [...absences.heldFor(holdDownMs, true)],
      livedMs() >= holdDownMs,
    ])

  const livedMs = (): number => mono() - livesSince

  return {
    observe,
    adopt(next) {
      record = next
      note()
      tell(next)
    },
    liveIds,
    lostIds: (next) => idsOf(next, presenceOf, outs.heldFor(holdDownMs, true)),
    steadyIds: () => (record === null ? new Set() : idsOf(record, presenceOf, outs.heldFor(holdDownMs, false))),
    absentIds: (next) => idsOf(next, stretchOf, gone.heldFor(holdDownMs, true)),
    outwaited: () => new Set([...contests.heldFor(retireAfterMs, true)].map(contestedIn)),
    want: (other) => void wanted.add(other),
    absentApps: () => absences.heldFor(holdDownMs, true),
    livedMs,
    rank,
    act() {
      actedOn = sums()
    },
    hasChanged: () => sums() !== actedOn,
    untilNextMs() {
      const leftMs = holdDownMs - livedMs()
      const waits = [
        outs.untilNextMs(holdDownMs),
        gone.untilNextMs(holdDownMs),
        contests.untilNextMs(retireAfterMs),
        absences.untilNextMs(holdDownMs),
      ]
      return Math.min(...waits, leftMs > 0 ? leftMs : Number.POSITIVE_INFINITY)
    },
    restart,
  }
}

/** A deployment that came back in between has another one, unless it is on probation: then it did not count in between either. */
function presenceOf({ id, readyAt, onProbation }: DeploymentRecord): string {
  return JSON.stringify([id, onProbation ? null : readyAt])
}

/** Another one after every return, so that an absence between two looks counts anew. */
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
