import {
  CronceError,
  CronError,
  type CronTrigger,
  cron,
  trigger as makeTrigger,
  stats,
  type ZoneEffect,
} from 'cronce/cron'
import type { Args } from '../args.ts'
import { inFields } from '../cron-of-words.ts'
import { formatCount, formatLocal, precisionFor } from '../format.ts'
import type { Io } from '../io.ts'
import { neverBecause } from '../notes.ts'
import { findStoreOrDefaultIfAny, STORE_FLAGS, withClient } from '../open-store.ts'
import { note, printJson } from '../output.ts'
import { fireLines } from '../print.ts'
import { readSchedule, SCHEDULE_FLAGS, type Schedule } from '../schedule.ts'
import { comingOf } from '../schedule-times.ts'
import { withExpectedRule } from '../service/exec/expected-rule.ts'
import { formatInstant, timeFlag, zoneOf } from '../time-words.ts'
import { triggerZone } from '../trigger-words.ts'
import { UsageError } from '../usage-error.ts'
import { effectWords } from '../zone-marks.ts'
import type { Command } from './command.ts'

const DEFAULT_COUNT = 5
const MOST = 1_000

export const next: Command = {
  operands: '"<expression>" | <schedule>',
  examples: [
    ['cronce next "*/15 9-17 * * MON-FRI"', 'the next five fires, in UTC'],
    ['cronce next "30 1 * * *" --tz Europe/London --from 2027-03-27', 'across a change of the clock'],
    ['cronce next "0 0 L * *" -n 12 --json', 'the next twelve, for a program'],
    ['cronce next "H H * * *" --seed nightly-report', 'a time of day chosen by name'],
    ['cronce next nightly-report', 'of a schedule in the store'],
  ],
  about: [
    'Distances such as "in 3h" count from --from. A fire at --from itself is not listed.',
    'For a schedule, the expression and its rules come from the store, and --tz is the zone of the times printed.',
    'Times inside its pause, times that were skipped and times beyond its end or limit are not listed.',
  ].join('\n'),
  flags: {
    count: {
      type: 'string',
      short: 'n',
      value: 'N',
      help: `How many fires, 1 to ${formatCount(MOST)} (default ${DEFAULT_COUNT})`,
    },
    ...SCHEDULE_FLAGS,
    to: { type: 'string', value: 'TIME', help: 'Only those before then' },
    ...STORE_FLAGS,
    json: { type: 'boolean', help: 'Print {"version": 1, "next": ["2027-03-28T01:00:00.000Z", ...]} and nothing else' },
  },
  run: runNext,
}

async function runNext(args: Args, io: Io): Promise<number> {
  const [first] = args.positionals
  const isName = args.positionals.length === 1 && first !== '' && !looksLikeExpression(first!)
  // Without a store it can only be an expression that went wrong.
  if (!isName || (await findStoreOrDefaultIfAny(args, io)).store === undefined) return nextOfExpression(args, io)
  try {
    return await nextOfSchedule(first!, args, io)
  } catch (error) {
    throw withMistake(first!, error)
  }
}

