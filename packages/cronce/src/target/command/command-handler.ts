import { loadedTarget, type TargetHandler } from '../loaded-target.ts'
import { type CommandOptions, resolveCommand } from './command-options.ts'
import type { CommandResult } from './run-command.ts'

/** A program as the target of a job: its exit code is the outcome, what it writes is the run's log. */
export function commandHandler(_job: string, options: CommandOptions): TargetHandler<CommandResult> {
  const command = resolveCommand(options)
  return loadedTarget(async () => {
    const { runCommand } = await import('./run-command.ts')
    return (run) => runCommand(command, run)
  })
}
