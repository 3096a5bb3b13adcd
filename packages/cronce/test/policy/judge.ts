import assert from 'node:assert/strict'
import { type Policy, policyOf } from '../../src/model/policy.ts'
import type { FireRecord } from '../../src/model/record.ts'
import type { Instant, OpenFire, ScheduleState } from '../../src/model/schedule.ts'
import type { Decision } from '../../src/policy/decision.ts'
import { isActive, keyOf, ownInstants, type World } from './model.ts'
import { recordsOf } from './records-of.ts'

/** Whether what ended in a decision could end so: each reason must be true. */
export function judgeEndings(world: World, before: ScheduleState, { change }: Decision): void {
  const { now } = world
  const wasOpen = new Map(before.open.map((fire) => [keyOf(fire), fire]))
  const { creates, updates } = recordsOf(change)
  for (const record of [...creates, ...updates]) {
    const { ending, range } = record
    if (ending === null || record.endedAt !== now) continue
    // Left over from a range that was split: it ended before.
    if ([...world.fires.values()].some((known) => isWithin(record.dueAt, known))) continue
    const fire = wasOpen.get(keyOf(record))
    const policy = policyOf(fire?.own?.policy ?? before.definition.policy)
    const say = `${ending.reason} of ${JSON.stringify(record)}`
    const lateMs = latenessIn(world, before, record, fire)
    const active = before.open.filter(isActive)
    switch (ending.reason) {
      case 'overlap':
      case 'queue-full': {
        const { kind, limit } = policy.overlap
        assert.ok(lateMs <= policy.misfire.graceMs || record.kind === 'manual', say)
        const isFull = before.open.length + change.creates.length >= 1_000
        // With the end of a pause, what it froze is on time again.
        const waiting = before.pause === null ? waitersIn(world, before) : before.open
        const counted = kind === 'queue-all' ? active.length : active.length + waiting.length
        const isQueueFull = kind === 'queue-all' && before.open.length + change.creates.length > limit
        assert.ok(isFull || isQueueFull || counted >= (kind === 'allow' ? limit : 1), say)
        assert.ok(isFull || kind !== 'replace', say)
        break
      }
      case 'paused':
        assert.ok(before.pause !== null, say)
        // A pause of its own making may come before what was due then has been looked at.
        if (!world.pausedItself) assert.ok(record.dueAt > before.pause.at, say)
        assert.ok((range?.untilAt ?? record.dueAt) < (before.pause.until ?? Infinity), say)
        break
      case 'late':
        assert.ok(policy.misfire.late === 'skip' && lateMs > policy.misfire.graceMs, say)
        break
      case 'superseded': {
        assert.ok(policy.misfire.late === 'latest' && lateMs > policy.misfire.graceMs, say)
        const last = range?.untilAt ?? record.dueAt
        const { state } = change
        const isNewer = ({ dueAt, readyAt, kind }: OpenFire): boolean =>
          kind === 'scheduled' && dueAt > last && readyAt <= now
        // Planned in steps: the next step begins with a late instant, and opens that one or a newer one.
        const isNextLate = state?.nextAt != null && now - state.nextAt > policy.misfire.graceMs
        const isLeft = fire === undefined && isNextLate && !state.skipped?.includes(state.nextAt!)
        const isOpen = state?.open.some(isNewer) || isLeft
        // What the rest of a command ends was open when this was decided.
        const isGone = state === null || state.retiredAt !== null || before.pause !== null
        assert.ok(isOpen || isGone, say)
        break
      }
      case 'too-late':
        if (policy.misfire.late === 'all') break
        assert.ok((range === null ? lateMs : now - range.untilAt) > policy.misfire.windowMs, say)
        assert.ok(fire === undefined || !world.waits.wasFoundLate(fire), say)
        break
      case 'replaced':
        assert.ok(fire === undefined || fire.run === null || fire.run.cancel?.reason === 'replaced', say)
        break
      case 'crash-budget':
        assert.equal(fire!.crashes, policy.retry.crashes, say)
        break
      case 'crashed':
      case 'stopped':
        assert.equal(policy.guarantee, 'at-most-once', say)
        break
      case 'retry-too-late':
        assert.ok(policy.retry.attempts > 0 && fire!.attempt > 0, say)
        break
      case 'recovery-too-late':
        assert.ok(now > fire!.dueAt + (policy.retry.deadlineMs ?? policy.misfire.windowMs), say)
        break
    }
  }
}

