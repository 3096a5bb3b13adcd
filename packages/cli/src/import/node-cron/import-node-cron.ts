import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { CronceError } from 'cronce/cron'
import type { Args } from '../../args.ts'
import { EXIT } from '../../exit-code.ts'
import type { Io } from '../../io.ts'
import { note, printJson, warn } from '../../output.ts'
import { counted } from '../../steer/say.ts'
import { sanitize } from '../../terminal.ts'
import { UsageError } from '../../usage-error.ts'
import { type FilePlan, type NodeCronPlan, planEdits, type TaskPlan, type Way } from './plan-edits.ts'
import { planWarnings, setUpOf } from './plan-words.ts'
import { readSourceFiles } from './read-sources.ts'

/** Print what is to be changed so that the tasks of node-cron run once in a fleet; with `--write`, change it. */
export function importNodeCron(places: readonly string[], args: Args, io: Io): number {
  if (places.length === 0) throw new UsageError('Import which folder?', 'Try: cronce import node-cron src/')
  if (args.has('write') && args.has('dry-run')) {
    throw new UsageError('--write and --dry-run contradict each other.', 'Leave out one.')
  }
  const way: Way = args.has('drop-in') ? 'drop-in' : 'coordinator'
  const { sources, looked, skipped } = readSourceFiles(places, io.cwd)
  const plan = planEdits(sources, way)
  const isWritten = args.has('write')
  if (isWritten) for (const file of plan.files) write(file, io)
  const isOpen =
    skipped.length > 0 || plan.unreadable.length > 0 || plan.tasks.some(({ action }) => action === 'by-hand')
  if (args.has('json')) {
    const files = plan.files.map(({ file }) => file)
    printJson({ tasks: plan.tasks, files, unreadable: plan.unreadable, skipped, looked, written: isWritten }, io)
  } else {
    print(plan, way, isWritten, io)
    for (const { file, why } of skipped) warn(`${file} is not read: ${why}. Look at its tasks yourself.`, io)
    note(summary(plan, looked, isWritten), io)
  }
  return isOpen ? EXIT.failed : EXIT.ok
}

function write({ file, edited }: FilePlan, io: Io): void {
  try {
    writeFileSync(resolve(io.cwd, file), edited)
  } catch (cause) {
    throw new CronceError('FILE_UNWRITABLE', `${file} can't be written: ${(cause as Error).message}`, {
      hint: 'Check its rights. Files before it are written: run the command again for the rest.',
      cause,
    })
  }
}

const ACTIONS: Readonly<Record<Exclude<TaskPlan['action'], 'edit'>, string>> = {
  done: 'needs nothing',
  own: 'stays in every process: it says distributed: false',
  'by-hand': 'needs you',
}

function print(plan: NodeCronPlan, way: Way, isWritten: boolean, io: Io): void {
  const { tasks, files, unreadable } = plan
  for (const task of tasks) {
    io.out(`${io.paint(task.action === 'by-hand' ? 'yellow' : 'bold', sanitize(taskWords(task, isWritten)))}\n`)
  }
  if (!isWritten) for (const file of files) io.out(changesText(file, io))
  for (const { file, line, why } of unreadable)
    warn(`${file}:${line} can't be read: ${why}. Look at its tasks yourself.`, io)
  for (const warning of planWarnings(plan, way)) warn(warning, io)
  const setUp = setUpOf(plan, way)
  if (setUp === null) return
  note(setUp.words, io)
  for (const line of setUp.lines) io.err(`  ${line}\n`)
}

function taskWords({ file, line, expression, name, nameCode, action, why }: TaskPlan, isWritten: boolean): string {
  const unnamed = nameCode === null ? 'a task without a name' : `the task that is named by ${nameCode}`
  const what = `${name ?? unnamed} (${expression ?? 'an expression that is computed'})`
  const done = action === 'edit' ? (isWritten ? 'is edited' : 'would be edited') : ACTIONS[action]
  return `${file}:${line}  ${what} ${done}${why === null ? '' : `: ${why}`}`
}

/** The lines that change, as a patch shows them. */
function changesText({ file, changes }: FilePlan, io: Io): string {
  const lines = changes.flatMap(({ before, after }) => [
    io.paint('red', `- ${sanitize(before)}`),
    ...after.split('\n').map((line) => io.paint('green', `+ ${sanitize(line)}`)),
  ])
  return `\n${[io.paint('dim', sanitize(file)), ...lines].join('\n')}\n`
}

function summary({ tasks, files }: NodeCronPlan, looked: number, isWritten: boolean): string {
  const of = (action: TaskPlan['action']): number => tasks.filter((task) => task.action === action).length
  const found = `${counted(tasks.length, 'task')} of node-cron in ${counted(looked, 'file')}`
  const parts = [
    `${of('edit')} ${isWritten ? 'edited' : 'would be edited'}`,
    `${of('by-hand')} by hand`,
    `${of('done') + of('own')} as they are`,
  ]
  const more =
    files.length === 0
      ? ''
      : isWritten
        ? ` ${counted(files.length, 'file')} written.`
        : ' Nothing was written: add --write.'
  return `${found}: ${parts.join(', ')}.${more}`
}
