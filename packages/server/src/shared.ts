/**
 * A costly look that is shared by all callers that ask while it is made, however long that takes, or within a moment of its end.
 * A failure goes to the callers that waited for it, and is not kept.
 */
export function shared<Value>(
  ms: number,
  look: () => Promise<Value>,
  now: () => number = Date.now,
): () => Promise<Value> {
  let known: { readonly value: Promise<Value>; endedAt: number | null } | null = null
  return () => {
    if (known !== null && (known.endedAt === null || now() - known.endedAt < ms)) return known.value
    const mine = { value: look(), endedAt: null as number | null }
    known = mine
    mine.value.then(
      () => {
        mine.endedAt = now()
      },
      () => {
        if (known === mine) known = null
      },
    )
    return mine.value
  }
}
