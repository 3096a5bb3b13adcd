import type { Connection, FireView, ScheduleView } from 'cronce'
import { CronceError } from 'cronce/cron'
import { filteredPage, isInternal, SLOT_JOB, SLOT_PREFIX } from 'cronce/internal'
import type { ViewedSchedule, ViewedSchedules } from 'cronce/postgres'
import type { Args } from '../args.ts'
import { inParallel } from '../in-parallel.ts'
import type { Io } from '../io.ts'
import { LeftOut } from '../left-out.ts'
import { readGlob } from '../names.ts'
import { findStoreOrDefault, STORE_FLAGS, withClient } from '../open-store.ts'
import { atMost } from '../operands.ts'
import { MARK_WORDS, paintStrip, strip } from '../outcome-words.ts'
import { type Column, formOf, note, OUTPUT_FLAGS, printList } from '../output.ts'
import { PAGE_FLAGS, readLimit, readPage } from '../paging.ts'
import { missingWords } from '../placement-words.ts'
import { countSteps } from '../progress.ts'
import { nextFireOf } from '../schedule-times.ts'
import { CALL_GRACE_MS, withExpectedRule } from '../service/exec/expected-rule.ts'
import { isLeaving, runnersOf } from '../steer/runners.ts'
import type { Color } from '../terminal.ts'
import { formatInstant, roughWords, TIME_FLAGS, zoneOf } from '../time-words.ts'
import { triggerText, triggerWords } from '../trigger-words.ts'
import { UsageError } from '../usage-error.ts'
import type { Command } from './command.ts'

const STRIP = 20
/** Questions to the store at a time: each schedule's latest fires are one. */
const AT_A_TIME = 8

export const list: Command = {
  operands: '[<prefix>|<pattern>]',
  examples: [
    ['cronce list', 'what is scheduled, when it is due next, and how it went'],
    ['cronce list report: --state paused', 'paused schedules whose names begin with report:'],
    ["cronce list '*:nightly' --failed", 'schedules whose names end with :nightly and whose latest fire failed'],
    ['cronce list --next -n 10', 'the ten schedules that are due next'],
    ['cronce list -o name', 'only names, for a script'],
  ],
  about: `Of what cronce exec runs, NEXT is when the next call is expected, if the calls name --cron or --expect; of tasks of node-cron, if\nthe coordinator was given { cron }.\nThe last column shows how the latest ${STRIP} fires ended, the latest on the right:\n${MARK_WORDS}\nSchedules that cronce keeps for itself (cronce:…: locks, elections, keys, alerts, heartbeats) are listed only with --all,\nor if the prefix or --job begins with cronce: as well.`,
  flags: {
    job: { type: 'string', value: 'JOB', help: 'Only schedules of this job' },
    state: {
      type: 'string',
      value: 'STATE',
      choices: ['active', 'running', 'paused', 'retired', 'finished'],
      help: 'Only those that are active, running (active, with a run), paused, retired or finished',
    },
    tenant: { type: 'string', value: 'NAME', help: 'Only those of this tenant' },
    failed: { type: 'boolean', help: 'Only those whose latest fire failed' },
    next: { type: 'boolean', help: 'Sort by the next due time' },
    ...PAGE_FLAGS,
    ...TIME_FLAGS,
    ...STORE_FLAGS,
    ...OUTPUT_FLAGS,
  },
  run: runList,
}

/** What the columns show. */
interface Shown extends Pick<ScheduleView, 'name' | 'state' | 'job' | 'app' | 'failedInRow'> {
  readonly open: readonly Pick<ScheduleView['open'][number], 'token'>[]
  readonly last: Pick<ScheduleView['last'], 'dueAt' | 'succeededAt'>
  readonly recent: readonly Pick<FireView, 'state' | 'range'>[]
  readonly nextFireAt: number | null
  readonly rule: ScheduleView['trigger']
  readonly isCalled: boolean
  /** Its job left the code, and it is about to be retired. */
  readonly isLeaving: boolean
}

interface Row extends ScheduleView {
  readonly recent: readonly FireView[]
  readonly nextFireAt: number | null
  /** Its trigger, or the rule by which `cronce exec` is called, or node-cron asks. */
  readonly rule: ScheduleView['trigger']
  /** A crontab or node-cron follows that rule; cronce only expects it. */
  readonly isCalled: boolean
  readonly isLeaving: boolean
}

function rowOf(schedule: ScheduleView, recent: readonly FireView[]): Row {
  const latest = recent.find(({ nonce }) => nonce === '')?.dueAt ?? null
  const ruled = withExpectedRule(schedule, latest ?? schedule.last.dueAt)
  const isCalled = ruled !== schedule
  return { ...schedule, nextFireAt: nextFireOf(ruled), recent, rule: ruled.trigger, isCalled, isLeaving: false }
}

async function runList(args: Args, io: Io): Promise<number> {
  try {
    return await listFromStore(args, io)
  } catch (error) {
    // A role that may read only the views can't open the store.
    const viewed =
      error instanceof CronceError && /^STORE_(FORBIDDEN|VIEWS_ONLY)$/.test(error.code)
        ? await readViews(args, io)
        : null
    if (viewed === null) throw error
    printViews(viewed, args, io)
    return 0
  }
}

