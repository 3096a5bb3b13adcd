import { cron } from 'cronce/cron'
import type { Args } from '../args.ts'
import type { Io } from '../io.ts'
import { note, printJson } from '../output.ts'
import { readIcal } from './ical.ts'
import { findingsText } from './report.ts'
import { readSources } from './sources.ts'
import { writeOut } from './write-out.ts'

/** Prints the days of iCalendar files as the option `calendars` of a configuration. */
export async function importIcal(files: readonly string[], args: Args, io: Io): Promise<number> {
  const read = (await readSources('ical', files, io)).map(({ file, text }) => readIcal(text, file))
  const more = args.text('closed-days') ?? ''
  const entries = [more, ...read.flatMap(({ days }) => days)].join(' ')
  const days = daysOf(entries)
  const findings = read.flatMap((one) => one.findings)
  const name = args.text('name') ?? 'holidays'
  const text = `${JSON.stringify({ calendars: { [name]: days } }, null, 2)}\n`
  const out = args.text('out')
  const written =
    out === undefined || args.has('dry-run') ? null : await writeOut(out, text, { force: args.has('force') }, io)
  const code = findings.length > 0 ? 1 : 0
  if (args.has('json')) {
    printJson({ calendar: { name, days }, findings, written }, io)
    return code
  }
  if (written === null) io.out(text)
  io.err(findingsText(findings, read.length === 1, io))
  const events = read.reduce((sum, one) => sum + one.events, 0)
  note(
    `${count(events, 'event')}, ${count(days.length, 'entry', 'entries')}${written === null ? '' : `, written to ${written}`}.`,
    io,
  )
  if (!days.some((entry) => entry.length === 3)) {
    note('No weekday is closed, so weekends are open. Add --closed-days "SAT SUN" if they are not.', io)
  }
  return code
}

/** In the form in which they are stored: what can't be a calendar is refused. */
function daysOf(entries: string): readonly string[] {
  const { calendar } = cron('0 0 * * *', { calendar: { days: entries } }).toJSON() as { calendar?: { days: string } }
  return (calendar?.days ?? '').split(' ').filter((entry) => entry !== '')
}

function count(number: number, noun: string, plural = `${noun}s`): string {
  return `${number} ${number === 1 ? noun : plural}`
}
