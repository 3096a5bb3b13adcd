import type { Change } from '../../model/change.ts'

/**
 * Claims of this process whose rows are on record, by the schedules that they claimed. A row is deleted once none of them is
 * open: the store checks that again.
 */
export class Claims {
  readonly #schedules = new Map<number, Set<string>>()
  readonly #claims = new Map<string, readonly number[]>()
  /** Claims whose schedules have all been settled. */
  readonly #finished = new Set<number>()

  /** A row was written for these changes. */
  add(id: number, changes: readonly Change[]): void {
    const schedules = new Set<string>()
    const only = [id]
    for (const change of changes) {
      schedules.add(change.id)
      const claims = this.#claims.get(change.id)
      this.#claims.set(change.id, claims === undefined ? only : [...claims, id])
    }
    this.#schedules.set(id, schedules)
  }

  /** Rows that can be deleted once these changes are written, and those that could be deleted before. */
  finishing(changes: readonly Change[]): number[] {
    const finished = new Set(this.#finished)
    if (this.#schedules.size > 0) {
      const left = new Map<number, number>()
      for (const change of changes) {
        if (!endsRuns(change)) continue
        for (const claim of this.#claims.get(change.id) ?? []) {
          const rest = (left.get(claim) ?? this.#schedules.get(claim)!.size) - 1
          left.set(claim, rest)
          if (rest === 0) finished.add(claim)
        }
      }
    }
    return [...finished]
  }

  /**
   * These changes were written. Of `finished`, the statement deleted all but those that it kept (`null`: it did not get that
   * far): they are offered again.
   */
  settled(changes: readonly Change[], finished: readonly number[] = [], kept: readonly number[] | null = null): void {
    for (const change of changes) if (endsRuns(change)) this.#settle(change.id)
    if (kept !== null) for (const claim of finished) if (!kept.includes(claim)) this.#finished.delete(claim)
  }

  #settle(schedule: string): void {
    for (const claim of this.#claims.get(schedule) ?? []) {
      const schedules = this.#schedules.get(claim)!
      schedules.delete(schedule)
      if (schedules.size > 0) continue
      this.#schedules.delete(claim)
      this.#finished.add(claim)
    }
    this.#claims.delete(schedule)
  }
}

/** No run of the schedule is open after it, whether it ended or was handed back. */
function endsRuns({ state }: Change): boolean {
  return state === null || state.open.every(({ run }) => run === null)
}
