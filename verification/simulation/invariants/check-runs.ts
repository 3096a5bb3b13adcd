import { policyOf } from '../../../packages/cronce/src/model/policy.ts'
import type { RunRecord } from '../../../packages/cronce/src/model/record.ts'
import type { OpenFire, ScheduleState } from '../../../packages/cronce/src/model/schedule.ts'
import type { Mirror, Step, Touched } from './mirror.ts'
import { instantText, type Report } from './report.ts'

/** Who holds what: one run of a fire at a time, under tokens that only grow, in time, within the limits. */
export function checkRuns(step: Step, mirror: Mirror, report: Report): void {
  for (const run of step.runs) {
    if (run.before === undefined) checkGrant(step, run, mirror, report)
    else if (run.before.ending !== null && run.before !== run.after) {
      report('S5 single settle', `${label(run.wanted)} had ended (${run.before.ending.reason}) and was written again`)
    } else if (run.wanted.ending !== null) checkEnd(step, run, mirror, report)
  }
  checkHeld(step, mirror, report)
}

function checkGrant(step: Step, { wanted, after }: Touched<RunRecord>, mirror: Mirror, report: Report): void {
  const who = label(wanted)
  const fire = fireOf(step.after, wanted)
  if (after !== wanted || fire?.run?.token !== wanted.token) {
    report('S1 one holder', `${who} is on record, and its fire has ${fire?.run?.token ?? 'no run'}`)
    return
  }
  const highest = mirror.tokens.get(wanted.schedule) ?? 0n
  if (BigInt(wanted.token) <= highest) report('S2 token', `${who} was granted after token ${highest}`)
  if (step.now < fire.readyAt || fire.readyAt < fire.dueAt) {
    report('S7 not early', `${who} was granted at ${instantText(step.now)}, ready ${instantText(fire.readyAt)}`)
  }
  if (step.claimant !== wanted.instance)
    report('S3 fence', `${who} was granted to ${wanted.instance} by ${step.claimant}`)
  const owner = mirror.data().instances.get(wanted.instance)
  if (owner === undefined || owner.goneAt !== null) {
    report('S4 no resurrection', `${who} was granted to ${wanted.instance}, which is over`)
  }
  const earlier = fireOf(step.before, wanted)
  if (earlier?.run != null) report('S1 one holder', `${who} was granted while ${earlier.run.token} held the fire`)
  if (fire.attempt !== (earlier?.attempt ?? 0) + 1) report('S11 attempts', `${who} is attempt ${fire.attempt}`)
  const { retiredAt, pause } = step.after!
  if (retiredAt !== null || (pause !== null && fire.kind !== 'manual')) {
    report('S8 no phantom', `${who} was granted while its schedule was ${pause === null ? 'retired' : 'paused'}`)
  }
  checkLimits(step, wanted, fire, mirror, report)
}

function checkLimits(step: Step, run: RunRecord, fire: OpenFire, mirror: Mirror, report: Report): void {
  const policy = policyOf(fire.own?.policy ?? step.after!.definition.policy)
  const begun = step.runs.filter(({ before, wanted }) => before === undefined && wanted.ending === null)
  const ended = step.runs.filter(({ before, wanted }) => before?.ending === null && wanted.ending !== null)
  const limits = [
    { slot: `job:${run.job}`, limit: policy.limits.job },
    { slot: `group:${policy.limits.group?.name}`, limit: policy.limits.group?.limit ?? null },
  ]
  for (const { slot, limit } of limits) {
    if (limit === null) continue
    const holds = ({ wanted }: Touched<RunRecord>): boolean => wanted.slots.includes(slot)
    const open = (mirror.slots.get(slot) ?? 0) + begun.filter(holds).length - ended.filter(holds).length
    if (open > limit) report('S10 limits', `${label(run)} makes ${open} of ${limit} in ${slot}`)
  }
  if (fire.ignoresOverlap) return
  const capacity = policy.overlap.kind === 'allow' ? policy.overlap.limit : 1
  // Those that begin in the same step after this one look at this one, by their own policies.
  const later = new Set(begun.map(({ wanted }) => wanted.token).filter((token) => BigInt(token) > BigInt(run.token)))
  const running = step.after!.open.filter(({ run: other }) => other !== null && !later.has(other.token))
  if (running.length > capacity) report('S10 overlap', `${label(run)} makes ${running.length} of ${capacity}`)
}

function checkEnd(step: Step, { wanted, before, after }: Touched<RunRecord>, mirror: Mirror, report: Report): void {
  const held = step.before?.open.some(({ run }) => run?.token === wanted.token) === true
  if (!held) report('S3 fence', `${label(wanted)} was settled by ${step.who}, and its token was not current`)
  if (after !== wanted) report('S5 single settle', `${label(wanted)} was settled, and that is not on record`)
  if (before!.instance !== wanted.instance) report('S5 single settle', `${label(wanted)} changed hands`)
  const owner = mirror.data().instances.get(wanted.instance)
  if (wanted.ending?.reason === 'crashed' && owner !== undefined && owner.goneAt === null) {
    report('S1 one holder', `${label(wanted)} was taken from ${wanted.instance}, which is not over`)
  }
}

/** The state and the records agree on who holds what. */
function checkHeld({ after, change, runs }: Step, mirror: Mirror, report: Report): void {
  const open = new Set(mirror.openRuns.get(change.id)?.keys())
  for (const { after: run } of runs) {
    if (run === undefined) continue
    if (run.ending === null) open.add(run.token)
    else open.delete(run.token)
  }
  const held = (after?.open ?? []).flatMap(({ run }) => (run === null ? [] : [run.token]))
  if (held.length !== open.size || held.some((token) => !open.has(token))) {
    report('S13 conservation', `${change.id} holds runs ${held.join()}, and ${[...open].join()} are on record as open`)
  }
}

function fireOf(state: ScheduleState | undefined, run: RunRecord): OpenFire | undefined {
  return state?.open.find(({ dueAt, nonce }) => dueAt === run.dueAt && nonce === run.nonce)
}

function label({ schedule, dueAt, nonce, token, attempt }: RunRecord): string {
  return `run ${token} (attempt ${attempt}) of ${schedule} ${instantText(dueAt)}${nonce === '' ? '' : ` ${nonce}`}`
}
