import type { AppRecord, DeploymentRecord, PrunedDeployment } from '../../model/app.ts'
import type { InstanceRecord } from '../../model/instance.ts'
import { everyHost, hostName, plainJob } from '../../model/placement.ts'
import { DEFAULT_POLICY } from '../../model/policy.ts'
import type { Instant, ScheduleState } from '../../model/schedule.ts'
import { counts, findDeployment, hasOtherForm, highestOf, isOfEachHost, newestExplicit } from './deployment.ts'
import { otherNamesOf } from './job-names.ts'

const DAY_MS = 86_400_000

export type DeclaringInstance = Pick<InstanceRecord, 'id' | 'deployment' | 'jobs' | 'host' | 'pid'>

/** What an observer knows about the app besides its record. */
export interface Observation {
  readonly now: Instant
  /** All live and draining instances of the app, listed after the record and the schedules were read. */
  readonly instances: readonly DeclaringInstance[]
  /** Deployments that the observer saw counting for a whole hold-down. */
  readonly steady: ReadonlySet<string>
  /** Deployments that the observer saw without a live instance for a whole hold-down. */
  readonly absent: ReadonlySet<string>
  /** Schedules that the observer saw contested for all of `retireAfter`. */
  readonly outwaited: ReadonlySet<string>
  /** Schedules of hosts that the observer saw without a live instance for a whole hold-down. */
  readonly hostless: ReadonlySet<string>
  /** The active schedules of the app. */
  readonly active: ReadonlySet<string>
}

export type Verdict =
  | { readonly kind: 'keep' }
  /** It stays for now: the answer may change later, without any change of the record. */
  | { readonly kind: 'wait' }
  /** The newest deployment does not declare it, but these older live processes do. */
  | { readonly kind: 'contested'; readonly newest: DeploymentRecord; readonly by: readonly DeclaringInstance[] }
  | {
      readonly kind: 'retire'
      readonly cause: 'dropped' | 'absent'
      readonly by: { deployment: string; number: number }
    }

const KEEP: Verdict = { kind: 'keep' }
const WAIT: Verdict = { kind: 'wait' }

/** Whether a schedule that an app's code declared is to be retired. */
export function judgeRetirement(
  app: AppRecord,
  state: Pick<ScheduleState, 'id' | 'source' | 'definition' | 'updatedAt' | 'retiredAt'>,
  seen: Observation,
): Verdict {
  const { source } = state
  if (source.kind !== 'code' || source.app !== app.name || state.retiredAt !== null) return KEEP
  const by = seen.instances.filter((instance) => mayDeclare(app, instance, state.id))
  // Without an id, a live declaration is never overruled. A process that is not on record yet is about to register.
  if (by.some(({ deployment }) => findDeployment(app, deployment)?.explicit !== true)) return KEEP
  const declarers = declarersOf(app, state.id)
  // A deployment that came back has another number than the schedules that it has not declared since.
  const definer = app.deployments.find(({ number }) => number === source.number) ?? highestOf(declarers)
  const newest = newestExplicit(app)
  if (newest !== null && definer?.explicit === true) return judgeDropped(app, state, newest, by, seen)
  if (by.length > 0) return KEEP
  const live = app.deployments.filter((known) => known.goneAt === null && isOfEachHost(known, state.id))
  return live.length > 0 ? judgeHost(state.id, highestOf(live)!, seen) : judgeAbsent(app, state, seen)
}

/** Whether the process declares the schedule, or is about to. One that has its job on each host has that name as well, for what clients make. */
export function mayDeclare(app: AppRecord, { deployment, jobs }: DeclaringInstance, schedule: string): boolean {
  if (!jobs.includes(schedule)) return false
  const declares = findDeployment(app, deployment)?.declares ?? []
  return declares.includes(schedule) || !declares.includes(everyHost(schedule))
}

/** Whether it is the schedule that a job has on one host. */
function isOnHost({ id, definition }: Pick<ScheduleState, 'id' | 'definition'>): boolean {
  const { host: hosts = [] } = definition.on ?? {}
  return hosts.some((host) => id === hostName(plainJob(id), host))
}

