import type { AppRecord, DeploymentRecord, PrunedDeployment, RefusedDeclaration, Rename } from '../../model/app.ts'
import type { InstanceRecord } from '../../model/instance.ts'
import type { Json } from '../../model/json.ts'
import { everyHost, plainJob } from '../../model/placement.ts'
import type { Instant } from '../../model/schedule.ts'
import { isEqual } from '../equal.ts'
import { namesOfJobs } from './job-names.ts'

/** Deployments without a live instance that the record describes in full. Those with one are never pruned. */
const MAX_GONE = 20
/** Pruned deployments whose number is kept. */
const MAX_PRUNED = 1_000
const MAX_RENAMES = 1_000
const MAX_RETIRED = 1_000
const MAX_REFUSED = 200
const LONG_GONE_MS = 3_600_000
const DAY_MS = 86_400_000

/** What a process declares, and as which deployment. */
export interface DeclaringProcess {
  readonly id: string
  readonly explicit: boolean
  readonly declares: readonly string[]
  readonly renames?: readonly Rename[]
  /** The option `watch` of its jobs; absent: registered before. */
  readonly watch?: Readonly<Record<string, Json>> | undefined
  /** It has been live for a whole hold-down, by its own monotonic clock: this ends probation. */
  readonly isSteady: boolean
  /** It registers for the first time, and no other instance of its deployment is live: the id comes back, though no peer saw it gone. */
  readonly isReturning?: boolean
}

/** Whether a deployment takes part in decisions right now. */
export function counts({ goneAt, onProbation }: DeploymentRecord): boolean {
  return goneAt === null && !onProbation
}

type Names = Pick<DeploymentRecord, 'declares'>

/** Whether a release with these declarations has the schedule as that of one host, also if no process of it is there yet. */
export function isOfEachHost({ declares }: Names, schedule: string): boolean {
  const job = plainJob(schedule)
  return job !== schedule && declares.includes(everyHost(job))
}

/** Whether the release has the schedule of this name, maybe as a job of each host, and no process on that one yet. */
export function hasSchedule(release: Names, schedule: string): boolean {
  return release.declares.includes(schedule) || isOfEachHost(release, schedule)
}

/**
 * Whether the release has the job of this schedule in its other form: on each host instead of once for all, or the reverse. Maybe under
 * another name.
 */
export function hasOtherForm(
  { declares, renames = [] }: Pick<DeploymentRecord, 'declares' | 'renames'>,
  schedule: string,
  isOnHost: boolean,
): boolean {
  const job = isOnHost ? plainJob(schedule) : schedule
  const isNow = (name: string): boolean => declares.includes(isOnHost ? name : everyHost(name))
  const isRenamed = ({ was, id }: Rename): boolean =>
    isOnHost ? was === job && isNow(id) : was !== job && plainJob(was) === job && isNow(plainJob(id))
  return isNow(job) || renames.some(isRenamed)
}

/** The schedules of hosts, by all deployments on record. */
export function hostSchedules({ deployments }: AppRecord): ReadonlySet<string> {
  const all = { declares: [...new Set(deployments.flatMap(({ declares }) => declares))] }
  const isName = (name: string): boolean => name !== everyHost(plainJob(name))
  return new Set(all.declares.filter((name) => isName(name) && isOfEachHost(all, name)))
}

export function findDeployment(app: AppRecord | null, id: string): DeploymentRecord | undefined {
  return app?.deployments.find((known) => known.id === id)
}

/**
 * Record a process before it declares anything. `live`: the deployments that have a live instance. `null`: the record says all of
 * it already.
 */
