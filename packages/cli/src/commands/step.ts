import type { Connection, FireView, StepResolution, StepView } from 'cronce'
import { CronceError } from 'cronce/cron'
import { didYouMean, shellWord } from 'cronce/internal'
import type { Args } from '../args.ts'
import { authorOf, confirm, operatorOf } from '../confirm.ts'
import { EXIT } from '../exit-code.ts'
import { FIRE_FLAGS, findFire } from '../find-fire.ts'
import type { Io } from '../io.ts'
import { withClient } from '../open-store.ts'
import { atMost } from '../operands.ts'
import { printJson } from '../output.ts'
import { findByKey } from '../steer/find-open.ts'
import { steerFlags } from '../steer/flags.ts'
import { readJson } from '../steer/read-json.ts'
import { say, whyWords } from '../steer/say.ts'
import { formatInstant, zoneOf } from '../time-words.ts'
import { suggestion, UsageError } from '../usage-error.ts'
import type { Command } from './command.ts'

export const step: Command = {
  operands: '<resolve> <schedule> <step> [<due>|<token>|<key>|latest]',
  examples: [
    ['cronce step resolve billing charge --result \'{"id":17}\'', 'it was done: later runs get this result'],
    ['cronce step resolve billing charge --failed', 'it was not done: later runs do it'],
    ['cronce step resolve billing charge 2027-03-28T01:30Z --failed --dry-run', 'of the fire that was due then'],
  ],
  about: [
    'If the process of a run dies within run.once, the store does not know whether the step was done: the next run fails with',
    'STEP_UNKNOWN. Find out, record it here, then run the fire again with cronce retry. cronce show lists the steps of a fire.',
  ].join('\n'),
  flags: {
    result: { type: 'string', value: 'JSON', help: 'It was done, with this result; @FILE, or @- for stdin' },
    failed: { type: 'boolean', help: 'It was not done' },
    ...FIRE_FLAGS,
    ...steerFlags(null),
  },
  run: runStep,
}

async function runStep(args: Args, io: Io): Promise<number> {
  const [verb, schedule, name, which] = atMost(args, 4, 'step')
  if (verb !== 'resolve') {
    const message = verb === undefined ? 'Which step?' : `"${verb}" is not resolve.${suggestion(verb, ['resolve'])}`
    throw new UsageError(message, 'Write cronce step resolve SCHEDULE STEP, with --result JSON or --failed.')
  }
  if (schedule === undefined || name === undefined) {
    throw new UsageError(schedule === undefined ? 'Which schedule?' : 'Which step?', 'cronce show lists the steps.')
  }
  const resolution = await readResolution(args, io)
  const tz = zoneOf(args)
  return withClient(args, io, async (client, io) => {
    const fire = await fireOf(client, schedule, which, { args, io, tz })
    demandUnknown(name, await client.steps.list(fire))
    const about = `step ${name} of the fire of ${schedule} due ${formatInstant(fire.dueAt, tz)}`
    const ending = 'failed' in resolution ? 'failed' : `done, with the result ${JSON.stringify(resolution.result)}`
    const json = { schedule, dueAt: fire.dueAt, nonce: fire.nonce, step: name, resolution }
    if (!(await confirm({ lines: [`Record ${about} as ${ending}.`], json }, args, io))) return EXIT.ok
    await client.steps.resolve(fire, name, resolution, operatorOf(args, io))
    if (args.has('json')) printJson({ ...json, ...authorOf(args, io) }, io)
    else {
      const again =
        fire.state === 'open' ? '' : ` Run the fire again: cronce retry ${shellWord(schedule)} ${nameOf(fire)}`
      say(`On record: ${about} is ${ending}.${again}${whyWords(authorOf(args, io))}`, io)
    }
    return EXIT.ok
  })
}

async function readResolution(args: Args, io: Io): Promise<StepResolution> {
  const given = args.text('result')
  if ((given === undefined) !== args.has('failed')) {
    throw new UsageError(
      given === undefined ? 'Was the step done?' : '--result and --failed contradict each other.',
      'Add --result JSON if it was done (null is a result), or --failed if it was not.',
    )
  }
  return given === undefined ? { failed: true } : { result: await readJson(given, '--result', io) }
}

async function fireOf(
  client: Connection,
  schedule: string,
  which: string | undefined,
  question: Parameters<typeof findFire>[3],
): Promise<FireView> {
  const keyed = which === undefined ? null : await findByKey(client, schedule, which)
  return keyed ?? (await findFire(client, schedule, which, question))
}

/** What the library refuses too; here it is known before the operator is asked. */
function demandUnknown(name: string, steps: readonly StepView[]): void {
  const found = steps.find(({ step }) => step === name)
  const names = steps.map(({ step }) => step)
  if (found === undefined) {
    const meant = didYouMean(name, names)
    const known = names.length === 0 ? 'The fire has no steps.' : `Its steps are ${names.join(', ').slice(0, 500)}.`
    throw new CronceError('STEP_NOT_FOUND', `There is no record of step ${JSON.stringify(name)} of this fire.`, {
      hint: meant === undefined ? known : `Did you mean ${meant}?`,
    })
  }
  if (found.state === 'begun') return
  throw new CronceError('STEP_ENDED', `The end of step ${JSON.stringify(name)} is on record: ${found.state}.`, {
    hint: 'There is nothing to resolve.',
  })
}

function nameOf({ dueAt, nonce }: FireView): string {
  return nonce === '' ? new Date(dueAt).toISOString() : shellWord(nonce)
}
