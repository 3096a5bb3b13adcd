/** A costly look that everybody who asks within a moment shares. A failure is told to those who waited for it, and not kept. */
export function shared<Value>(
  ms: number,
  look: () => Promise<Value>,
  now: () => number = Date.now,
): () => Promise<Value> {
  let known: { readonly at: number; readonly value: Promise<Value> } | null = null
  return () => {
    if (known !== null && now() - known.at < ms) return known.value
    const mine = { at: now(), value: look() }
    known = mine
    mine.value.catch(() => {
      if (known === mine) known = null
    })
    return mine.value
  }
}
