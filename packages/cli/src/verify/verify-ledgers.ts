import {
  judgeLedger,
  type LedgerCounts,
  type LedgerVerdict,
  type Overdue,
  PROPERTIES,
  type RetiredStretch,
  type Stretch,
} from '@cronce/checker'
import type { Connection } from 'cronce'
import type { Args } from '../args.ts'
import { EXIT } from '../exit-code.ts'
import { formatCount, formatDuration, joinWords } from '../format.ts'
import type { Io } from '../io.ts'
import { formOf, printJson } from '../output.ts'
import { countSteps } from '../progress.ts'
import { CAUSES } from '../retired-words.ts'
import { sanitize } from '../terminal.ts'
import { formatInstant } from '../time-words.ts'
import { goneSchedules, readLedger } from './read-ledger.ts'

/** How many are printed of each schedule and kind; all are counted. */
const SHOWN = 10
/** Longer overdue than this needs an operator. */
const OVERDUE_MS = 60_000

interface Judged extends LedgerVerdict {
  readonly schedule: string
  readonly judgedFrom: number
}

/**
 * Judge the records of one schedule, or of all. Exit code 1 if they are not what they must be, end before they should, or have a gap
 * because a schedule was retired and came back.
 */
export async function verifyLedgers(
  client: Connection,
  { name, stretch, tz }: { readonly name: string | undefined; readonly stretch: Stretch; readonly tz: string },
  args: Args,
  io: Io,
): Promise<number> {
  const names = name === undefined ? await allNames(client) : [name]
  const progress = countSteps(io, 'judged', names.length)
  const judged: Judged[] = []
  for (const schedule of names) {
    const subject = await readLedger(client, schedule)
    // A name that is not a schedule, and never was one, is a mistake.
    if (subject.rule === null && subject.fires.length === 0 && subject.runs.length === 0)
      await client.schedules.get(schedule)
    const verdict = judgeLedger(subject, stretch)
    const judgedFrom = Math.max(stretch.from, subject.rule?.since ?? 0, subject.rule?.keptSince ?? 0)
    judged.push({ schedule, ...verdict, judgedFrom })
    progress.step()
  }
  progress.end()
  const isSound = judged.every(({ violations }) => violations.length === 0)
  if (['json', 'jsonl'].includes(formOf(args))) printJson(toJson(judged, isSound), io)
  else print(judged, tz, io)
  return isSound && !judged.some(isLate) && !judged.some(isInterrupted) ? EXIT.ok : EXIT.failed
}

async function allNames(client: Connection): Promise<readonly string[]> {
  const names = new Set<string>()
  for await (const { name } of client.schedules.all({ internal: true })) names.add(name)
  return [...names, ...(await goneSchedules(client, names))]
}

function total(judged: readonly Judged[]): LedgerCounts {
  const byOutcome: Record<string, number> = {}
  const sum = { fires: 0, instants: 0, runs: 0, expected: 0, retried: 0 }
  for (const { counts } of judged) {
    for (const key of Object.keys(sum) as (keyof typeof sum)[]) sum[key] += counts[key]
    for (const [outcome, count] of Object.entries(counts.byOutcome))
      byOutcome[outcome] = (byOutcome[outcome] ?? 0) + count
  }
  return { ...sum, byOutcome }
}

function toJson(judged: readonly Judged[], isSound: boolean): object {
  return {
    sound: isSound,
    counts: total(judged),
    overdue: judged.filter(isLate).length,
    interrupted: judged.filter(isInterrupted).length,
    items: judged.map(({ schedule, violations, counts, overdue, retired }) => ({
      schedule,
      sound: violations.length === 0,
      counts,
      overdue,
      retired,
      violations,
    })),
    next: null,
  }
}

function isLate({ overdue }: Judged): boolean {
  return overdue !== null && overdue.byMs > OVERDUE_MS
}

/** It was retired for a while, and instants that were due meanwhile are on no record. */
function isInterrupted({ retired }: Judged): boolean {
  return retired.some(({ to, unrecorded }) => to !== null && unrecorded !== null && unrecorded > 0)
}

function isRetired({ retired }: Judged): boolean {
  return retired.some(({ to }) => to === null)
}

