import type { RunOfFire, Spec } from '../../packages/checker/src/history.ts'
import { RESERVED_PREFIX } from '../../packages/cronce/src/model/exclusive-jobs.ts'
import { policyOf } from '../../packages/cronce/src/model/policy.ts'
import type { RunRecord } from '../../packages/cronce/src/model/record.ts'
import type { Instant, ScheduleState } from '../../packages/cronce/src/model/schedule.ts'
import type { Workplace } from './handle.ts'
import type { Step } from './invariants/mirror.ts'
import type { Watcher } from './invariants/observe-store.ts'
import { type Plan, planIn, type Release } from './scenario.ts'

const LONG_AGO_MS = 60_000

/**
 * Facts that only the store knows for certain: when a deployment's declarations were written, when a schedule left the
 * code, which steps and transactions are on record.
 */
export function witness(
  { recorder, count }: Pick<Workplace, 'recorder' | 'count'>,
  releaseOf: (node: string) => Release | undefined,
): Omit<Watcher, 'membersChanged' | 'logged'> {
  const attempts = new Map<string, number>()
  const planOf = (who: string, schedule: string): Plan | undefined => {
    const release = releaseOf(who)
    return release === undefined ? undefined : planIn(release, schedule)
  }
  /** By schedule, when it was retired last: the store's clock may have been set since. */
  const retiredAt = new Map<string, number>()
  /** By schedule, how it was defined last. */
  const specs = new Map<string, Spec>()
  const define = (schedule: string, { spec }: Plan, agoMs: number, aheadMs: number): void => {
    specs.set(schedule, spec)
    recorder.done(schedule, { verb: 'define', spec }, agoMs, aheadMs)
  }

  const declared = ({ before, after, who, change, now }: Step): void => {
    if (after === undefined || after.source.kind !== 'code') return
    // It was decided when its own times say; unless the clock was set back since.
    const writtenMs = now - (after.retiredAt ?? after.updatedAt)
    const decidedMs = writtenMs < 0 ? LONG_AGO_MS : writtenMs
    if (after.retiredAt !== null && before?.retiredAt === null) {
      count('retired')
      retiredAt.set(change.id, recorder.now())
      const { renamedTo, from } = after.retirements?.at(-1) ?? {}
      if (renamedTo !== undefined) {
        count('job renamed')
        // What waits under the old name still runs, and what it has not planned is planned by the new one.
        recorder.maybe(change.id, { verb: 'retire' }, Math.max(decidedMs, now - (from ?? now)))
        return
      }
      recorder.done(change.id, { verb: 'retire' }, decidedMs)
      return
    }
    const renamedTo = after.retiredAt === null ? undefined : after.retirements?.at(-1)?.renamedTo
    const spec = specs.get(change.id)
    if (renamedTo !== undefined && before?.retirements?.at(-1)?.renamedTo === undefined && spec !== undefined) {
      // Renamed after it left the code: what waits under the old name may run from now on.
      recorder.maybe(change.id, { verb: 'define', spec }, 0)
      return
    }
    const passed = spec === undefined ? undefined : passedToOtherName(before, after, now)
    if (spec !== undefined && passed !== undefined) {
      // As if it had left the code for that time: the other name has those due times, and what waits here ends if it may have run there.
      const endedAt = change.history.map((line) => line.endedAt)
      const [from, to] = [Math.min(now, passed.from, ...endedAt), Math.max(passed.to, ...endedAt)]
      recorder.done(change.id, { verb: 'retire' }, now - from)
      recorder.done(change.id, { verb: 'define', spec }, Math.max(0, now - to), Math.max(0, to - now))
    }
    // The fires of a retired schedule end while it stays retired: an instance that declares it may write that.
    const isBack = before !== undefined && before.retiredAt !== null && after.retiredAt === null
    if (isBack) count('returned')
    if (isBack || after.revision !== before?.revision || before.createdAt !== after.createdAt) {
      const plan = planOf(who, change.id)
      const leftMs = leftByOtherNameMs(before, after, now)
      const retiredMs = recorder.now() - (retiredAt.get(change.id) ?? 0)
      const sinceMs = Math.max(undoneMs(before, after, now, retiredMs), leftMs < 0 ? LONG_AGO_MS : leftMs)
      if (plan !== undefined) define(change.id, plan, Math.max(decidedMs, sinceMs), Math.max(0, -leftMs))
      const isUndone = isBack && before.nextAt === after.nextAt
      if (before !== undefined && !isUndone) count('redeclared')
    }
  }

  return {
    count,
    changed(step) {
      declared(step)
      for (const { before } of step.fires) if (before === undefined) count('fire')
      for (const { before, after: run } of step.runs) {
        if (before !== undefined && run === undefined) count('claimed ahead, not started')
        if (before !== undefined || run === undefined) continue
        attempts.set(`${run.token} ${run.schedule}`, run.attempt)
        countGrant(step, run, count)
      }
    },
    committed(step) {
      const run = step.runs.find(
        (one) => one.before?.ending === null && one.after?.ending?.outcome === 'succeeded',
      )?.after
      if (run !== undefined) recorder.effect(seenOf(run), step.who, 'transaction', 'row', true)
    },
    stepped(who, command, answer) {
      // Work that the library does once for itself is not an effect of a handler.
      if (command.kind === 'resolve' || command.fire.schedule.startsWith(RESERVED_PREFIX)) return
      count(`step ${command.kind} ${answer.kind}`)
      const isDone = command.kind === 'end' && !command.failed
      if (!isDone || (answer.kind !== 'applied' && answer.kind !== 'stale')) return
      const { token, fire, step } = command
      const attempt = attempts.get(`${token} ${fire.schedule}`) ?? 0
      recorder.effect({ ...fire, attempt, token }, who, 'step', step, answer.kind === 'applied')
    },
  }
}

