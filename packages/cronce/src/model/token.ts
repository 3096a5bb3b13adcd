/**
 * A fencing token: the store's epoch above, a counter of the schedule below, so that it grows also when a store came back
 * with an older counter. A decimal text inside, a bigint for users; fits a signed 64-bit column.
 */
const COUNTER_BITS = 44n
const COUNTERS = 2 ** 44
/** Below this epoch tokens are safe integers, which are faster than bigints. */
const EARLY = 2 ** 9

export function makeToken(epoch: number, counter: number): string {
  if (epoch < EARLY && counter < COUNTERS) return String(epoch * COUNTERS + counter)
  return String((BigInt(epoch) << COUNTER_BITS) | BigInt(counter))
}

/** The upper part. */
export function epochOf(token: string): number {
  return Number(BigInt(token) >> COUNTER_BITS)
}

/** The lower part. */
export function counterOf(token: string): number {
  return Number(BigInt(token) & ((1n << COUNTER_BITS) - 1n))
}

export function isNewerToken(token: string, than: string): boolean {
  return BigInt(token) > BigInt(than)
}
