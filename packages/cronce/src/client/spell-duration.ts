const UNITS = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'm'],
  [1_000, 's'],
] as const

/** `90s`, `5m`, `1500ms`: in the largest unit that fits without a rest. */
export function spellDuration(ms: number): string {
  const [size, unit] = UNITS.find(([unitMs]) => ms >= unitMs && ms % unitMs === 0) ?? [1, 'ms']
  return `${ms / size}${unit}`
}