function print(judged: readonly Judged[], tz: string, io: Io): void {
  for (const { schedule, violations, overdue, retired } of judged) {
    const byProperty = Map.groupBy(violations, ({ property }) => property)
    for (const [property, found] of byProperty) {
      io.out(
        `${io.paint('red', '✗')} ${io.paint('bold', sanitize(schedule))}  ${property} ${io.paint('dim', PROPERTIES[property])}\n`,
      )
      for (const { message } of found.slice(0, SHOWN)) io.out(`    ${sanitize(message)}\n`)
      if (found.length > SHOWN) io.out(`    and ${formatCount(found.length - SHOWN)} more\n`)
    }
    const name = `${io.paint('yellow', '!')} ${io.paint('bold', sanitize(schedule))}`
    for (const stretch of retired) io.out(`${name}  ${sanitize(retiredWords(stretch, tz))}\n`)
    if (overdue !== null) {
      io.out(`${name}  judged up to ${formatInstant(overdue.since, tz)}; ${overdueWords(overdue)} on no record yet\n`)
    }
  }
  io.out(`${summary(judged, tz, io)}\n`)
}

/** What was judged comes first. */
function summary(judged: readonly Judged[], tz: string, io: Io): string {
  const { fires, instants, runs, expected, retried, byOutcome } = total(judged)
  const violations = judged.reduce((sum, { violations: found }) => sum + found.length, 0)
  const outcomes = Object.entries(byOutcome)
    .sort((a, b) => b[1] - a[1])
    .map(([outcome, count]) => `${formatCount(count)} ${outcome}`)
  const [only] = judged
  const since = judged.length === 1 && only!.judgedFrom > 0 ? ` since ${formatInstant(only!.judgedFrom, tz)}` : ''
  const lines = [
    `${plural(judged.length, 'schedule')}: ${plural(fires, 'record')} of ${plural(instants, 'instant')} (${joinWords(outcomes) || 'none'}), ${plural(runs, 'run')}, ${plural(retried, 'fire')} with retries or take-overs.`,
    `${plural(expected, 'instant')} of the rules${since} looked for${expected < instants ? ': completeness is checked since each rule last changed' : ''}.`,
    verdictWords(
      {
        ...{ violations, fires, expected, late: judged.filter(isLate).length },
        ...{ interrupted: judged.filter(isInterrupted).length, retired: judged.filter(isRetired).length },
      },
      io,
    ),
  ]
  return lines.join('\n')
}

interface Sum {
  readonly violations: number
  readonly fires: number
  readonly expected: number
  readonly late: number
  readonly interrupted: number
  readonly retired: number
}

function verdictWords({ violations, fires, expected, late, interrupted, retired }: Sum, io: Io): string {
  if (violations > 0) {
    const many = io.paint('red', plural(violations, 'violation'))
    return `${many}: these records are not those of a scheduler that keeps its promises.`
  }
  if (late > 0) {
    const many = late === 1 ? '1 schedule is' : `${formatCount(late)} schedules are`
    return `${io.paint('yellow', 'Behind')}: no record contradicts another, but ${many} overdue: see cronce doctor.`
  }
  if (interrupted > 0) {
    const many = interrupted === 1 ? '1 schedule was' : `${formatCount(interrupted)} schedules were`
    return `${io.paint('yellow', 'Interrupted')}: no record contradicts another, but ${many} retired for a while, and what was due then is on no record.`
  }
  // A verdict about nothing is worth nothing.
  if (fires + expected === 0) return `${io.paint('yellow', 'Nothing')} is on record there, so nothing was judged.`
  if (expected === 0)
    return `${io.paint('green', 'Sound')}: no record contradicts another. Of no instant it is known that it was due.`
  const end = retired === 0 ? '' : ` ${retiredNow(retired)} retired: no instant since then is looked for.`
  return `${io.paint('green', 'Sound')}: every instant is on record once, and no record contradicts another.${end}`
}

function retiredNow(count: number): string {
  return count === 1 ? '1 schedule is' : `${formatCount(count)} schedules are`
}

function retiredWords(retired: RetiredStretch, tz: string): string {
  const { from, to, cause, deployment, due, unrecorded, renamedTo } = retired
  const what = renamedTo === undefined ? 'retired' : `its job had the name ${renamedTo}`
  const stretch =
    to === null
      ? `${renamedTo === undefined ? 'retired' : `retired, its job goes on as ${renamedTo},`} since ${formatInstant(from, tz)}`
      : `${what} from ${formatInstant(from, tz)} to ${formatInstant(to, tz)} (${formatDuration(to - from)})`
  const why = CAUSES[cause]?.(deployment) ?? cause
  if (due === null || unrecorded === null) return `${stretch}: ${why}`
  return `${stretch}: ${why}; ${formatCount(unrecorded)} of ${plural(due, 'instant')} due then ${unrecorded === 1 ? 'is' : 'are'} on no record`
}

function overdueWords({ count, isMore }: Overdue): string {
  if (count === null) return 'what was due since then is'
  const many = `${isMore ? 'more than ' : ''}${plural(count, 'instant')}`
  return `${many} due since then ${count === 1 && !isMore ? 'is' : 'are'}`
}

function plural(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`
}
