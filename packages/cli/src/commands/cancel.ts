import type { Client, FireView, OpenFireView, ScheduleView } from 'cronce'
import { CronceError } from 'cronce/cron'
import { shellWord } from 'cronce/internal'
import type { Args } from '../args.ts'
import { confirm, operatorOf } from '../confirm.ts'
import { EXIT } from '../exit-code.ts'
import { formatDuration } from '../format.ts'
import type { Io } from '../io.ts'
import { withClient } from '../open-store.ts'
import { atMost } from '../operands.ts'
import { printJson } from '../output.ts'
import { findOpen, openNames, refOf } from '../steer/find-open.ts'
import { steerFlags } from '../steer/flags.ts'
import { counted, say } from '../steer/say.ts'
import { formatInstant, zoneOf } from '../time-words.ts'
import { UsageError } from '../usage-error.ts'
import type { Command } from './command.ts'

export const cancel: Command = {
  operands: '<schedule> [<token>|<due>|<key>]',
  examples: [
    ['cronce cancel billing --note "wrong file"', 'what it has open, if that is one fire'],
    ['cronce cancel billing 17592186044417', 'the fire of this run'],
    ['cronce cancel billing 2027-03-28T01:30Z', 'the fire due then'],
    ['cronce cancel billing --all --yes', 'all that wait or run'],
  ],
  about: [
    'A waiting fire ends at once. A run is asked to end through its signal, and ends for the fleet when the grace period of its timeout',
    'has passed. It is not run again, unless by cronce retry.',
  ].join('\n'),
  flags: { all: { type: 'boolean', help: 'All fires of the schedule that have not ended' }, ...steerFlags('the fire') },
  run: runCancel,
}

function runCancel(args: Args, io: Io): Promise<number> {
  const [name, which] = atMost(args, 2, 'cancel')
  if (name === undefined)
    throw new UsageError('Which schedule?', 'Write cronce cancel SCHEDULE; see cronce cancel --help.')
  if (which !== undefined && args.has('all')) throw new UsageError(`All, or ${which}?`, 'Leave out one.')
  const tz = zoneOf(args)
  return withClient(args, io, async (client, io) => {
    const view = await client.schedules.get(name)
    const fires = which === undefined ? openOf(view, args.has('all')) : [findOpen(view, which, { tz, now: io.now })]
    const plan = {
      lines: fires.map((fire) => planWords(view, fire, tz, io.now)),
      dangerous: args.has('all') || fires.length > 1,
      json: { schedule: name, fires },
    }
    if (!(await confirm(plan, args, io))) return EXIT.ok
    const items = await cancelEach(client, name, fires, operatorOf(args, io))
    if (args.has('json')) printJson({ items }, io)
    else for (const fire of items) say(doneWords(fire, view, tz), io)
    return EXIT.ok
  })
}

function openOf(view: ScheduleView, isAll: boolean): readonly OpenFireView[] {
  const { name, open } = view
  if (open.length === 0) {
    throw new CronceError('FIRE_NOT_OPEN', `The schedule ${name} has no open fire: nothing waits or runs.`, {
      hint: `Look at what it did: cronce fires ${shellWord(name)}.`,
    })
  }
  if (open.length === 1 || isAll) return open
  throw new UsageError(
    `${name} has ${counted(open.length, 'open fire')}.`,
    `Say which, or add --all: ${openNames(open)}.`,
  )
}

async function cancelEach(
  client: Client,
  schedule: string,
  fires: readonly OpenFireView[],
  authored: { readonly author: string; readonly note?: string },
): Promise<readonly FireView[]> {
  const items: FireView[] = []
  for (const fire of fires) {
    try {
      items.push(await client.fires.cancel(refOf(schedule, fire), authored))
    } catch (error) {
      // Of many, some may end by themselves meanwhile. Of one, that is the answer.
      if (fires.length === 1 || !(error instanceof CronceError) || error.code !== 'FIRE_NOT_OPEN') throw error
    }
  }
  return items
}

function planWords({ name, policy }: ScheduleView, fire: OpenFireView, tz: string, now: number): string {
  const what = `the fire of ${name} due ${formatInstant(fire.dueAt, tz)}`
  if (fire.state === 'waiting') return `Cancel ${what}, which waits: it is over at once.`
  const since = fire.startedAt === null ? '' : `, running for ${formatDuration(Math.max(0, now - fire.startedAt))}`
  const grace = `it has ${formatDuration(policy.timeout.graceMs)} to end after its signal`
  return `Cancel ${what}${since} (run ${fire.token}): ${grace}.`
}

function doneWords({ state, dueAt }: FireView, { name, policy }: ScheduleView, tz: string): string {
  const what = `The fire of ${name} due ${formatInstant(dueAt, tz)}`
  if (state !== 'open') return `${what} is ${state}.`
  return `${what} was asked to end, and is over in ${formatDuration(policy.timeout.graceMs)} at the latest.`
}