/** A retirement that is undone leaves the mark where it was: the due times since then belong to the schedule. */
function undoneMs(before: ScheduleState | undefined, after: ScheduleState, now: Instant, retiredMs: number): number {
  const isBack = before !== undefined && before.retiredAt !== null && after.retiredAt === null
  return isBack && before.nextAt === after.nextAt ? Math.max(now - before.retiredAt!, retiredMs) : 0
}

/**
 * A schedule that takes over from another name of its job begins this long ago, where that name stopped. Negative: the
 * other name has claimed instants ahead, or the store's clock was set back since.
 */
function leftByOtherNameMs(before: ScheduleState | undefined, after: ScheduleState, now: Instant): number {
  const isNew = before === undefined || (before.retiredAt !== null && after.retiredAt === null)
  const isTakenOver = after.retirements?.at(-1)?.renamedTo !== undefined && isNew
  return isTakenOver ? now - (after.plannedTo ?? now) : 0
}

/** The due times that an active schedule leaves to another name of its job, which had them before a release told of the rename. */
function passedToOtherName(
  before: ScheduleState | undefined,
  after: ScheduleState,
  now: Instant,
): { readonly from: Instant; readonly to: Instant } | undefined {
  if (before === undefined || before.retiredAt !== null || after.retiredAt !== null) return
  const [known, last] = [before.retirements?.at(-1), after.retirements?.at(-1)]
  if (last?.renamedTo === undefined || (known?.from === last.from && known.to === last.to)) return
  const [from, to] = [before.plannedTo ?? 0, after.plannedTo ?? 0]
  // If it was ahead of the other name, it leaves nothing to that.
  return from < to ? { from, to } : { from: now, to: now }
}

function countGrant({ after }: Step, run: RunRecord, count: (what: string) => void): void {
  count('granted')
  const fire = after?.open.find(({ dueAt, nonce }) => dueAt === run.dueAt && nonce === run.nonce)
  if (after === undefined || fire === undefined) return
  const { trigger, policy } = after.definition
  if (fire.plannedAt < fire.dueAt) count('claimed ahead')
  if (run.attempt > 1) count('granted again')
  if (fire.round > 1) count('another round')
  if (fire.kind === 'backfill') count('backfilled')
  const { graceMs } = policyOf(policy).misfire
  if (fire.kind === 'scheduled' && fire.attempt === 1 && fire.plannedAt - fire.dueAt > graceMs) count('caught up')
  const tz = trigger?.kind === 'cron' ? (trigger.tz ?? 'UTC') : 'UTC'
  if (tz !== 'UTC' && isNearChange(tz, run.dueAt)) count('shifted instant')
}

const NEAR_MS = 3_600_000
const formats = new Map<string, Intl.DateTimeFormat>()

/** Whether the zone has another offset within an hour. */
function isNearChange(tz: string, at: number): boolean {
  const format = formats.get(tz) ?? new Intl.DateTimeFormat('en', { timeZone: tz, timeZoneName: 'longOffset' })
  formats.set(tz, format)
  const offset = (instant: number): string | undefined =>
    format.formatToParts(instant).find(({ type }) => type === 'timeZoneName')?.value
  return offset(at - NEAR_MS) !== offset(at + NEAR_MS)
}

function seenOf({ schedule, dueAt, nonce, attempt, token }: RunRecord): RunOfFire {
  return { schedule, dueAt, nonce, attempt, token }
}