/** Instants that one step plans at most. */
export const MOST_PLANNED = 10_000

type Verdict = 'open' | 'late' | 'superseded' | 'too-late' | 'overlap' | 'queue-full'

/**
 * The required outcome of each instant that one look finds due, derived from the policies; for what a look alone can
 * decide.
 */
export function judgePlan(world: World, before: ScheduleState, { change }: Decision): void {
  const { now } = world
  const policy = policyOf(before.definition.policy)
  const isRevoked = before.open.some(({ run }) => run?.cancel && run.cancel.revokeAt <= now)
  if (before.pause !== null || before.retiredAt !== null || before.nextAt === null || isRevoked) return
  if (policy.jitter.ms > 0 || before.skipped?.length || before.backfills.length > 0) return
  // An instant that an earlier schedule of the name skipped, and that is now requested: the store reports that it is on
  // record.
  if (before.open.some(({ dueAt, nonce }) => nonce === '' && dueAt >= before.nextAt!)) return
  const left = (before.definition.limit ?? Infinity) - before.fired
  const allDue = ownInstants(before.definition, before.nextAt - 1, now).slice(0, left)
  const due = allDue.slice(0, plannedCount(policy, allDue, now))
  const wanted = verdicts(world, policy, before, allDue, now)
  const opened = wanted.filter((verdict) => verdict === 'open').length
  if (due.length === 0 || before.open.length + opened >= 1_000) return
  const found = new Map<Instant, string>()
  for (const record of recordsOf(change).creates.filter(({ kind, round }) => kind === 'scheduled' && round === 1)) {
    const last = record.range?.untilAt ?? record.dueAt
    for (const at of due) if (at >= record.dueAt && at <= last) found.set(at, nameOf(record))
  }
  world.seen.add(due.length < allDue.length ? 'judged in steps' : 'judged')
  assert.deepEqual(
    due.map((at) => [at, found.get(at)]),
    due.map((at, index) => [at, wanted[index]]),
  )
}

function nameOf({ ending }: FireRecord): string {
  // Replaced by a later one of the same step: it was let in before.
  return ending === null || ending.reason === 'replaced' ? 'open' : ending.reason
}

/** How many instants one step plans: it leaves a late one to the next step, which knows what is newer. */
function plannedCount({ misfire }: Policy, allDue: readonly Instant[], now: Instant): number {
  if (allDue.length <= MOST_PLANNED) return allDue.length
  const isAllLate = now - allDue[MOST_PLANNED - 1]! > misfire.graceMs
  return isAllLate ? MOST_PLANNED - 1 : MOST_PLANNED
}

function verdicts(
  world: World,
  policy: Policy,
  before: ScheduleState,
  allDue: readonly Instant[],
  now: Instant,
): Verdict[] {
  const { misfire } = policy
  const due = allDue.slice(0, plannedCount(policy, allDue, now))
  const left = allDue.slice(due.length)
  const lateCount = due.filter((at) => now - at > misfire.graceMs).length
  const onTime = due.slice(lateCount).map((_, index) => overlapVerdict(world, policy, before, index))
  const hasNewer = onTime.includes('open') || left.some((at) => now - at > misfire.graceMs)
  const late = due.slice(0, lateCount).map((at, index): Verdict => {
    if (now - at > misfire.windowMs) return 'too-late'
    if (misfire.late === 'skip') return 'late'
    if (misfire.late === 'latest') return hasNewer || index < lateCount - 1 ? 'superseded' : 'open'
    return index < lateCount - Math.max(0, misfire.limit - left.length) ? 'too-late' : 'open'
  })
  return [...late, ...onTime.map((verdict, index) => overlapAfter(policy, before, late, onTime, verdict, index))]
}

