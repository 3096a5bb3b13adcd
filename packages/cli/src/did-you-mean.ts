/** The candidate nearest to what was typed, if it is near enough to be a slip of the fingers or an abbreviation. */
export function nearest(typed: string, candidates: readonly string[]): string | undefined {
  const wanted = typed.toLowerCase()
  let best: string | undefined
  let bestDistance = typed.length < 4 ? 2 : 3
  for (const candidate of candidates) {
    const distance = editDistance(wanted, candidate)
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best ?? (wanted.length > 1 ? candidates.find((candidate) => candidate.startsWith(wanted)) : undefined)
}

/** Levenshtein. Command line words are short, but whoever pastes a novel does not get to wait for it. */
function editDistance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > 3) return 99
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    for (let column = 1; column <= b.length; column++) {
      const swap = previous[column - 1]! + (a[row - 1] === b[column - 1] ? 0 : 1)
      current.push(Math.min(previous[column]! + 1, current[column - 1]! + 1, swap))
    }
    previous = current
  }
  return previous[b.length]!
}
