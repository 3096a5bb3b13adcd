import type { BackfillAnswer } from 'cronce'
import { CronceError } from 'cronce/cron'
import { shellWord } from 'cronce/internal'
import type { Args } from '../args.ts'
import { confirm, operatorOf } from '../confirm.ts'
import { EXIT } from '../exit-code.ts'
import type { Io } from '../io.ts'
import { withClient } from '../open-store.ts'
import { oneOperand } from '../operands.ts'
import { note, printJson, warn } from '../output.ts'
import { steerFlags } from '../steer/flags.ts'
import { warnUnrunnable } from '../steer/runners.ts'
import { counted, say } from '../steer/say.ts'
import { formatInstant, timeFlag, zoneOf } from '../time-words.ts'
import { UsageError } from '../usage-error.ts'
import type { Command } from './command.ts'

export const backfill: Command = {
  operands: '<schedule>',
  examples: [
    ['cronce backfill billing --from yesterday --to today --dry-run', 'how many would be run?'],
    ['cronce backfill billing --from 2027-03-01 --to 2027-03-08', 'run fires that were missed or skipped then'],
    ['cronce backfill billing --from now-6h --note "after the outage"', 'to now'],
  ],
  about: [
    'Runs missed and skipped fires, oldest first, a few at a time; never a fire that ran. Fires that become due meanwhile wait.',
    'Instants before the schedule was created need --force: an earlier schedule of the same name may have run them.',
  ].join('\n'),
  flags: {
    from: { type: 'string', value: 'TIME', help: 'First instant: now-6h, yesterday, 2027-03-28T01:30' },
    to: { type: 'string', value: 'TIME', help: 'Last instant (default now)' },
    force: { type: 'boolean', help: 'Include instants before the schedule was created' },
    ...steerFlags('the fires that it runs'),
  },
  run: runBackfill,
}

/** More than this wants a yes. */
const MANY = 10

function runBackfill(args: Args, io: Io): Promise<number> {
  const name = oneOperand(args, 'backfill', 'schedule')
  const tz = zoneOf(args)
  if (!args.has('from')) throw new UsageError('From when on?', 'Write --from now-6h, or --from 2027-03-28.')
  return withClient(args, io, async (client, io) => {
    const from = timeFlag(args, 'from', { tz, now: io.now }) ?? io.now
    const to = timeFlag(args, 'to', { tz, now: io.now }) ?? io.now
    const range = { from, to, force: args.has('force') }
    const { preview } = await saying(() => client.schedules.backfill(name, { ...range, dryRun: true }))
    const stretch = `from ${formatInstant(from, tz)} to ${formatInstant(to, tz)}`
    const plan = {
      lines: [`${name} ${stretch}: ${previewWords(preview)}.`],
      dangerous: preview.toRun > MANY || preview.more,
      json: { schedule: name, fromAt: from, toAt: to, preview },
    }
    if (!(await confirm(plan, args, io))) return EXIT.ok
    if (preview.toRun === 0 && !preview.more) {
      if (args.has('json')) printJson({ id: null, preview }, io)
      else say(`Nothing to do for ${name} ${stretch}: ${previewWords(preview)}.`, io)
      return EXIT.ok
    }
    const { id } = await saying(() => client.schedules.backfill(name, { ...range, ...operatorOf(args, io) }))
    if (args.has('json')) printJson({ id, preview }, io)
    else {
      say(`${name} is filled in ${stretch}: ${previewWords(preview)}.`, io)
      note(`They are run oldest first: cronce fires ${shellWord(name)} --from ${new Date(from).toISOString()}`, io)
    }
    const unrunnable = await warnUnrunnable(await client.schedules.get(name), client)
    if (unrunnable !== null) warn(unrunnable, io)
    return EXIT.ok
  })
}

function previewWords({ instants, toRun, alreadyRun, more }: BackfillAnswer['preview']): string {
  const rest = more ? '; there are more behind them, which were not counted' : ''
  if (instants === 0) return `it has no instants there${rest}`
  return `of ${counted(instants, 'instant')}, ${toRun} to be run, ${alreadyRun} run or open already${rest}`
}

/** The library speaks of options; here they are flags. */
async function saying<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof CronceError) || error.code !== 'BACKFILL_BEFORE_CREATION') throw error
    throw new CronceError(error.code, error.message, {
      hint: 'Begin later, or add --force if there was none.',
      cause: error,
    })
  }
}
