import { stats, type ZoneEffect } from 'cronce/cron'
import type { Args } from '../args.ts'
import { formatCount, formatLocal, precisionFor } from '../format.ts'
import type { Io } from '../io.ts'
import { neverBecause } from '../notes.ts'
import { printJson } from '../output.ts'
import { fireLines } from '../print.ts'
import { readSchedule, SCHEDULE_FLAGS, type Schedule } from '../schedule.ts'
import { UsageError } from '../usage-error.ts'
import { effectWords } from '../zone-marks.ts'
import type { Command } from './command.ts'

const DEFAULT_COUNT = 5
const MOST = 1_000

export const next: Command = {
  operands: '"<expression>"',
  examples: [
    ['cronce next "*/15 9-17 * * MON-FRI"', 'the next five fires, in UTC'],
    ['cronce next "30 1 * * *" --tz Europe/London --from 2027-03-27', 'across a change of the clock'],
    ['cronce next "0 0 L * *" -n 12 --json', 'the next twelve, for a program'],
    ['cronce next "H H * * *" --seed nightly-report', 'a time of day chosen by name'],
  ],
  about: 'Distances such as "in 3 h" count from --from. A fire at --from itself is not listed.',
  flags: {
    count: {
      type: 'string',
      short: 'n',
      value: 'N',
      help: `How many fires, 1 to ${formatCount(MOST)} (default ${DEFAULT_COUNT})`,
    },
    ...SCHEDULE_FLAGS,
    json: { type: 'boolean', help: 'Print {"version": 1, "next": ["2027-03-28T01:00:00.000Z", ...]} and nothing else' },
  },
  run: runNext,
}

function runNext(args: Args, io: Io): number {
  const count = readCount(args.text('count'))
  const schedule = readSchedule(args, 'next', io.now)
  const { trigger, from, tz } = schedule
  const fires = trigger.nextN(from, count)

  if (args.has('json')) {
    printJson({ next: fires.map((fire) => new Date(fire).toISOString()) }, io)
    return 0
  }
  for (const line of fireLines(trigger, fires, { tz, from, paint: io.paint })) io.out(`${line}\n`)
  for (const note of [...zoneNotes(schedule), ...notesAfter(schedule, fires, count)]) {
    io.err(`${io.paintErr('cyan', 'note:')} ${note}\n`)
  }
  return 0
}

function readCount(text: string | undefined): number {
  if (text === undefined) return DEFAULT_COUNT
  const count = /^\d{1,9}$/.test(text) ? Number(text) : 0
  if (count >= 1 && count <= MOST) return count
  throw new UsageError(`-n cannot be "${text}".`, `Use a whole number from 1 to ${MOST}.`)
}

function zoneNotes({ options, tz }: Schedule): string[] {
  if (options.tz === undefined || options.tz === tz) return []
  return [`The expression itself names the zone ${tz}, which wins over --tz ${options.tz}.`]
}

/** What the list of fires does not show: that it ends, and which times a zone change took out of it. */
function notesAfter({ trigger, tz, from }: Schedule, fires: readonly number[], count: number): string[] {
  const last = fires.at(-1)
  if (last === undefined) return [emptyNote(trigger, tz, from)]
  const notes: string[] = []
  if (trigger.kind === 'cron') {
    const dropped = stats(trigger, { from, to: last }).changes.filter(({ effect }) => effect === 'dropped')
    notes.push(...dropped.map((change) => droppedNote(change, tz, effectWords(trigger, change))))
  }
  if (fires.length < count) notes.push('There are no fires after these.')
  return notes
}

function droppedNote(change: ZoneEffect, tz: string, effect: string): string {
  return `The clock goes forward at ${formatLocal(change.at, tz, 'minute')}: ${effect}.`
}

function emptyNote(trigger: Schedule['trigger'], tz: string, from: number): string {
  if (trigger.kind === 'cron') {
    if (trigger.timing === 'event') return '@reboot has no times: it fires when a process starts.'
    if (trigger.never) return `This expression never fires. ${neverBecause(trigger)}`
  }
  const before = trigger.prev(from)
  return before === null
    ? 'There are no more fires.'
    : `There are no more fires; the last was ${formatLocal(before, tz, precisionFor([before], tz))}.`
}
