import type { NewSchedule, ScheduleView } from 'cronce'
import { CronceError } from 'cronce/cron'
import { readDefinition, shellWord } from 'cronce/internal'
import { type Args, readArgs } from '../args.ts'
import { authorOf, changeFlags, confirm, LOG, operatorOf } from '../confirm.ts'
import { EXIT } from '../exit-code.ts'
import { formatDuration } from '../format.ts'
import type { Io } from '../io.ts'
import { STORE_FLAGS, withClient } from '../open-store.ts'
import { printJson, warn } from '../output.ts'
import { PUT_FLAGS, type PutQuestion, putOptions } from '../steer/put-options.ts'
import { readJson } from '../steer/read-json.ts'
import { say, whyWords } from '../steer/say.ts'
import { formatInstant, zoneOf } from '../time-words.ts'
import { triggerWords, triggerZone } from '../trigger-words.ts'
import { suggestion, UsageError } from '../usage-error.ts'
import type { Command } from './command.ts'
import { remove } from './remove.ts'

export const schedule: Command = {
  operands: '<put|remove> <schedule>',
  examples: [
    [
      'cronce schedule put report:ada --job report --cron "0 8 * * MON" --tz Europe/Berlin',
      'create it, or change when it is due',
    ],
    ['cronce schedule put report:ada --input \'{"user":"ada"}\'', 'change its input, and nothing else'],
    ['cronce schedule put reminder --job mail --at "tomorrow 09:00" --tz local', 'once'],
    ['cronce schedule put report:ada --every 15m --dry-run', 'what would change?'],
    ['cronce schedule remove report:ada', 'the same as cronce remove'],
  ],
  about: [
    'For schedules that are created at run time, such as one for each customer; schedules in code belong to the code. put creates a',
    'schedule, or changes what the flags name and keeps everything else: its pause, its counters, its policies and its open fires.',
  ].join('\n'),
  flags: {
    ...PUT_FLAGS,
    force: { type: 'boolean', help: 'With remove: also while it runs, or is declared in code' },
    ...changeFlags(LOG),
    ...STORE_FLAGS,
    json: { type: 'boolean', help: 'Print one JSON object, {"version": 1, …}, and nothing else' },
  },
  run: runSchedule,
}

const VERBS = ['put', 'remove']

function runSchedule(args: Args, io: Io): number | Promise<number> {
  const [verb, ...names] = args.positionals
  switch (verb) {
    case 'put':
      return put(names, args, io)
    case 'remove': {
      const useless = Object.keys(PUT_FLAGS).find((flag) => args.has(flag))
      if (useless !== undefined) throw new UsageError(`--${useless} is for put.`, 'Leave it out.')
      return remove.run({ ...args, positionals: names }, io)
    }
    default:
      throw verb === undefined
        ? new UsageError('Which action: put or remove?', 'Write cronce schedule put NAME --job JOB --cron "0 3 * * *".')
        : ELSEWHERE.has(verb)
          ? new UsageError(`"${verb}" is a command of its own.`, `Write cronce ${ELSEWHERE.get(verb)}.`)
          : new UsageError(`"${verb}" is neither put nor remove.${suggestion(verb, VERBS)}`, seeHelp)
  }
}

/** What stands without the word schedule. */
const ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ['list', 'list'],
  ['ls', 'list'],
  ['show', 'describe NAME'],
  ['get', 'describe NAME'],
  ['describe', 'describe NAME'],
  ['pause', 'pause NAME'],
  ['disable', 'pause NAME'],
  ['resume', 'resume NAME'],
  ['enable', 'resume NAME'],
  ['run', 'run NAME'],
  ['trigger', 'run NAME'],
  ['next', 'next NAME'],
])

const seeHelp = 'See cronce schedule --help.'

