import type { PauseOptions, ScheduleView } from 'cronce'
import type { Args } from '../args.ts'
import { operatorOf } from '../confirm.ts'
import type { Io } from '../io.ts'
import { withClient } from '../open-store.ts'
import { countInstants } from '../schedule-times.ts'
import { steerFlags } from '../steer/flags.ts'
import { instantsWords } from '../steer/instants.ts'
import { counted } from '../steer/say.ts'
import { steerMany } from '../steer/steer-many.ts'
import { WHICH_FLAGS, whichSchedules } from '../steer/which-schedules.ts'
import { formatInstant, timeFlag, zoneOf } from '../time-words.ts'
import { UsageError } from '../usage-error.ts'
import type { Command } from './command.ts'

export const pause: Command = {
  operands: '<schedule>…',
  examples: [
    ['cronce pause nightly-report --note "wrong prices"', 'until it is resumed'],
    [
      'cronce pause billing --until "tomorrow 09:00" --missed latest',
      'then run the latest fire that fell into the pause',
    ],
    ['cronce pause --prefix report: --dry-run', 'which schedules would be paused?'],
    ["cronce pause '*:nightly' --yes", 'all schedules that end with :nightly'],
    ['cronce pause --all --yes --note "database upgrade"', 'everything'],
  ],
  about: [
    'Runs continue: end one with cronce cancel. Fires that were due before and have not started, and retries, wait until the pause',
    'ends; --missed decides about the due times in between. cronce run works on a paused schedule, too. Schedules that are already',
    'paused keep their note and their end, unless they are named.',
  ].join('\n'),
  flags: {
    until: {
      type: 'string',
      value: 'TIME',
      help: 'End the pause at this time: +2h, "tomorrow 09:00", 2027-03-28T01:30Z',
    },
    missed: {
      type: 'string',
      value: 'RULE',
      choices: ['skip', 'latest', 'all'],
      help: 'Which fires of the pause to run when it ends: skip (none, the default), latest, all',
    },
    ...WHICH_FLAGS,
    ...steerFlags('the pause, until it ends'),
  },
  run: runPause,
}

/** What becomes of the instants of a pause. */
export const MISSED_WORDS = {
  skip: 'none of them is run',
  latest: 'the latest of them is run when it ends',
  all: 'all of them are run when it ends',
} as const

function runPause(args: Args, io: Io): Promise<number> {
  const which = whichSchedules(args, 'pause')
  const tz = zoneOf(args)
  const missed = (args.text('missed') ?? 'skip') as NonNullable<PauseOptions['missed']>
  return withClient(args, io, (client, io) => {
    const until = timeFlag(args, 'until', { tz, now: io.now })
    if (until !== undefined && until <= io.now) {
      throw new UsageError(
        `--until ${formatInstant(until, tz)} is in the past.`,
        'Name a time in the future, or leave it out.',
      )
    }
    const end = until === undefined ? 'until it is resumed' : `until ${formatInstant(until, tz)}`
    const options: PauseOptions = { ...operatorOf(args, io), until, missed }
    return steerMany(
      which,
      {
        verb: { will: 'Pause', did: 'paused' },
        wants: ({ state }) => state === 'active',
        evenSo: true,
        plan: (view) =>
          `Pause ${view.name} ${end}${againWords(view)}: ${fallWords(view, io.now, until)}${MISSED_WORDS[missed]}.${openWords(view)}`,
        planAll: `From now ${until === undefined ? 'until they are resumed' : end}: of the instants in between, ${MISSED_WORDS[missed]}.`,
        change: (name) => client.schedules.pause(name, options),
        done: (view) =>
          `${view.name} is paused ${end}: ${fallWords(view, io.now, until)}${MISSED_WORDS[missed]}.${openWords(view)}`,
      },
      client,
      args,
      io,
    )
  })
}

function againWords({ pause: before }: ScheduleView): string {
  if (before === null) return ''
  const by = before.author === null ? '' : ` by ${before.author}`
  const why = before.note === null ? '' : ` (${before.note})`
  return `, which is paused${by}${why} and gets this end and note instead`
}

function fallWords(view: ScheduleView, now: number, until: number | undefined): string {
  if (view.trigger === null) return 'it has no instants, and '
  if (until === undefined) return 'of the instants that fall into it, '
  const found = countInstants(view, view.nextAt ?? now, until)
  return `${instantsWords(found)} ${found.count < 2 && !found.more ? 'falls' : 'fall'} into it, `
}

function openWords({ open, state }: ScheduleView): string {
  const retired = state === 'retired' ? ' It is retired: it is not due.' : ''
  const waiting = open.filter(({ state }) => state === 'waiting').length
  const running = open.length - waiting
  const parts = [
    ...(running === 0 ? [] : [`${counted(running, 'running fire continues', 'running fires continue')}`]),
    ...(waiting === 0 ? [] : [`${counted(waiting, 'waiting fire stays', 'waiting fires stay')} open`]),
  ]
  return `${parts.length === 0 ? '' : ` ${parts.join(', ')}.`}${retired}`
}
