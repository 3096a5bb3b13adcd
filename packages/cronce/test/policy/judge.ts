import assert from 'node:assert/strict'
import { type Policy, policyOf } from '../../src/model/policy.ts'
import type { FireRecord } from '../../src/model/record.ts'
import type { Instant, ScheduleState } from '../../src/model/schedule.ts'
import type { Decision } from '../../src/policy/decision.ts'
import { isActive, keyOf, ownInstants, type World } from './model.ts'

/** Whether what ended in a decision could end so: each reason must be true. */
export function judgeEndings(world: World, before: ScheduleState, { change }: Decision): void {
  const { now } = world
  const wasOpen = new Map(before.open.map((fire) => [keyOf(fire), fire]))
  for (const record of [...change.creates, ...change.updates]) {
    const { ending, range } = record
    if (ending === null || record.endedAt !== now) continue
    // Left over from a range that was split: it ended before.
    if ([...world.fires.values()].some((known) => isWithin(record.dueAt, known))) continue
    const fire = wasOpen.get(keyOf(record))
    const policy = policyOf(fire?.own?.policy ?? before.definition.policy)
    const say = `${ending.reason} of ${JSON.stringify(record)}`
    const lateMs = now - record.readyAt
    const active = before.open.filter(isActive)
    switch (ending.reason) {
      case 'overlap':
      case 'queue-full': {
        const { kind, limit } = policy.overlap
        assert.ok(lateMs <= policy.misfire.graceMs || record.kind === 'manual', say)
        const isFull = before.open.length + change.creates.length >= 1_000
        assert.ok(isFull || active.length >= (kind === 'allow' ? limit : 1), say)
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
        const newer = [...change.creates, ...world.fires.values()].some(({ dueAt }) => dueAt > last)
        assert.ok(newer || ownInstants(before.definition, last, now).length > 0, say)
        break
      }
      case 'too-late':
        if (policy.misfire.late === 'all') break
        assert.ok(now - (range?.untilAt ?? record.readyAt) > policy.misfire.windowMs, say)
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

type Verdict = 'open' | 'late' | 'superseded' | 'too-late' | 'overlap' | 'queue-full'

/** What must become of each instant that one look finds due, read off the policies; for what a look can tell alone. */
export function judgePlan(world: World, before: ScheduleState, { change }: Decision): void {
  const { now } = world
  const policy = policyOf(before.definition.policy)
  const isRevoked = before.open.some(({ run }) => run?.cancel && run.cancel.revokeAt <= now)
  if (before.pause !== null || before.retiredAt !== null || before.nextAt === null || isRevoked) return
  if (policy.jitter.ms > 0 || before.skipped?.length || before.backfills.length > 0) return
  // What an earlier schedule of the name skipped, and somebody wants run after all: the store says that it is on record.
  if (before.open.some(({ dueAt, nonce }) => nonce === '' && dueAt >= before.nextAt!)) return
  const left = (before.definition.limit ?? Infinity) - before.fired
  const due = ownInstants(before.definition, before.nextAt - 1, now).slice(0, left)
  if (due.length === 0 || due.length > 10_000 || before.open.length + due.length > 1_000) return
  const wanted = verdicts(policy, before, due, now)
  const found = new Map<Instant, string>()
  for (const record of change.creates.filter(({ kind, round }) => kind === 'scheduled' && round === 1)) {
    const last = record.range?.untilAt ?? record.dueAt
    for (const at of due) if (at >= record.dueAt && at <= last) found.set(at, nameOf(record))
  }
  world.seen.add('judged')
  assert.deepEqual(
    due.map((at) => [at, found.get(at)]),
    due.map((at, index) => [at, wanted[index]]),
  )
}

function nameOf({ ending }: FireRecord): string {
  // Replaced by a later one of the same step: it was let in before.
  return ending === null || ending.reason === 'replaced' ? 'open' : ending.reason
}

function verdicts(policy: Policy, before: ScheduleState, due: readonly Instant[], now: Instant): Verdict[] {
  const { misfire, overlap } = policy
  const active = before.open.filter((fire) => isActive(fire) && fire.kind !== 'backfill').length
  let waiting = before.open.filter((fire) => !isActive(fire) && fire.kind !== 'backfill').length
  const lateCount = due.filter((at) => now - at > misfire.graceMs).length
  return due.map((at, index) => {
    const lateMs = now - at
    if (lateMs > misfire.graceMs) {
      if (lateMs > misfire.windowMs) return 'too-late'
      if (misfire.late === 'skip') return 'late'
      if (misfire.late === 'latest' && index < due.length - 1) return 'superseded'
      if (misfire.late === 'all' && index < lateCount - misfire.limit) return 'too-late'
      waiting++
      return 'open'
    }
    const isFree = active < (overlap.kind === 'allow' ? overlap.limit : 1)
    if (!isFree && (overlap.kind === 'skip' || overlap.kind === 'allow')) return 'overlap'
    if (!isFree && overlap.kind === 'queue' && waiting > 0) return 'overlap'
    if (!isFree && overlap.kind === 'queue-all' && waiting >= overlap.limit) return 'queue-full'
    waiting++
    return 'open'
  })
}

function isWithin(at: Instant, { range, dueAt }: FireRecord): boolean {
  return range !== null && at >= dueAt && at <= range.untilAt
}
