import type { RunOfFire } from '../../../packages/checker/src/history.ts'
import type { Change } from '../../../packages/cronce/src/model/change.ts'
import { isRunByCaller } from '../../../packages/cronce/src/model/exclusive-jobs.ts'
import type { Instant, ScheduleState, Source } from '../../../packages/cronce/src/model/schedule.ts'
import type { NamespaceData } from '../../../packages/cronce/src/store/memory/data.ts'
import { boundsOf, ownershipMsOf, takeOverMsOf } from '../bounds.ts'
import type { Node } from '../node.ts'
import { DEFAULT_APP, planIn, type Release, type Scenario } from '../scenario.ts'
import type { Step } from './mirror.ts'
import { instantText, type Report } from './report.ts'

/** Judges which app has which schedule, and which processes run it, by what the processes are and not by what they decide. */
export interface AppsJudge {
  /** Before and after every write to the list of instances. */
  readonly sampled: () => void
  readonly changed: (step: Step) => void
  /** A handler was called in this process. */
  readonly started: (run: RunOfFire, node: string) => void
  /** At the end of the calm: each job that a live process is entitled to is its app's, and fires. */
  readonly finish: (live: readonly Node[]) => void
}

export interface AppsJudgeParts {
  readonly scenario: Scenario
  readonly data: () => NamespaceData
  readonly storeNow: () => number
  readonly worldNow: () => number
  /** `undefined` for the operators, which have no jobs. */
  readonly releaseOf: (node: string) => Release | undefined
  readonly report: Report
  readonly count: (what: string) => void
}

const appOf = ({ app }: Release): string => app ?? DEFAULT_APP
const ownerOf = (source: Source): string | null => (source.kind === 'code' ? source.app : null)