/** The release has the job on each host, and no live process is on this one: its schedule goes with the host. */
function judgeHost(schedule: string, { id, number }: DeploymentRecord, { hostless }: Observation): Verdict {
  return hostless.has(schedule) ? { kind: 'retire', cause: 'absent', by: { deployment: id, number } } : WAIT
}

/** The newest explicit deployment decides. */
function judgeDropped(
  app: AppRecord,
  state: Pick<ScheduleState, 'id' | 'definition'>,
  newest: DeploymentRecord,
  by: readonly DeclaringInstance[],
  seen: Observation,
): Verdict {
  const { id: schedule } = state
  if (isOfEachHost(newest, schedule)) return by.length > 0 ? KEEP : judgeHost(schedule, newest, seen)
  if (newest.declares.includes(schedule)) return KEEP
  // Its job goes on under that name as soon as the declaration is accepted.
  if (otherNamesOf(app, schedule).some((name) => newest.declares.includes(name) && !seen.active.has(name))) return WAIT
  const verdict: Verdict = {
    kind: 'retire',
    cause: 'dropped',
    by: { deployment: newest.id, number: newest.number },
  }
  if (!counts(newest)) return WAIT
  if (app.activated === newest.id) return verdict
  const goesOn = hasOtherForm(newest, schedule, isOnHost(state))
  if (by.length > 0 && !goesOn) return seen.outwaited.has(schedule) ? verdict : { kind: 'contested', newest, by }
  return seen.steady.has(newest.id) ? verdict : WAIT
}

/** No live process declares it: it is given up when a live deployment is its evident successor, or after a long time. */
function judgeAbsent(
  app: AppRecord,
  state: Pick<ScheduleState, 'id' | 'source' | 'definition' | 'updatedAt'>,
  { now, instances, absent, active }: Observation,
): Verdict {
  const isDeclared = (name: string): boolean => instances.some((instance) => mayDeclare(app, instance, name))
  // Its job goes on under that name as soon as the declaration is accepted.
  if (otherNamesOf(app, state.id).some((name) => isDeclared(name) && !active.has(name))) return WAIT
  const declarers = declarersOf(app, state.id)
  // A lost one may be on probation, and may have been live a moment ago.
  if (declarers.some(({ id, lost }) => !lost || !absent.has(id))) return WAIT
  const last = highestOf(declarers)
  const isOtherForm = (next: DeploymentRecord): boolean => hasOtherForm(next, state.id, isOnHost(state))
  const isRelated = ({ declares }: DeploymentRecord): boolean => declares.some((name) => last?.declares.includes(name))
  const live = new Set(instances.map(({ deployment }) => deployment))
  const successor = app.deployments
    .filter((next) => live.has(next.id) && (isOtherForm(next) || isRelated(next)))
    .toSorted((a, b) => b.number - a.number)[0]
  const by = successor ?? last
  const { windowMs } = state.definition.policy.misfire ?? DEFAULT_POLICY.misfire
  const goneAt = last?.goneAt ?? prunedDefiner(app, state)?.goneAt ?? state.updatedAt
  if (successor === undefined && now - goneAt < Math.max(DAY_MS, windowMs)) return WAIT
  return {
    kind: 'retire',
    // Its job has gone on in another form: what came due since is not to be caught up if this one comes back.
    cause: successor !== undefined && isOtherForm(successor) ? 'dropped' : 'absent',
    by: { deployment: by?.id ?? '', number: by?.number ?? 0 },
  }
}

/** The deployments that declare the schedule. If the app took it as the old name of a job: those that declare the job. */
function declarersOf(app: AppRecord, schedule: string): readonly DeploymentRecord[] {
  const declaring = (names: readonly string[]): readonly DeploymentRecord[] =>
    app.deployments.filter(({ declares }) => names.some((name) => declares.includes(name)))
  const own = declaring([schedule])
  return own.length > 0 ? own : declaring(otherNamesOf(app, schedule))
}

/** The deployment that defined the schedule, if the record no longer describes it in full. */
function prunedDefiner(
  { pruned = [] }: AppRecord,
  { source }: Pick<ScheduleState, 'source'>,
): PrunedDeployment | undefined {
  return source.kind === 'code' ? pruned.find(({ number }) => number === source.number) : undefined
}
