import { CronceError, CronError } from 'cronce/cron'
import { type Flags, readArgs } from './args.ts'
import type { Entry } from './commands/command.ts'
import { COMMON_FLAGS, commandHelp, overview } from './commands/help.ts'
import { COMMANDS } from './commands/index.ts'
import { EXIT, exitCodeOf } from './exit-code.ts'
import { Interrupted } from './interrupt.ts'
import type { Io } from './io.ts'
import { wantsJson } from './output.ts'
import { errorJson, errorText } from './print-error.ts'
import { withOrigin } from './store-origin.ts'
import { suggestion, UsageError } from './usage-error.ts'
import { version } from './version.ts'

/** Arguments to command to exit code. Usage errors go to stderr; a bug is thrown. */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  try {
    return await dispatch(argv, io)
  } catch (thrown) {
    if (thrown instanceof Interrupted) return thrown.exitCode
    if (!(thrown instanceof CronceError)) throw thrown
    const error = await withMeant(withOrigin(thrown, io), argv)
    // The flags may not have been understood, so these are looked for in the raw arguments.
    const flags = await flagsOf(argv[0])
    io.err(wantsJson(argv) ? errorJson(error, flags) : errorText(error, io.paintErr, flags))
    return exitCodeOf(error)
  }
}

/** With what was meant by an expression in words. Loaded for such an error only. */
async function withMeant(error: CronceError, argv: readonly string[]): Promise<CronceError> {
  if (!(error instanceof CronError)) return error
  const { inFields } = await import('./cron-of-words.ts')
  return inFields(error, argv)
}

/** Of a command, by its name. */
async function flagsOf(name: string | undefined): Promise<ReadonlySet<string>> {
  const entry = COMMANDS.find((candidate) => candidate.name === name)
  return new Set(entry === undefined ? [] : Object.keys((await entry.load()).flags))
}

async function dispatch(argv: readonly string[], io: Io): Promise<number> {
  const [first, ...rest] = argv
  switch (first) {
    case undefined:
      // Nothing was asked for, so the help is not the answer but the complaint.
      io.err(overview(COMMANDS, io.paintErr))
      return EXIT.usage
    case '--version':
    case '-v':
    case '-V':
      io.out(`${version()}\n`)
      return EXIT.ok
    case '--help':
    case '-h':
    case 'help':
      return runHelp(rest, io)
    default:
      return runCommand(commandNamed(first), rest, io)
  }
}

async function runCommand(entry: Entry, argv: readonly string[], io: Io): Promise<number> {
  const command = await entry.load()
  const flags: Flags = { ...command.flags, ...COMMON_FLAGS }
  const args = readArgs(argv, flags)
  if (!args.has('help')) return command.run(args, io)
  io.out(commandHelp(entry, command, io.paint))
  return EXIT.ok
}

async function runHelp(argv: readonly string[], io: Io): Promise<number> {
  const [name] = argv.filter((arg) => !arg.startsWith('-'))
  if (name === undefined) {
    io.out(overview(COMMANDS, io.paint))
    return EXIT.ok
  }
  const entry = commandNamed(name)
  io.out(commandHelp(entry, await entry.load(), io.paint))
  return EXIT.ok
}

function commandNamed(name: string): Entry {
  const entry = COMMANDS.find((candidate) => candidate.name === name || candidate.aliases?.includes(name))
  if (entry !== undefined) return entry
  if (name.startsWith('-')) throw new UsageError(`Flags follow the command: ${name} came first.`, 'See cronce --help.')
  // A shortcut: cronce "0 9 * * *".
  if (/^@|[*\s]/.test(name)) {
    throw new UsageError('An expression needs a command before it.', `Try: cronce next "${name}"`)
  }
  const visible = COMMANDS.filter(({ hidden }) => !hidden)
  const names = [...visible.flatMap(({ name: known, aliases = [] }) => [known, ...aliases]), 'help']
  const other = OTHER_WORDS.get(name)
  const meant = other === undefined ? suggestion(name, names) : ` Did you mean ${other}?`
  throw new UsageError(`Unknown command "${name}".${meant}`, 'See cronce --help for the commands.')
}

/** What other programs call it. */
const OTHER_WORDS: ReadonlyMap<string, string> = new Map([
  ['status', 'list (schedules), instances (processes) or doctor (health)'],
  ['jobs', 'list'],
  ['schedules', 'list'],
  ['get', 'describe'],
  ['history', 'runs (what was run) or fires (what was due)'],
  ['deploys', 'deployments'],
  ['steps', 'show (which lists the steps of a fire) or step resolve'],
  ['create', 'schedule put'],
  ['add', 'schedule put'],
  ['put', 'schedule put'],
  ['verify', 'fires --verify'],
  ['workers', 'instances'],
  ['stop', 'drain'],
  ['serve', 'start'],
  ['unpause', 'resume'],
  ['enable', 'resume'],
  ['disable', 'pause'],
  ['suspend', 'pause'],
  ['rollback', 'deployments activate'],
  ['promote', 'deployments activate'],
  ['kill', 'cancel'],
  ['abort', 'cancel'],
  ['edit', 'schedule put'],
  ['update', 'schedule put'],
  ['resolve', 'step resolve'],
  ['rm', 'remove'],
  ['delete', 'remove'],
])
