import type { Cronce } from '../app/cronce.ts'
import { readText } from '../client/read-option.ts'
import { CronceError } from '../errors.ts'
import type { StoreSource } from '../store/store.ts'
import { type Coordinator, makeCoordinator } from './coordinator.ts'
import type { CoordinatorOptions, OwnAppOptions } from './coordinator-options.ts'

/** Options of `envCoordinator()`. */
export interface EnvCoordinatorOptions extends CoordinatorOptions {
  /** The variable that is `true` in processes that run tasks, and `false` in others. @default 'NODE_CRON_RUN' */
  readonly variable?: string | undefined
}

/**
 * node-cron's own way to choose who runs: an environment variable. With a record of every slot, so that two processes which are
 * both chosen do not both run it. Looked at for every slot, as node-cron does.
 */
export function envCoordinator<Tx>(app: Cronce<Tx>, options?: EnvCoordinatorOptions): Coordinator
export function envCoordinator<Tx>(
  store: string | StoreSource<Tx> | undefined,
  options?: EnvCoordinatorOptions & OwnAppOptions,
): Coordinator
export function envCoordinator(source: unknown, options: EnvCoordinatorOptions & OwnAppOptions = {}): Coordinator {
  const { variable: given, ...rest } = options
  const variable = readText('variable', given ?? 'NODE_CRON_RUN', 200)
  const read = (): boolean => isDesignated(variable)
  // As node-cron: a process that does not say what it is does not begin at all.
  read()
  return makeCoordinator(source, rest, read)
}

function isDesignated(variable: string): boolean {
  const value = process.env[variable]
  if (value === 'true' || value === 'false') return value === 'true'
  const found = value === undefined ? 'is not set' : `is ${JSON.stringify(value)}`
  throw new CronceError('VARIABLE_INVALID', `The environment variable ${variable} ${found}.`, {
    hint: `Set ${variable} to true in the processes that run tasks, and to false in the others.`,
  })
}
