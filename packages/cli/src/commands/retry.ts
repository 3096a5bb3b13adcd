import type { Client, FireView } from 'cronce'
import { CronceError } from 'cronce/cron'
import { shellWord } from 'cronce/internal'
import type { Args } from '../args.ts'
import { confirm, operatorOf } from '../confirm.ts'
import { EXIT } from '../exit-code.ts'
import { FIRE_FLAGS, findFire } from '../find-fire.ts'
import type { Io } from '../io.ts'
import { withClient } from '../open-store.ts'
import { atMost } from '../operands.ts'
import { endingWords } from '../outcome-words.ts'
import { printJson, warn } from '../output.ts'
import { findByKey } from '../steer/find-open.ts'
import { steerFlags } from '../steer/flags.ts'
import { warnUnrunnable } from '../steer/runners.ts'
import { counted, say } from '../steer/say.ts'
import { formatInstant, readTime, zoneOf } from '../time-words.ts'
import { UsageError } from '../usage-error.ts'
import type { Command } from './command.ts'

export const retry: Command = {
  operands: '<schedule> [<due>|<token>|<key>|latest]',
  examples: [
    ['cronce retry billing', 'run the latest fire that failed once more'],
    ['cronce retry billing 2027-03-28T01:30Z', 'run the fire due then once more'],
    ['cronce retry billing 17592186044417', 'the fire of this run'],
    ['cronce retry billing 2027-03-28T01:30Z --force', 'although it succeeded'],
  ],
  about: [
    'Opens another round of the same fire: it keeps its due time, its input, its idempotency keys and its durable steps, and gets all its',
    'attempts again. A fire that succeeded, or was started at most once, needs --force.',
  ].join('\n'),
  flags: {
    force: { type: 'boolean', help: 'Also if it succeeded, or was started and must not start twice' },
    ...FIRE_FLAGS,
    ...steerFlags('the fire'),
  },
  run: runRetry,
}

function runRetry(args: Args, io: Io): Promise<number> {
  const [schedule, which] = atMost(args, 2, 'retry')
  if (schedule === undefined) {
    throw new UsageError('Which schedule?', 'Write cronce retry SCHEDULE [DUE|TOKEN]; see cronce fires.')
  }
  const tz = zoneOf(args)
  const force = args.has('force')
  return withClient(args, io, async (client, io) => {
    const view = await client.schedules.get(schedule)
    const found =
      which === undefined
        ? await latestFailed(client, schedule)
        : ((await findByKey(client, schedule, which)) ?? (await findFire(client, schedule, which, { args, io, tz })))
    const fire = { ...found, dueAt: wantedOf(found, which, tz, io.now) }
    const what = `the fire of ${schedule} due ${formatInstant(fire.dueAt, tz)}`
    refuse(fire, what, force)
    const runs = fire.attempt === 0 ? 'was not run' : `ended after ${counted(fire.attempt, 'run')}`
    const plan = {
      lines: [
        `Open round ${fire.round + 1} of ${what}, which ${runs}: ${endingWords(fire)}. It is run again as soon as it can.`,
      ],
      json: { schedule, dueAt: fire.dueAt, nonce: fire.nonce, round: fire.round + 1 },
    }
    if (!(await confirm(plan, args, io))) return EXIT.ok
    const opened = await saying(() => client.fires.retry(fire, { force, ...operatorOf(args, io) }))
    if (args.has('json')) printJson({ fire: opened }, io)
    else say(`Round ${opened.round} of ${what} is open: it is run again as soon as it can.`, io)
    const unrunnable = await warnUnrunnable(view, client)
    if (unrunnable !== null) warn(unrunnable, io)
    return EXIT.ok
  })
}

async function latestFailed(client: Client, schedule: string): Promise<FireView> {
  const { items } = await client.fires.list({ schedule, outcome: 'failed', limit: 1 })
  if (items[0] !== undefined) return items[0]
  throw new CronceError('FIRE_NOT_FOUND', `No fire of ${JSON.stringify(schedule)} that failed is on record.`, {
    hint: `Say which one, by its due time or by the token of a run: cronce fires ${shellWord(schedule)}`,
  })
}

/** Of a range of instants that ended alike, the one that was named. */
function wantedOf({ range, dueAt }: FireView, which: string | undefined, tz: string, now: number): number {
  return range === null || which === undefined || which === 'latest'
    ? dueAt
    : readTime(which, { name: 'The fire', tz, now })
}

/** The library refuses it, too; here it is known before the prompt. */
function refuse({ state }: FireView, what: string, force: boolean): void {
  if (state === 'open') {
    throw new CronceError('FIRE_OPEN', `It has not ended, ${what}.`, { hint: 'Wait for it, or cancel it first.' })
  }
  if (state === 'succeeded' && !force) {
    throw new CronceError('FIRE_SUCCEEDED', `It succeeded, ${what}.`, {
      hint: 'Add --force to run it again all the same.',
    })
  }
}

/** The library speaks of options; here they are flags. */
async function saying<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof CronceError) || error.code !== 'FIRE_STARTED') throw error
    throw new CronceError(error.code, error.message, { hint: 'Find out what it did, then add --force.', cause: error })
  }
}