export function judgeApps(parts: AppsJudgeParts): AppsJudge {
  const { scenario, data, worldNow, releaseOf, report, count } = parts
  const presence = createPresence(scenario)
  /** The owner of the schedule when a run was claimed, by schedule and token. */
  const claimed = new Map<string, string | null>()
  /** The name under which an instant of a job with two names was planned. */
  const planned = new Map<string, string>()
  /** Jobs of which one name was retired as renamed. Before, a job that is renamed without `was` is two jobs. */
  const linked = new Set<string>()
  /** When a name last passed to another app, by the store's clock. */
  const yieldedAt = new Map<string, number>()
  /** Apps whose processes have run schedules that a client made. */
  const clientMadeBy = new Set<string>()

  const sampled = (): void => {
    const present = new Set<string>()
    for (const { record, goneAt } of data().instances.values()) {
      if (goneAt !== null || record.jobs.length === 0) continue
      present.add(record.app)
    }
    presence.sample(present, worldNow(), () => count('an app came back'))
  }

  /** A name passes to another app when it is retired and not renamed, or when its app has left. */
  const checkOwner = ({ before, after, who }: Step): void => {
    if (before === undefined || after === undefined) return
    const [from, to] = [ownerOf(before.source), ownerOf(after.source)]
    if (from === to) return
    const about = `${after.id} passed from ${from ?? 'a client'} to ${to ?? 'a client'} by ${who}`
    if (from === null || to === null) {
      report('S15 own app', `${about}, which only a removal allows`)
      return
    }
    yieldedAt.set(after.id, parts.storeNow())
    const now = worldNow()
    const isRenamed = before.retirements?.at(-1)?.renamedTo !== undefined
    if (to !== releaseAppOf(who)) report('S15 own app', `${about}, a process of ${releaseAppOf(who)}`)
    if (before.retiredAt !== null && !isRenamed) count('name passed on: retired')
    else if (presence.wasAbsent(from, now)) count('name passed on: app gone')
    else report('S15 own app', `${about}, though ${from} is live`)
  }

  const releaseAppOf = (who: string): string | null => {
    const release = releaseOf(who)
    return release === undefined ? null : appOf(release)
  }

  /**
   * An instant of a job that has two names is planned under one of them. Instants that a name had when another app yielded it belong to
   * that app's job.
   */
  const checkNames = ({ before, after, change }: Step): void => {
    const owner = after === undefined ? null : ownerOf(after.source)
    if (owner === null || (before !== undefined && ownerOf(before.source) !== owner)) return
    const others = otherNamesOf(scenario, owner, change.id)
    if (others.length === 0) return
    const pair = `${owner} ${[change.id, ...others].sort().join()}`
    const isRetired = after !== undefined && after.retiredAt !== null
    if (!linked.has(pair) && isRetired && after.retirements?.at(-1)?.renamedTo !== undefined) {
      linked.add(pair)
      if (isNamedLate(scenario, owner, [change.id, ...others])) count('renamed one release late')
    }
    for (const { schedule, dueAt, nonce } of change.creates) {
      if (nonce !== '' || dueAt <= (yieldedAt.get(schedule) ?? 0)) continue
      const key = `${pair} ${dueAt}`
      const known = planned.get(key)
      const isLate = isNamedLate(scenario, owner, [schedule, ...others])
      // What two jobs have had until then may be on record as passed over under either name, but runs under one.
      if (isLate && isPassedOver(change, dueAt)) continue
      const isOneJob = !isLate || (linked.has(pair) && isOpen(after!, dueAt))
      if (known !== undefined && known !== schedule && isOneJob) {
        report('S16 one name', `${schedule} ${instantText(dueAt)} was planned as ${known} already`)
      }
      planned.set(key, schedule)
    }
  }

  /** By the owner before the claim: a process does not take a schedule and a fire of it in one step. */
  const checkClaims = ({ before, after, runs, who }: Step): void => {
    for (const { before: earlier, after: run } of runs) {
      if (earlier !== undefined || run === undefined || run.ending !== null || isRunByCaller(run.job)) continue
      const source = (before ?? after)?.source
      const release = releaseOf(who)
      if (source === undefined || release === undefined) continue
      const owner = ownerOf(source)
      claimed.set(`${run.token} ${run.schedule}`, owner)
      if (owner !== null && owner !== appOf(release)) {
        report(
          'S15 own app',
          `${who} of ${appOf(release)} claimed a fire of ${run.schedule}, which is that of ${owner}`,
        )
      }
      const names = [run.job, ...otherNamesOf(scenario, appOf(release), run.job)]
      if (names.every((name) => planIn(release, name) === undefined && release.jobs[name] === undefined)) {
        report('S15 own app', `${who} claimed a fire of ${run.schedule} without having the job ${run.job}`)
      }
      if (owner === null && !clientMadeBy.has(appOf(release))) {
        clientMadeBy.add(appOf(release))
        if (clientMadeBy.size === 2) count('client-made schedules run by two apps')
      }
    }
  }

  return {
    sampled,
    changed(step) {
      sampled()
      checkOwner(step)
      checkNames(step)
      checkClaims(step)
    },
    started({ schedule, token }, node) {
      const owner = claimed.get(`${token} ${schedule}`)
      const app = releaseAppOf(node)
      if (owner === undefined)
        report('S15 own app', `${node} started run ${token} of ${schedule}, which it never claimed`)
      else if (owner !== null && owner !== app)
        report('S15 own app', `${node} of ${app} started run ${token} of ${schedule}, which was that of ${owner}`)
    },
    finish(live) {
      const apps = new Set(scenario.releases.map(appOf))
      // A request to drain that took very long may have arrived after it was taken back.
      const isDrained = live.some(({ app }) => data().instances.get(app.instance ?? '')?.record.drain === true)
      if (apps.size < 2 || isDrained || scenario.calmMs < ownershipMsOf(scenario)) return
      judgeEntitled(
        parts,
        live.map(({ release }) => release),
      )
    },
  }
}

/** Names that the job of this name has in other releases of the app. */
function otherNamesOf({ releases }: Scenario, app: string, name: string): readonly string[] {
  const links = releases
    .filter((release) => appOf(release) === app)
    .flatMap(({ jobs }) => Object.entries(jobs))
    .flatMap(([id, { was }]) => (was === undefined ? [] : [[id, was]]))
  const linked = links.filter((link) => link.includes(name)).flat()
  return [...new Set(linked)].filter((other) => other !== name)
}

function isPassedOver({ history }: Change, dueAt: Instant): boolean {
  const reasons = ['while-retired', 'calendar']
  return history.some((line) => line.dueAt === dueAt && line.nonce === '' && reasons.includes(line.ending.reason))
}

function isOpen({ open }: ScheduleState, dueAt: Instant): boolean {
  return open.some((fire) => fire.dueAt === dueAt && fire.nonce === '')
}

/** Whether a release of the app has a job that got its name from another one without a word about that. */
function isNamedLate({ releases }: Scenario, app: string, names: readonly string[]): boolean {
  const own = releases.filter((release) => appOf(release) === app)
  const renamed = names.filter((name) => own.some(({ jobs }) => jobs[name]?.was !== undefined))
  return renamed.some((name) => own.some(({ jobs }) => jobs[name] !== undefined && jobs[name]!.was === undefined))
}

