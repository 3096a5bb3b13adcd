import { CronceError } from '../errors.ts'
import type { Setup } from './setup.ts'
import type { Task } from './task.ts'
import type { RunCoordinator } from './task-types.ts'

/**
 * Whose a task is. `shared`: the fleet's, under this name, so that each slot runs once. `own`: this process's, which runs all its
 * slots, or those that a coordinator grants. `impossible`: there is no way to decide which process runs it.
 */
export type Place =
  | { readonly kind: 'shared'; readonly name: string }
  | { readonly kind: 'own'; readonly coordinator: (() => RunCoordinator) | null }
  | { readonly kind: 'impossible'; readonly error: Error }

/** Looked at when the task is about to run, not when it is made: a coordinator or a store that comes later counts, too. */
export function placeOf(task: Task, setup: Setup, shared: () => RunCoordinator | undefined): Place {
  const { distributed, runCoordinator } = task.options
  if (distributed === true && (runCoordinator ?? shared()) !== undefined)
    return { kind: 'own', coordinator: () => runCoordinator ?? shared() ?? NOBODY }
  const { NODE_CRON_RUN: designated } = process.env
  if (distributed === true && designated === 'false') return { kind: 'own', coordinator: () => NOBODY }
  const shares = setup.source === null || distributed === false ? undefined : sharedName(task, setup)
  if (shares !== undefined) return { kind: 'shared', name: shares }
  if (distributed === true && designated !== 'true') return { kind: 'impossible', error: undecided(task) }
  return { kind: 'own', coordinator: distributed === true ? () => BY_ENVIRONMENT : null }
}

/** `undefined`: the task has no name, and those without one are not shared. */
function sharedName({ options: { name }, describedName }: Task, { unnamed }: Setup): string | undefined {
  if (name !== undefined && name !== '') return name
  return unnamed === 'shared' ? describedName : undefined
}

const NOBODY: RunCoordinator = { shouldRun: () => false }

/** Looked at for every slot. */
const BY_ENVIRONMENT: RunCoordinator = {
  shouldRun() {
    const { NODE_CRON_RUN: designated } = process.env
    if (designated === 'true' || designated === 'false') return designated === 'true'
    throw new CronceError('VARIABLE_INVALID', 'The environment variable NODE_CRON_RUN is neither true nor false.', {
      hint: 'Set it to true in the process that runs tasks, and to false in the others; or give cron.setup() a store.',
    })
  },
}

function undecided({ name }: Task): CronceError {
  return new CronceError('STORE_MISSING', `The task ${JSON.stringify(name)} is distributed, and there is no store.`, {
    hint: "Call cron.setup({ store: 'redis://…' }), or set CRONCE_STORE, or NODE_CRON_RUN to true in one process.",
  })
}
