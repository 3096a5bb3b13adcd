import { type CronOptions, type CronTrigger, cron, type EveryTrigger, type ExcludedRule } from 'cronce/cron'
import type { Args, Flags } from './args.ts'
import { readFrom } from './from.ts'
import { UsageError } from './usage-error.ts'
import { zonePrefixOf } from './zone-prefix.ts'

/** What every command about one expression can be told. */
export const SCHEDULE_FLAGS = {
  tz: {
    type: 'string',
    value: 'ZONE',
    help: 'Zone of the expression and of the times printed: IANA name, UTC or +05:30 (default UTC)',
  },
  from: {
    type: 'string',
    value: 'TIME',
    help: '2027-03-28, 2027-03-28T01:30 (both read in the zone), with Z or +02:00, now, now+2h, now-30m (default now)',
  },
  dst: {
    type: 'string',
    value: 'RULE',
    choices: ['auto', 'wall', 'once', 'shift'],
    help: 'What a zone change does: auto (default), wall, once, shift',
  },
  gap: {
    type: 'string',
    value: 'RULE',
    choices: ['auto', 'after', 'skip', 'shift'],
    help: 'Local times that do not exist: auto (default), after, skip, shift',
  },
  overlap: {
    type: 'string',
    value: 'RULE',
    choices: ['auto', 'first', 'second', 'both'],
    help: 'Local times that come twice: auto (default), first, second, both',
  },
  days: {
    type: 'string',
    value: 'RULE',
    choices: ['or', 'and', 'vixie'],
    help: 'How two restricted day fields combine: or (default), and, vixie',
  },
  dialect: {
    type: 'string',
    value: 'NAME',
    choices: ['default', 'vixie', 'ocps', 'quartz', 'eventbridge', 'kubernetes'],
    help: 'Whose grammar it is written in: default, vixie, ocps, quartz, eventbridge, kubernetes',
  },
  wrap: { type: 'boolean', help: 'Accept ranges that wrap around, such as 22-2 or FRI-MON' },
  'closed-days': {
    type: 'string',
    value: 'DAYS',
    help: 'Days on which it does not fire, such as "SAT SUN 12-25 2026-04-03 2026-12-24/2027-01-01"',
  },
  excluded: {
    type: 'string',
    value: 'RULE',
    choices: ['skip', 'next-working-day', 'previous-working-day', 'nearest'],
    help: 'What to do with fires of closed days: skip (default), next-working-day, previous-working-day, nearest',
  },
  seed: { type: 'string', value: 'TEXT', help: 'What H is hashed from, usually the name of the schedule' },
} as const satisfies Flags

export interface Schedule {
  /** As written: an interval does not remember it. */
  readonly expression: string
  readonly trigger: CronTrigger | EveryTrigger
  readonly options: CronOptions
  /** The zone times are printed in: that of the expression, if it names one. */
  readonly tz: string
  readonly from: number
}

export function readSchedule(args: Args, command: string, now: number): Schedule {
  const expression = readExpression(args.positionals, command)
  const options = readOptions(args)
  const trigger = cron(expression, options)
  const tz = trigger.kind === 'cron' ? trigger.tz : printingZone(expression, options)
  return { expression, trigger, options, tz, from: readFrom(args.text('from') ?? 'now', tz, now) }
}

function readExpression(positionals: readonly string[], command: string): string {
  const [expression] = positionals
  if (expression === undefined) {
    throw new UsageError('No expression given.', `Try: cronce ${command} "*/15 9-17 * * MON-FRI"`)
  }
  if (positionals.length === 1) return expression
  throw new UsageError(
    `Expected one expression, got ${positionals.length} arguments.`,
    `Put the expression in quotes, or the shell takes the * for file names: cronce ${command} "0 9 * * *"`,
  )
}

function readOptions(args: Args): CronOptions {
  // The choices were checked against SCHEDULE_FLAGS, so what is left to doubt is the zone, and cron() does that.
  return {
    tz: args.text('tz'),
    dst: args.text('dst') as CronOptions['dst'],
    gap: args.text('gap') as CronOptions['gap'],
    overlap: args.text('overlap') as CronOptions['overlap'],
    days: args.text('days') as CronOptions['days'],
    dialect: args.text('dialect') as CronOptions['dialect'],
    wrap: args.has('wrap') ? true : undefined,
    seed: args.text('seed'),
    calendar: readCalendar(args),
  }
}

function readCalendar(args: Args): CronOptions['calendar'] {
  const days = args.text('closed-days')
  const excluded = args.text('excluded') as ExcludedRule | undefined
  if (days !== undefined) return { days, excluded }
  if (excluded === undefined) return undefined
  throw new UsageError(
    '--excluded means nothing without --closed-days.',
    'Leave it out, or add --closed-days "SAT SUN".',
  )
}

/** `@every` has no zone, but its times are printed in one. cron() has refused names that are no zones. */
function printingZone(expression: string, options: CronOptions): string {
  return zonePrefixOf(expression)?.tz ?? options.tz ?? 'UTC'
}