/** Five fields or more, a macro, or what EventBridge writes. A name of a schedule may have blanks, but hardly as many. */
function looksLikeExpression(text: string): boolean {
  return /^\s*(@|(cron|rate)\(|(CRON_)?TZ=)/i.test(text) || text.trim().split(/\s+/).length >= 5
}

function nextOfExpression(args: Args, io: Io): number {
  const count = readCount(args.text('count'))
  const schedule = readSchedule(args, 'next', io.now)
  const { trigger, from, tz } = schedule
  const to = timeFlag(args, 'to', { tz, now: io.now }) ?? Number.POSITIVE_INFINITY
  const fires = trigger.nextN(from, count).filter((fire) => fire < to)
  const isCut = to !== Number.POSITIVE_INFINITY
  print(schedule, fires, args, io, [
    ...zoneNotes(schedule),
    ...notesAfter(schedule, fires, isCut ? fires.length : count),
  ])
  return 0
}

async function nextOfSchedule(name: string, args: Args, io: Io): Promise<number> {
  const count = readCount(args.text('count'))
  const own = ['dst', 'gap', 'overlap', 'days', 'dialect', 'wrap', 'seed', 'closed-days', 'excluded'].find((flag) =>
    args.has(flag),
  )
  if (own !== undefined) {
    throw new UsageError(`--${own} is a rule of the schedule ${name} itself.`, 'Leave it out, or give an expression.')
  }
  return withClient(args, io, async (client, io) => {
    const stored = await client.schedules.get(name)
    const schedule = withExpectedRule(stored, stored.last.dueAt)
    const tz = zoneOf(args, triggerZone(schedule.trigger))
    const from = timeFlag(args, 'from', { tz, now: io.now }) ?? io.now
    const to = timeFlag(args, 'to', { tz, now: io.now })
    const fires = comingOf(schedule, from, count, to)
    const notes = []
    const { state, pause } = schedule
    const until = pause === null || pause.untilAt === null ? '' : ` until ${formatInstant(pause.untilAt, tz)}`
    if (state !== 'active') notes.push(`${name} is ${state}${until}.`)
    if (schedule.trigger === null) notes.push(`${name} is run only when it is triggered.`)
    else if (fires.length < count && to === undefined && pause?.untilAt !== null)
      notes.push('There are no fires after these.')
    const trigger = schedule.trigger === null ? null : makeTrigger(schedule.trigger)
    if (trigger?.kind === 'cron') notes.push(...excludedNotes(trigger, from, fires.at(-1)))
    print({ tz, from, trigger }, fires, args, io, notes)
    return 0
  })
}

/** What is not the name of a schedule may be an expression with a mistake in it: then the error says so, too. */
function withMistake(text: string, error: unknown): unknown {
  if (!(error instanceof CronceError) || !/[\s*/?,#]/.test(text.trim())) return error
  const isNotFound = error.code === 'SCHEDULE_NOT_FOUND'
  if (!isNotFound && !error.code.startsWith('STORE_')) return error
  const found = mistakeIn(text)
  if (found === null) return error
  const mistake = found instanceof CronError ? inFields(found, []) : found
  const why = `${mistake.message.charAt(0).toLowerCase()}${mistake.message.slice(1)}`
  const quoted = JSON.stringify(text)
  if (!isNotFound) {
    const message = `${quoted} is not a valid expression, and schedules can't be looked up. The expression: ${why} The store: ${error.message}`
    return new CronceError(error.code, message, { hint: hintsOf(mistake, error), cause: error })
  }
  const suggested = error.hint?.startsWith('Did you mean') ? [error] : []
  const hint = hintsOf(...suggested, mistake) || 'See cronce next --help.'
  return new UsageError(`${quoted} is neither the name of a schedule nor a valid expression: ${why}`, hint)
}

function hintsOf(...errors: readonly CronceError[]): string {
  return errors
    .map(({ hint = '' }) => hint)
    .filter(Boolean)
    .join(' ')
}

function mistakeIn(expression: string): CronceError | null {
  try {
    cron(expression)
    return null
  } catch (error) {
    if (error instanceof CronceError) return error
    throw error
  }
}

function print(
  { trigger, tz, from }: { tz: string; from: number; trigger: ReturnType<typeof makeTrigger> | null },
  fires: readonly number[],
  args: Args,
  io: Io,
  notes: readonly string[],
): void {
  if (args.has('json')) {
    printJson({ next: fires.map((fire) => new Date(fire).toISOString()) }, io)
    return
  }
  if (trigger !== null) for (const line of fireLines(trigger, fires, { tz, from, paint: io.paint })) io.out(`${line}\n`)
  for (const text of notes) note(text, io)
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
    notes.push(...excludedNotes(trigger, from, last))
  }
  if (fires.length < count) notes.push('There are no fires after these.')
  return notes
}

/** More are not counted. */
const MOST_EXCLUDED = 100_000

/** What a calendar took out of the list. */
function excludedNotes({ excluded }: CronTrigger, from: number, last = from): string[] {
  const times = excluded?.nextN(from, MOST_EXCLUDED).filter((at) => at < last) ?? []
  const [first] = times
  if (first === undefined) return []
  const which = times.length === 1 ? 'One time between them is' : `${formatCount(times.length)} times between them are`
  return [`${which} recorded as skipped: ${excluded!.why(first)}${times.length === 1 ? '' : ', and so on'}.`]
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
