import type { RunFilter, RunView } from 'cronce'
import type { Args } from '../args.ts'
import { formatDuration } from '../format.ts'
import type { Io } from '../io.ts'
import { STORE_FLAGS, withClient } from '../open-store.ts'
import { atMost } from '../operands.ts'
import { endingWords, OUTCOME_FLAGS, stateColor } from '../outcome-words.ts'
import { type Column, OUTPUT_FLAGS, printList } from '../output.ts'
import { PAGE_FLAGS, readPage } from '../paging.ts'
import { redactRecord } from '../redact.ts'
import { formatInstant, TIME_FLAGS, timeFlag, zoneOf } from '../time-words.ts'
import type { Command } from './command.ts'

export const runs: Command = {
  operands: '[<schedule>]',
  examples: [
    ['cronce runs', 'the latest, whatever they are of'],
    ['cronce runs billing --outcome failed --from now-7d', 'what failed within a week'],
    ['cronce runs --outcome open', 'what is going on'],
    ['cronce runs billing --all --json', 'all that is on record, for a program'],
  ],
  about: 'A run is one try at a fire; it is named by its token. See cronce show <schedule> <token>.',
  flags: {
    job: { type: 'string', value: 'JOB', help: 'Only runs of this job' },
    instance: { type: 'string', value: 'ID', help: 'Only those on this instance' },
    ...OUTCOME_FLAGS,
    from: { type: 'string', value: 'TIME', help: 'Of fires due from then on: now-2h, yesterday, 2027-03-28T01:30' },
    to: { type: 'string', value: 'TIME', help: 'Of fires due before then' },
    ...PAGE_FLAGS,
    ...TIME_FLAGS,
    ...STORE_FLAGS,
    ...OUTPUT_FLAGS,
  },
  run: runRuns,
}

function runRuns(args: Args, io: Io): Promise<number> {
  const [schedule] = atMost(args, 1, 'runs')
  const tz = zoneOf(args)
  const filter: RunFilter = {
    schedule,
    job: args.text('job'),
    instance: args.text('instance'),
    outcome: args.text('outcome') as RunFilter['outcome'],
  }
  return withClient(args, io, async (client, io) => {
    const times = {
      from: timeFlag(args, 'from', { tz, now: io.now }),
      to: timeFlag(args, 'to', { tz, now: io.now }),
    }
    // A name that is no schedule is a mistake rather than an empty list.
    if (schedule !== undefined && (await client.schedules.find(schedule)) === null) {
      const { items } = await client.runs.list({ schedule, limit: 1 })
      if (items.length === 0) await client.schedules.get(schedule)
    }
    const { items, next } = await readPage(args, (page) => client.runs.list({ ...filter, ...times, ...page }))
    printList(
      {
        items: items.map(redactRecord),
        next,
        columns: columnsIn(tz),
        name: ({ schedule: name, token }) => `${name} ${token}`,
        empty: 'No runs.',
      },
      args,
      io,
    )
    return 0
  })
}

function columnsIn(tz: string): readonly Column<RunView>[] {
  return [
    { title: 'DUE', value: ({ dueAt }) => formatInstant(dueAt, tz) },
    { title: 'SCHEDULE', value: ({ schedule }) => schedule, color: () => 'bold' },
    { title: 'TOKEN', value: ({ token }) => token },
    { title: 'STATE', value: endingWords, color: ({ state }) => stateColor(state) },
    {
      title: 'TOOK',
      value: ({ durationMs }) => (durationMs === null ? '-' : formatDuration(durationMs)),
      align: 'right',
    },
    { title: 'LATE', value: ({ latenessMs }) => formatDuration(latenessMs), align: 'right', drop: 2 },
    { title: 'CAUSE', value: ({ cause }) => cause ?? '-', wide: true },
    { title: 'TRY', value: ({ attempt }) => String(attempt), align: 'right', drop: 1 },
    { title: 'STARTED', value: ({ startedAt }) => formatInstant(startedAt, tz), wide: true },
    { title: 'ROUND', value: ({ round }) => String(round), align: 'right', wide: true },
    { title: 'JOB', value: ({ job }) => job, wide: true },
    { title: 'INSTANCE', value: ({ instance }) => instance || '-', wide: true },
    { title: 'DETAIL', value: detailOf, shrinks: true },
  ]
}

function detailOf({ error, detail, progress }: RunView): string {
  if (error !== null) return error.message
  if (detail !== null) return detail
  return progress === null ? '' : `${Math.round(progress.fraction * 100)}% ${progress.message ?? ''}`.trim()
}
