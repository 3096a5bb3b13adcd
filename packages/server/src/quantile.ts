/** The value below which this part of the values is; `null` if there are none. */
export function quantile(values: readonly number[], part: number): number | null {
  const sorted = [...values].sort((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? null
}
