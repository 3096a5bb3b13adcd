import type { AheadRules } from './fleet.ts'
import type { AHEAD_INVARIANTS, AheadModelName, AheadSize } from './model.ts'

/** An engine that does not keep one rule, and what is broken by it: the explorer must find out. */
export interface AheadSlip {
  readonly name: string
  readonly model: AheadModelName
  /** Only as many faults as it takes: the way there is long. */
  readonly size: AheadSize
  readonly breaks: keyof typeof AHEAD_INVARIANTS
  /** Moves on the shortest way there. */
  readonly moves: number
  readonly broken: Partial<AheadRules>
}

export const AHEAD_SLIPS: readonly AheadSlip[] = [
  {
    name: 'a run starts without a recent renewal, after a peer has declared its worker dead',
    ...{ model: 'ahead-hint', size: { moments: 4, faults: { hint: 1 } }, breaks: 'A5', moves: 8 },
    broken: { startsByARenewal: false },
  },
  {
    name: "a run starts without a look at the store's clock",
    ...{ model: 'ahead-crash', size: { moments: 1, faults: {} }, breaks: 'A1', moves: 4 },
    broken: { startsByTheClock: false },
  },
  {
    name: 'a run is handed back, and may start until the store has answered',
    ...{ model: 'ahead-lease', size: { moments: 0, leaps: 1, faults: {} }, breaks: 'A3', moves: 9 },
    broken: { marksBeforeHandBack: false },
  },
  {
    name: 'a run starts although its worker has heard that it was cancelled',
    ...{ model: 'ahead-cancel', size: { moments: 4, faults: { cancel: 1 } }, breaks: 'A4', moves: 10 },
    broken: { obeysCancel: false },
  },
  {
    name: 'a peer declares a worker dead without waiting for the grace',
    ...{ model: 'ahead-hint', size: { moments: 4, faults: { hint: 1 } }, breaks: 'A5', moves: 7 },
    broken: { waitsForTheGrace: false },
  },
  {
    name: 'trust in a renewal is counted from its answer',
    ...{ model: 'ahead-hint', size: { moments: 4, faults: { hint: 1 } }, breaks: 'A5', moves: 8 },
    broken: { countsFromTheRequest: false },
  },
]
