import type { AppRecord } from '../../../packages/cronce/src/model/app.ts'
import type { StepRecord } from '../../../packages/cronce/src/model/record.ts'
import type { NamespaceData, StoredInstance } from '../../../packages/cronce/src/store/memory/data.ts'
import type { BeatAnswer, StepAnswer, StepCommand } from '../../../packages/cronce/src/store/store.ts'
import { openIn, type Step } from './mirror.ts'
import type { Report } from './report.ts'

/** The maximum speed of a process clock, relative to the world's. */
const FASTEST = 1.06

/**
 * An ended instance stays ended, and an instance that renewed within a lease is not declared dead, even if the store's
 * clock was set.
 */
export function checkInstance(
  id: string,
  before: StoredInstance | undefined,
  after: StoredInstance | undefined,
  report: Report,
): void {
  if (before === undefined || before.goneAt === null) return
  if (after !== undefined && after !== before) report('S4 no resurrection', `${id} was over, and was written again`)
}

/** How long a process that seems dead may still renew. */
const HINT_GRACE_MS = 300

/** However the clock was set, a lease ends as if it were renewed now, at the latest. */
export function checkLeases(instances: NamespaceData['instances'], now: number, report: Report): void {
  for (const [id, { goneAt, leaseUntil, leaseMs }] of instances) {
    const isClamped = goneAt !== null || leaseUntil <= now + leaseMs
    if (!isClamped) report('S1 one holder', `${id} has a lease of ${leaseMs} ms for ${leaseUntil - now} ms`)
  }
}

export function checkBeat(id: string, before: StoredInstance | undefined, answer: BeatAnswer, report: Report): void {
  if (answer.alive && before !== undefined && before.goneAt !== null) {
    report('S4 no resurrection', `${id} was over, and was told that it lives`)
  }
}

export function checkBurial(
  id: string,
  before: StoredInstance | undefined,
  after: StoredInstance | undefined,
  { sinceRenewalMs, isHint }: { readonly sinceRenewalMs: number; readonly isHint: boolean },
  report: Report,
): void {
  if (before === undefined || before === after || after?.record.state !== 'dead') return
  const leastMs = isHint ? HINT_GRACE_MS : before.leaseMs
  if (sinceRenewalMs < leastMs / FASTEST - 1) {
    report('S1 one holder', `${id} was declared dead ${sinceRenewalMs} ms after it renewed for ${before.leaseMs} ms`)
  }
}

/** A step is begun by live runs only, ended by the run that began it, and done once. */
export function checkStep(
  command: StepCommand,
  before: StepRecord | undefined,
  after: StepRecord | undefined,
  answer: StepAnswer,
  data: NamespaceData,
  report: Report,
): void {
  const about = `step ${command.step} of ${command.fire.schedule} ${command.fire.dueAt}`
  if (answer.kind !== 'applied') {
    if (before !== after) report('S6 once', `${about} was refused (${answer.kind}), and has changed`)
    return
  }
  if (before?.state === 'done') report('S6 once', `${about} was done, and was written again`)
  if (command.kind === 'resolve') return
  if (command.kind === 'begin') {
    const run = openIn(data.schedules.get(command.fire.schedule), command.fire)?.run
    const isLive = run?.token === command.token && data.instances.get(run.instance)?.goneAt === null
    if (!isLive) report('S3 fence', `${about} was begun by run ${command.token}, which is not live`)
    if (before?.state === 'begun' && before.token !== command.token && !command.rerun) {
      report('S6 once', `${about} was begun by run ${before.token}, and again by ${command.token}`)
    }
  } else if (before?.token !== command.token) {
    report('S6 once', `${about} was begun by run ${before?.token}, and ended by ${command.token}`)
  }
}

/** When an instance of a deployment was last there with a lease, by the clock of the world. */
export type Presence = Map<string, number>

export function presenceKey({ app, deployment }: { readonly app: string; readonly deployment: string }): string {
  return `${app} ${deployment}`
}

/**
 * A known deployment becomes active only if the one before it has had no live instance for the hold-down or is on probation, or if the
 * known one came back from an absence with a higher number, or while the one before it had no live instance. An operator may decide otherwise.
 */
