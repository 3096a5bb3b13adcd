import type {
  CalendarSpec,
  CronSpec,
  CronTriggerOptions,
  Json,
  NewSchedule,
  OnLabels,
  PolicyOptions,
  ScheduleView,
  TriggerOptions,
} from 'cronce'
import { cron } from 'cronce/cron'
import type { Args, Flags } from '../args.ts'
import { policyOptions, triggerOf } from '../definition-of.ts'
import { readDurationText } from '../duration-text.ts'
import { wholeNumber } from '../operands.ts'
import { timeFlag } from '../time-words.ts'
import { UsageError } from '../usage-error.ts'

/** What `schedule put` takes about the schedule itself. */
export const PUT_FLAGS = {
  job: { type: 'string', value: 'JOB', help: 'The job that it runs' },
  cron: { type: 'string', value: 'EXPR', help: 'Cron expression that says when it is due' },
  every: { type: 'string', value: 'TIME', help: 'The interval between two due times, such as 15m' },
  at: { type: 'string', value: 'TIME', help: 'Its only due time: +2h, "tomorrow 09:00", 2027-03-28T01:30Z' },
  tz: {
    type: 'string',
    value: 'ZONE',
    help: 'Zone of --cron, and of times without an offset: IANA name, UTC, +05:30, or local (default UTC)',
  },
  calendar: { type: 'string', value: 'NAME', help: 'Calendar of the configuration whose days are closed; "" for none' },
  'closed-days': {
    type: 'string',
    value: 'DAYS',
    help: 'The closed days themselves, such as "SAT SUN 12-25 2026-04-03"',
  },
  excluded: {
    type: 'string',
    value: 'RULE',
    choices: ['skip', 'next-working-day', 'previous-working-day', 'nearest'],
    help: 'What to do with fires of closed days: skip (default), next-working-day, previous-working-day, nearest',
  },
  input: { type: 'string', value: 'JSON', help: 'Input of its runs; @FILE, or @- for stdin' },
  start: { type: 'string', value: 'TIME', help: 'Not due before this time' },
  end: { type: 'string', value: 'TIME', help: 'Not due from this time on' },
  fires: { type: 'string', value: 'N', help: 'Finish the schedule after N fires' },
  tenant: { type: 'string', value: 'NAME', help: 'Tenant that it belongs to' },
  on: { type: 'string', value: 'LABEL=VALUE', help: 'Only instances with this label run it' },
  overlap: {
    type: 'string',
    value: 'KIND',
    choices: ['skip', 'queue', 'queue-all', 'allow', 'replace'],
    help: 'What to do while an earlier fire has not ended: skip, queue, queue-all, allow, replace',
  },
  misfire: {
    type: 'string',
    value: 'RULE',
    choices: ['skip', 'latest', 'all'],
    help: 'Which late fires to run: skip (none), latest, all',
  },
  retry: { type: 'string', value: 'N', help: 'Number of further attempts after a failed run' },
  timeout: { type: 'string', value: 'TIME', help: 'Longest time that a run may take' },
} as const satisfies Flags

const TRIGGERS = ['cron', 'every', 'at'] as const

export interface PutQuestion {
  readonly args: Args
  /** `null`: there is no schedule of this name. */
  readonly before: ScheduleView | null
  readonly name: string
  readonly input: Json | undefined
  readonly tz: string
  readonly now: number
}

/** The whole definition: what the flags name, and of an existing schedule everything else as it is. */
export function putOptions(question: PutQuestion): NewSchedule {
  const { args, before, name, input, tz, now } = question
  const job = args.text('job') ?? before?.job
  if (job === undefined) {
    throw new UsageError(`There is no schedule ${JSON.stringify(name)}, so --job is needed.`, 'Add --job JOB.')
  }
  const time = { tz, now }
  const kept = before ?? { input: null, startAt: null, endAt: null, limit: null, tenant: null, on: null }
  return withoutUndefined({
    ...(before === null ? {} : policyOptions(before.policy)),
    ...policyFlags(args, before),
    ...triggerOptions(question),
    job,
    input: input ?? kept.input,
    start: timeFlag(args, 'start', time) ?? kept.startAt ?? undefined,
    end: timeFlag(args, 'end', time) ?? kept.endAt ?? undefined,
    limit: wholeNumber(args, 'fires', { min: 1, max: 1_000_000_000, otherwise: kept.limit ?? undefined }),
    tenant: tenantFlag(args, kept.tenant),
    on: labelFlag(args, kept.on),
  })
}

