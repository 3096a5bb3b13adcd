import type { LedgerFire, LedgerRun } from '../history.ts'

/** A fire and its runs, in the order of their tokens. */
export interface Chapter {
  readonly fire: LedgerFire
  readonly runs: readonly LedgerRun[]
}

/** The words for a fire in a sentence about its schedule. */
export function about({ dueAt, nonce }: { readonly dueAt: number; readonly nonce: string }): string {
  return `the fire due ${new Date(dueAt).toISOString()}${nonce === '' ? '' : ` (by hand: ${nonce})`}`
}
