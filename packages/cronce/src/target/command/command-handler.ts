import type { TargetRun } from '../target-run.ts'
import { type CommandOptions, resolveCommand } from './command-options.ts'
import type { CommandResult } from './run-command.ts'

/** A program as the target of a job: its exit code is the outcome, what it writes is the run's log. */
export function commandHandler(_job: string, options: CommandOptions): (run: TargetRun) => Promise<CommandResult> {
  const command = resolveCommand(options)
  // Loaded by the first run, as of every target.
  return async (run) => (await import('./run-command.ts')).runCommand(command, run)
}
