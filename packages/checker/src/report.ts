import type { Case } from './case.ts'
import type { Instant, LedgerRun } from './history.ts'
import type { Basis, Property, Violation } from './verdict.ts'

/** Checks one property of a case, and reports every violation. */
export type Judge = (judged: Case, report: Report) => void

/** `basis` is `order` if not given. */
export type Report = (
  property: Property,
  about: { readonly schedule: string | null; readonly dueAt?: Instant },
  message: string,
  evidence: Violation['evidence'],
  basis?: Basis,
) => void

export function iso(instant: Instant | null): string {
  return instant === null || !Number.isFinite(instant) ? 'never' : new Date(instant).toISOString()
}

/** The words for a fire in a sentence. */
export function fireText({ schedule, dueAt, nonce }: { schedule: string; dueAt: Instant; nonce: string }): string {
  return `${schedule} due ${iso(dueAt)}${nonce === '' ? '' : ` (by hand: ${nonce})`}`
}

/** The words for a run: when it was claimed, and as what. */
export function claimText({ startedAt, token }: LedgerRun): string {
  return `claimed at ${iso(startedAt)} (token ${token})`
}
