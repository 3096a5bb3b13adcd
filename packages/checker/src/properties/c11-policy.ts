import { type Case, compareClaims, countTimed, type Subject, standingOf } from '../case.ts'
import type { Story } from '../evidence.ts'
import { claimOf, type Instant, type LedgerFire, type LedgerRun, longestMs, type Spec } from '../history.ts'
import { fireText, iso, type Judge, type Report } from '../report.ts'
import { judgeLateStarts } from './c11-late-starts.ts'
import { longestRunMs } from './let-go.ts'
import { mayBePutBack } from './reasons.ts'
import { isRetryOf } from './rounds-apart.ts'

export const judgePolicy: Judge = (judged, report) => {
  for (const subject of judged.schedules) {
    for (const story of subject.stories.values()) {
      judgeBudgets(judged, subject, story, report)
      judgeRounds(subject, story, report)
      judgeTimeouts(judged, subject, story, report)
    }
    for (const group of plannedTogether(judged, subject)) judgeLate(judged, subject, group, report)
    judgeOrder(judged, subject, report)
    judgeLateStarts(judged, subject, report)
  }
}

/** In a round there are no more failures than attempts, and no more crashes than the budget, each plus the last one. */
function judgeBudgets(judged: Case, subject: Subject, story: Story, report: Report): void {
  if (story.runs.length < 2) return
  const rounds = new Map<number, LedgerRun[]>()
  for (const run of story.runs) rounds.set(run.round, [...(rounds.get(run.round) ?? []), run])
  for (const runs of rounds.values()) {
    const { specs } = standingOf(judged, subject, story.dueAt, runs.at(-1)!.startedAt)
    if (specs.length === 0) continue
    const failures = runs.filter(({ outcome }) => outcome === 'failed')
    const crashes = runs.filter(({ reason }) => reason === 'crashed')
    const attempts = Math.max(
      ...specs.map(({ retry, guarantee }) => (guarantee === 'at-most-once' ? 0 : retry.attempts)),
    )
    const budget = Math.max(...specs.map(({ retry, guarantee }) => (guarantee === 'at-most-once' ? 0 : retry.crashes)))
    if (failures.length > attempts + 1) {
      report(
        'C11',
        story,
        `${fireText(story)} failed ${failures.length} times; ${attempts} retries are allowed.`,
        failures,
      )
    }
    if (crashes.length > budget + 1) {
      report('C11', story, `${fireText(story)} crashed ${crashes.length} times; the budget is ${budget}.`, crashes)
    }
  }
}

/**
 * When the timeout and the grace of a run are over, its handler has finished or its node has given the run up, if nothing was done
 * to the node. How soon a finished run is settled is C6's.
 */
function judgeTimeouts(judged: Case, subject: Subject, story: Story, report: Report): void {
  const { clock, fleet, bounds } = judged
  for (const start of story.starts) {
    const run = story.runs.find(({ token }) => token === start.token)
    if (run === undefined || run.endedAt === null) continue
    const finished = story.finishes.get(start.token)?.at ?? Number.POSITIVE_INFINITY
    const ended = Math.min(clock.timesOf(run.endedAt).from, finished)
    const longest = longestRunMs(judged, subject, story, run.endedAt) + longestMs(bounds)
    if (longest === Number.POSITIVE_INFINITY || fleet.wasHit(start.node, start.at, Math.max(start.at, ended))) continue
    countTimed(judged, 'C11')
    if (ended - start.at <= longest) continue
    const message = `${fireText(story)} ran for ${ended - start.at} ms, longer than it may.`
    report('C11', story, message, [start, run], 'time')
  }
}

/** Each further round was asked for, after a success only by force; and each retry that was answered is one. */
function judgeRounds({ operations }: Subject, story: Story, report: Report): void {
  const { record, runs, dueAt, nonce } = story
  if (record === null) return
  const asked = operations.filter((operation) => operation.verb === 'retry').filter((retry) => isRetryOf(retry, story))
  const retries = asked.length
  const answered = asked.filter(({ result }) => result === 'ok').length
  if (record.round - 1 < answered && story.isInFinal) {
    const message = `${fireText(story)} has ${record.round} rounds; ${answered} retries were answered.`
    report('C11', story, message, [record])
  }
  if (record.round < 2) return
  const backfills = operations.filter((operation) => {
    return operation.verb === 'backfill' && nonce === '' && operation.from <= dueAt && dueAt <= operation.to
  }).length
  if (record.round - 1 > retries + backfills) {
    const wishes = `${retries} retries and ${backfills} backfills were asked for`
    const message = `${fireText(story)} has ${record.round} rounds; ${wishes}.`
    report('C11', story, message, [record])
    return
  }
  const isForced = asked.some((retry) => retry.force)
  const succeeded = runs.find(({ outcome, round }) => outcome === 'succeeded' && round < record.round)
  if (succeeded === undefined || isForced) return
  const message = `${fireText(story)} had succeeded (token ${succeeded.token}), and was run again without force.`
  report('C11', story, message, [succeeded, record])
}

