import { pictureHead, pictureOf } from '../forecast/picture.ts'
import { formatCount, formatDuration, formatLocal } from '../format.ts'
import type { Io } from '../io.ts'
import { type Column, table } from '../output.ts'
import { counted } from '../steer/say.ts'
import { sanitize } from '../terminal.ts'
import { offsetAt } from '../zone.ts'
import { type Outage, type OutageEffect, totalOf } from './outage.ts'
import { busiestHour, type Counts, countsOf, type Report } from './report.ts'
import type { Simulation } from './simulate.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const SHOWN = 20
/** Schedules at one moment that are worth a word, as in a plan. */
const CROWD = 3

/** The simulation for people. */
export function printSimulation(report: Report, io: Io): void {
  const { made, tz } = report
  const at = (instant: number): string => formatLocal(instant, tz, 'minute')
  io.out(`${io.paint('bold', sanitize(`${report.read.what}: ${at(made.from)} to ${at(made.until)}`))}\n`)
  for (const line of assumedLines(report)) io.out(`${sanitize(line)}\n`)
  if (made.views.length === 0) {
    io.out('\nNo schedules.\n')
    return
  }
  printSchedules(made, io)
  printLoad(report, at, io)
  if (made.outage !== null) printOutage(made.outage, made, at, io)
  printAdvice(made, io)
}

function assumedLines({ made, read, room, otherwise, named }: Report): readonly string[] {
  const recorded = made.views.filter(({ name }) => read.recorded.has(name)).length
  const others = recorded === made.views.length ? [] : [`${formatDuration(otherwise)} for others`]
  const known = recorded === 0 ? [] : [`recorded for ${counted(recorded, 'schedule')}`]
  const given = [...named].map(([name, ms]) => `${formatDuration(ms)} for ${name}`)
  const lines = [`Durations: ${[...given, ...known, ...others].join(', ')}.`]
  if (Number.isFinite(room)) lines.push(`At most ${counted(room, 'run')} at a time.`)
  if (made.isCut) lines.push(`It ends early, after ${counted(made.tally.runs, 'run')}.`)
  return lines
}

const COLUMNS: readonly Column<Counts>[] = [
  { title: 'SCHEDULE', value: ({ name, isPaused }) => (isPaused ? `${name} (paused)` : name), shrinks: true },
  { title: 'FIRES', value: ({ tally }) => formatCount(tally.fires), align: 'right' },
  { title: 'SUCCEEDED', value: ({ succeeded }) => formatCount(succeeded), align: 'right' },
  { title: 'FAILED', value: ({ failed }) => orNone(failed), align: 'right', color: ({ failed }) => warned(failed) },
  {
    title: 'OVERLAPPED',
    value: ({ overlapped }) => orNone(overlapped),
    align: 'right',
    color: ({ overlapped }) => warned(overlapped),
  },
  { title: 'NOT RUN', value: ({ other }) => orNone(other), align: 'right' },
  { title: 'BESIDE', value: ({ tally }) => orNone(tally.beside), align: 'right' },
  { title: 'WAITED', value: ({ tally }) => orNone(tally.waited), align: 'right' },
  { title: 'LONGEST WAIT', value: ({ tally }) => orNone(tally.longestWaitMs, formatDuration), align: 'right' },
]

function orNone(count: number, words: (count: number) => string = formatCount): string {
  return count === 0 ? '-' : words(count)
}

function warned(count: number): 'yellow' | undefined {
  return count === 0 ? undefined : 'yellow'
}

function printSchedules(made: Simulation, io: Io): void {
  const all = countsOf(made)
  io.out(`\n${table(all.slice(0, SHOWN), COLUMNS, false, io)}`)
  if (all.length > SHOWN) io.out(`${formatCount(all.length - SHOWN)} more, with less trouble: --json has all.\n`)
}

function printLoad({ made, tz }: Report, at: (instant: number) => string, io: Io): void {
  const { tally, from, until } = made
  const busiest = busiestHour(tally)
  const hours = tally.starts.map((fires, index) => {
    const begin = tally.from + index * HOUR_MS
    return { at: begin, wall: begin + offsetAt(tz, begin), fires }
  })
  io.out(`\n${io.paint('bold', 'Load')}\n`)
  io.out(
    `  ${counted(tally.runs, 'run')}; the busiest hour begins ${at(busiest.at)}, with ${formatCount(busiest.runs)}.\n`,
  )
  io.out(`  At most ${counted(tally.peak.running, 'run')} at a time, at ${at(tally.peak.at)}.\n\n`)
  io.out(`${pictureHead(tz, io)}\n`)
  for (const line of pictureOf(hours, (until - from) / DAY_MS, io)) io.out(`${line}\n`)
}

