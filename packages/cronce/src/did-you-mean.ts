/** The candidate nearest to what was written, if one is near enough to be what was meant. */
export function didYouMean(word: string, candidates: Iterable<string>): string | undefined {
  // A name of this length is pasted, not typed, and the table below grows with its square.
  if (word.length > 64) return undefined
  const wanted = word.toLowerCase()
  let best = [...candidates].find((candidate) => hasSameStem(wanted, candidate.toLowerCase()))
  let bestDistance = Math.max(1, Math.floor(word.length / 3)) + 1
  for (const candidate of candidates) {
    // Every letter more or less is a mistake of its own.
    if (Math.abs(candidate.length - word.length) >= bestDistance) continue
    const distance = editDistance(wanted, candidate.toLowerCase())
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

/** `retries` for `retry`: endings differ more than the words do. */
function hasSameStem(word: string, candidate: string): boolean {
  return candidate.length > STEM && candidate.length <= word.length && word.startsWith(candidate.slice(0, -1))
}

const STEM = 4

/** Insertions, deletions, replacements and swaps of neighbours that turn one word into the other. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1]
      let cost = Math.min(last[column]! + 1, current[column - 1]! + 1, last[column - 1]! + (same ? 0 : 1))
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
      if (swapped) cost = Math.min(cost, beforeLast[column - 2]! + 1)
      current.push(cost)
    }
    beforeLast = last
    last = current
  }
  return last[b.length]!
}
