import type { Instant } from '../history.ts'
import { type OracleOptions, oracleExcluded, oracleFires } from '../oracle/ask-oracle.ts'

/** A stretch of this length is asked for at a time: what is remembered of a zone stays small. */
const CHUNK_MS = 7 * 86_400_000

/**
 * The instants of an expression in the default dialect, from one to another, both included: by the cron of this package, which shares
 * nothing with the one that is judged. It trusts its input.
 */
export function expressionInstants(
  expression: string,
  options: OracleOptions,
): (from: Instant, to: Instant) => readonly Instant[] {
  return (from, to) => {
    const instants: Instant[] = []
    for (let begin = from; begin <= to; begin += CHUNK_MS) {
      instants.push(...oracleFires(expression, options, begin, Math.min(begin + CHUNK_MS, to + 1)))
    }
    return instants
  }
}

/** The instants that the calendar of an expression excludes, likewise. */
export function excludedInstants(
  expression: string,
  options: OracleOptions,
): (from: Instant, to: Instant) => readonly Instant[] {
  return (from, to) => {
    const instants: Instant[] = []
    for (let begin = from; begin <= to; begin += CHUNK_MS) {
      instants.push(...oracleExcluded(expression, options, begin, Math.min(begin + CHUNK_MS, to + 1)))
    }
    return instants
  }
}

export function intervalInstants(everyMs: number, anchor: Instant): (from: Instant, to: Instant) => readonly Instant[] {
  return (from, to) => {
    const instants: Instant[] = []
    for (let at = anchor + Math.ceil((from - anchor) / everyMs) * everyMs; at <= to; at += everyMs) instants.push(at)
    return instants
  }
}
