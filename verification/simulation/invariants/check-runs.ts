import type { EventOf } from '../../../packages/cronce/src/model/event.ts'
import { policyOf } from '../../../packages/cronce/src/model/policy.ts'
import type { RunRecord } from '../../../packages/cronce/src/model/record.ts'
import { NOBODY, type OpenFire } from '../../../packages/cronce/src/model/schedule.ts'
import type { NamespaceData } from '../../../packages/cronce/src/store/memory/data.ts'
import { holdersOf, type Mirror, openIn, type Step, type TouchedFire } from './mirror.ts'
import { instantText, type Report } from './report.ts'

/** Ownership of runs: one run of a fire at a time, under growing tokens, in time, within the limits. */
export function checkRuns(step: Step, mirror: Mirror, report: Report): void {
  for (const { before, after } of step.runs) {
    if (before === undefined && after !== undefined) checkGrant(step, after, mirror, report)
    else if (before !== undefined && before.ending === null) checkEnd(before, after, mirror, report)
  }
  checkTokens(step, report)
}

/** An instance aborts a run as overtaken only if the store has refused it: its handler may go on beside the next run. */
export function checkFenced(run: EventOf<'run.fenced'>, data: NamespaceData, report: Report): void {
  // An instance that can't trust its lease rolls back its own transaction.
  if (run.refused === 'transaction') return
  const fire = data.schedules.get(run.schedule)?.open.find((one) => one.run?.token === run.token)
  const isLive = fire?.run?.instance === run.instance && data.instances.get(run.instance)?.goneAt === null
  if (isLive) report('S3 fence', `${label(run)} is live, and its ${run.refused} was taken for refused`)
}

function checkGrant(step: Step, run: RunRecord, mirror: Mirror, report: Report): void {
  const who = label(run)
  const fire = openIn(step.after, run)
  if (run.ending !== null || fire?.run?.token !== run.token) {
    report('S3 fence', `${who} was settled by ${step.who}, and its token was not current`)
    return
  }
  const highest = mirror.tokens.get(run.schedule) ?? 0n
  if (BigInt(run.token) <= highest) report('S2 token', `${who} was granted after token ${highest}`)
  if ((step.now < fire.readyAt && !isAllowedAhead(step, fire, mirror)) || fire.readyAt < fire.dueAt) {
    report('S7 not early', `${who} was granted at ${instantText(step.now)}, ready ${instantText(fire.readyAt)}`)
  }
  if (step.claimant !== run.instance) report('S3 fence', `${who} was granted to ${run.instance} by ${step.claimant}`)
  const owner = mirror.data().instances.get(run.instance)
  if (owner === undefined || owner.goneAt !== null) {
    report('S4 no resurrection', `${who} was granted to ${run.instance}, which is over`)
  }
  const earlier = openIn(step.before, run)
  if (earlier?.run != null) report('S1 one holder', `${who} was granted while ${earlier.run.token} held the fire`)
  const attempt = earlier?.attempt ?? step.fires.find((one) => isOf(one, run))?.before?.attempt ?? 0
  if (fire.attempt !== attempt + 1) report('S11 attempts', `${who} is attempt ${fire.attempt}`)
  const { retiredAt, pause, retirements } = step.after!
  // What waited when its job was renamed, also after it had left the code, runs under the old name.
  const isRetired = retiredAt !== null && retirements?.at(-1)?.renamedTo === undefined
  if (isRetired || (pause !== null && fire.kind !== 'manual')) {
    report('S8 no phantom', `${who} was granted while its schedule was ${pause === null ? 'retired' : 'paused'}`)
  }
  checkLimits(step, run, fire, mirror, report)
}

/** The first attempt of a scheduled fire, at its very due time, when nothing else of the schedule is open. */
function isAllowedAhead(
  { now, before, after }: Step,
  { kind, dueAt, readyAt, attempt }: OpenFire,
  mirror: Mirror,
): boolean {
  if (now < readyAt - mirror.claimAheadMs || kind !== 'scheduled' || dueAt !== readyAt || attempt !== 1) return false
  return before?.open.length === 0 && policyOf(after!.definition.policy).guarantee !== 'at-most-once'
}