function tenantFlag(args: Args, kept: string | null): string | undefined {
  return args.text('tenant') ?? kept ?? undefined
}

function labelFlag(args: Args, kept: ScheduleView['on']): OnLabels | undefined {
  const given = args.text('on')
  if (given === undefined) return kept ?? undefined
  const [, label, value] = /^([^=]+)=([^=]+)$/.exec(given) ?? []
  if (label !== undefined && value !== undefined) return { [label]: value }
  throw new UsageError(`--on ${given} names no label and value.`, 'Write --on zone=a.')
}

/** `null` is a value, and undefined is an option that is not there. */
function withoutUndefined(options: NewSchedule): NewSchedule {
  return Object.fromEntries(
    Object.entries(options).filter(([, value]) => value !== undefined),
  ) as unknown as NewSchedule
}

function triggerOptions({ args, before, name, tz, now }: PutQuestion): TriggerOptions {
  const given = TRIGGERS.filter((flag) => args.has(flag))
  if (given.length > 1) {
    throw new UsageError(`--${given.join(' and --')} are two triggers.`, 'Leave out one, or put a schedule for each.')
  }
  switch (given[0]) {
    case 'cron': {
      const expression = args.text('cron')!
      // Refused here, so that --dry-run refuses it, too.
      cron(expression, { tz, seed: name })
      return { cron: expression, tz, ...calendarOptions(args, before) }
    }
    case 'every':
      return { every: readDurationText(args.text('every')!, 'every') }
    case 'at':
      return { at: futureOf(timeFlag(args, 'at', { tz, now })!, now) }
    default:
      return keptTrigger(args, before, name, tz)
  }
}

function futureOf(at: number, now: number): number {
  if (at > now) return at
  throw new UsageError('The time in --at is in the past.', 'Name a time in the future.')
}

function keptTrigger(args: Args, before: ScheduleView | null, name: string, tz: string): TriggerOptions {
  if (before === null) {
    throw new UsageError(
      `There is no schedule ${JSON.stringify(name)}, so it must be said when it is due.`,
      'Add --cron EXPR, --every TIME or --at TIME.',
    )
  }
  const kept = triggerOf(before)
  if (kept.cron === undefined) {
    const useless = CALENDAR_FLAGS.find((flag) => args.has(flag))
    if (useless !== undefined) throw new UsageError(`--${useless} is for --cron.`, 'Leave it out, or add --cron EXPR.')
    return kept
  }
  const { calendar: _, ...spec } = kept.cron as CronSpec
  return { cron: { ...spec, ...(args.has('tz') ? { tz } : {}) }, ...calendarOptions(args, before) }
}

const CALENDAR_FLAGS = ['calendar', 'closed-days', 'excluded'] as const

/** The calendar that the flags name, else the one that the schedule has. */
function calendarOptions(args: Args, before: ScheduleView | null): Pick<CronTriggerOptions, 'calendar' | 'excluded'> {
  const named = args.text('calendar')
  const days = args.text('closed-days')
  if (named !== undefined && days !== undefined) {
    throw new UsageError('--calendar and --closed-days are two calendars.', 'Leave out one.')
  }
  if (named === '') return {}
  const known = before?.trigger?.kind === 'cron' ? before.trigger.calendar : undefined
  const { excluded: rule, ...kept } = known ?? {}
  const calendar = named ?? (days === undefined ? known && (kept as CalendarSpec) : { days })
  const excluded = (args.text('excluded') as CronTriggerOptions['excluded']) ?? rule
  return { ...(calendar === undefined ? {} : { calendar }), ...(excluded === undefined ? {} : { excluded }) }
}

function policyFlags(args: Args, before: ScheduleView | null): PolicyOptions {
  const kept = before === null ? undefined : policyOptions(before.policy)
  const retry = wholeNumber(args, 'retry', { min: 0, max: 1_000, otherwise: undefined })
  const timeout = args.text('timeout')
  return {
    ...(args.has('overlap') ? { overlap: args.text('overlap') as PolicyOptions['overlap'] } : {}),
    ...(args.has('misfire')
      ? { misfire: { ...(kept?.misfire as object), late: args.text('misfire') as 'skip' | 'latest' | 'all' } }
      : {}),
    ...(retry === undefined ? {} : { retry: { ...(kept?.retry as object), attempts: retry } }),
    ...(timeout === undefined
      ? {}
      : { timeout: { ...(kept?.timeout as object), run: readDurationText(timeout, 'timeout') } }),
  }
}