/** What one step of planning settled: the records of one moment, the earliest instant first. */
interface Group {
  readonly plannedAt: Instant
  readonly records: readonly LedgerFire[]
}

function plannedTogether({ clock }: Case, { stories, ranges }: Subject): readonly Group[] {
  const groups = new Map<Instant, LedgerFire[]>()
  const add = (record: LedgerFire): void => {
    if (record.nonce !== '' || record.origin !== 'scheduled' || record.round !== 1) return
    const known = groups.get(record.plannedAt)
    if (known === undefined) groups.set(record.plannedAt, [record])
    else known.push(record)
  }
  for (const { record } of stories.values()) if (record !== null) add(record)
  ranges.forEach(add)
  // A clock that was set back may show one moment twice.
  if (clock.wasSetBack) return []
  return [...groups].map(([plannedAt, records]) => ({
    plannedAt,
    records: records.toSorted((a, b) => a.dueAt - b.dueAt),
  }))
}

/** Of what was noticed late together, only what the policy names was run. */
function judgeLate(judged: Case, subject: Subject, { plannedAt, records }: Group, report: Report): void {
  const [first] = records
  if (first === undefined || plannedAt <= first.dueAt) return
  const { specs, paused } = standingOf(judged, subject, first.dueAt, plannedAt)
  const [spec] = specs
  if (spec === undefined || specs.length > 1 || paused !== 'no') return
  const { misfire, jitterMs } = spec
  // Lateness counts from when it was ready; what is later than this, is late for certain.
  const laterThan = (ms: number) => records.filter(({ dueAt }) => plannedAt - dueAt - jitterMs > ms)
  const late = laterThan(misfire.graceMs)
  const wrong = new Set([
    ...laterThan(misfire.windowMs).filter(hasRun),
    ...notNamed(
      misfire,
      late,
      laterThan(-1).findLast((record) => !isSkippedAtOnce(record)),
    ),
  ])
  for (const record of wrong) {
    const lateMs = plannedAt - record.dueAt
    const message = `${fireText(record)} was run ${lateMs} ms late; the policy (${misfire.late}) does not name it.`
    report('C11', record, message, [record])
  }
}

/** Skipped when it was planned, it does not stand in for older ones. */
function isSkippedAtOnce({ outcome, plannedAt, endedAt }: LedgerFire): boolean {
  return outcome === 'skipped' && endedAt === plannedAt
}

function hasRun({ attempt }: LedgerFire): boolean {
  return attempt > 0
}

/** What was run of these, although the policy names none, the newest of all, or no more than a number of the newest. */
function notNamed(
  misfire: Spec['misfire'],
  late: readonly LedgerFire[],
  newest: LedgerFire | undefined,
): readonly LedgerFire[] {
  const ran = late.filter(hasRun)
  if (misfire.late === 'skip') return ran
  if (misfire.late === 'latest') return ran.filter((record) => record !== newest)
  const letGo = late.findLast(({ outcome, endedAt, plannedAt }) => outcome === 'missed' && endedAt === plannedAt)
  const lastLetGo = letGo?.dueAt ?? Number.NEGATIVE_INFINITY
  return ran.filter(({ dueAt }, index) => dueAt < lastLetGo || index < ran.length - misfire.limit)
}

/** Where one fire at a time is active, those that wait get their turn in the order of their instants. */
function judgeOrder(judged: Case, { stories, definitions }: Subject, report: Report): void {
  const { clock } = judged
  const isSimple = definitions.specs.length === 1 && definitions.specs[0]!.jitterMs === 0 && !clock.wasSetBack
  if (!isSimple) return
  const fires = [...stories.values()]
    .filter(({ nonce, record, runs }) => {
      return (
        nonce === '' && record !== null && record.origin === 'scheduled' && record.round === 1 && runs[0]?.attempt === 1
      )
    })
    .sort((a, b) => a.dueAt - b.dueAt)
  let newest: Story | null = null
  for (const story of fires) {
    const claimedAt = claimOf(story.runs[0]!)
    if (newest !== null && isOvertaken(clock, newest, story) && !mayBePutBack(judged, newest, claimedAt)) {
      const waiting = `${fireText(newest)}, which waited since ${iso(newest.record!.plannedAt)}`
      const message = `${fireText(story)} was claimed before ${waiting}.`
      report('C11', story, message, [newest.runs[0]!, story.runs[0]!])
    }
    if (newest === null || compareClaims(clock, newest.runs[0]!, story.runs[0]!) < 0) newest = story
  }
}

/** Whether the first one, due earlier, was open when the other one was claimed: so it was passed by. */
function isOvertaken(clock: Case['clock'], dueEarlier: Story, { runs }: Story): boolean {
  const [claim] = runs
  return compareClaims(clock, claim!, dueEarlier.runs[0]!) < 0 && dueEarlier.record!.plannedAt < claim!.startedAt
}
