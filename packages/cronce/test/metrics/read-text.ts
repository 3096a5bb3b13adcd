/** The values in an exposition, by name and labels as they are written. */
export function valuesIn(text: string): ReadonlyMap<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
  )
}

/** The sum over all series of a metric whose labels contain these. */
export function sumOf(text: string, name: string, ...labels: readonly string[]): number {
  let sum = 0
  for (const [series, value] of valuesIn(text)) {
    const [found = ''] = series.split('{')
    if (found === name && labels.every((label) => series.includes(label))) sum += value
  }
  return sum
}

/** Names of all metrics that an exposition declares. */
export function namesIn(text: string): readonly string[] {
  return [...text.matchAll(/^# TYPE (\S+) /gm)].map((match) => match[1]!)
}
