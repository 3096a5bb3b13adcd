import { readFileSync } from 'node:fs'
import { CronceError } from 'cronce/cron'
import { readArgs } from './args.ts'
import type { Command } from './commands/command.ts'
import { explain } from './commands/explain.ts'
import { COMMON_FLAGS, commandHelp, overview } from './commands/help.ts'
import { migrate } from './commands/migrate.ts'
import { next } from './commands/next.ts'
import type { Io } from './print.ts'
import { errorJson, errorText } from './print-error.ts'
import { suggestion, UsageError } from './usage-error.ts'

const COMMANDS: readonly Command[] = [next, explain, migrate]
const EXIT_FAILED = 1
const EXIT_USAGE = 2

/** Arguments to command to exit code. What makes no sense is told on stderr; a bug is thrown. */
export function run(argv: readonly string[], io: Io): number | Promise<number> {
  const tell = (error: unknown): number => {
    if (!(error instanceof CronceError)) throw error
    // The flags may not have been understood, so this one is looked for in the raw arguments.
    io.err(argv.includes('--json') ? errorJson(error) : errorText(error, io.paintErr))
    return isOfStore(error) ? EXIT_FAILED : EXIT_USAGE
  }
  try {
    const code = dispatch(argv, io)
    return typeof code === 'number' ? code : code.catch(tell)
  } catch (error) {
    return tell(error)
  }
}

/** The command made sense, and could not be done. */
function isOfStore({ code }: CronceError): boolean {
  return code.startsWith('STORE_') && code !== 'STORE_OPTIONS_INVALID'
}

function dispatch(argv: readonly string[], io: Io): number | Promise<number> {
  const [first, ...rest] = argv
  switch (first) {
    case undefined:
      // Nothing was asked for, so the help is not the answer but the complaint.
      io.err(overview(COMMANDS, io.paintErr))
      return EXIT_USAGE
    case '--version':
    case '-v':
    case '-V':
    case 'version':
      io.out(`${version()}\n`)
      return 0
    case '--help':
    case '-h':
    case 'help':
      return runHelp(rest, io)
    default:
      return runCommand(commandNamed(first), rest, io)
  }
}

function runCommand(command: Command, argv: readonly string[], io: Io): number | Promise<number> {
  const args = readArgs(argv, { ...command.flags, ...COMMON_FLAGS })
  if (!args.has('help')) return command.run(args, io)
  io.out(commandHelp(command, io.paint))
  return 0
}

function runHelp(argv: readonly string[], io: Io): number {
  const [name] = argv.filter((arg) => !arg.startsWith('-'))
  io.out(name === undefined ? overview(COMMANDS, io.paint) : commandHelp(commandNamed(name), io.paint))
  return 0
}

function commandNamed(name: string): Command {
  const command = COMMANDS.find((candidate) => candidate.name === name)
  if (command !== undefined) return command
  if (name.startsWith('-')) throw new UsageError(`Flags follow the command: ${name} came first.`, 'See cronce --help.')
  // Somebody in a hurry: cronce "0 9 * * *".
  if (/^@|[*\s]/.test(name)) {
    throw new UsageError('An expression needs a command before it.', `Try: cronce next "${name}"`)
  }
  const names = [...COMMANDS.map((candidate) => candidate.name), 'help', 'version']
  throw new UsageError(`Unknown command "${name}".${suggestion(name, names)}`, 'See cronce --help for the commands.')
}

function version(): string {
  const manifest: { version: string } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  return manifest.version
}