export function registerProcess(
  app: AppRecord | null,
  name: string,
  declaring: DeclaringProcess,
  { now, live }: { readonly now: Instant; readonly live: ReadonlySet<string> },
): AppRecord | null {
  if (declaring.declares.length === 0) return null
  const record = app ?? noApp(name)
  const known = findDeployment(record, declaring.id) ?? unpruned(record, declaring, now)
  const next =
    known === undefined ? firstAppearance(record, declaring, now) : returned(record, known, declaring, now, live)
  const objected = record.retired.filter((schedule) => isProtectedBy(record, next, declaring, schedule))
  if (next === known && objected.length === 0) return null
  const deployments = replaceDeployment(record.deployments, next)
  return withActive({
    ...prune({ ...record, deployments }, next.id),
    version: record.version + 1,
    // An operator's choice ends when an id appears for the first time.
    activated: known === undefined ? null : record.activated,
    retired: record.retired.filter((schedule) => !objected.includes(schedule)),
    tidiedFor: null,
  })
}

/** Mark deployments without a live instance. `diedEarly`: those whose last instance died within the hold-down of becoming ready. */
export function markGone(
  app: AppRecord,
  { now, live, diedEarly }: { now: Instant; live: ReadonlySet<string>; diedEarly: ReadonlySet<string> },
): AppRecord | null {
  const isGone = ({ id, goneAt }: DeploymentRecord): boolean => goneAt === null && !live.has(id)
  if (!app.deployments.some(isGone)) return null
  const deployments = app.deployments.map((known) =>
    isGone(known) ? { ...known, goneAt: now, onProbation: known.onProbation || diedEarly.has(known.id) } : known,
  )
  return withActive({ ...app, version: app.version + 1, deployments, tidiedFor: null })
}

/** Mark deployments that an observer saw not counting for a whole hold-down. */
export function markLost(app: AppRecord, ids: ReadonlySet<string>): AppRecord | null {
  const isLost = (known: DeploymentRecord): boolean => ids.has(known.id) && !known.lost && !counts(known)
  if (!app.deployments.some(isLost)) return null
  const deployments = app.deployments.map((known) => (isLost(known) ? { ...known, lost: true, cleared: false } : known))
  return withActive({ ...app, version: app.version + 1, deployments, tidiedFor: null })
}

/**
 * Whether an instance has been silent for longer than a live one can be, though no process has declared it dead: an hour if it only calls
 * `runDue`, a day for others, which renew their lease again when the store is back. For deployments only, not for runs.
 */
export function isLongSilent(
  { expired, renewedAt, transient }: Pick<InstanceRecord, 'expired' | 'renewedAt' | 'transient'>,
  now: Instant,
): boolean {
  return expired && now - renewedAt >= (transient === true ? LONG_GONE_MS : DAY_MS)
}

/** Deployments gone for an hour by the store's clock. No observer is needed: processes that only call `runDue` observe nothing. */
export function longGone({ deployments }: AppRecord, now: Instant): readonly string[] {
  return deployments.filter(({ goneAt }) => goneAt !== null && now - goneAt >= LONG_GONE_MS).map(({ id }) => id)
}

/** An operator decides which deployment counts, until an id appears for the first time. `null`: it is unknown or has no live instance. */
export function activateDeployment(app: AppRecord, id: string, live: ReadonlySet<string>): AppRecord | null {
  const known = findDeployment(app, id)
  if (known === undefined || !live.has(id)) return null
  const forced = { ...known, number: highestNumber(app) + 1, goneAt: null, onProbation: false, lost: false }
  const deployments = replaceDeployment(app.deployments, forced)
  return withActive({ ...app, version: app.version + 1, deployments, activated: id, tidiedFor: null })
}

/** Announce retirements before they are written: a declaring process that objects changes the record, which stops them. */
export function announceRetirements(app: AppRecord, schedules: readonly string[]): AppRecord {
  const retired = [...app.retired.filter((name) => !schedules.includes(name)), ...schedules].slice(-MAX_RETIRED)
  return { ...app, version: app.version + 1, retired, announced: (app.announced ?? 0) + 1 }
}

