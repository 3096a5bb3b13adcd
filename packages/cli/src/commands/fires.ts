import type { FireFilter, FireView } from 'cronce'
import type { Args } from '../args.ts'
import { formatCount, formatDuration } from '../format.ts'
import type { Io } from '../io.ts'
import { mergePages, type Source } from '../merge-pages.ts'
import { expandNames } from '../names.ts'
import { STORE_FLAGS, withClient } from '../open-store.ts'
import { atMost } from '../operands.ts'
import { endingWords, OUTCOME_FLAGS, readOutcomes, stateColor } from '../outcome-words.ts'
import { type Column, OUTPUT_FLAGS, printList } from '../output.ts'
import { PAGE_FLAGS, readPage } from '../paging.ts'
import { formatInstant, TIME_FLAGS, timeFlag, zoneOf } from '../time-words.ts'
import { UsageError } from '../usage-error.ts'
import type { Command } from './command.ts'

export const fires: Command = {
  operands: '[<schedule>]',
  examples: [
    ['cronce fires billing', 'every due time and its outcome'],
    ['cronce fires billing --outcome missed --from now-30d', 'what was missed within a month'],
    ["cronce fires 'report:*' --failed", 'what failed or was abandoned, of all schedules that begin with report:'],
    [
      'cronce fires --verify',
      'check the records of all schedules: exit code 1 if they contradict each other or are behind',
    ],
    ['cronce fires billing --verify --from 2027-01-01 --json', 'check one schedule since then, for a program'],
  ],
  about: [
    '--verify checks the records independently of the library: one fire for each instant of the rule and no others,',
    'at most one success per round, attempts one after the other, none early, growing tokens, and',
    'outcomes that fit their runs. Instants before the last change of the schedule are checked by their records alone. Instants that',
    'have been due for more than a minute without a record are reported, with exit code 1; --to leaves them out. Every period in which',
    'a schedule was retired is named. If it came back and instants in that period have no record, the exit code is 1.',
  ].join('\n'),
  flags: {
    verify: { type: 'boolean', help: 'Check the records instead of listing them' },
    job: { type: 'string', value: 'JOB', help: 'Only fires of this job' },
    ...OUTCOME_FLAGS,
    from: { type: 'string', value: 'TIME', help: 'Due from then on: now-2h, yesterday, 2027-03-28T01:30' },
    to: { type: 'string', value: 'TIME', help: 'Due before then' },
    earliest: { type: 'boolean', help: 'Earliest first' },
    ...PAGE_FLAGS,
    ...TIME_FLAGS,
    ...STORE_FLAGS,
    ...OUTPUT_FLAGS,
  },
  run: runFires,
}

function runFires(args: Args, io: Io): Promise<number> {
  const [schedule] = atMost(args, 1, 'fires')
  const tz = zoneOf(args)
  if (args.has('verify')) {
    const useless = ['job', 'outcome', 'failed', 'earliest', 'limit', 'after', 'all'].find((flag) => args.has(flag))
    if (useless !== undefined)
      throw new UsageError(`--verify judges all records, so --${useless} means nothing.`, 'Leave it out.')
    return withClient(args, io, async (client, io) => {
      const { from, to } = timesOf(args, tz, io.now)
      const { verifyLedgers } = await import('../verify/verify-ledgers.ts')
      const stretch = { from: from ?? 0, to: to === undefined ? Number.MAX_SAFE_INTEGER : to - 1 }
      return verifyLedgers(client, { name: schedule, stretch, tz }, args, io)
    })
  }
  const isEarliest = args.has('earliest')
  const filter: FireFilter = { job: args.text('job'), order: isEarliest ? 'earliest' : 'latest' }
  const outcomes = readOutcomes(args)
  return withClient(args, io, async (client, io) => {
    const times = timesOf(args, tz, io.now)
    const names = schedule === undefined ? [undefined] : await expandNames(client, [schedule])
    const sources = names.flatMap((name) =>
      (outcomes ?? [undefined]).map(
        (outcome): Source<FireView> => ({
          key: JSON.stringify([name, outcome]),
          list: (page) => client.fires.list({ ...filter, ...times, ...page, schedule: name, outcome }),
        }),
      ),
    )
    const order = isEarliest ? earliestFirst : latestFirst
    const { items, next } = await readPage(args, (page) => mergePages(sources, order, page))
    // A name that is not a schedule is a mistake rather than an empty list.
    if (items.length === 0 && names[0] !== undefined) await client.schedules.get(names[0])
    printList({ items, next, columns: columnsIn(tz), name: nameOf, empty: 'No fires.' }, args, io)
    return 0
  })
}

function timesOf(args: Args, tz: string, now: number): Readonly<Record<'from' | 'to', number | undefined>> {
  return { from: timeFlag(args, 'from', { tz, now }), to: timeFlag(args, 'to', { tz, now }) }
}

/** As a store lists them. */
function earliestFirst(one: FireView, other: FireView): number {
  if (one.dueAt !== other.dueAt) return one.dueAt - other.dueAt
  if (one.schedule !== other.schedule) return one.schedule < other.schedule ? -1 : 1
  return one.nonce < other.nonce ? -1 : 1
}

function latestFirst(one: FireView, other: FireView): number {
  return earliestFirst(other, one)
}

function nameOf({ schedule, dueAt, nonce }: FireView): string {
  return [schedule, new Date(dueAt).toISOString(), nonce].filter(Boolean).join(' ')
}

function columnsIn(tz: string): readonly Column<FireView>[] {
  return [
    { title: 'DUE', value: ({ dueAt }) => formatInstant(dueAt, tz) },
    { title: 'SCHEDULE', value: ({ schedule }) => schedule, color: () => 'bold' },
    { title: 'STATE', value: endingWords, color: ({ state }) => stateColor(state) },
    { title: 'RUNS', value: ({ attempt }) => String(attempt), align: 'right' },
    { title: 'INSTANTS', value: ({ range }) => formatCount(range?.count ?? 1), align: 'right' },
    { title: 'UNTIL', value: ({ range }) => (range === null ? '-' : formatInstant(range.untilAt, tz)), wide: true },
    { title: 'KIND', value: ({ kind }) => kind, drop: 2 },
    { title: 'ROUND', value: ({ round }) => String(round), align: 'right', wide: true },
    { title: 'KEY', value: ({ nonce }) => nonce || '-', wide: true },
    { title: 'JOB', value: ({ job }) => job, wide: true },
    { title: 'ENDED', value: ({ endedAt }) => (endedAt === null ? '-' : formatInstant(endedAt, tz)), wide: true },
    {
      title: 'AFTER',
      value: ({ dueAt, endedAt, range }) =>
        endedAt === null || range !== null ? '-' : formatDuration(Math.max(0, endedAt - dueAt)),
      align: 'right',
      drop: 1,
    },
    { title: 'DETAIL', value: ({ detail }) => detail ?? '', shrinks: true },
  ]
}
