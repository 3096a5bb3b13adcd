import type { Client, RunFilter, RunView } from 'cronce'
import type { Args } from '../args.ts'
import { formatDuration } from '../format.ts'
import type { Io } from '../io.ts'
import { mergePages, type Source } from '../merge-pages.ts'
import { expandNames } from '../names.ts'
import { STORE_FLAGS, withClient } from '../open-store.ts'
import { atMost } from '../operands.ts'
import { endingWords, OUTCOME_FLAGS, readOutcomes, stateColor } from '../outcome-words.ts'
import { type Column, OUTPUT_FLAGS, printList } from '../output.ts'
import { PAGE_FLAGS, readPage } from '../paging.ts'
import { redactRecord } from '../redact.ts'
import { formatInstant, TIME_FLAGS, timeFlag, zoneOf } from '../time-words.ts'
import { type Place, placesOf, placeWords } from '../whereabouts.ts'
import type { Command } from './command.ts'

export const runs: Command = {
  operands: '[<schedule>]',
  examples: [
    ['cronce runs', 'the latest runs of all schedules'],
    ['cronce runs billing --outcome failed --from now-7d', 'what failed within a week'],
    ['cronce runs --outcome open', 'what is running now'],
    ["cronce runs 'report:*' --failed", 'what failed or was abandoned, of all schedules that begin with report:'],
    ['cronce runs billing --all --json', 'all that is on record, for a program'],
  ],
  about: [
    'A run is one attempt to execute a fire, named by its token: cronce show <schedule> <token>. In a name, * stands for any',
    'characters and ? for one. HOST:PID is where it ran, or the id of an instance that ended more than a day ago.',
    'LATE counts from the due time, for later attempts too.',
  ].join('\n'),
  flags: {
    job: { type: 'string', value: 'JOB', help: 'Only runs of this job' },
    instance: { type: 'string', value: 'ID', help: 'Only runs on this instance' },
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
  const filter: RunFilter = { job: args.text('job'), instance: args.text('instance') }
  const outcomes = readOutcomes(args)
  return withClient(args, io, async (client, io) => {
    const times = {
      from: timeFlag(args, 'from', { tz, now: io.now }),
      to: timeFlag(args, 'to', { tz, now: io.now }),
    }
    const names = schedule === undefined ? [undefined] : await expandNames(client, [schedule])
    for (const name of names) if (name !== undefined) await demandKnown(client, name)
    const sources = names.flatMap((name) =>
      (outcomes ?? [undefined]).map(
        (outcome): Source<RunView> => ({
          key: JSON.stringify([name, outcome]),
          list: (page) => client.runs.list({ ...filter, ...times, ...page, schedule: name, outcome }),
        }),
      ),
    )
    const { items, next } = await readPage(args, (page) => mergePages(sources, latestFirst, page))
    const places = await placesOf(
      client,
      items.map(({ instance }) => instance),
    )
    printList(
      {
        items: items.map((item) => placed(redactRecord(item), places)),
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

/** A name that is not a schedule, and has no records, is a mistake rather than an empty list. */
async function demandKnown(client: Client, schedule: string): Promise<void> {
  if ((await client.schedules.find(schedule)) !== null) return
  const { items } = await client.runs.list({ schedule, limit: 1 })
  if (items.length === 0) await client.schedules.get(schedule)
}

/** As a store lists them. */
function latestFirst(one: RunView, other: RunView): number {
  if (one.dueAt !== other.dueAt) return other.dueAt - one.dueAt
  if (one.schedule !== other.schedule) return one.schedule < other.schedule ? 1 : -1
  return BigInt(one.token) < BigInt(other.token) ? 1 : -1
}

interface Row extends RunView {
  readonly host: string | null
  readonly pid: number | null
}

function placed(run: RunView, places: ReadonlyMap<string, Place>): Row {
  const { host, pid } = places.get(run.instance) ?? { host: null, pid: null }
  return { ...run, host, pid }
}

function whereWords({ instance, host, pid }: Row): string {
  return placeWords(instance, host === null || pid === null ? null : { host, pid }) || '-'
}

function columnsIn(tz: string): readonly Column<Row>[] {
  return [
    { title: 'DUE', value: ({ dueAt }) => formatInstant(dueAt, tz) },
    { title: 'SCHEDULE', value: ({ schedule }) => schedule, color: () => 'bold' },
    { title: 'TOKEN', value: ({ token }) => token },
    { title: 'STATE', value: endingWords, color: ({ state }) => stateColor(state) },
    {
      title: 'DURATION',
      value: ({ durationMs }) => (durationMs === null ? '-' : formatDuration(durationMs)),
      align: 'right',
    },
    {
      title: 'LATE',
      value: ({ startedAt, dueAt }) => formatDuration(Math.max(0, startedAt - dueAt)),
      align: 'right',
      drop: 2,
    },
    { title: 'CAUSE', value: ({ cause }) => cause ?? '-', wide: true },
    { title: 'ATTEMPT', value: ({ attempt }) => String(attempt), align: 'right', drop: 1 },
    { title: 'STARTED', value: ({ startedAt }) => formatInstant(startedAt, tz), wide: true },
    { title: 'ROUND', value: ({ round }) => String(round), align: 'right', wide: true },
    { title: 'JOB', value: ({ job }) => job, wide: true },
    { title: 'HOST:PID', value: whereWords, shrinks: true, drop: 3 },
    { title: 'INSTANCE', value: ({ instance }) => instance || '-', wide: true },
    { title: 'DETAIL', value: detailOf, shrinks: true },
  ]
}

function detailOf({ error, detail, progress }: RunView): string {
  if (error !== null) return innermostCause(error)
  if (detail !== null) return detail
  return progress === null ? '' : `${Math.round(progress.fraction * 100)}% ${progress.message ?? ''}`.trim()
}

/** Of an error that wraps others, such as a query builder's, the innermost one gives the reason. */
function innermostCause({ message, stack }: NonNullable<RunView['error']>): string {
  const causes = [...(stack ?? '').matchAll(/^caused by (?:\w*Error(?: \[\w+\])?: )?(.+)$/gm)]
  return causes.at(-1)?.[1] ?? message
}