/** Drop the schedules of hosts that are gone: a host that comes back declares its own again. */
export function withoutHosts(app: AppRecord, schedules: ReadonlySet<string>): AppRecord {
  const deployments = app.deployments.map((known) => {
    const declares = known.declares.filter((name) => !schedules.has(name))
    return declares.length === known.declares.length ? known : { ...known, declares }
  })
  return { ...app, deployments }
}

/** Nothing is left to retire for the deployments that are lost now, and for the newest explicit one. */
export function markTidied(app: AppRecord, number: number | null, cleared: ReadonlySet<string>): AppRecord | null {
  const isNew = (known: DeploymentRecord): boolean => cleared.has(known.id) && !known.cleared
  if (number === app.tidiedFor && !app.deployments.some(isNew)) return null
  const isForgotten = (known: DeploymentRecord): boolean => isNew(known) && !known.explicit
  const { deployments, ...others } = app.deployments.some(isForgotten) ? withoutVoidLinks(app) : app
  const next = deployments.map((known) => {
    if (!isNew(known)) return known
    // A process without an id brings its declarations along when it comes back.
    return { ...known, cleared: true, declares: known.explicit ? known.declares : [] }
  })
  return { ...others, version: app.version + 1, deployments: next, tidiedFor: number }
}

/**
 * Links that do not count, because of declarations that the record drops, must not count afterwards. Live processes keep theirs.
 */
function withoutVoidLinks(app: AppRecord): AppRecord {
  const names = namesOfJobs(app)
  const counted = (links: readonly Rename[]): readonly Rename[] =>
    links.filter(({ was, id }) => names.get(id)?.has(was))
  const deployments = app.deployments.map((known) =>
    known.lost && known.renames !== undefined ? { ...known, renames: counted(known.renames) } : known,
  )
  return { ...app, deployments, ...(app.renames === undefined ? {} : { renames: counted(app.renames) }) }
}

/** Replace the refusals of this process. `null`: the record has them already. */
export function recordRefusals(
  app: AppRecord,
  instance: string,
  refused: readonly RefusedDeclaration[],
): AppRecord | null {
  const others = app.refused.filter((entry) => entry.instance !== instance)
  // Refusals without room wait until entries of other processes go: if each process took their places, all would write forever.
  const next = [...others, ...refused].slice(0, Math.max(MAX_REFUSED, others.length))
  const key = (entries: readonly RefusedDeclaration[]): string =>
    entries
      .map(({ instance: by, code, schedule, message }) => [by, code, schedule, message].join(' '))
      .sort()
      .join('\n')
  return key(next) === key(app.refused) ? null : { ...app, version: app.version + 1, refused: next }
}

/**
 * The deployment that keeps this one from defining the schedule: of those that are not lost and declare it, a higher-numbered one.
 * On probation, any other one.
 */
export function outrankedBy(app: AppRecord, me: string, schedule: string): DeploymentRecord | null {
  const rank = rankOf(findDeployment(app, me))
  const higher = app.deployments.filter(
    ({ id, lost, number, declares }) => id !== me && !lost && number > rank && declares.includes(schedule),
  )
  return highestOf(higher)
}

/** On probation a deployment ranks below all others. */
export function rankOf(deployment: DeploymentRecord | undefined): number {
  return deployment === undefined || deployment.onProbation ? Number.NEGATIVE_INFINITY : deployment.number
}

/** The highest-numbered explicit deployment that is not lost. */
export function newestExplicit(app: AppRecord): DeploymentRecord | null {
  return highestOf(app.deployments.filter(({ explicit, lost }) => explicit && !lost))
}

function firstAppearance(app: AppRecord, declaring: DeclaringProcess, now: Instant): DeploymentRecord {
  const { id, explicit, declares, renames } = declaring
  return {
    ...{ id, explicit, number: highestNumber(app) + 1, declares: [...declares].sort(), ...withRenames([], renames) },
    ...withWatch(undefined, declaring),
    ...{ firstReadyAt: now, readyAt: now, goneAt: null, onProbation: false, lost: false, cleared: false },
  }
}

