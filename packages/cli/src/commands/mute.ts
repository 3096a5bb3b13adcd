import type { Connection } from 'cronce'
import { CronceError } from 'cronce/cron'
import { DETECT_JOB, didYouMean, FLEET_SUBJECTS, THRESHOLDS } from 'cronce/internal'
import type { Args, Flags } from '../args.ts'
import { operatorOf } from '../confirm.ts'
import type { Io } from '../io.ts'
import { STORE_FLAGS, withClient } from '../open-store.ts'
import { oneOperand } from '../operands.ts'
import { printJson } from '../output.ts'
import { sanitize } from '../terminal.ts'
import { formatInstant, TIME_FLAGS, timeFlag, zoneOf } from '../time-words.ts'
import { UsageError } from '../usage-error.ts'
import { muteWords } from './alerts.ts'
import type { Command } from './command.ts'

const MUTE_FLAGS = {
  app: { type: 'string', value: 'APP', help: 'Of this app alone' },
  note: { type: 'string', value: 'TEXT', help: 'Why: kept in the operator log' },
  author: { type: 'string', value: 'NAME', help: 'Who: likewise (default: CRONCE_AUTHOR, or USER@HOST)' },
  ...TIME_FLAGS,
  ...STORE_FLAGS,
  json: { type: 'boolean', help: 'Print one JSON object, {"version": 1, …}, and nothing else' },
} as const satisfies Flags

export const mute: Command = {
  operands: '<subject>',
  examples: [
    ['cronce mute nightly-report --until "tomorrow 09:00" --note "being repaired"', 'no messages about a schedule'],
    ['cronce mute clock', 'no messages about a rule, until it is unmuted'],
  ],
  about: 'A subject is what cronce alerts lists: a schedule, a host, a part of the fleet; or the name of a rule.',
  flags: {
    until: { type: 'string', value: 'TIME', help: 'It ends by itself then: +2h, "tomorrow 09:00", 2027-03-28T01:30Z' },
    ...MUTE_FLAGS,
  },
  run: runMute,
}

export const unmute: Command = {
  operands: '<subject>',
  examples: [['cronce unmute nightly-report', 'messages about it again']],
  flags: MUTE_FLAGS,
  run: runUnmute,
}

function runMute(args: Args, io: Io): Promise<number> {
  const subject = oneOperand(args, 'mute', 'subject')
  const tz = zoneOf(args)
  return withClient(args, io, async (client, io) => {
    const until = timeFlag(args, 'until', { tz, now: io.now })
    if (until !== undefined && until <= io.now) {
      throw new UsageError(`--until ${formatInstant(until, tz)} is over.`, 'Name a time to come, or leave it out.')
    }
    await demandSubject(client, subject)
    const muted = await client.alerts.mute(subject, { ...operatorOf(args, io), until, app: args.text('app') })
    if (args.has('json')) printJson({ items: muted }, io)
    else for (const each of muted) io.out(`${sanitize(muteWords(each, tz))}\n`)
    return 0
  })
}

/** A subject that nothing has is a mistake: its mute would have no effect. */
async function demandSubject(client: Connection, subject: string): Promise<void> {
  const schedules = [subject, `${DETECT_JOB}:${subject}`].map((name) => client.schedules.find(name))
  if ((await Promise.all(schedules)).some((schedule) => schedule !== null)) return
  const alerts = await client.alerts.list({ all: true })
  const instances = await client.instances.list()
  const others = [
    ...Object.keys(THRESHOLDS),
    ...FLEET_SUBJECTS,
    ...instances.map(({ host }) => host),
    ...alerts.flatMap(({ subjects }) => subjects.map(({ name }) => name)),
  ]
  if (others.includes(subject)) return
  const meant = didYouMean(subject, others)
  // Its error names the schedule that was meant.
  if (meant === undefined) await client.schedules.get(subject)
  throw new CronceError('SCHEDULE_NOT_FOUND', `There is no schedule, host or rule ${JSON.stringify(subject)}.`, {
    hint: `Did you mean ${meant}?`,
  })
}

function runUnmute(args: Args, io: Io): Promise<number> {
  const subject = oneOperand(args, 'unmute', 'subject')
  return withClient(args, io, async (client, io) => {
    const unmuted = await client.alerts.unmute(subject, { ...operatorOf(args, io), app: args.text('app') })
    if (args.has('json')) printJson({ unmuted }, io)
    else io.out(`${sanitize(subject)} ${unmuted ? 'is no longer muted' : 'was not muted'}.\n`)
    return 0
  })
}
