import type { Connection, FireView, PageOptions, ScheduleView } from 'cronce'
import { isExclusive, isNobodys } from 'cronce/internal'
import type { Args } from '../args.ts'
import { inParallel } from '../in-parallel.ts'
import type { Io } from '../io.ts'
import { filteredPage, LeftOut } from '../left-out.ts'
import { readGlob } from '../names.ts'
import { STORE_FLAGS, withClient } from '../open-store.ts'
import { atMost } from '../operands.ts'
import { MARK_WORDS, paintStrip, strip } from '../outcome-words.ts'
import { type Column, formOf, note, OUTPUT_FLAGS, printList } from '../output.ts'
import { PAGE_FLAGS, readPage } from '../paging.ts'
import { countSteps } from '../progress.ts'
import { nextFireOf } from '../schedule-times.ts'
import { CALL_GRACE_MS, withExpectedRule } from '../service/exec/expected-rule.ts'
import type { Color } from '../terminal.ts'
import { formatInstant, roughWords, TIME_FLAGS, zoneOf } from '../time-words.ts'
import { triggerText, triggerWords } from '../trigger-words.ts'
import type { Command } from './command.ts'

const STRIP = 20
/** Questions to the store at a time: each schedule's latest fires are one. */
const AT_A_TIME = 8

export const list: Command = {
  operands: '[<prefix>|<pattern>]',
  examples: [
    ['cronce list', 'what is scheduled, when it is due next, and how it went'],
    ['cronce list report: --state paused', 'names that begin with report:, and are paused'],
    ["cronce list '*:nightly' --failed", 'names that end with :nightly, and whose latest fire failed'],
    ['cronce list --next -n 10', 'the ten that are due next'],
    ['cronce list -o name', 'names alone, for a script'],
  ],
  about: `Of what cronce exec runs, NEXT is when the next call is expected, if the calls name --cron or --expect.\nThe last column is how the latest ${STRIP} fires ended, the latest on the right:\n${MARK_WORDS}\nSchedules behind locks, leaders and keys are left out, unless --all, --job or a prefix is given.`,
  flags: {
    job: { type: 'string', value: 'JOB', help: 'Only schedules of this job' },
    state: {
      type: 'string',
      value: 'STATE',
      choices: ['active', 'paused', 'retired', 'finished'],
      help: 'Only those that are active, paused, retired or finished',
    },
    tenant: { type: 'string', value: 'NAME', help: 'Only those of this tenant' },
    failed: { type: 'boolean', help: 'Only those whose latest fire failed' },
    next: { type: 'boolean', help: 'The one that is due next first' },
    ...PAGE_FLAGS,
    ...TIME_FLAGS,
    ...STORE_FLAGS,
    ...OUTPUT_FLAGS,
  },
  run: runList,
}

interface Row extends ScheduleView {
  readonly recent: readonly FireView[]
  readonly nextFireAt: number | null
  /** Its trigger, or the rule by which `cronce exec` is called. */
  readonly rule: ScheduleView['trigger']
  /** A crontab calls `cronce exec` by that rule. */
  readonly isCalled: boolean
}

function rowOf(schedule: ScheduleView, recent: readonly FireView[]): Row {
  const latest = recent.find(({ nonce }) => nonce === '')?.dueAt ?? null
  const ruled = withExpectedRule(schedule, latest ?? schedule.last.dueAt)
  const isCalled = ruled !== schedule
  return { ...schedule, nextFireAt: nextFireOf(ruled), recent, rule: ruled.trigger, isCalled }
}

function runList(args: Args, io: Io): Promise<number> {
  const [prefix] = atMost(args, 1, 'list')
  const tz = zoneOf(args)
  const form = formOf(args)
  return withClient(args, io, async (client, io) => {
    const leftOut = new LeftOut()
    const { items, next } = await schedulesOf(client, args, prefix, leftOut)
    const wantsStrip = form === 'table' || form === 'wide' || form === 'json' || form === 'jsonl'
    const progress = countSteps(io, 'read', items.length)
    const rows = await inParallel(items, AT_A_TIME, async (schedule): Promise<Row> => {
      if (!wantsStrip) return rowOf(schedule, [])
      const { items: recent } = await client.fires.list({ schedule: schedule.name, limit: STRIP })
      progress.step()
      return rowOf(schedule, recent)
    })
    progress.end()
    printList(
      {
        items: rows,
        next,
        columns: columnsIn(tz, io.now),
        name: ({ name }) => name,
        json: ({ recent, nextFireAt, rule, isCalled, ...schedule }) => ({
          ...schedule,
          words: triggerWords(rule, tz),
          expected: isCalled ? { trigger: rule, nextAt: nextFireAt } : null,
          recent: recent.map(({ dueAt, state, reason, range }) => ({ dueAt, state, reason, count: range?.count ?? 1 })),
        }),
        empty: 'No schedules.',
      },
      args,
      io,
    )
    const words = leftOut.words()
    if (words !== null && form !== 'json') note(words, io)
    return 0
  })
}

