import type { ProcessType } from './declaration.ts'
import type { FileFact } from './file-fact.ts'
import type { LockFlaw } from './lock.ts'
import type { ProcessHook } from './process-hook.ts'
import type { CronRoute } from './route.ts'
import type { Schedule } from './schedule.ts'
import type { Repeatable, Timer } from './timer.ts'
import type { Unit } from './unit.ts'

/** Everything that readers find. A new kind of fact is one more line here. */
export type Fact =
  | Schedule
  | Unit
  | ProcessType
  | FileFact
  // JavaScript and TypeScript
  | Timer
  | Repeatable
  | LockFlaw
  | CronRoute
  | ProcessHook

export type FactOf<K extends Fact['kind']> = Extract<Fact, { readonly kind: K }>