function listFromStore(args: Args, io: Io): Promise<number> {
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
        items: await markLeaving(client, rows, io.now),
        next,
        columns: columnsIn(tz, io.now),
        name: ({ name }) => name,
        json: ({ recent, nextFireAt, rule, isCalled, isLeaving: _, ...schedule }) => ({
          ...schedule,
          words: triggerWords(rule, tz),
          expected: isCalled ? { trigger: rule, nextAt: nextFireAt } : null,
          recent: recent.map(({ dueAt, state, reason, range }) => ({ dueAt, state, reason, count: range?.count ?? 1 })),
        }),
        empty: rows.length === 0 ? await emptyWords(client, prefix, args, io) : '',
      },
      args,
      io,
    )
    const hasMarks = (form === 'table' || form === 'wide') && rows.some(({ recent }) => recent.length > 0)
    if (hasMarks && io.columns !== null) note(`LATEST ${STRIP}: ${MARK_WORDS}.`, io)
    const words = leftOut.words()
    if (words !== null && form !== 'json') note(words, io)
    if (form === 'table' || form === 'wide') await noteUnplaced(client, items, io)
    return 0
  })
}

/** Work that belongs to labels which no live instance has waits, and the table does not tell. */
async function noteUnplaced(client: Connection, schedules: readonly ScheduleView[], io: Io): Promise<void> {
  const placed = schedules.filter(({ on, state }) => on !== null && state === 'active')
  if (placed.length === 0) return
  const instances = await client.instances.list({ ended: 0 })
  const live = instances.filter(({ state }) => state === 'live')
  const waiting = placed.filter(({ job }) => runnersOf(job, instances).length === 0)
  for (const schedule of waiting.slice(0, UNPLACED_SHOWN))
    note(`${schedule.name} waits: ${missingWords(schedule, live)}.`, io)
  const more = waiting.length - UNPLACED_SHOWN
  if (more > 0) note(`${more} more wait for labels: cronce doctor.`, io)
}

const UNPLACED_SHOWN = 3

/** A task of node-cron is looked for by its own name, too. */
async function emptyWords(client: Connection, prefix: string | undefined, args: Args, io: Io): Promise<string> {
  if (prefix === undefined || readGlob(prefix) !== null) return noSchedules(args, io)
  const { items } = await client.schedules.list({ prefix: SLOT_PREFIX + prefix, limit: 1 })
  const [task] = items
  return task === undefined ? noSchedules(args, io) : `There is no schedule "${prefix}"; there is ${task.name}.`
}

/** Instances are asked for only if a schedule of an app is overdue: after a deploy that removed its job it is about to be retired. */
async function markLeaving(client: Connection, rows: readonly Row[], now: number): Promise<readonly Row[]> {
  if (!rows.some((row) => row.app !== null && isOverdue(row, now))) return rows
  const instances = await client.instances.list({ ended: 0 })
  return rows.map((row) => ({ ...row, isLeaving: isOverdue(row, now) && isLeaving(row, instances, now) }))
}

/** A namespace that was mistyped is empty. */
function noSchedules(args: Args, { env }: Io): string {
  const { CRONCE_NAMESPACE } = env
  const namespace = args.text('namespace') ?? (CRONCE_NAMESPACE || undefined)
  return namespace === undefined ? 'No schedules.' : `No schedules in the namespace ${JSON.stringify(namespace)}.`
}

async function schedulesOf(client: Connection, args: Args, given: string | undefined, leftOut: LeftOut) {
  const glob = given === undefined ? null : readGlob(given)
  const filter = {
    prefix: glob === null ? given : glob.prefix || undefined,
    job: args.text('job'),
    state: (args.text('state') === 'running' ? 'active' : args.text('state')) as ScheduleView['state'] | undefined,
    tenant: args.text('tenant'),
  }
  const showsAll = showsInternal(args, given)
  const keeps = ({ name, failedInRow, open }: ScheduleView): boolean =>
    (glob === null || glob.matches(name) || name === given) &&
    (!args.has('failed') || failedInRow > 0) &&
    (args.text('state') !== 'running' || isRunning(open))
  if (!args.has('next')) {
    const list = ({ limit, after }: { readonly limit: number; readonly after: string | null }) =>
      client.schedules.list({ ...filter, internal: true, limit, after: after ?? undefined })
    return readPage(args, ({ limit, after = null }) =>
      showsAll ? filteredPage(list, { limit, after }, keeps) : leftOut.page(list, { limit, after }, keeps),
    )
  }
  // What is due next can be told only from all of them.
  const all: ScheduleView[] = []
  for await (const schedule of client.schedules.all({ ...filter, internal: true })) {
    if (keeps(schedule) && (showsAll || leftOut.isShown(schedule))) all.push(schedule)
  }
  all.sort((a, b) => dueNext(a) - dueNext(b) || (a.name < b.name ? -1 : 1))
  return readPage(args, async ({ limit }) => ({ items: args.has('all') ? all : all.slice(0, limit), next: null }))
}

