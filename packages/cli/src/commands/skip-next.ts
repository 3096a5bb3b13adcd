import type { ScheduleView } from 'cronce'
import { CronceError } from 'cronce/cron'
import type { Args } from '../args.ts'
import { confirm, operatorOf } from '../confirm.ts'
import { EXIT } from '../exit-code.ts'
import { precisionFor } from '../format.ts'
import type { Io } from '../io.ts'
import { withClient } from '../open-store.ts'
import { oneOperand } from '../operands.ts'
import { printJson } from '../output.ts'
import { unskippedAfter } from '../schedule-times.ts'
import { steerFlags } from '../steer/flags.ts'
import { say } from '../steer/say.ts'
import { formatInstant, relativeWords, timeFlag, zoneOf } from '../time-words.ts'
import type { Command } from './command.ts'

export const skipNext: Command = {
  operands: '<schedule>',
  examples: [
    ['cronce skip-next nightly-report --note "no prices today"', 'skip its next fire only'],
    ['cronce skip-next nightly-report --due 2027-03-28T01:30Z', 'only if that is the next one'],
    ['cronce skip-next nightly-report --dry-run', 'which fire would be skipped?'],
  ],
  about: 'The fire is recorded as skipped by an operator. cronce retry brings it back, even before its due time.',
  flags: {
    due: { type: 'string', value: 'TIME', help: 'Due time of the fire: refused if the next fire is another one' },
    ...steerFlags('the fire that is skipped'),
  },
  run: runSkipNext,
}

function runSkipNext(args: Args, io: Io): Promise<number> {
  const name = oneOperand(args, 'skip-next', 'schedule')
  const tz = zoneOf(args)
  return withClient(args, io, async (client, io) => {
    const due = timeFlag(args, 'due', { tz, now: io.now })
    const before = await client.schedules.get(name)
    const dueAt = due ?? demandNext(before)
    if (before.nextAt !== dueAt) throw changed(before, dueAt)
    const words = (at: number): string =>
      `${formatInstant(at, tz, precisionFor([at], tz))} (${relativeWords(at, io.now)})`
    const then = unskippedAfter(before, dueAt).next().value ?? null
    const plan = {
      lines: [
        `Skip one fire of ${name}: the one due ${words(dueAt)}.`,
        then === null ? 'There is none after it.' : `The next is then due ${words(then)}.`,
      ],
      json: { schedule: name, dueAt },
    }
    if (!(await confirm(plan, args, io))) return EXIT.ok
    const after = await client.schedules.skipNext(name, { dueAt, ...operatorOf(args, io) })
    if (args.has('json')) printJson({ skipped: { schedule: name, dueAt }, schedule: after }, io)
    else {
      const next = after.nextAt === null ? 'It is not due again' : `Next: ${words(after.nextAt)}`
      say(`${name} skips the fire due ${words(dueAt)}. ${next}.`, io)
    }
    return EXIT.ok
  })
}

function demandNext({ name, trigger, nextAt, state }: ScheduleView): number {
  if (nextAt !== null) return nextAt
  if (trigger === null) {
    throw new CronceError('TRIGGER_MISSING', `The schedule ${name} has no trigger, and so no next fire.`, {
      hint: 'There is nothing to skip: it runs only when it is triggered.',
    })
  }
  throw new CronceError('NEXT_CHANGED', `The schedule ${name} is ${state}: there is no next fire.`, {
    hint: 'Look at it with cronce describe.',
  })
}

function changed({ name, nextAt }: ScheduleView, dueAt: number): CronceError {
  const next = nextAt === null ? 'has no next fire' : `is due next at ${new Date(nextAt).toISOString()}`
  return new CronceError('NEXT_CHANGED', `The schedule ${name} ${next}, not at ${new Date(dueAt).toISOString()}.`, {
    hint: 'Look again, then skip that one.',
  })
}