function printOutage(outage: Outage, made: Simulation, at: (instant: number) => string, io: Io): void {
  const { from, to, due, ranLate, superseded, lost, interrupted, abandoned, peak, caughtUpAt } = outage
  const length = formatDuration(to - from)
  io.out(`\n${io.paint('bold', `An outage of ${length} at the worst of ${made.outagesTried} times: ${at(from)}`)}\n`)
  io.out(
    `  ${counted(due, 'due time')}: ${formatCount(ranLate)} late, ${formatCount(superseded)} superseded by a newer one, ${formatCount(lost)} lost.\n`,
  )
  if (interrupted > 0) {
    io.out(`  ${counted(interrupted, 'run')} interrupted, of which ${formatCount(abandoned)} did not succeed later.\n`)
  }
  const end = caughtUpAt === null ? 'not within a day' : `${formatDuration(caughtUpAt - to)} after its end`
  io.out(`  At most ${counted(peak, 'run')} at a time in the hour after it; the last fire ended ${end}.\n\n`)
  const effects = [...outage.schedules].map(([name, effect]) => ({ name, ...effect }))
  effects.sort((one, other) => lostOf(other) - lostOf(one) || other.due - one.due || (one.name < other.name ? -1 : 1))
  io.out(table(effects.slice(0, SHOWN), OUTAGE_COLUMNS, false, io))
  if (effects.length > SHOWN) io.out(`${formatCount(effects.length - SHOWN)} more: --json has all.\n`)
}

type NamedEffect = OutageEffect & { readonly name: string }

function lostOf({ lost }: OutageEffect): number {
  return totalOf(lost) - (lost.get('superseded') ?? 0)
}

const OUTAGE_COLUMNS: readonly Column<NamedEffect>[] = [
  { title: 'SCHEDULE', value: ({ name }) => name, shrinks: true },
  { title: 'DUE', value: ({ due }) => orNone(due), align: 'right' },
  { title: 'LATE', value: ({ ranLate }) => orNone(ranLate), align: 'right' },
  { title: 'UP TO', value: ({ longestLateMs }) => orNone(longestLateMs, formatDuration), align: 'right' },
  { title: 'INTERRUPTED', value: ({ interrupted }) => orNone(interrupted), align: 'right' },
  {
    title: 'NOT RUN',
    value: ({ lost }) => [...lost].map(([reason, count]) => `${formatCount(count)} ${reason}`).join(', ') || '-',
    color: (effect) => warned(lostOf(effect)),
  },
]

function printAdvice({ clockChanges, collisions }: Simulation, io: Io): void {
  if (clockChanges.length > 0) {
    io.out(`\n${io.paint('bold', 'Clock changes')}\n`)
    for (const { name, words } of clockChanges.slice(0, SHOWN)) io.out(`  ${sanitize(`${name}: ${words}`)}\n`)
    if (clockChanges.length > SHOWN) io.out(`  ${formatCount(clockChanges.length - SHOWN)} more: --json has all.\n`)
  }
  const crowds = collisions.filter(({ most }) => most >= CROWD).slice(0, SHOWN)
  if (crowds.length === 0) return
  io.out(`\n${io.paint('bold', 'Due at the same moment')}\n`)
  for (const { words, most, times } of crowds) {
    io.out(`  ${words}: ${counted(most, 'schedule')}, ${counted(times, 'time')} in the first week\n`)
  }
  const advised = new Map(crowds.flatMap(({ advice }) => advice).map((advice) => [advice.name, advice]))
  io.out(`\n${io.paint('bold', 'To spread them')}\n`)
  for (const { name, expression, instead } of [...advised.values()].slice(0, SHOWN)) {
    io.out(`  ${sanitize(`${name}: cron: '${expression}' instead of '${instead}', or jitter: '10m'`)}\n`)
  }
  if (advised.size === 0) io.out(`  Give their jobs a jitter: work begins up to so much later.\n`)
}
