import type { Connection, FireView, InstanceView, RunView, ScheduleView } from 'cronce'
import { trigger as makeTrigger } from 'cronce/cron'
import { isOfExec, SLOT_JOB } from 'cronce/internal'
import type { Args } from '../args.ts'
import { formatCount, formatDuration } from '../format.ts'
import { frequencyOf } from '../frequency.ts'
import type { Io } from '../io.ts'
import { Labelled } from '../labelled.ts'
import { STORE_FLAGS, withClient } from '../open-store.ts'
import { oneOperand, wholeNumber } from '../operands.ts'
import { endingWords, paintStrip, stateColor, strip } from '../outcome-words.ts'
import { cutTo, printJson } from '../output.ts'
import { missingWords, placementWords } from '../placement-words.ts'
import { policyWords } from '../policy-words.ts'
import { fireLines } from '../print.ts'
import { redactRecord } from '../redact.ts'
import { frozenWords, retiredWords } from '../retired-words.ts'
import { comingOf } from '../schedule-times.ts'
import { expectedRule, withExpectedRule } from '../service/exec/expected-rule.ts'
import { counted } from '../steer/say.ts'
import { sanitize } from '../terminal.ts'
import { formatInstant, relativeWords, TIME_FLAGS, zoneOf } from '../time-words.ts'
import { triggerText, triggerWords, triggerZone } from '../trigger-words.ts'
import type { Command } from './command.ts'

export const describe: Command = {
  operands: '<schedule>',
  examples: [
    ['cronce describe billing', 'everything about one schedule'],
    ['cronce describe billing -n 20', 'with the next twenty times'],
    ['cronce describe billing --json', 'for a program'],
  ],
  flags: {
    count: { type: 'string', short: 'n', value: 'N', help: 'Number of next due times, 0 to 1,000 (default 5)' },
    ...TIME_FLAGS,
    tz: { ...TIME_FLAGS.tz, help: "Zone of the times: IANA name, UTC, +05:30, or local (default: the schedule's)" },
    ...STORE_FLAGS,
    json: { type: 'boolean', help: 'Print one JSON object and nothing else' },
  },
  run: runDescribe,
}

type LiveTrigger = ReturnType<typeof makeTrigger>

interface Description {
  readonly stored: ScheduleView
  /** The same; of exec, with the rule of its calls as its trigger. */
  readonly schedule: ScheduleView
  readonly next: readonly number[]
  readonly fires: readonly FireView[]
  readonly runs: readonly RunView[]
  /** That can run its job, and take new runs. */
  readonly instances: readonly InstanceView[]
  /** All that take new runs. */
  readonly live: readonly InstanceView[]
}

function runDescribe(args: Args, io: Io): Promise<number> {
  const name = oneOperand(args, 'describe', 'schedule')
  const count = wholeNumber(args, 'count', { min: 0, max: 1_000, otherwise: 5 })
  return withClient(args, io, async (client, io) => {
    const description = redactRecord(await readDescription(client, name, count, io.now))
    const { schedule } = description
    if (args.has('json')) {
      const { open, ...rest } = description.stored
      const words = triggerWords(schedule.trigger)
      const { next, fires, runs, instances } = description
      printJson(
        {
          schedule: { ...rest, open },
          words,
          expected: expectedRule(schedule) === null ? null : { trigger: schedule.trigger, nextAt: schedule.nextAt },
          next,
          fires,
          runs,
          instances: instances.map(({ id, host, state }) => ({ id, host, state })),
        },
        io,
      )
    } else {
      print(description, zoneOf(args, triggerZone(schedule.trigger)), io)
    }
    return 0
  })
}

async function readDescription(client: Connection, name: string, count: number, now: number): Promise<Description> {
  const stored = await client.schedules.get(name)
  const [fires, runs, all] = await Promise.all([
    client.fires.list({ schedule: name, limit: 20 }),
    client.runs.list({ schedule: name, limit: 5 }),
    client.instances.list({ ended: 0 }),
  ])
  const latest = fires.items.find(({ nonce }) => nonce === '')?.dueAt ?? stored.last.dueAt
  const schedule = withExpectedRule(stored, latest)
  const live = all.filter(({ state }) => state === 'live')
  return {
    stored,
    schedule,
    next: comingOf(schedule, now, count),
    fires: fires.items,
    runs: runs.items,
    instances: live.filter(({ jobs }) => jobs.includes(schedule.job)),
    live,
  }
}

/** What all sections of a description are written with. */
interface Page {
  readonly text: Labelled
  readonly tz: string
  readonly io: Io
  /** An instant with its distance from now. */
  readonly when: (instant: number) => string
}

function print(description: Description, tz: string, io: Io): void {
  const text = new Labelled(io, 14)
  const when = (instant: number): string => `${formatInstant(instant, tz)} (${relativeWords(instant, io.now)})`
  const page: Page = { text, tz, io, when }
  const { schedule, next } = description
  const live = schedule.trigger === null ? null : makeTrigger(schedule.trigger)
  printSettings(description, live, page)
  printHistory(description, page)
  printOpen(schedule, page)
  printBackfills(schedule, page)

  text.heading('Next')
  if (next.length === 0) text.line(nothingNext(schedule))
  else
    for (const line of fireLines(live!, next, { tz, from: Math.floor(io.now / 1_000) * 1_000, paint: io.paint }))
      text.line(line)
  text.heading('Policies')
  for (const [name, words] of policyWords(schedule.policy)) text.row(name, words)
  text.print()
}

