import type { Instant, LedgerFire } from '../history.ts'
import { iso, type Report } from '../report.ts'
import type { LedgerRule, LedgerSubject, Stretch } from './subject.ts'

/**
 * Every instant of the rule is on record, once, and nothing else is. Answers how many instants were looked for. Only what was due since
 * the rule was written is judged: what it was before is unknown.
 */
export function judgeInstants(subject: LedgerSubject, stretch: Stretch, report: Report): number {
  const { rule } = subject
  if (rule === null || rule.instants === null) return 0
  const all = [...subject.fires, ...skippedElsewhere(subject, rule)]
  const own = all.filter(({ nonce, origin }) => nonce === '' && origin !== 'manual')
  const due = own.filter((fire) => !isOfCalendar(fire, rule))
  const judged = judgedStretch(subject, rule, stretch)
  const count = judgeSeries(subject, { rule, instants: rule.instants, fires: due }, judged, report)
  // What the calendar excludes is on record up to what was planned last, in order.
  const planned = own.filter(({ reason }) => reason !== 'skipped-by-operator')
  const last = planned.reduce((latest, { dueAt, untilAt }) => Math.max(latest, untilAt ?? dueAt), 0)
  const to = Math.min(judged.to, last)
  const excluded = { rule, instants: rule.excluded ?? (() => []), fires: own.filter((fire) => !due.includes(fire)) }
  const excludedCount = judgeSeries(subject, excluded, { ...judged, to }, report)
  judgeMark(subject, rule, own, stretch, report)
  return count + excludedCount
}

/** What an operator skipped before it was due, under an earlier name of the job: its record stays there. */
function skippedElsewhere({ otherFires = [] }: LedgerSubject, { since }: LedgerRule): readonly LedgerFire[] {
  return otherFires.filter(
    ({ reason, plannedAt, dueAt }) => reason === 'skipped-by-operator' && plannedAt <= since && dueAt > since,
  )
}

/** What the calendar excludes, also if an operator had it run after all. */
function isOfCalendar({ reason, round, dueAt }: LedgerFire, { excluded }: LedgerRule): boolean {
  return reason === 'calendar' || (round > 1 && excluded !== undefined && excluded(dueAt, dueAt).length > 0)
}

/** Instants of one kind, and the records of that kind. */
interface Series {
  readonly rule: LedgerRule
  readonly instants: NonNullable<LedgerRule['instants']>
  readonly fires: readonly LedgerFire[]
}

function judgeSeries(subject: LedgerSubject, series: Series, { from, to }: Stretch, report: Report): number {
  const { rule, instants, fires } = series
  const singles = new Map(fires.filter(({ untilAt }) => untilAt === null).map((fire) => [fire.dueAt, fire]))
  const ranges = fires.filter(({ untilAt }) => untilAt !== null).sort((a, b) => a.dueAt - b.dueAt)
  const expected = from > to ? [] : instants(from, to)
  judgeMissing(subject, expected, singles, ranges, report)
  judgePhantoms(subject, rule, expected, { from, to }, singles, report)
  judgeRanges(subject, series, { from, to }, singles, ranges, report)
  return expected.length
}

function judgedStretch({ fires, readAt, clockErrorMs }: LedgerSubject, rule: LedgerRule, stretch: Stretch): Stretch {
  const from = Math.max(stretch.from, rule.since + clockErrorMs + 1, rule.keptSince + 1)
  // For a schedule that is over, only the records show where it ended: by its limit, by its end, or because it was
  // retired.
  const own = fires.filter(({ origin, nonce }) => origin === 'scheduled' && nonce === '')
  const last = own.reduce((latest, { dueAt, untilAt }) => Math.max(latest, untilAt ?? dueAt), 0)
  const mark =
    rule.nextAt === null || rule.limit !== null ? Math.min(last, (rule.nextAt ?? last + 1) - 1) : rule.nextAt - 1
  return { from, to: Math.min(stretch.to, mark, readAt) }
}