export function checkDeployment(
  before: AppRecord | undefined,
  after: AppRecord,
  seen: {
    readonly now: number
    /** By the clock of the world, which nothing sets: that of `presence`. */
    readonly worldNow: number
    readonly holdDownMs: number
    readonly presence: Presence
    /** Deployments with a live instance that joined before any of the deployment that becomes active. */
    readonly live: ReadonlySet<string>
  },
  report: Report,
): void {
  if (before === undefined || before.active === null || before.active === after.active || after.active === null) return
  if (after.version !== before.version + 1) report('S9 lost update', `the app went to version ${after.version}`)
  const known = before.deployments.find(({ id }) => id === after.active)
  if (known === undefined) return
  const lastSeen = seen.presence.get(presenceKey({ app: before.name, deployment: before.active }))
  const isUnseen = lastSeen === undefined || (seen.worldNow - lastSeen) * FASTEST >= seen.holdDownMs
  const replaced = before.deployments.find(({ id }) => id === before.active)
  // A process that has just come back has joined, and may not have registered yet.
  const goneMs = seen.now - (replaced?.goneAt ?? seen.now)
  const isGone = isUnseen || goneMs * FASTEST >= seen.holdDownMs
  const isHigher = known.number > (replaced?.number ?? 0)
  const isBack = known.lost && (isHigher || (known.goneAt !== null && !seen.live.has(before.active)))
  if (!isGone && !isBack && replaced?.onProbation !== true)
    report('S9 deployment', `${after.active} replaced ${before.active}, which is there`)
}

/** Longer than a retirement can be on its way: a process of an older explicit release that joined since may have been missed. */
const MISSED_MS = 120_000

/** The default of `retireAfter`, which no simulated process changes. */
const RETIRE_AFTER_MS = 600_000

/**
 * A schedule is not retired while a live process declares it. Exempt: an operator's choice, a rename, and explicit releases whose process
 * joined while the retirement was on its way, or that a newer release has outwaited: for the hold-down, if it has the job in another form.
 */
export function checkRetirement(
  { before, after, now }: Step,
  data: NamespaceData,
  holdDownMs: number,
  report: Report,
): void {
  if (before === undefined || after === undefined || before.retiredAt !== null || after.retiredAt === null) return
  const { cause, deployment: by } = after.retirements?.at(-1) ?? {}
  if (after.source.kind !== 'code' || cause === 'renamed') return
  const { app } = after.source
  const known = data.apps.get(app)
  if (known?.activated != null) return
  const retirer = known?.deployments.find(({ id }) => id === by)
  const waitedMs = (now - (retirer?.readyAt ?? now)) * FASTEST
  const hasWaited = waitedMs >= (hasOtherForm(retirer?.declares ?? [], after.id) ? holdDownMs : RETIRE_AFTER_MS)
  for (const { record, goneAt } of data.instances.values()) {
    const isDeclaring = goneAt === null && record.app === app && declares(record.jobs, after.id)
    const isExplicit = known?.deployments.some(({ id, explicit }) => id === record.deployment && explicit) === true
    const isNew = now - record.startedAt < MISSED_MS
    const isOverruled = isNew || (hasWaited && isExplicit)
    // A host that comes back at this moment finds its schedule retired, and goes on with it.
    const isBack = 'host' in (after.definition.on ?? {}) && isNew
    if (!isDeclaring || (cause === 'dropped' && isOverruled) || isBack) continue
    report('S9 live job', `${after.id} was retired (${cause}), and ${record.id} is live and declares it`)
  }
}

/** A process that has the job on its host has the name of the job as well, and does not declare it. */
function declares(jobs: readonly string[], schedule: string): boolean {
  const isOnItsHost = jobs.some((job) => job.startsWith(`${schedule}@`) && !job.includes('='))
  return jobs.includes(schedule) && !isOnItsHost
}

/** Whether these declarations have the job on each host instead of once for all, or the reverse. */
function hasOtherForm(declared: readonly string[], schedule: string): boolean {
  const [job] = schedule.split('@')
  return declared.includes(job === schedule ? `${job}@*` : job!)
}