function printSettings({ schedule, instances, live: taking }: Description, live: LiveTrigger | null, page: Page): void {
  const { text, tz, io, when } = page
  const { trigger } = schedule
  text.line(io.paint('bold', sanitize(schedule.name)))
  const isCalled = expectedRule(schedule) !== null
  const caller = schedule.job === SLOT_JOB ? ', by node-cron' : ', called by cronce exec'
  text.row('when', `${triggerWords(trigger, tz)}${isCalled ? caller : ''}`)
  if (trigger !== null) text.row('as written', triggerText(trigger))
  text.row('zone', triggerZone(trigger))
  if (live !== null && live.kind !== 'at') text.row('frequency', frequencyOf(live, io.now).words)
  text.row('job', schedule.job)
  text.row('state', stateWords(schedule, when))
  text.row('declared', declaredWords(schedule))
  text.row('tenant', schedule.tenant)
  text.row('belongs to', placementWords(schedule.on))
  text.row(
    'made',
    `${when(schedule.createdAt)}${schedule.revision > 1 ? `, changed ${when(schedule.updatedAt)}, revision ${schedule.revision}` : ''}`,
  )
  text.row('window', windowWords(schedule, when))
  if (schedule.input !== null && !isCalled) text.row('input', cutTo(JSON.stringify(schedule.input), 300))
  if (schedule.state !== 'retired') text.row('runs on', instancesWords(schedule, instances, taking))
}

function printHistory({ schedule, fires, runs }: Description, { text, tz, io, when }: Page): void {
  text.heading('History')
  text.lines('latest 20', [paintStrip(strip(fires, 20), io.paint)])
  const { last } = schedule
  text.row('last run', last.dueAt === null ? 'never' : `due ${when(last.dueAt)}`)
  text.row('last success', last.succeededAt === null ? 'never' : when(last.succeededAt))
  if (schedule.failedInRow > 0) text.row('failed in row', formatCount(schedule.failedInRow))
  text.lines(
    'runs',
    runs.map((run) => runLine(run, tz, io)),
  )
}

function printOpen(schedule: ScheduleView, { text, tz, io, when }: Page): void {
  const { open } = schedule
  if (open.length === 0) return
  const frozen = frozenWords(schedule, when)
  text.heading('Open')
  for (const { dueAt, state, attempt, instance, readyAt } of open.slice(0, 10)) {
    const where = instance ? ` on ${instance}` : ''
    const ready = frozen === null ? `, ready ${relativeWords(readyAt, io.now)}` : ', frozen'
    const wait = state === 'waiting' ? ready : ''
    text.row(state, `due ${formatInstant(dueAt, tz)}, attempt ${Math.max(1, attempt)}${where}${wait}`)
  }
  if (open.length > 10) text.row('', `and ${formatCount(open.length - 10)} more`)
  if (open.some(({ state }) => state === 'waiting')) text.row('', frozen)
}

function printBackfills(schedule: ScheduleView, { text, tz }: Page): void {
  for (const { fromAt, toAt, author, note } of schedule.backfills) {
    const who = author === null ? '' : `, by ${author}`
    const why = note === null ? '' : `: ${note}`
    text.row('backfill', `${formatInstant(fromAt, tz)} to ${formatInstant(toAt, tz)}${who}${why}`)
  }
}

function stateWords(schedule: ScheduleView, when: (instant: number) => string): string {
  const { state, pause } = schedule
  const retired = retiredWords(schedule, when)
  if (pause === null) return retired ?? state
  const until = pause.untilAt === null ? 'until it is resumed' : `until ${when(pause.untilAt)}`
  const who = pause.author === null ? '' : ` by ${pause.author}`
  const why = pause.note === null ? '' : `: ${pause.note}`
  const paused = retired === null ? state : `${retired}; paused`
  return `${paused} since ${when(pause.at)}${who}, ${until}${why}`
}

function windowWords({ startAt, endAt, limit, fired }: ScheduleView, when: (instant: number) => string): string | null {
  const parts = []
  if (startAt !== null) parts.push(`from ${when(startAt)}`)
  if (endAt !== null) parts.push(`before ${when(endAt)}`)
  if (limit !== null) parts.push(`${formatCount(fired)} of ${counted(limit, 'fire')}`)
  return parts.length === 0 ? null : parts.join(', ')
}

function declaredWords(schedule: ScheduleView): string {
  if (isOfExec(schedule)) return 'by cronce exec'
  if (schedule.job === SLOT_JOB) return 'by the coordinator of node-cron'
  return schedule.app === null ? 'by a client' : `in the code of ${schedule.app}`
}

function instancesWords(
  schedule: ScheduleView,
  instances: readonly InstanceView[],
  all: readonly InstanceView[],
): string {
  if (instances.length === 0 && isOfExec(schedule)) return 'the host that calls cronce exec'
  if (instances.length === 0 && schedule.on !== null) return `${missingWords(schedule, all)}: its fires wait`
  if (schedule.job === SLOT_JOB) return 'the node-cron process that claims the slot'
  if (instances.length === 0) return 'no live instance knows its job: it will not run'
  const hosts = new Set(instances.map(({ host }) => host))
  const shown = [...hosts].slice(0, 5).join(', ')
  return `${instances.length} live ${instances.length === 1 ? 'instance' : 'instances'} (${shown}${hosts.size > 5 ? ', …' : ''})`
}

function runLine(run: RunView, tz: string, io: Io): string {
  const took = run.durationMs === null ? '' : ` in ${formatDuration(run.durationMs)}`
  const detail = run.error?.message ?? run.detail ?? ''
  const head = `${formatInstant(run.startedAt, tz)}  ${io.paint(stateColor(run.state), endingWords(run))}${took}`
  return `${head}  ${io.paint('dim', run.token)}  ${cutTo(sanitize(detail), 80)}`
}

function nothingNext({ trigger, state }: ScheduleView): string {
  if (trigger === null) return 'Only when triggered.'
  return state === 'active' ? 'There are no more.' : `It is ${state}.`
}
