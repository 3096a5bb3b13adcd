import type { Tally } from './judge.ts'

/** What `run.ts` says of a contest on one store. */
export interface ContestReport extends Tally {
  readonly store: string
  readonly processes: number
  readonly seconds: number
  readonly faults: number
  /** What the judge found. */
  readonly wrong: readonly string[]
}
