import { CronceError } from '../../errors.ts'
import { cut } from '../../model/limits.ts'
import type { TargetRun } from '../target-run.ts'
import type { ResolvedCommand } from './command-options.ts'
import { Output } from './output.ts'
import type { CommandEnd } from './supervise.ts'
import { superviseRun } from './supervise-run.ts'
import { tellEnd } from './tell-end.ts'

export interface CommandResult {
  readonly exitCode: number
  /** The end of what it wrote to its standard output. */
  readonly output: string
}

/** How much of its last words an error repeats. */
const WORDS = 500

export async function runCommand(command: ResolvedCommand, run: TargetRun): Promise<CommandResult> {
  const { file, args, cwd, env, successCodes } = command
  const { signal, graceMs } = run
  const stdout = new Output((line) => run.log.info(line))
  const stderr = new Output((line) => run.log.warn(line))
  const end = await superviseRun(
    run,
    { file, args, cwd, env, stdin: stdinOf(command, run) },
    { graceMs, output: (stream, chunk) => (stream === 'stdout' ? stdout : stderr).write(chunk) },
  )
  stdout.end()
  stderr.end()
  tellEnd(run, end)
  if (end.exitCode !== null && successCodes.includes(end.exitCode)) {
    return { exitCode: end.exitCode, output: stdout.tail() }
  }
  // It ended because it was told to: then why is what counts, and how is in the log.
  signal.throwIfAborted()
  throw commandFailed(command.name, end, stderr.lastLine())
}

function stdinOf({ stdin }: ResolvedCommand, { fire }: TargetRun): string | undefined {
  if (stdin === 'ignore') return undefined
  return stdin === 'input' ? JSON.stringify(fire.input ?? null) : stdin.text
}

function commandFailed(name: string, end: CommandEnd, lastWords: string): CronceError {
  const { exitCode, signal, isSupervisorLost } = end
  const how = isSupervisorLost
    ? 'was ended, since the process that watched over it was killed'
    : exitCode === null
      ? `was ended by ${signal}`
      : `exited with ${exitCode}`
  const words = lastWords === '' ? '.' : `: ${cut(lastWords, WORDS)}`
  const error = new CronceError('COMMAND_FAILED', `The command ${JSON.stringify(name)} ${how}${words}`, {
    hint: "Look at what it wrote, in the run's log.",
  })
  // The frames are those of cronce, and no line of the command.
  const stack = error.stack?.split('\n    at ')[0]
  return Object.assign(error, { exitCode, signal, stack })
}
