import type { PauseOptions, ScheduleView } from 'cronce'
import type { Args } from '../args.ts'
import { authorOf, LOG, operatorOf } from '../confirm.ts'
import type { Io } from '../io.ts'
import { withClient } from '../open-store.ts'
import { countInstants } from '../schedule-times.ts'
import { steerFlags } from '../steer/flags.ts'
import { instantsWords } from '../steer/instants.ts'
import { steerMany } from '../steer/steer-many.ts'
import { WHICH_FLAGS, whichSchedules } from '../steer/which-schedules.ts'
import { formatInstant, relativeWords, zoneOf } from '../time-words.ts'
import type { Command } from './command.ts'

export const resume: Command = {
  operands: '<schedule>…',
  examples: [
    ['cronce resume nightly-report', 'fires of the pause are treated as chosen when it was paused'],
    ['cronce resume billing --missed latest', 'and run the latest fire of the pause now'],
    ['cronce resume --job report --dry-run', 'which schedules would be paused?'],
    ['cronce resume --all --yes --missed skip', 'resume everything, and run nothing late'],
  ],
  flags: {
    missed: {
      type: 'string',
      value: 'RULE',
      choices: ['skip', 'latest', 'all'],
      help: 'Which fires of the pause to run now: skip (none), latest, all (default: as chosen with the pause)',
    },
    ...WHICH_FLAGS,
    ...steerFlags(LOG),
  },
  run: runResume,
}

type Missed = NonNullable<PauseOptions['missed']>

const RUN_WORDS: Readonly<Record<Missed, string>> = {
  skip: 'and none is run',
  latest: 'and the latest is run now',
  all: 'and all are run now, one after the other',
}

function runResume(args: Args, io: Io): Promise<number> {
  const which = whichSchedules(args, 'resume')
  const tz = zoneOf(args)
  const missed = args.text('missed') as Missed | undefined
  const authored = authorOf(args, io)
  return withClient(args, io, (client, io) =>
    steerMany(
      which,
      {
        verb: { will: 'Resume', did: 'resumed' },
        wants: (view) => view.pause !== null,
        evenSo: false,
        plan: (view) => planWords(view, missed, io.now),
        planAll:
          missed === undefined
            ? 'What fell into the pauses is treated as was chosen when they were paused.'
            : `Of each, some instants may have fallen into the pause, ${RUN_WORDS[missed]}.`,
        change: (name) => client.schedules.resume(name, { ...operatorOf(args, io), missed }),
        repeated: authored,
        done: (view) => doneWords(view, tz, io.now),
      },
      client,
      args,
      io,
    ),
  )
}

function planWords(view: ScheduleView, missed: Missed | undefined, now: number): string {
  if (view.pause === null) return `${view.name} is not paused.${retiredWords(view)}`
  const chosen = missed ?? view.pause.missed
  if (view.nextAt === null || view.state === 'retired')
    return `Resume ${view.name}, paused ${relativeWords(view.pause.at, now)}.${retiredWords(view)}`
  const found = countInstants(view, view.nextAt, now)
  const fell = `${instantsWords(found)} fell into the pause`
  const then = found.count === 0 ? '' : `, ${RUN_WORDS[chosen]}`
  return `Resume ${view.name}, paused ${relativeWords(view.pause.at, now)}: ${fell}${then}.`
}

function retiredWords({ state }: ScheduleView): string {
  return state === 'retired' ? ' It is retired: it is not due.' : ''
}

function doneWords(view: ScheduleView, tz: string, now: number): string {
  const { name, nextAt, pause: left, state } = view
  // The library settles a very long pause in steps, and leaves the rest to the instances.
  if (left !== null) return `${name} is being resumed: so much fell into its pause that instances go on with it.`
  if (state === 'retired') return `${name} is resumed.${retiredWords(view)}`
  const next =
    nextAt === null ? 'It is not due again' : `Next: ${formatInstant(nextAt, tz)} (${relativeWords(nextAt, now)})`
  return `${name} is resumed. ${next}.`
}
