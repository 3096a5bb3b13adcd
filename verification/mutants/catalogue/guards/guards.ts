import { CHANGE_GUARDS } from './changes.ts'
import { type Guard, mutantsOf } from './guard.ts'
import { INSTANCE_GUARDS } from './instances.ts'
import { RETENTION_GUARDS } from './retention.ts'
import { RUN_GUARDS } from './runs.ts'

/** Every guard of the stores. Each has a rule of the conformance suite that fails without it, on each store that has it. */
export const GUARDS: readonly Guard[] = [...CHANGE_GUARDS, ...RUN_GUARDS, ...INSTANCE_GUARDS, ...RETENTION_GUARDS]

export const GUARD_MUTANTS = mutantsOf(GUARDS)
