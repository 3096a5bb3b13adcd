import type { FireEnd } from '../../model/record.ts'

/** The value that this share of the values does not exceed; 0 if there are none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0
}

/** How long its successful fires took, by their last run. */
export function durationsOf(history: readonly FireEnd[]): readonly number[] {
  return history.flatMap(({ outcome, startedAt, endedAt }) =>
    outcome === 'succeeded' && startedAt !== null ? [Math.max(0, endedAt - startedAt)] : [],
  )
}

/** With fewer there is no telling what is usual. */
export const LEAST_SAMPLES = 10

/**
 * Whether a value is far outside of the others: more than `factor` times what nine of ten others stay below, and by at least
 * `atLeastMs`. One outlier among the others moves that bound little, and few samples allow no verdict.
 */
export function isFarOutside(
  value: number,
  others: readonly number[],
  { factor, atLeastMs }: { readonly factor: number; readonly atLeastMs: number },
): boolean {
  if (others.length < LEAST_SAMPLES) return false
  const usual = quantile(others, 0.9)
  return value > usual * factor && value - usual >= atLeastMs
}

/** `90000` → `2 min`: rounded, for people. */
export function roughly(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 90_000) return `${Math.round(ms / 1_000)} s`
  if (ms < 90 * 60_000) return `${Math.round(ms / 60_000)} min`
  if (ms < 48 * 3_600_000) return `${Math.round(ms / 3_600_000)} h`
  return `${Math.round(ms / 86_400_000)} d`
}