/** Clocks of processes run at most this much faster than the world's. */
const FASTEST = 1.06

/** Longer than a declaration can be on its way: a process that appeared since may have been missed. */
const MISSED_MS = 120_000

/** Which apps have had a live process, and since when not. */
function createPresence({ holdDownMs, leaseMs }: Scenario) {
  const lastSeen = new Map<string, number>()
  /** When an absence of at least the hold-down ended. */
  const absentUntil = new Map<string, number>()
  /** Since when each is present, and when it was last seen before that. */
  const stretches = new Map<string, { readonly since: number; readonly earlier: number | undefined }>()
  let before: ReadonlySet<string> = new Set()
  const isLong = (app: string, now: number): boolean => now - (lastSeen.get(app) ?? now) >= holdDownMs / FASTEST
  return {
    sample(present: ReadonlySet<string>, now: number, returned: () => void): void {
      for (const app of before) {
        const { since, earlier } = stretches.get(app)!
        // Observers look with each heartbeat: a process that joins and leaves in between is not seen.
        if (!present.has(app) && now - since < leaseMs && earlier !== undefined) lastSeen.set(app, earlier)
      }
      for (const app of present) {
        if (!before.has(app)) stretches.set(app, { since: now, earlier: lastSeen.get(app) })
        // What is there now and was there at the last sample was there in between.
        if (!before.has(app) && isLong(app, now)) {
          absentUntil.set(app, now)
          returned()
        }
        lastSeen.set(app, now)
      }
      before = present
    },
    wasAbsent(app: string, now: number): boolean {
      const isAbsent = !before.has(app) && (isLong(app, now) || !lastSeen.has(app))
      return isAbsent || now - (absentUntil.get(app) ?? Number.NEGATIVE_INFINITY) < MISSED_MS
    },
  }
}

/** The processes of one app that are live at the end. */
interface LiveApp {
  readonly app: string
  readonly releases: readonly Release[]
}

function judgeEntitled(parts: AppsJudgeParts, live: readonly Release[]): void {
  const { data, scenario, report, count } = parts
  const declaring = live.filter(({ jobs }) => Object.keys(jobs).length > 0)
  const apps = [...new Set(declaring.map(appOf))].map((app): LiveApp => {
    return { app, releases: declaring.filter((release) => appOf(release) === app) }
  })
  const all = new Set(scenario.releases.map(appOf))
  if (apps.length < all.size) count('an app is gone for good')
  for (const name of new Set(declaring.flatMap(ownNames))) {
    const state = data().schedules.get(name)
    const isRenamed = apps.some(({ app }) => otherNamesOf(scenario, app, name).length > 0)
    if (state?.source.kind === 'client' || isRenamed) continue
    const why = whyStopped(parts, apps, name, state)
    if (why !== null) report('L7 entitled job', `${name} ${why}`)
    else if (state !== undefined) checkGoing(parts, apps, state)
  }
  for (const app of apps) checkRenamed(parts, app, apps)
  for (const state of data().schedules.values()) if (state.source.kind === 'client') checkGoing(parts, apps, state)
}

/** Only jobs with one schedule for all processes. `judge-places.ts` judges the others. */
function ownNames({ jobs }: Release): readonly string[] {
  return Object.keys(jobs).filter((name) => jobs[name]!.isOnEachHost !== true && jobs[name]!.on === undefined)
}

/** Why a name that a live process is entitled to is not that of its app. `null`: it is, or no process is certainly entitled to it. */
function whyStopped(
  parts: AppsJudgeParts,
  apps: readonly LiveApp[],
  name: string,
  state: ScheduleState | undefined,
): string | null {
  const entitled = apps.filter((app) => isEntitled(app, name))
  if (entitled.length === 0) return null
  const names = entitled.map(({ app }) => app).join(' and ')
  if (state === undefined) return `is declared by ${names}, and there is no such schedule`
  const owner = ownerOf(state.source)
  const owning = apps.find(({ app }) => app === owner)
  if (state.retiredAt !== null) {
    const isKept = owning === undefined && isCalled(parts, owner)
    return isFree(parts, state) && !isKept ? `is declared by ${names}, and is retired` : null
  }
  if (owning === undefined) {
    return isCalled(parts, owner) ? null : `is declared by ${names}, and is that of ${owner}, which is gone`
  }
  if (owning.releases.some(({ jobs }) => jobs[name] !== undefined)) return null
  if (mustRetire(parts.scenario, owning, name))
    return `is declared by ${names}, and is that of ${owner}, which has dropped it`
  return null
}