function checkLimits(step: Step, run: RunRecord, fire: OpenFire, mirror: Mirror, report: Report): void {
  const policy = policyOf(fire.own?.policy ?? step.after!.definition.policy)
  const begun = step.runs.filter(({ before }) => before === undefined).map(({ after }) => after!.token)
  const limits = [
    { slot: `job:${run.job}`, limit: policy.limits.job },
    { slot: `group:${policy.limits.group?.name}`, limit: policy.limits.group?.limit ?? null },
  ]
  for (const { slot, limit } of limits) {
    if (limit === null) continue
    if (fire.run?.slots?.includes(slot) !== true) report('S10 limits', `${label(run)} does not count in ${slot}`)
    const open = (mirror.slots.get(slot) ?? 0) + holdersOf(slot, step.after) - holdersOf(slot, step.before)
    if (open > limit) report('S10 limits', `${label(run)} makes ${open} of ${limit} in ${slot}`)
  }
  if (fire.ignoresOverlap) return
  const capacity = policy.overlap.kind === 'allow' ? policy.overlap.limit : 1
  // Those that begin in the same step after this one look at this one, by their own policies.
  const later = new Set(begun.filter((token) => BigInt(token) > BigInt(run.token)))
  const running = step.after!.open.filter(({ run: other }) => other !== null && !later.has(other.token))
  if (running.length > capacity) report('S10 overlap', `${label(run)} makes ${running.length} of ${capacity}`)
}

function checkEnd(before: RunRecord, after: RunRecord | undefined, mirror: Mirror, report: Report): void {
  if (after === undefined) {
    const isAhead = mirror.claimAheadMs > 0 && before.attempt === 1 && before.startedAt === before.dueAt
    if (isAhead && !mirror.starts.has(startKey(before))) {
      mirror.unstarted.add(startKey(before))
      return
    }
    report('S13 conservation', `${label(before)} was open, and is gone without an end`)
    return
  }
  const isParked = after.ending === null && after.instance === NOBODY
  if (before.instance !== after.instance && !isParked) report('S5 single settle', `${label(after)} changed hands`)
  const owner = mirror.data().instances.get(after.instance)
  if (after.ending?.reason === 'crashed' && owner !== undefined && owner.goneAt === null) {
    report('S1 one holder', `${label(after)} was taken from ${after.instance}, which is not over`)
  }
}

/** A handler was called: its run must not have been given back as one that never started. */
export function checkStart(run: Pick<RunRecord, 'schedule' | 'token'>, mirror: Mirror, report: Report): void {
  mirror.starts.add(startKey(run))
  if (!mirror.unstarted.has(startKey(run))) return
  report('S1 one holder', `run ${run.token} of ${run.schedule} started after it was given back as not started`)
}

function startKey({ schedule, token }: Pick<RunRecord, 'schedule' | 'token'>): string {
  return `${token} ${schedule}`
}

/** A run has one line, and none while it is open. */
function checkTokens({ after, fires }: Step, report: Report): void {
  for (const { fire, linesAfter } of fires) {
    const open = openIn(after, fire)?.run?.token
    const tokens = linesAfter.flatMap(({ run }) => (run === null ? [] : [run.token]))
    const twice = [...tokens, ...(open === undefined ? [] : [open])].filter((token, at, all) => all.indexOf(token) < at)
    for (const token of twice) report('S5 single settle', `run ${token} of ${fire.schedule} is on record twice`)
  }
}

function isOf({ fire }: TouchedFire, run: RunRecord): boolean {
  return fire.dueAt === run.dueAt && fire.nonce === run.nonce
}

function label({ schedule, dueAt, nonce, token, attempt }: RunRecord | EventOf<'run.fenced'>): string {
  return `run ${token} (attempt ${attempt}) of ${schedule} ${instantText(dueAt)}${nonce === '' ? '' : ` ${nonce}`}`
}