async function schedulesOf(client: Connection, args: Args, given: string | undefined, leftOut: LeftOut) {
  const glob = given === undefined ? null : readGlob(given)
  const filter = {
    prefix: glob === null ? given : glob.prefix || undefined,
    job: args.text('job'),
    state: args.text('state') as ScheduleView['state'] | undefined,
    tenant: args.text('tenant'),
  }
  const showsAll = args.has('all') || given !== undefined || filter.job !== undefined
  const keeps = ({ name, failedInRow }: ScheduleView): boolean =>
    (glob === null || glob.matches(name) || name === given) && (!args.has('failed') || failedInRow > 0)
  if (!args.has('next')) {
    const list = (page: PageOptions) => client.schedules.list({ ...filter, ...page })
    return readPage(args, (page) => (showsAll ? filteredPage(list, page, keeps) : leftOut.page(list, page, keeps)))
  }
  // What is due next can be told only from all of them.
  const all: ScheduleView[] = []
  for await (const schedule of client.schedules.all(filter)) {
    if (keeps(schedule) && (showsAll || leftOut.isShown(schedule))) all.push(schedule)
  }
  all.sort((a, b) => dueNext(a) - dueNext(b) || (a.name < b.name ? -1 : 1))
  return readPage(args, async ({ limit }) => ({ items: args.has('all') ? all : all.slice(0, limit), next: null }))
}

/** A schedule that never fires again, or not before an operator resumes it, comes last. */
function dueNext(schedule: ScheduleView): number {
  return rowOf(schedule, []).nextFireAt ?? Number.MAX_SAFE_INTEGER
}

const STATE_COLORS: Readonly<Record<ScheduleView['state'], Color | undefined>> = {
  active: undefined,
  paused: 'yellow',
  retired: 'dim',
  finished: 'dim',
}

function columnsIn(tz: string, now: number): readonly Column<Row>[] {
  const when = (instant: number | null): string => (instant === null ? '-' : formatInstant(instant, tz))
  return [
    { title: 'NAME', value: ({ name }) => name, color: () => 'bold' },
    {
      title: 'STATE',
      value: stateWords,
      color: ({ state, open }) => STATE_COLORS[state] ?? (isRunning(open) ? 'cyan' : undefined),
    },
    {
      title: 'WHEN',
      value: (row) => whenWords(row, tz),
      shrinks: true,
    },
    { title: 'EXPRESSION', value: ({ rule }) => triggerText(rule), wide: true },
    { title: 'JOB', value: ({ job }) => job, wide: true },
    { title: 'APP', value: ({ app }) => app ?? '-', wide: true },
    { title: 'NEXT', value: ({ nextFireAt }) => when(nextFireAt), drop: 2 },
    {
      title: 'IN',
      value: (row) => (row.nextFireAt === null ? '-' : untilWords(row.nextFireAt, row, now)),
      color: (row) => (isOverdue(row, now) ? 'yellow' : undefined),
    },
    { title: 'LAST', value: ({ last }) => (last.dueAt === null ? '-' : roughWords(last.dueAt, now)), drop: 1 },
    { title: 'LAST SUCCESS', value: ({ last }) => when(last.succeededAt), wide: true },
    { title: 'FAILED IN ROW', value: ({ failedInRow }) => String(failedInRow), align: 'right', wide: true },
    { title: `LATEST ${STRIP}`, value: ({ recent }) => strip(recent, STRIP), painted: paintStrip },
  ]
}

/** Longer than any instance needs to notice: nobody runs it. */
const OVERDUE_MS = 10_000

function isOverdue({ nextFireAt, isCalled }: Row, now: number): boolean {
  return nextFireAt !== null && nextFireAt < now - (isCalled ? CALL_GRACE_MS : OVERDUE_MS)
}

function untilWords(nextAt: number, row: Row, now: number): string {
  if (isOverdue(row, now)) return `overdue ${roughWords(nextAt, now).replace(/ ago$/, '')}`
  return nextAt <= now ? 'now' : roughWords(nextAt, now).replace(/^in /, '')
}

function whenWords({ rule, isCalled, job }: Row, tz: string): string {
  // A task of node-cron, which says when its slots come.
  if (isNobodys(job) && !isExclusive(job)) return 'When node-cron asks'
  return `${triggerWords(rule, tz)}${isCalled ? ', called by exec' : ''}`
}

function isRunning(open: ScheduleView['open']): boolean {
  return open.some(({ token }) => token !== null)
}

function stateWords({ state, open }: Row): string {
  return state === 'active' && isRunning(open) ? 'running' : state
}
