import type { ComparedFires } from './compare-fires.ts'
import type { Difference } from './differences.ts'
import type { FoundChange } from './find-changes.ts'

/** One schedule that the deployment changes. */
export interface PlannedChange extends FoundChange {
  readonly differences: readonly Difference[]
  readonly next: { readonly before: readonly number[]; readonly after: readonly number[] }
  readonly fires: ComparedFires
  /** What clock changes do to it from now on, also where nothing is dropped or repeated. */
  readonly clockChanges: readonly string[]
}
