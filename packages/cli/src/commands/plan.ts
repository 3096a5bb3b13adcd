import type { Args } from '../args.ts'
import { EXIT } from '../exit-code.ts'
import type { Io } from '../io.ts'
import { withoutSecrets } from '../open-store.ts'
import { wholeNumber } from '../operands.ts'
import { printJson } from '../output.ts'
import { makePlan, type Verdict } from '../plan/make-plan.ts'
import { markdownOf } from '../plan/markdown.ts'
import { planJson } from '../plan/plan-json.ts'
import { printPlan } from '../plan/print-plan.ts'
import { readDeclared } from '../plan/read-declared.ts'
import { detailLines } from '../service/jobs-error.ts'
import { SERVICE_FLAGS } from '../service/settings.ts'
import { TIME_FLAGS, zoneOf } from '../time-words.ts'
import { UsageError } from '../usage-error.ts'
import type { Command } from './command.ts'

const { store, namespace, config, app, deployment } = SERVICE_FLAGS

export const plan: Command = {
  operands: '[FILE…]',
  examples: [
    ['cronce plan jobs.ts', 'what a deploy of this file would change on CRONCE_STORE'],
    ['cronce plan web.ts worker.ts', 'of a release whose processes declare different jobs'],
    ['cronce plan jobs.ts --detailed-exitcode', 'for a gate: 0 nothing, 10 changes, 11 risk'],
    ['cronce plan jobs.ts --markdown', 'a summary for a pull request'],
    ['cronce plan jobs.ts --json', 'for a program'],
  ],
  about: [
    'It loads FILE as cronce start does, starts nothing, and writes nothing to the store. It copies the schedules of the app into memory,',
    'deploys the code there in virtual time, and compares: schedules that are added, changed, renamed or retired, and due times that are',
    'moved, lost or added. Due times of a pause do not count. Rules: https://github.com/cronce/cronce/blob/main/docs/plan.md',
  ].join('\n'),
  flags: {
    days: { type: 'string', value: 'N', help: 'How far to compare due times, 1 to 366 days (default 365)' },
    count: { type: 'string', short: 'n', value: 'N', help: 'Number of next due times, 0 to 100 (default 10)' },
    'detailed-exitcode': {
      type: 'boolean',
      help: 'Exit code 0 if nothing changes, 10 for changes, 11 if there is a risk',
    },
    markdown: { type: 'boolean', help: 'Print a summary in Markdown' },
    ...{ app, deployment },
    ...TIME_FLAGS,
    tz: { ...TIME_FLAGS.tz, help: 'Zone of the hours of the load: IANA name, UTC, +05:30, or local (default UTC)' },
    ...{ store, namespace, config },
    json: { type: 'boolean', help: 'Print one JSON object and nothing else' },
  },
  run: runPlan,
}

/** Beside the codes of all commands. */
const DETAILED: Readonly<Record<Verdict, number>> = { nothing: EXIT.ok, changes: 10, risk: 11 }

async function runPlan(args: Args, io: Io): Promise<number> {
  if (args.has('json') && args.has('markdown')) {
    throw new UsageError('--json and --markdown are two forms.', 'Leave out one.')
  }
  const days = wholeNumber(args, 'days', { min: 1, max: 366, otherwise: 365 })
  const count = wholeNumber(args, 'count', { min: 0, max: 100, otherwise: 10 })
  const tz = zoneOf(args)
  try {
    const code = await readDeclared(args, io, 'plan')
    const made = await withoutSecrets(code.secrets, async () => {
      const opened = await code.open(io)
      try {
        return await makePlan(opened, code.declarations, { days, count, tz })
      } finally {
        await opened.close()
      }
    })
    if (args.has('json')) printJson(planJson(made, code.where), io)
    else if (args.has('markdown')) io.out(markdownOf(made))
    else printPlan(made, code.where, io)
    return args.has('detailed-exitcode') ? DETAILED[made.verdict] : EXIT.ok
  } catch (error) {
    if (!args.has('json')) io.err(detailLines(error))
    throw error
  }
}
