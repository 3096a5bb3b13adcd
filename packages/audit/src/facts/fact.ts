import type { ProcessType } from './declaration.ts'
import type { Schedule } from './schedule.ts'
import type { Unit } from './unit.ts'

/** Everything that readers find. A new kind of fact is one more line here. */
export type Fact = Schedule | Unit | ProcessType

export type FactOf<K extends Fact['kind']> = Extract<Fact, { readonly kind: K }>
