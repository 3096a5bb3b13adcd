import type { ScheduleView } from 'cronce'
import { CronceError } from 'cronce/cron'
import { isOfExec } from 'cronce/internal'
import type { Args } from '../args.ts'
import { authorOf, confirm, LOG, operatorOf } from '../confirm.ts'
import { EXIT } from '../exit-code.ts'
import { inParallel } from '../in-parallel.ts'
import type { Io } from '../io.ts'
import { expandNames } from '../names.ts'
import { withClient } from '../open-store.ts'
import { printJson } from '../output.ts'
import { steerFlags } from '../steer/flags.ts'
import { counted, say, whyWords } from '../steer/say.ts'
import { UsageError } from '../usage-error.ts'
import type { Command } from './command.ts'

export const remove: Command = {
  operands: '<schedule>…',
  examples: [
    ['cronce remove report:ada', 'it is never due again; what is on record stays for its time'],
    ['cronce remove old-job older-job --yes', 'such as those that doctor calls retired'],
    ['cronce remove backup --dry-run', 'what would go?'],
    ["cronce remove 'trial:*' --dry-run", 'all that begin with trial:'],
  ],
  about: [
    'Waiting fires are cancelled. With --force, a run is aborted and its writes are rejected. A schedule that is declared in',
    'code would be created again by the next instance that starts: remove it from the code first, then it is retired.',
  ].join('\n'),
  flags: {
    force: { type: 'boolean', help: 'Also while it runs, or is declared in code' },
    ...steerFlags(LOG),
  },
  run: runRemove,
}

const AT_A_TIME = 8

function runRemove(args: Args, io: Io): Promise<number> {
  if (args.positionals.length === 0)
    throw new UsageError('Which schedule?', 'Write cronce remove SCHEDULE, or several.')
  const force = args.has('force')
  return withClient(args, io, async (client) => {
    const names = await expandNames(client, args.positionals)
    // All of them first: a slip in the last name must not leave the others removed.
    const views = await inParallel(names, AT_A_TIME, (name) => client.schedules.get(name))
    if (!force) for (const view of views) refuse(view)
    if (!(await confirm({ lines: views.map(planWords), dangerous: true, json: { schedules: names } }, args, io)))
      return EXIT.ok
    const removed: string[] = []
    for (const view of views) {
      // That of exec counts as declared in code, which the next call of exec is: it makes it again when it is needed.
      await client.schedules.remove(view.name, { force: force || isOfExec(view), ...operatorOf(args, io) })
      removed.push(view.name)
      if (!args.has('json')) say(`${view.name} is removed.${whyWords(authorOf(args, io))}`, io)
    }
    if (args.has('json')) printJson({ removed, ...authorOf(args, io) }, io)
    return EXIT.ok
  })
}

function planWords({ name, job, state, open }: ScheduleView): string {
  const running = open.filter((fire) => fire.state !== 'waiting').length
  const waiting = open.length - running
  const what = [
    ...(running === 0 ? [] : [`${counted(running, 'run is', 'runs are')} ended`]),
    ...(waiting === 0 ? [] : [`${counted(waiting, 'fire that waits is', 'fires that wait are')} cancelled`]),
    'what is on record stays for its time',
  ]
  return `Remove ${name} (${state}, job "${job}"): ${what.join(', ')}.`
}

/** What the library refuses too; here it is known before the prompt, and in words of flags. */
function refuse(view: ScheduleView): void {
  const { name, app, state, open } = view
  if (app !== null && state !== 'retired' && !isOfExec(view)) {
    throw new CronceError('SCHEDULE_IN_CODE', `${name} is declared in the code of ${app}, which would make it again.`, {
      hint: 'Take it out of the code, or pause it; --force removes it until an instance starts.',
    })
  }
  if (open.every((fire) => fire.state === 'waiting')) return
  throw new CronceError('SCHEDULE_BUSY', `${name} has a run that is not over.`, {
    hint: 'Wait for it, cancel it with cronce cancel, or add --force.',
  })
}