async function put(names: readonly string[], args: Args, io: Io): Promise<number> {
  const [name, more] = names
  if (name === undefined || name === '') throw new UsageError('Which schedule?', 'Write cronce schedule put NAME.')
  if (more !== undefined)
    throw new UsageError(`cronce schedule put takes one name, and got "${more}" as well.`, seeHelp)
  if (args.has('force')) throw new UsageError('--force is for remove.', 'Leave it out.')
  const given = args.text('input')
  const input = given === undefined ? undefined : await readJson(given, '--input', io)
  return withClient(args, io, async (client, io) => {
    const before = await client.schedules.find(name)
    if (before !== null) refuse(before)
    const tz = zoneOf(args, before === null ? 'UTC' : triggerZone(before.trigger))
    const question = { args, before, name, input, tz, now: io.now }
    const options = putOptions(question)
    // The store knows its calendars. Everything else is refused before the question, and with --dry-run.
    readDefinition(name, { ...options, calendar: undefined, excluded: undefined } as NewSchedule)
    const json = { schedule: name, created: before === null, options }
    const plan = { lines: planWords(question, options), json }
    if (!(await confirm(plan, args, io))) return EXIT.ok
    const { warnings, ...after } = await client.schedules.put(name, options, operatorOf(args, io))
    if (args.has('json')) printJson({ created: before === null, schedule: after, warnings, ...authorOf(args, io) }, io)
    else say(`${doneWords(after, before, tz)}${whyWords(authorOf(args, io))}`, io)
    for (const warning of warnings) warn(warning, io)
    return EXIT.ok
  })
}

function refuse({ name, app, state }: ScheduleView): void {
  if (app === null) return
  throw new CronceError('SCHEDULE_IN_CODE', `${name} is declared in the code of ${app}.`, {
    hint:
      state === 'retired'
        ? `It has left the code: remove it first, with cronce remove ${shellWord(name)}.`
        : 'Change it there, or choose another name.',
  })
}

function planWords(question: PutQuestion, options: NewSchedule): readonly string[] {
  const { name, before, tz } = question
  const after = partsOf(options, tz)
  if (before === null) {
    const { job, trigger, ...more } = after
    const rest = Object.entries(more).map(([part, text]) => `, ${part} ${text}`)
    return [`Create ${name} for job "${job}": ${trigger}${rest.join('')}.`]
  }
  const old = partsOf(putOptions({ ...question, args: NO_FLAGS, input: undefined }), tz)
  const changed = [...new Set([...Object.keys(old), ...Object.keys(after)])].filter((part) => old[part] !== after[part])
  if (changed.length === 0) return [`${name} stays as it is.`]
  return changed.map((part) => `Change ${part} of ${name}: from ${old[part] ?? 'none'} to ${after[part] ?? 'none'}.`)
}

/** What a definition says, each part as text; what it leaves out is not there. */
function partsOf(options: NewSchedule, tz: string): Readonly<Record<string, string>> {
  const { cron: _cron, every: _every, at: _at, tz: _tz, job, input, start, end, ...more } = options
  const others = Object.entries(more).map(([part, value]) => [part, JSON.stringify(value)])
  return {
    job,
    trigger: triggerPart(options, tz),
    ...(input === null ? {} : { input: JSON.stringify(input) }),
    ...(typeof start === 'number' ? { start: formatInstant(start, tz) } : {}),
    ...(typeof end === 'number' ? { end: formatInstant(end, tz) } : {}),
    ...Object.fromEntries(others),
  }
}

function triggerPart({ cron, every, at, tz: zone }: NewSchedule, tz: string): string {
  if (typeof cron === 'string') return `${cron} (${zone ?? 'UTC'})`
  if (cron !== undefined) return `${cron.expression} (${cron.tz ?? 'UTC'})`
  if (typeof every === 'number') return `every ${formatDuration(every)}`
  if (typeof every === 'object') return `every ${formatDuration(Number(every.interval))}`
  return typeof at === 'number' ? `once, ${formatInstant(at, tz)}` : 'only when triggered'
}

const NO_FLAGS = readArgs([], {})

function doneWords({ name, trigger, nextAt }: ScheduleView, before: ScheduleView | null, tz: string): string {
  const next = nextAt === null ? '' : ` It is due next at ${formatInstant(nextAt, tz)}.`
  return `${name} is ${before === null ? 'created' : 'changed'}: ${triggerWords(trigger, tz)}.${next}`
}
