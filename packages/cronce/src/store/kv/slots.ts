import type { Change } from '../../model/change.ts'
import type { ScheduleState } from '../../model/schedule.ts'
import type { Guard } from './driver.ts'
import { encodeName, type Keys } from './keys.ts'

/** How many open runs held a slot, at a moment. */
export interface SlotCount {
  readonly slot: string
  readonly count: number
  readonly revision: number
}

/**
 * Counts the limits of one commit: what was there before, and what it adds. An end within the same commit makes no room, because the
 * commit may write one change and refuse another: a change that needs that room is decided again in the next commit.
 */
export class SlotCounter {
  readonly #counts: ReadonlyMap<string, SlotCount>
  readonly #added = new Map<string, number>()
  /** Slots whose count may be lower in the next commit. */
  readonly #open = new Set<string>()
  /** Slots that a change waits for: no later one gets ahead of it. */
  readonly #awaited = new Set<string>()
  readonly #guarded = new Set<string>()

  constructor(counts: readonly SlotCount[]) {
    this.#counts = new Map(counts.map((one) => [one.slot, one]))
  }

  /** `later`: decide it again in the next commit. `null`: there is room. */
  fullFor(change: Change, before: ScheduleState | undefined): { readonly slot: string } | 'later' | null {
    for (const { slot, limit } of change.limits) {
      const count = this.#counts.get(slot)!.count + (this.#added.get(slot) ?? 0) + growth(slot, change, before)
      if (!this.#awaited.has(slot) && count <= limit) continue
      if (!this.#open.has(slot) && !this.#awaited.has(slot)) return { slot }
      for (const one of change.limits) this.#awaited.add(one.slot)
      return 'later'
    }
    return null
  }

  /** It is part of the commit. */
  admit(change: Change, before: ScheduleState | undefined): void {
    for (const { slot } of change.limits) this.#guarded.add(slot)
    for (const slot of slotsOf(before, change.state)) {
      const by = growth(slot, change, before)
      if (by !== 0) this.#open.add(slot)
      if (by > 0) this.#added.set(slot, (this.#added.get(slot) ?? 0) + by)
    }
  }

  /** Nothing was added to what was counted. Ends only delete, and make room. */
  guards(keys: Keys): Guard[] {
    return [...this.#guarded].map((slot) => {
      const { revision } = this.#counts.get(slot)!
      return { range: keys.below('c', encodeName(slot)), is: 'quiet', revision }
    })
  }
}

function growth(slot: string, { state }: Change, before: ScheduleState | undefined): number {
  return countHolders(slot, state) - countHolders(slot, before)
}

function countHolders(slot: string, state: ScheduleState | null | undefined): number {
  return state?.open.filter(({ run }) => run?.slots?.includes(slot)).length ?? 0
}

function slotsOf(...states: readonly (ScheduleState | null | undefined)[]): Set<string> {
  return new Set(states.flatMap((state) => state?.open.flatMap(({ run }) => run?.slots ?? []) ?? []))
}
