/** What a target returns instead of a result when its work goes on elsewhere. */
export class Parked {
  readonly parkMs: number

  constructor(parkMs: number) {
    this.parkMs = parkMs
  }
}

/**
 * Leaves the run open without a lease: a caller with its token reports the outcome (`runs.complete`) within this time, or it
 * fails.
 */
export function parkUntil(parkMs: number): Parked {
  return new Parked(parkMs)
}
