import type { Tally } from './judge.ts'

/** The report of `run.ts` about a contest on one store. */
export interface ContestReport extends Tally {
  readonly store: string
  readonly processes: number
  readonly seconds: number
  readonly faults: number
  /** Violations that the judge found. */
  readonly wrong: readonly string[]
}
