/** Where a fact stands. Paths are relative to the root of the audit, with slashes. */
export interface Place {
  readonly path: string
  /** Counted from 1. */
  readonly line: number
}
