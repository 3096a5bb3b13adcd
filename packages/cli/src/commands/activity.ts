import type { ActivityRecord, Connection } from 'cronce'
import type { Args } from '../args.ts'
import type { Io } from '../io.ts'
import { STORE_FLAGS, withClient } from '../open-store.ts'
import { atMost } from '../operands.ts'
import { type Column, OUTPUT_FLAGS, printList } from '../output.ts'
import { PAGE_FLAGS, readPage } from '../paging.ts'
import { formatInstant, TIME_FLAGS, timeFlag, zoneOf } from '../time-words.ts'
import type { Command } from './command.ts'

export const activity: Command = {
  operands: '',
  examples: [
    ['cronce activity', 'what people did, the latest first'],
    ['cronce activity --schedule billing --from now-7d', 'who touched billing within a week'],
    ['cronce activity --from yesterday --json', 'for a program'],
  ],
  about: [
    'Every pause, resume, run, skip, backfill, cancellation, retry, drain, activation, adoption, prune, and every change or removal of a',
    'schedule, with its author, note and origin. Kept for a year. What programs create or trigger from code is listed if it has an author.',
  ].join('\n'),
  flags: {
    schedule: { type: 'string', value: 'NAME', help: 'Only actions on this schedule' },
    from: { type: 'string', value: 'TIME', help: 'From then on: now-2h, yesterday, 2027-03-28T01:30' },
    to: { type: 'string', value: 'TIME', help: 'Before then' },
    ...PAGE_FLAGS,
    ...TIME_FLAGS,
    ...STORE_FLAGS,
    ...OUTPUT_FLAGS,
  },
  run: runActivity,
}

function runActivity(args: Args, io: Io): Promise<number> {
  atMost(args, 0, 'activity')
  const tz = zoneOf(args)
  return withClient(args, io, async (client, io) => {
    const from = timeFlag(args, 'from', { tz, now: io.now })
    const to = timeFlag(args, 'to', { tz, now: io.now })
    const schedule = args.text('schedule')
    const { items, next } = await readPage(args, (page) => client.activity.list({ schedule, from, to, ...page }))
    if (items.length === 0 && schedule !== undefined) await demandKnown(client, schedule)
    printList({ items, next, columns: columnsIn(tz), name: ({ id }) => id, empty: 'No activity.' }, args, io)
    return 0
  })
}

/** A name that is not a schedule, and is in no line of the log, is a mistake rather than an empty list. */
async function demandKnown(client: Connection, schedule: string): Promise<void> {
  const { items } = await client.activity.list({ schedule, limit: 1 })
  if (items.length === 0) await client.schedules.get(schedule)
}

function columnsIn(tz: string): readonly Column<ActivityRecord>[] {
  return [
    { title: 'TIME', value: ({ at }) => formatInstant(at, tz) },
    { title: 'ACTION', value: ({ action }) => action, color: () => 'bold' },
    { title: 'SUBJECT', value: subjectWords },
    { title: 'AUTHOR', value: ({ author }) => author ?? '-' },
    { title: 'ORIGIN', value: ({ origin }) => origin, drop: 1 },
    { title: 'NOTE', value: ({ note }) => note ?? '', shrinks: true },
    { title: 'CHANGED', value: ({ changed }) => JSON.stringify(changed), wide: true },
  ]
}

function subjectWords({ subject: { type, name } }: ActivityRecord): string {
  return type === 'schedule' ? name : `${type} ${name}`
}