/** The same object if nothing has changed. */
function returned(
  app: AppRecord,
  known: DeploymentRecord,
  declaring: DeclaringProcess,
  now: Instant,
  live: ReadonlySet<string>,
): DeploymentRecord {
  const { isSteady, explicit, isReturning = false } = declaring
  const isBack = known.goneAt !== null
  const onProbation = known.onProbation && !isSteady
  const isRestarted = isChangeable(app, known, { explicit, isReturning })
  const { watch: _, ...others } = known
  const declared = declaredWith(known, declaring)
  const isSame = !isBack && onProbation === known.onProbation && explicit === known.explicit
  if (isSame && isDeclared(known, declared) && !isRestarted) return known
  const isRenumbered = !known.onProbation && (isRestarted || isRollback(app, known, live))
  return {
    ...others,
    ...{ explicit, ...declared, onProbation, goneAt: null, readyAt: isBack ? now : known.readyAt },
    number: isRenumbered ? highestNumber(app) + 1 : known.number,
    lost: known.lost && onProbation,
    cleared: false,
  }
}

type Declarations = Pick<DeploymentRecord, 'declares' | 'renames' | 'watch'>

/**
 * What the deployment declares, this process included. A job has one form in a deployment, `hosts: 'each'` or not: the first one stands
 * until all processes of it have ended.
 */
function declaredWith(known: DeploymentRecord, declaring: DeclaringProcess): Declarations {
  const [first, second] = declaring.isReturning === true ? [declaring, known] : [known, declaring]
  const added = second.declares.filter((name) => !isOtherForm(first, name, second))
  return {
    declares: [...new Set([...first.declares, ...added])].sort(),
    ...withRenames(known.renames, declaring.renames),
    ...withWatch(known.watch, declaring),
  }
}

/** Whether these names, which are those of `second`, have the job in another form than `first` has it. */
function isOtherForm(first: Names, name: string, second: Names): boolean {
  const job = plainJob(name)
  const isOnHost = job !== name && second.declares.includes(everyHost(job))
  if (first.declares.includes(name)) return false
  return isOnHost ? first.declares.includes(job) : first.declares.includes(everyHost(name))
}

function isDeclared(known: DeploymentRecord, { declares, renames, watch }: Declarations): boolean {
  return (
    isEqual(declares, known.declares) &&
    renames?.length === known.renames?.length &&
    JSON.stringify(watch) === JSON.stringify(known.watch)
  )
}

/** What a process says about its own jobs replaces what is on record about them. */
function withWatch(
  known: DeploymentRecord['watch'],
  { watch, declares }: DeclaringProcess,
): Pick<DeploymentRecord, 'watch'> {
  if (watch === undefined) return known === undefined ? {} : { watch: known }
  const others = Object.entries(known ?? {}).filter(
    ([job]) => !declares.includes(job) && !declares.includes(everyHost(job)),
  )
  const all = [...others, ...Object.entries(watch)].sort(([one], [other]) => (one < other ? -1 : 1))
  return all.length === 0 ? {} : { watch: Object.fromEntries(all) }
}

/** Without an id the same declarations have the same number. With one, they may have changed since the deployment was gone. */
function isChangeable(
  app: AppRecord,
  { number }: DeploymentRecord,
  { explicit, isReturning }: { readonly explicit: boolean; readonly isReturning: boolean },
): boolean {
  return isReturning && explicit && number === highestNumber(app)
}

/** A rollback gets a new number; an old server that reboots while a newer deployment runs does not. */
function isRollback(app: AppRecord, { goneAt, lost, number }: DeploymentRecord, live: ReadonlySet<string>): boolean {
  if (goneAt === null || !lost || number >= highestNumber(app)) return false
  return !app.deployments.some((other) => other.number > number && live.has(other.id))
}