/** Retired long enough for every app that declares the name to have tried to take it. */
function isFree({ scenario, storeNow }: AppsJudgeParts, { retiredAt }: ScheduleState): boolean {
  return retiredAt !== null && storeNow() - retiredAt >= takeOverMsOf(scenario)
}

/** A job that its app has under two names, or is about to rename, goes on under one of them. */
function checkRenamed(parts: AppsJudgeParts, { app, releases }: LiveApp, apps: readonly LiveApp[]): void {
  const { scenario, data, report } = parts
  for (const name of new Set(releases.flatMap(({ jobs }) => Object.keys(jobs)))) {
    const names = [name, ...otherNamesOf(scenario, app, name)]
    const isEntitledTo = releases.every(({ jobs }) => names.some((one) => jobs[one] !== undefined))
    if (names.length === 1 || !isEntitledTo) continue
    const states = names.flatMap((one) => data().schedules.get(one) ?? [])
    const own = states.filter(({ source }) => ownerOf(source) === app)
    // If other apps that keep their names have all of these, none is left for this one.
    const taken = states.filter(({ source }) => {
      const owner = ownerOf(source)
      return owner !== app && (isCalled(parts, owner) || apps.some((other) => other.app === owner))
    })
    const active = own.filter(({ retiredAt }) => retiredAt === null)
    // Refused while another app has the declared name, or runs the job under another of its names.
    const isElsewhere = taken.some(({ id, retiredAt }) => id === name || retiredAt === null)
    if (active.length === 0 && own.length > 0) {
      report('L7 entitled job', `${names.join(' or ')} is declared by ${app}, and is retired under each name`)
    } else if (active.length === 0 && taken.length < names.length && !isElsewhere) {
      report('L7 entitled job', `${names.join(' or ')} is declared by ${app}, which has neither`)
    }
    for (const state of active) checkGoing(parts, apps, state)
  }
}

/**
 * Whether an app keeps a name that it gets: all of its processes declare it, or belong to one deployment, or have no ids. In the midst of
 * a deploy that drops it, that depends on which release is the newest.
 */
function isEntitled({ releases }: LiveApp, name: string): boolean {
  // A release that has the job on each host, or where a label is, does not declare this schedule.
  const declaring = releases.filter((release) => ownNames(release).includes(name))
  if (declaring.length === 0) return false
  const isOneDeployment = new Set(releases.map(({ id }) => id)).size === 1
  const hasNoIds = releases.every(({ isImplicit }) => isImplicit === true)
  return declaring.length === releases.length || isOneDeployment || hasNoIds
}

/** Whether an app whose processes do not declare a name must have retired it: with ids, and unless its deployment ever declared it. */
function mustRetire(scenario: Scenario, { app, releases }: LiveApp, name: string): boolean {
  const [first] = releases
  if (releases.some(({ id, isImplicit }) => isImplicit === true || id !== first!.id)) return false
  // An operator's choice holds until another id appears.
  if (scenario.actions.some(({ kind }) => kind === 'op-activate')) return false
  return !scenario.releases.some((release) => {
    return appOf(release) === app && release.id === first!.id && release.jobs[name] !== undefined
  })
}

/** Whether a process of an app has called `runDue`: it keeps its names for a day after that. */
function isCalled({ data }: AppsJudgeParts, app: string | null): boolean {
  return [...data().instances.values()].some(({ record }) => record.app === app && record.transient === true)
}

/** A schedule whose job a live process of its app has is neither left behind nor stopped. */
function checkGoing(parts: AppsJudgeParts, apps: readonly LiveApp[], state: ScheduleState): void {
  const { storeNow, scenario, report, data } = parts
  const { id, definition, source, nextAt, pause, retiredAt } = state
  if (definition.on !== undefined) return
  const owner = ownerOf(source)
  // What a client made for a job runs in the app that has the name of the job.
  const named = data().schedules.get(definition.job)
  const holder = named === undefined ? null : ownerOf(named.source)
  if (owner === null && holder !== null && !apps.some(({ app }) => app === holder) && isCalled(parts, holder)) return
  const isRun = apps.some(({ app, releases }) => {
    return (owner === null || owner === app) && releases.some(({ jobs }) => jobs[definition.job] !== undefined)
  })
  if (!isRun || nextAt === null || pause !== null || retiredAt !== null) return
  const lateMs = storeNow() - nextAt
  if (lateMs > boundsOf(scenario).recoveryMs) {
    report('L7 entitled job', `${id} of ${owner ?? 'a client'} has not planned its instants for ${lateMs} ms`)
  }
}
