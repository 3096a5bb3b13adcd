import { type Ending, ending } from '../../model/outcome.ts'
import { DEFAULT_POLICY, type PolicyChoices } from '../../model/policy.ts'
import type { Instant, OpenFire, Wait } from '../../model/schedule.ts'
import { capacityOf } from './overlap.ts'
import { isActive } from './turn.ts'

/** The open fires of a schedule, with answers that are needed repeatedly. */
export interface OpenFires {
  readonly open: readonly OpenFire[]
  /** The policy of the schedule; a fire may have its own. */
  readonly choices: PolicyChoices
  readonly active: number
  readonly hasBackfill: boolean
}

export function openFiresOf(open: readonly OpenFire[], choices: PolicyChoices): OpenFires {
  const active = open.filter(isActive).length
  return { open, choices, active, hasBackfill: open.some(({ kind }) => kind === 'backfill') }
}

/** Whether the schedule itself planned the fire, without a request. */
export function isUnasked({ kind, round, wait }: OpenFire): boolean {
  return kind === 'scheduled' && round === 1 && wait?.cause !== 'asked'
}

/** Whether misfire applies to the fire: until its first claim, unless it was requested or has a queue with its own limit. */
export function isJudged(fire: OpenFire, choices: PolicyChoices): boolean {
  if (isActive(fire) || !isUnasked(fire)) return false
  const { overlap = DEFAULT_POLICY.overlap } = fire.own?.policy ?? choices
  return overlap.kind !== 'queue-all'
}

/** The instant after which a waiting fire is late; `null`: not while it waits for its turn. */
export function lateAfter(fire: OpenFire, among: OpenFires): Instant | null {
  const choices = fire.own?.policy ?? among.choices
  if (isBlocked(among, choices) && countsTurns(among, choices)) return null
  const { misfire = DEFAULT_POLICY.misfire } = choices
  return lateFrom(fire) + misfire.graceMs
}

/** Time before this instant does not count as lateness. */
function lateFrom({ readyAt, wait }: OpenFire): Instant {
  return Math.max(readyAt, wait?.since ?? readyAt)
}

export function isLate(fire: OpenFire, among: OpenFires, now: Instant): boolean {
  if (!isJudged(fire, among.choices)) return false
  const after = lateAfter(fire, among)
  return after !== null && now > after
}

/** The fires that are on time among those that misfire applies to: until they start or are late, they count for overlap. */
export function onTimeWaiters(among: OpenFires, now: Instant): readonly OpenFire[] {
  const { open, choices } = among
  return open.filter((fire) => isJudged(fire, choices) && fire.readyAt <= now && !isLate(fire, among, now))
}

/** As many other fires are active as the policy allows. */
function isBlocked({ active }: OpenFires, { overlap = DEFAULT_POLICY.overlap }: PolicyChoices): boolean {
  return active >= capacityOf(overlap)
}

/** Whether the time behind active fires does not count as lateness, because the policy promised the fire its turn. */
function countsTurns({ hasBackfill }: OpenFires, choices: PolicyChoices): boolean {
  const { overlap = DEFAULT_POLICY.overlap, misfire = DEFAULT_POLICY.misfire } = choices
  return overlap.kind === 'queue' || misfire.late === 'all' || hasBackfill
}

export interface LateFire {
  readonly fire: OpenFire
  /** How it ends, or what it is marked with while it keeps waiting. */
  readonly verdict: Ending | Wait
}

/** Decides for each fire that is late now, the oldest first, whether it runs. */
export function judgeLate(among: OpenFires, now: Instant): readonly LateFire[] {
  const late = among.open.filter((fire) => isLate(fire, among, now)).toSorted((a, b) => b.dueAt - a.dueAt)
  if (late.length === 0) return []
  const others = among.open.filter((fire) => fire.kind === 'scheduled' && fire.readyAt <= now && !late.includes(fire))
  const newest = others.reduce((latest, { dueAt }) => Math.max(latest, dueAt), Number.NEGATIVE_INFINITY)
  const judged: LateFire[] = []
  let kept = 0
  // Newest first: whether it is kept decides about the older ones.
  for (const fire of late) {
    const verdict = judgeOne(fire, among, now, { hasNewer: kept > 0 || newest > fire.dueAt, kept })
    if (!('outcome' in verdict)) kept++
    judged.unshift({ fire, verdict })
  }
  return judged
}

function judgeOne(
  fire: OpenFire,
  among: OpenFires,
  now: Instant,
  { hasNewer, kept }: { readonly hasNewer: boolean; readonly kept: number },
): Ending | Wait {
  const { wait } = fire
  const choices = fire.own?.policy ?? among.choices
  const { misfire = DEFAULT_POLICY.misfire } = choices
  if (!wait?.late && now - lateFrom(fire) > misfire.windowMs) return ending('too-late')
  if (misfire.late === 'skip') return ending('late')
  if (misfire.late === 'latest' && hasNewer) return ending('superseded')
  if (misfire.late === 'all' && kept >= misfire.limit) return ending('too-late')
  return wait?.late ? wait : { ...wait, cause: causeOfWait(wait, among, choices), late: true }
}

/** Waiting before `since` does not make it late. A retirement always ends after that. */
function causeOfWait(wait: Wait | undefined, among: OpenFires, choices: PolicyChoices): Wait['cause'] {
  const known = wait?.since === undefined || wait.cause === 'caught-up' ? wait?.cause : undefined
  return known ?? (isBlocked(among, choices) ? 'turn' : 'room')
}

/** How a fire waits after an active fire of its schedule has ended. `before`: the open fires with that one. */
export function waitAfterTurn(fire: OpenFire, before: OpenFires, now: Instant): Wait | undefined {
  const { wait } = fire
  const choices = fire.own?.policy ?? before.choices
  if (isActive(fire) || !isUnasked(fire) || !isBlocked(before, choices)) return wait
  const cause = wait?.late ? wait.cause : 'turn'
  return { ...wait, cause, ...(countsTurns(before, choices) ? { since: now } : {}) }
}

/** How a fire waits after a pause of its schedule has ended. */
export function waitAfterPause(fire: OpenFire, endedAt: Instant): Wait | undefined {
  const { wait } = fire
  if (isActive(fire) || !isUnasked(fire)) return wait
  return { ...wait, cause: 'pause', since: Math.max(endedAt, wait?.since ?? endedAt) }
}

/** How a fire waits after its schedule has come back from a retirement. */
export function waitAfterReturn(fire: OpenFire, now: Instant): Wait | undefined {
  const { wait } = fire
  if (isActive(fire) || !isUnasked(fire) || wait?.late || fire.readyAt > now) return wait
  return { ...wait, cause: 'caught-up' }
}
