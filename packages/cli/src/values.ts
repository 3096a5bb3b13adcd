/** The shape of a field's values, which ascend. */

/** Runs of neighbours. */
export function runsOf(values: readonly number[]): [from: number, to: number][] {
  const runs: [number, number][] = []
  for (const value of values) {
    const last = runs.at(-1)
    if (last !== undefined && last[1] === value - 1) last[1] = value
    else runs.push([value, value])
  }
  return runs
}

/** How far apart they are, if that is always the same. */
export function strideOf(values: readonly number[]): number | undefined {
  const stride = values.length > 1 ? values[1]! - values[0]! : undefined
  const isSteady = values.every((value, index) => index === 0 || value - values[index - 1]! === stride)
  return isSteady ? stride : undefined
}