/** The union, without duplicates. */
function withRenames(
  known: readonly Rename[] = [],
  more: readonly Rename[] = [],
): { readonly renames?: readonly Rename[] } {
  const added = more.filter(({ was, id }) => !known.some((one) => one.was === was && one.id === id))
  return known.length + added.length === 0 ? {} : { renames: [...known, ...added] }
}

/** Whether a declaration of the process keeps or brings back a schedule that is announced as retired. */
function isProtectedBy(
  app: AppRecord,
  own: DeploymentRecord,
  { declares }: DeclaringProcess,
  schedule: string,
): boolean {
  if (!declares.includes(schedule) || !own.declares.includes(schedule)) return false
  const newest = newestExplicit({ ...app, deployments: replaceDeployment(app.deployments, own) })
  return !own.explicit || newest === null || newest.id === own.id || hasSchedule(newest, schedule)
}

function withActive(app: AppRecord): AppRecord {
  const active = highestOf(app.deployments.filter(({ lost }) => !lost))
  return active === null ? app : { ...app, active: active.id }
}

function replaceDeployment(
  deployments: readonly DeploymentRecord[],
  next: DeploymentRecord,
): readonly DeploymentRecord[] {
  if (!deployments.some(({ id }) => id === next.id)) return [...deployments, next]
  return deployments.map((known) => (known.id === next.id ? next : known))
}

/**
 * Prune deployments without a live instance: first those that are lost and cleared, then lost ones, then others; the oldest first. Their
 * ids keep their numbers, so an old server that reboots is never taken for a new release.
 */
function prune(app: AppRecord, me: string): AppRecord {
  const weight = ({ lost, cleared, number }: DeploymentRecord): number =>
    (!lost ? 2 : !cleared ? 1 : 0) * 2 ** 50 + number
  const gone = app.deployments.filter(({ id, goneAt }) => id !== me && goneAt !== null)
  const dropped = new Set(gone.toSorted((a, b) => weight(b) - weight(a)).slice(MAX_GONE))
  const pruned = (app.pruned ?? []).filter(({ id }) => id !== me)
  if (dropped.size === 0 && pruned.length === (app.pruned?.length ?? 0)) return app
  const added = [...dropped].map(({ id, number, onProbation, goneAt }) => ({ id, number, onProbation, goneAt }))
  const names = namesOfJobs(app)
  const counted = [...dropped]
    .toSorted((a, b) => a.number - b.number)
    .flatMap(({ renames = [] }) => renames.filter(({ was, id }) => names.get(id)?.has(was)))
  const { renames = [] } = withRenames(app.renames, counted)
  return {
    ...app,
    ...(renames.length === 0 ? {} : { renames: renames.slice(-MAX_RENAMES) }),
    deployments: app.deployments.filter((deployment) => !dropped.has(deployment)),
    pruned: [...pruned, ...added].toSorted((a, b) => a.number - b.number).slice(-MAX_PRUNED),
  }
}

/** A pruned deployment that comes back: lost, and with its number. */
function unpruned(
  { pruned = [] }: AppRecord,
  { id, explicit }: DeclaringProcess,
  now: Instant,
): DeploymentRecord | undefined {
  const known = pruned.find((one) => one.id === id)
  if (known === undefined) return undefined
  const times = { firstReadyAt: now, readyAt: now, goneAt: now }
  return { ...known, explicit, declares: [], ...times, lost: true, cleared: true }
}

function highestNumber({ deployments, pruned = [] }: AppRecord): number {
  return highestOf<PrunedDeployment>([...deployments, ...pruned])?.number ?? 0
}

export function highestOf<Numbered extends { readonly number: number }>(
  deployments: readonly Numbered[],
): Numbered | null {
  return deployments.reduce<Numbered | null>(
    (best, next) => (best === null || next.number > best.number ? next : best),
    null,
  )
}

function noApp(name: string): AppRecord {
  const none = { active: null, activated: null, tidiedFor: null }
  return { name, version: 0, ...none, deployments: [], retired: [], refused: [] }
}
