import type { Case, Subject } from '../case.ts'
import { timesOf } from '../definitions.ts'
import { byToken, compareTokens, keyOf } from '../evidence.ts'
import {
  claimOf,
  type Ledger,
  type LedgerFire,
  type LedgerInstance,
  type LedgerRun,
  type LedgerSchedule,
} from '../history.ts'
import { claimText, fireText, iso, type Judge, type Report } from '../report.ts'

export const judgeMonotone: Judge = (judged, report) => {
  for (const subject of judged.schedules) judgeTokens(judged, subject, report)
  const { reads } = judged.history
  for (const [index, later] of reads.entries()) {
    const earlier = reads[index - 1]
    if (earlier === undefined) continue
    judgeMarks(judged, earlier, later, report)
    judgeFires(earlier, later, report)
    judgeRuns(judged, earlier, later, report)
    judgeInstances(judged, earlier, later, report)
  }
}

function hasLaterRun(runs: readonly LedgerRun[], { dueAt, nonce, attempt }: LedgerRun): boolean {
  return runs.some((other) => other.dueAt === dueAt && other.nonce === nonce && other.attempt > attempt)
}

/** What was claimed later has the higher token. */
function judgeTokens({ bounds, clock }: Case, { runs }: Subject, report: Report): void {
  const sorted = runs.toSorted(byToken)
  for (const [index, higher] of sorted.entries()) {
    const lower = sorted[index - 1]
    if (lower === undefined || !clock.isBefore(claimOf(higher), claimOf(lower))) continue
    // It may have been claimed ahead and started late: once the fire is run again, its record no longer shows when it
    // was claimed.
    if ((bounds.claimAheadMs ?? 0) > 0 && lower.attempt === 1 && hasLaterRun(runs, lower)) continue
    const message = `${fireText(lower)} was ${claimText(lower)}, after the one ${claimText(higher)}.`
    report('C14', lower, message, [higher, lower])
  }
}

function judgeMarks(judged: Case, earlier: Ledger, later: Ledger, report: Report): void {
  const before = new Map(earlier.schedules.map((row) => [row.id, row]))
  const subjects = new Map(judged.schedules.map((subject) => [subject.id, subject]))
  for (const row of later.schedules) {
    const known = before.get(row.id)
    if (known === undefined || known.createdAt !== row.createdAt || !isBack(known, row)) continue
    // A new rule counts from the moment it is made.
    const isRedefined = subjects.get(row.id)!.operations.some((operation) => {
      const isRule = operation.verb === 'define' || operation.verb === 'retire' || operation.verb === 'remove'
      return isRule && timesOf(operation).to >= earlier.at && operation.at <= later.at + judged.bounds.recoveryMs
    })
    if (isRedefined) continue
    const message = `The mark of ${row.id} went back from ${iso(known.nextAt)} to ${iso(row.nextAt)}.`
    report('C14', { schedule: row.id }, message, [])
  }
}

function isBack(known: LedgerSchedule, row: LedgerSchedule): boolean {
  if (row.nextAt === null) return false
  return known.nextAt === null || row.nextAt < known.nextAt
}

function judgeFires(earlier: Ledger, later: Ledger, report: Report): void {
  const after = new Map(later.fires.map((fire) => [`${fire.schedule} ${keyOf(fire)}`, fire]))
  for (const fire of earlier.fires) {
    const now = after.get(`${fire.schedule} ${keyOf(fire)}`)
    if (now === undefined || isAfter(fire, now)) continue
    const message = `${fireText(fire)} was ${textOf(fire)} on record, and is now ${textOf(now)}.`
    report('C14', fire, message, [fire, now])
  }
}

/** What has ended stays as it ended, unless another round was opened; of a range some may have been taken away. */
function isAfter(before: LedgerFire, now: LedgerFire): boolean {
  if (now.round !== before.round) return now.round > before.round && now.attempt >= before.attempt
  if ((now.attempt < before.attempt && !isPutBack(before, now)) || now.count > before.count) return false
  if (before.endedAt === null) return true
  return (
    before.endedAt === now.endedAt &&
    before.outcome === now.outcome &&
    before.reason === now.reason &&
    before.attempt === now.attempt
  )
}

/** Its run was claimed ahead and never started: it left no trace. */
function isPutBack(before: LedgerFire, now: LedgerFire): boolean {
  return before.endedAt === null && before.plannedAt < before.dueAt && before.attempt === 1 && now.attempt === 0
}

function textOf({ outcome, reason, endedAt, round, attempt }: LedgerFire): string {
  const how = outcome === null ? 'open' : `${outcome} (${reason}) at ${iso(endedAt)}`
  return `${how} in round ${round} after ${attempt} attempts`
}

function judgeRuns({ clock, bounds }: Case, earlier: Ledger, later: Ledger, report: Report): void {
  const known = new Map(earlier.runs.map((run) => [`${run.schedule} ${run.token}`, run]))
  const highest = new Map<string, LedgerRun>()
  for (const run of earlier.runs) {
    const best = highest.get(run.schedule)
    // Decided long enough before the read that it was certainly written by then, with everything before it.
    const isSure = clock.timesOf(run.startedAt).to + bounds.leaseMs < earlier.at
    if (isSure && (best === undefined || compareTokens(best.token, run.token) < 0)) highest.set(run.schedule, run)
  }
  for (const run of later.runs) {
    const before = known.get(`${run.schedule} ${run.token}`)
    const best = highest.get(run.schedule)
    if (before === undefined) {
      if (best === undefined || compareTokens(run.token, best.token) > 0) continue
      const message = `${fireText(run)} got token ${run.token} when ${best.token} had been given.`
      report('C14', run, message, [best, run])
    } else if (!isSameRun(before, run)) {
      report('C14', run, `${fireText(run)}: the record of run ${run.token} has changed since it ended.`, [before, run])
    }
  }
}

function isSameRun(before: LedgerRun, now: LedgerRun): boolean {
  // An open run that was claimed ahead has its planned start, one that has ended the real one.
  const isSameStart =
    before.startedAt === now.startedAt || (before.endedAt === null && before.startedAt === before.dueAt)
  const isSame = isSameStart && before.attempt === now.attempt && before.instance === now.instance
  if (before.endedAt === null) return isSame
  return isSame && before.endedAt === now.endedAt && before.outcome === now.outcome && before.reason === now.reason
}

/** An instance that is over stays over, and claims nothing. */
function judgeInstances({ clock }: Case, earlier: Ledger, later: Ledger, report: Report): void {
  const over = new Map(earlier.instances.filter(isOver).map((instance) => [instance.id, instance]))
  for (const instance of later.instances) {
    const known = over.get(instance.id)
    if (known === undefined || isOver(instance)) continue
    report('C14', { schedule: null }, `${instance.id} was ${known.state}, and is ${instance.state} again.`, [])
  }
  for (const run of later.runs) {
    const known = over.get(run.instance)
    if (known === undefined || clock.timesOf(run.startedAt).from <= earlier.until) continue
    const message = `${fireText(run)} was ${claimText(run)} by ${known.id}, which was ${known.state} before that.`
    report('C14', run, message, [run])
  }
}

function isOver({ state }: LedgerInstance): boolean {
  return state === 'dead' || state === 'left'
}
