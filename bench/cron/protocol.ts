/** What the parent asks of a timing child. One question is under way at a time. */
export type Request =
  | { readonly do: 'prepare'; readonly workload: string; readonly roundMs: number; readonly warmMs: number }
  | { readonly do: 'round'; readonly round: number }

export type Reply = Prepared | Round | Failed

export interface Prepared {
  readonly is: 'prepared'
  /** Why this library sits this workload out. */
  readonly cannot?: string
  /** How many operations one round does: as many as fit into the time of a round. */
  readonly ops: number
  /** The first answers, for the comparison between libraries. */
  readonly answers: readonly number[]
}

export interface Round {
  readonly is: 'round'
  readonly nsPerOp: number
  /** Sum of all answers of the round, which keeps the work from being optimised away. */
  readonly checksum: number
}

interface Failed {
  readonly is: 'failed'
  readonly message: string
}