function showsInternal(args: Args, given = ''): boolean {
  return args.has('all') || given.startsWith('cronce:') || (args.text('job') ?? '').startsWith('cronce:')
}

const VIEWED = 1_000

/** What a role sees that may read only the views of PostgreSQL; `null`: it is another store, or may not read them either. */
async function readViews(args: Args, io: Io): Promise<ViewedSchedules | null> {
  const { store, namespace = 'default' } = await findStoreOrDefault(args, io)
  if (typeof store !== 'string' || !/^postgres(ql)?:/.test(store)) return null
  const [given = ''] = args.positionals
  const prefix = readGlob(given)?.prefix ?? given
  const { viewSchedules } = await import('cronce/postgres')
  try {
    return await viewSchedules(store, { namespace, prefix, after: '', limit: VIEWED, recent: STRIP })
  } catch (error) {
    if (error instanceof CronceError) return null
    throw error
  }
}

function printViews({ now, items }: ViewedSchedules, args: Args, io: Io): void {
  if (args.has('after'))
    throw new UsageError('This role may only read the views, which have no pages.', 'Leave out --after.')
  if (args.text('state') === 'running')
    throw new UsageError('This role may only read the views, which do not tell what runs.', 'Write --state active.')
  const tz = zoneOf(args)
  const [given] = args.positionals
  const glob = given === undefined ? null : readGlob(given)
  const showsAll = showsInternal(args, given)
  const kept = items.filter(
    (view) => (glob?.matches(view.name) ?? true) && (showsAll || !isInternal(view.job)) && matches(view, args),
  )
  const byName = new Map(kept.map((view) => [view.name, view]))
  const shown = kept.map(shownOf)
  if (args.has('next')) shown.sort((one, other) => (one.nextFireAt ?? Infinity) - (other.nextFireAt ?? Infinity))
  const rows = shown.slice(0, readLimit(args) ?? VIEWED)
  const json = ({ name }: Shown): unknown => byName.get(name)
  printList(
    { items: rows, columns: columnsIn(tz, now), name: ({ name }) => name, json, empty: noSchedules(args, io) },
    args,
    io,
  )
  if (formOf(args) === 'json') return
  const more = shown.length > rows.length || items.length === VIEWED ? ' There are more.' : ''
  note(`This role may only read the views: NEXT does not know skipped due times.${more}`, io)
}

function matches({ job, state, tenant, failedInRow }: ViewedSchedule, args: Args): boolean {
  const isSame = (flag: string, value: string | null): boolean => !args.has(flag) || args.text(flag) === value
  return (
    isSame('job', job) && isSame('state', state) && isSame('tenant', tenant) && (!args.has('failed') || failedInRow > 0)
  )
}

function shownOf(view: ViewedSchedule): Shown {
  const { name, state, job, app, failedInRow, openFires, trigger, nextAt, lastDueAt, lastSucceededAt } = view
  return {
    ...{ name, state, job, app, failedInRow, rule: trigger, isCalled: false, isLeaving: false },
    open: Array.from({ length: openFires }, () => ({ token: null })),
    last: { dueAt: lastDueAt, succeededAt: lastSucceededAt },
    nextFireAt: state === 'active' ? nextAt : null,
    recent: view.recent.map(({ dueAt, state, count }) => ({
      // The words of the views are those of the API.
      state: state as FireView['state'],
      range: count > 1 ? { untilAt: dueAt, count } : null,
    })),
  }
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

function columnsIn(tz: string, now: number): readonly Column<Shown>[] {
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
    { title: 'FAILURES IN A ROW', value: ({ failedInRow }) => String(failedInRow), align: 'right', wide: true },
    { title: `LATEST ${STRIP}`, value: ({ recent }) => strip(recent, STRIP), painted: paintStrip },
  ]
}

/** Longer than any instance needs to notice: no instance runs it. */
const OVERDUE_MS = 10_000

function isOverdue({ nextFireAt, isCalled }: Shown, now: number): boolean {
  return nextFireAt !== null && nextFireAt < now - (isCalled ? CALL_GRACE_MS : OVERDUE_MS)
}

function untilWords(nextAt: number, row: Shown, now: number): string {
  if (row.isLeaving) return 'retires soon'
  if (isOverdue(row, now)) return `overdue ${roughWords(nextAt, now).replace(/ ago$/, '')}`
  return nextAt <= now ? 'now' : roughWords(nextAt, now).replace(/^in /, '')
}

function whenWords({ rule, isCalled, job }: Shown, tz: string): string {
  if (job === SLOT_JOB) return isCalled ? `${triggerWords(rule, tz)}, by node-cron` : 'When node-cron asks'
  return `${triggerWords(rule, tz)}${isCalled ? ', called by exec' : ''}`
}

function isRunning(open: Shown['open']): boolean {
  return open.some(({ token }) => token !== null)
}

function stateWords({ state, open }: Shown): string {
  return state === 'active' && isRunning(open) ? 'running' : state
}
