import type { Json } from '../../model/json.ts'
import type { Run } from '../../run/run.ts'
import type { TargetRun } from '../target-run.ts'
import { earlierRuns, environmentFor, withoutSecrets } from './run-environment.ts'
import { type CommandEnd, type CommandSpec, type SuperviseOptions, superviseCommand } from './supervise.ts'

export interface CommandOfRun extends Pick<CommandSpec, 'file' | 'args' | 'cwd' | 'stdin'> {
  /** Changes to the scheduler's environment; `null` removes a variable. */
  readonly env: Readonly<Record<string, string | null>>
  /** Instead of the input of the fire. */
  readonly input?: Json | undefined
}

/**
 * Executes a command as the work of a run: under the run's signal and lease, with the run in its environment and without the
 * scheduler's secrets, after the commands of earlier runs have ended on this machine.
 */
export async function superviseRun(
  run: Run,
  { env, input, ...command }: CommandOfRun,
  options: Omit<SuperviseOptions, 'signal' | 'lease'>,
): Promise<CommandEnd> {
  // Every run that a handler gets is one that a target could get.
  const target = run as TargetRun
  const ofRun = environmentFor(target, { ...withoutSecrets(), ...env })
  return superviseCommand(
    {
      ...command,
      env: input === undefined ? ofRun : { ...ofRun, CRONCE_INPUT: JSON.stringify(input) },
      ...earlierRuns(target),
    },
    { ...options, signal: target.signal, lease: target.lease },
  )
}
