import type { Entry, Instant, LedgerFire, LedgerRun } from './history.ts'

/**
 * The properties that a history is judged by. Each has a name, so that a mutant can name the property that catches it.
 */
export const PROPERTIES = {
  C1: 'no miss: what had to run was run to its end',
  C2: 'no duplicate: starts of a fire are attempts one after the other, each after the one before it was revoked',
  C3: 'one effect: a fire leaves each mark once',
  C4: 'no phantom: nothing runs that the schedule does not have, or that must not run',
  C5: 'not early',
  C6: 'not late while nothing is wrong',
  C7: 'overlap and limits hold over the fleet',
  C8: 'no effect of a run that was overtaken',
  C9: 'the ledger is true: it says what the witnesses saw',
  C10: 'accounting: each due instant has one outcome with one true reason',
  C11: 'policy: what was caught up, retried and filled in is what the policies name',
  C12: 'recovery: some time after the last fault everything is well',
  C13: 'pause and removal: nothing is claimed after they were acknowledged',
  C14: 'monotone: marks, tokens and endings never go back',
} as const

export type Property = keyof typeof PROPERTIES

/** What a violation rests on: the order of what was seen, or how long something took. */
export type Basis = 'order' | 'time'

export interface Verdict {
  /** In the order of the properties. */
  readonly violations: readonly Violation[]
  readonly counts: Counts
}

export interface Violation {
  readonly property: Property
  readonly basis: Basis
  /** What is wrong, for people, with names and times. */
  readonly message: string
  readonly schedule: string | null
  readonly dueAt: Instant | null
  /** The entries and records that show it: no more than are needed. */
  readonly evidence: readonly (Entry | LedgerFire | LedgerRun)[]
}

/** How much was judged: a verdict about nothing is worth nothing. */
export interface Counts {
  readonly schedules: number
  /** Instants of schedules before the end of the history. */
  readonly instants: number
  /** Of those: had to run, might run, must not run. */
  readonly required: number
  readonly optional: number
  readonly forbidden: number
  readonly starts: number
  readonly finishes: number
  /** Fires that were started more than once. */
  readonly restarted: number
  readonly effects: { readonly accepted: number; readonly refused: number }
  readonly byOutcome: Readonly<Record<string, number>>
  readonly byReason: Readonly<Record<string, number>>
  readonly faults: Readonly<Record<string, number>>
  /** How many cases the rules about elapsed time could judge, by property. */
  readonly timed: Readonly<Partial<Record<Property, number>>>
  /** From ready to start, where it was judged. */
  readonly latenessMs: { readonly p50: number; readonly p99: number; readonly max: number } | null
}