/** Of an instant that is on time, without the late ones that are opened with it. */
function overlapVerdict(world: World, { overlap, misfire }: Policy, before: ScheduleState, index: number): Verdict {
  const active = before.open.filter((fire) => isActive(fire) && fire.kind !== 'backfill').length
  const waiting = before.open.filter((fire) => !isActive(fire) && fire.kind !== 'backfill').length
  const capacity = overlap.kind === 'allow' ? overlap.limit : 1
  if (active < capacity) {
    if (overlap.kind === 'queue-all') return waiting >= overlap.limit ? 'queue-full' : 'open'
    const counted = misfire.late === 'all' || overlap.kind === 'replace' ? 0 : waitersIn(world, before).length
    return counted === 0 || (overlap.kind === 'allow' && active + counted < capacity) ? 'open' : 'overlap'
  }
  if (overlap.kind === 'skip' || overlap.kind === 'allow') return 'overlap'
  if (overlap.kind === 'queue') return waiting + index > 0 ? 'overlap' : 'open'
  return overlap.kind === 'queue-all' && waiting + index >= overlap.limit ? 'queue-full' : 'open'
}

/** In a queue behind an active fire, what the same look opens takes places, too. */
function overlapAfter(
  { overlap }: Policy,
  before: ScheduleState,
  late: readonly Verdict[],
  onTime: readonly Verdict[],
  verdict: Verdict,
  index: number,
): Verdict {
  const isBehind = before.open.some((fire) => isActive(fire) && fire.kind !== 'backfill')
  if (!isBehind || (overlap.kind !== 'queue' && overlap.kind !== 'queue-all')) return verdict
  const waiting = before.open.filter((fire) => !isActive(fire) && fire.kind !== 'backfill').length
  const opened = [...late, ...onTime.slice(0, index)].filter((other) => other === 'open').length
  const places = overlap.kind === 'queue' ? 1 : overlap.limit
  return waiting + opened < places ? 'open' : overlap.kind === 'queue' ? 'overlap' : 'queue-full'
}

/** Fires that earlier looks left waiting and that are on time. */
function waitersIn({ waits, now }: World, before: ScheduleState): readonly OpenFire[] {
  return before.open.filter((fire) => {
    return waits.isJudged(fire, before) && fire.readyAt <= now && !waits.isLate(fire, before, now)
  })
}

function latenessIn(
  { waits, now }: World,
  before: ScheduleState,
  record: FireRecord,
  fire: OpenFire | undefined,
): number {
  // A run that was revoked in this decision was in the way until now.
  return fire === undefined ? now - record.readyAt : (waits.latenessOf(fire, before, now) ?? 0)
}

/** What starts for the first time, and is late, is what the policy keeps; and its cause is on record. */
export function judgeLateStarts(world: World, before: ScheduleState, { change, started }: Decision): void {
  const { waits, now } = world
  const open = change.state?.open ?? []
  for (const { record, policy, kind } of started) {
    const fire = before.open.find((other) => keyOf(other) === keyOf(record))
    const { misfire } = policy
    const say = `start of ${JSON.stringify(record)}`
    assert.equal(record.cause !== undefined, now - record.readyAt > misfire.graceMs, say)
    if (record.cause !== undefined) world.seen.add(record.cause)
    if (record.attempt > 1 && record.round === 1) assert.ok([undefined, 'recovered'].includes(record.cause), say)
    if (kind !== 'scheduled' || record.round > 1)
      assert.ok([undefined, 'asked', 'recovered'].includes(record.cause), say)
    // With the end of a pause, what it froze is on time again.
    if (fire === undefined || before.pause !== null || !waits.isLate(fire, before, now)) continue
    assert.notEqual(misfire.late, 'skip', say)
    const isNewer = (other: OpenFire): boolean =>
      other.kind === 'scheduled' && other.dueAt > fire.dueAt && other.readyAt <= now
    if (misfire.late === 'latest') assert.ok(!open.some(isNewer), say)
    world.seen.add('late start')
  }
}

function isWithin(at: Instant, { range, dueAt }: FireRecord): boolean {
  return range !== null && at >= dueAt && at <= range.untilAt
}