/** Many in a row are one violation. */
function judgeMissing(
  { schedule }: LedgerSubject,
  expected: readonly Instant[],
  singles: ReadonlyMap<Instant, LedgerFire>,
  ranges: readonly LedgerFire[],
  report: Report,
): void {
  let gap: Instant[] = []
  const close = (): void => {
    const [first] = gap
    if (first === undefined) return
    const what =
      gap.length === 1
        ? `The instant ${iso(first)} is on no record: it was neither run nor skipped nor missed.`
        : `${gap.length} instants from ${iso(first)} to ${iso(gap.at(-1)!)} are on no record: they were neither run nor skipped nor missed.`
    report('C1', { schedule, dueAt: first }, what, [])
    gap = []
  }
  let next = 0
  const covering: LedgerFire[] = []
  for (const at of expected) {
    while (next < ranges.length && ranges[next]!.dueAt <= at) covering.push(ranges[next++]!)
    const isCovered = singles.has(at) || covering.some(({ untilAt }) => untilAt! >= at)
    if (isCovered) close()
    else gap.push(at)
  }
  close()
}

function judgePhantoms(
  { schedule, readAt, clockErrorMs }: LedgerSubject,
  rule: LedgerRule,
  expected: readonly Instant[],
  { from, to }: Stretch,
  singles: ReadonlyMap<Instant, LedgerFire>,
  report: Report,
): void {
  const known = new Set(expected)
  for (const fire of singles.values()) {
    if (fire.dueAt < from || fire.dueAt > to || fire.plannedAt <= rule.since + clockErrorMs || fire.plannedAt >= readAt)
      continue
    if (known.has(fire.dueAt)) continue
    report(
      'C4',
      { schedule, dueAt: fire.dueAt },
      `${iso(fire.dueAt)} is on record, and is not an instant of the schedule.`,
      [fire],
    )
  }
}

function judgeRanges(
  { schedule }: LedgerSubject,
  { rule, instants: instantsIn }: Series,
  { from, to }: Stretch,
  singles: ReadonlyMap<Instant, LedgerFire>,
  ranges: readonly LedgerFire[],
  report: Report,
): void {
  let previous: LedgerFire | null = null
  for (const range of ranges) {
    const about = { schedule, dueAt: range.dueAt }
    const untilAt = range.untilAt!
    const text = `The record from ${iso(range.dueAt)} to ${iso(untilAt)}`
    if (untilAt <= range.dueAt || range.count < 2) {
      report('C10', about, `${text} does not cover several instants.`, [range])
      continue
    }
    if (range.dueAt < from || untilAt > to) continue
    if (previous !== null && range.dueAt <= previous.untilAt!) {
      report('C10', about, `${text} overlaps the one before it.`, [previous, range])
    }
    previous = range
    const instants = instantsIn(range.dueAt, untilAt)
    if (
      rule.limit === null &&
      (instants.length !== range.count || instants[0] !== range.dueAt || instants.at(-1) !== untilAt)
    ) {
      report('C10', about, `${text} counts ${range.count} instants; the schedule has ${instants.length} there.`, [
        range,
      ])
    }
    const double = instants.map((at) => singles.get(at)).find((fire) => fire !== undefined)
    if (double !== undefined) {
      report('C10', about, `${text} and another one both stand for ${iso(double.dueAt)}.`, [range, double])
    }
  }
}

/** Nothing is planned ahead of the mark, but for what an operator skipped before it came. */
function judgeMark(
  { settledBefore }: LedgerSubject,
  rule: LedgerRule,
  fires: readonly LedgerFire[],
  stretch: Stretch,
  report: Report,
): void {
  const { nextAt, since } = rule
  if (nextAt === null) return
  for (const fire of fires) {
    if (fire.dueAt < nextAt || fire.dueAt > stretch.to || fire.dueAt < stretch.from) continue
    // The schedule goes on while its records are read.
    if (fire.plannedAt <= since || fire.plannedAt >= settledBefore) continue
    if (fire.outcome === 'skipped' && fire.reason === 'skipped-by-operator') continue
    const message = `${iso(fire.dueAt)} is on record, though the schedule has only come to ${iso(nextAt)}.`
    report('C14', { schedule: fire.schedule, dueAt: fire.dueAt }, message, [fire])
  }
}
