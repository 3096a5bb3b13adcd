import type { Run } from '../../run/run.ts'
import type { TargetRun } from '../target-run.ts'
import { earlierRuns, environmentFor, withoutSecrets } from './run-environment.ts'
import { type CommandEnd, type CommandSpec, type SuperviseOptions, superviseCommand } from './supervise.ts'

export interface CommandOfRun extends Pick<CommandSpec, 'file' | 'args' | 'cwd' | 'stdin'> {
  /** Changes to the scheduler's environment; `null` removes a variable. */
  readonly env: Readonly<Record<string, string | null>>
}

/**
 * Executes a command as the work of a run: under the run's signal and lease, with the run in its environment and without the
 * scheduler's secrets, after the commands of earlier runs have ended on this machine.
 */
export async function superviseRun(
  run: Run,
  { env, ...command }: CommandOfRun,
  options: Omit<SuperviseOptions, 'signal' | 'lease'>,
): Promise<CommandEnd> {
  // Every run that a handler gets is one that a target could get.
  const target = run as TargetRun
  return superviseCommand(
    { ...command, env: environmentFor(target, { ...withoutSecrets(), ...env }), ...earlierRuns(target) },
    { ...options, signal: target.signal, lease: target.lease },
  )
}
